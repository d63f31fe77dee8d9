"""Certificates of a fitted model: when they are computed, what they decide, and when the data behind them go."""

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer._errors import CancelledError, DataError, TimeLimitError
from mercer._jit.marks import mark
from mercer._jit.threads import Stopped
from mercer._jit.waiting import ends_in_force
from mercer._types import Rows
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.tasks import one_or_all
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

CHANGED = "the training data were changed after fit, so the fit cannot be certified; fit again"
ELSEWHERE = "the model was fitted by another tool, and the training data needed to certify it are not here; fit again"
LEFT_BEHIND = (
    "a model that was copied or loaded has no training data, so its fit cannot be certified anew; fit again, or call "
    "certificate(full=True) before copying or saving it"
)
NOT_KEPT = "the fit ended before its certificate was complete and kept nothing to complete it from; fit with more time"
UNREAD = (
    "the model was copied or saved before its certificate was read (which, after a large fit that ended early, takes "
    "about as long as a fit), or after the training data had been changed; fit again, and read certificate_ before "
    "copying or saving the model"
)
DENIED = (
    "status_ is OPTIMAL by what fit examined, but the certificate, which recomputes more, shows that the tolerance was "
    "not reached. The certificate is right: fit again with a smaller tol, and please report the data"
)


def fingerprint(X: Rows) -> Any:
    """A fingerprint of the data, since a model must not certify other data than its own."""
    if sparse.issparse(X):
        return mark(X.data), mark(X.indices), mark(X.indptr)
    return mark(X) if isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64) else len(X)


class Certifier(Protocol):
    """Computes the certificates of a fit (`mercer.estimators.fitting.certifiers`)."""

    @property
    def is_large(self) -> bool:
        """Whether recomputing everything takes long."""
        ...

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether the certificates could refute what the solver claims."""
        ...

    def full(self, stop: Callable[[], bool] | None = None, tell: Callable[[float], None] | None = None) -> list[Any]:
        """The certificates, with everything recomputed; `stop` may end it, and `tell` receives the share done."""
        ...

    def sampled(self, stop: Callable[[], bool] | None = None) -> list[Any] | None:
        """The certificates with the solver's values reused (`mercer.problems.taken_over`), where that is possible."""
        ...


class KeptData:
    """The training data of a fit, kept until no longer needed, and trusted as long as they are unchanged."""

    if TYPE_CHECKING:
        data: Any
        _mark: Any

    def __init__(self, data: Any) -> None:
        self.data = data
        self._mark = fingerprint(data.X)

    def _is_same(self) -> bool:
        """Whether the data are present and unchanged since the fit."""
        return self.data is not None and bool(fingerprint(self.data.X) == self._mark)


class Evidence(KeptData):
    """Held by a fitted model until its certificates are read; then the data are dropped.

    A certificate needs every kernel value between a training point and a support vector in double precision, about as
    much work as the fit, so it is computed when first read, unless it could refute the solver: then `fit` computes it.
    If that takes long, the solver's values are checked and reused instead, which is cheap enough for `fit`, and the
    data are kept in case everything is to be recomputed.
    """

    if TYPE_CHECKING:
        # Dropped with the data, and then None.
        certifier: Any
        _found: list[Any] | None

    def __init__(self, data: Any, certifier: Certifier) -> None:
        super().__init__(data)
        self.certifier, self._found = certifier, None

    @classmethod
    def missing(cls) -> Self:
        """The evidence of a model learnt elsewhere: none."""
        evidence = cls.__new__(cls)
        vars(evidence).update(data=None, certifier=None, _mark=None, _found=None)
        return evidence

    @classmethod
    def settled(cls, found: list[Any]) -> Self:
        """Certificates that the fit itself has computed."""
        evidence = cls.missing()
        evidence._found, evidence._mark = found, NOT_KEPT
        return evidence

    def certificates(
        self,
        full: bool = False,
        stop: Callable[[], bool] | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> list[Any]:
        """One certificate for each problem; with `full`, everything is recomputed."""
        if self._found is None or (full and not all(getattr(each, "is_full", True) for each in self._found)):
            self._require_data()
            if full or not self.take_over(stop):
                self._found = self.certifier.full(stop, tell)
                self._drop()
        return self._found or []

    def settle(self) -> list[Any]:
        """The certificates that are known, or cheap to compute."""
        if self._found is None and self.data is not None:
            if not self._is_same():
                self._drop()
                self._mark = CHANGED
            elif not self.take_over() and not self.certifier.is_large:
                self.certificates()
        return self._found or []

    def take_over(self, stop: Callable[[], bool] | None = None) -> list[Any]:
        """Check and reuse the solver's values; nothing if that is impossible, or not worthwhile."""
        if self.certifier.is_large:
            self._found = self.certifier.sampled(stop)
        return self._found or []

    def _require_data(self) -> None:
        if self.data is not None and not self._is_same():
            self._drop()
            self._mark = CHANGED
        if self.data is None:
            raise DataError(self._why_missing())

    def _why_missing(self) -> str:
        if self._mark is None:
            return ELSEWHERE
        if isinstance(self._mark, str):
            return self._mark
        return UNREAD if self._found is None else LEFT_BEHIND

    def _drop(self) -> None:
        self.data = self.certifier = None

    def __getstate__(self) -> dict[str, Any]:
        # The training data are not part of a model.
        return {**vars(self), "data": None, "certifier": None}


class Certified:
    """A model whose status agrees with its certificates.

    A solver reports OPTIMAL by numbers that it updates as it goes. Certificates are computed from data and
    coefficients: by `fit` if they could refute the solver, and then they decide; otherwise when first read. `fit` alone
    sets the status. Certificates read later do not change it, but warn if they refute OPTIMAL.
    """

    if TYPE_CHECKING:
        # Attributes of the model this is mixed into.
        tol: Any
        status_: Status

    def _is_reached(self, certificate: Any) -> bool:
        """Whether a certificate meets the tolerance."""
        return certificate.is_optimal(self.tol, getattr(self, "gap_tol", None))

    def _is_denied(self, certificates: Iterable[Any]) -> bool:
        return self.status_ == Status.OPTIMAL and not all(map(self._is_reached, certificates))

    def _heed(self, certificates: Iterable[Any]) -> None:
        """Withdraw OPTIMAL if a certificate refutes it, before `fit` returns; `fit` warns."""
        if self._is_denied(certificates):
            self._end_with(Status.OPTIMAL_INACCURATE)

    def _end_with(self, status: Status) -> None:
        self.status_ = status
        if hasattr(self, "fit_status_"):
            self.fit_status_ = int(status != Status.OPTIMAL)


class CertifiedLazily(Certified):
    """A model that keeps the evidence for its certificates until they are read, or until `fit` computes them."""

    if TYPE_CHECKING:
        _evidence: Evidence

    @property
    def certificate_(self) -> Any:
        """Certificates, computed by `fit` for large problems, else when first read (see `Evidence`)."""
        require_fitted(self)
        return self._told(self._evidence.certificates())

    def certificate(self, full: bool = False, callback: Callable[[float], Any] | None = None) -> Any:
        """The certificate, or a list of them; on request with everything recomputed.

        Parameters
        ----------
        full : bool, default=False
            Compute every kernel value between a training row and a support vector in double precision, and reuse
            nothing from the solver: as much work as the fit, and outside its limits. `certificate_` is then this one.
            `status_` stays as `fit` left it; a certificate that refutes OPTIMAL comes with a `ConvergenceWarning`.
        callback : callable, optional
            ``callback(share)`` is called now and then with the share that is done; a true return value stops the work
            with `CancelledError`. That, and Ctrl-C, leave the model unchanged.

        Returns
        -------
        Certificate, or a list of them
        """
        require_fitted(self)
        if "_evidence" not in vars(self):
            return self.certificate_  # which says why there is none
        work = _Work(callback)
        with work.limits.in_force():
            found = work.done(lambda: self._evidence.certificates(full, work.stop, work.tell))
        return self._told(found)

    def _told(self, found: list[Any]) -> Any:
        """The certificates for the caller, with a warning if they refute the status."""
        if self._is_denied(found):
            warnings.warn(DENIED, ConvergenceWarning, stacklevel=3)
        return one_or_all(found)

    def _decide_status(self) -> None:
        """Decide whether OPTIMAL stands, as the last step of a fit, within its limits.

        It stands if the certificate confirms it, or if the solver's numbers and their possible rounding leave no doubt
        that it would. If there is no time to find out, the status is that of the limit reached.
        """
        if self.status_ != Status.OPTIMAL:
            return
        limits = ends_in_force()
        stop = None if limits is None else limits.stop
        try:
            self._heed(self._decisive(stop))
        except Stopped:
            self._end_with((limits and limits.reached()) or Status.OPTIMAL_INACCURATE)

    def _decisive(self, stop: Callable[[], bool] | None) -> list[Any]:
        """The certificates that decide; none if nothing could refute OPTIMAL."""
        evidence, asked = self._evidence, (getattr(self, "tol", None), getattr(self, "gap_tol", None))
        found = evidence.take_over(stop)
        if self._is_denied(found) or (not found and evidence.certifier.leaves_doubt(*asked)):
            # Reused values are counted at their worst, so only a full recomputation justifies withdrawing OPTIMAL.
            found = evidence.certificates(True, stop)
        return found

    def __getstate__(self) -> dict[str, Any]:
        # The training data are not part of a model, so their findings are reported now.
        if "_evidence" in vars(self):
            self._evidence.settle()
        return cast(dict[str, Any], super().__getstate__())


def known_certificates(model: Any) -> Any:
    """`certificate_` if known or cheap; None if it would take as long as a fit."""
    # For a search, that of its refitted machine.
    evidence = vars(vars(model).get("best_estimator_", model)).get("_evidence")
    if isinstance(evidence, Evidence) and evidence.data is not None and not evidence.settle():
        return None
    return getattr(model, "certificate_", None)


class _Work:
    """A computation outside a fit that Ctrl-C or a callback may end."""

    def __init__(self, callback: Callable[[float], Any] | None) -> None:
        self.limits, self._callback, self._is_cancelled = Limits(), callback, False

    def tell(self, share: float) -> None:
        """Report the share done."""
        if self._callback is not None and self._callback(share):
            self._is_cancelled = True

    def stop(self) -> bool:
        """Whether to end now."""
        return self._is_cancelled or self.limits.stop()

    def done(self, compute: Callable[[], Any]) -> Any:
        """The result of `compute`, or an error that says what ended it."""
        try:
            return compute()
        except Stopped:
            if self._is_cancelled:
                raise CancelledError("the callback stopped the certificate; the model is unchanged") from None
            if self.limits.reached() is Status.TIME_LIMIT:
                raise TimeLimitError(
                    "time_limit ran out before the certificate was complete; the model is unchanged"
                ) from None
            raise KeyboardInterrupt from None
