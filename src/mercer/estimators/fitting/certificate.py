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
ELSEWHERE = "the model was learnt by another tool, and the training data, which certify a fit, are not here; fit again"
LEFT_BEHIND = (
    "a copy of a model, or one from a file, has no training data, so that its fit cannot be certified anew; fit again, "
    "or call certificate(full=True) before it is copied"
)
NOT_KEPT = "the fit ended before its certificate was complete, and kept nothing to complete it; fit with more time"
UNREAD = (
    "the model is a copy, or from a file, made before its certificate was read, which takes about as long as a fit "
    "where that was large and ended early, or after the training data had been changed; fit again, and read "
    "certificate_ before it is copied"
)
DENIED = (
    "status_ is OPTIMAL by what fit has looked at, and the certificate, with more recomputed, shows that the tolerance "
    "was not reached. The certificate is right: fit again with a smaller tol, and please report the data"
)


def fingerprint(X: Rows) -> Any:
    """A number that changes when the data do: the model must not certify other data."""
    if sparse.issparse(X):
        return mark(X.data), mark(X.indices), mark(X.indptr)
    return mark(X) if isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64) else len(X)


class Certifier(Protocol):
    """Who computes the certificates of a fit (`mercer.estimators.fitting.certifiers`)."""

    @property
    def is_large(self) -> bool:
        """Whether recomputing everything takes long."""
        ...

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether the certificates could deny that a fit has reached what was asked for."""
        ...

    def full(self, stop: Callable[[], bool] | None = None, tell: Callable[[float], None] | None = None) -> list[Any]:
        """The certificates, everything recomputed; `stop` may end it, and `tell` hears what share is done."""
        ...

    def sampled(self, stop: Callable[[], bool] | None = None) -> list[Any] | None:
        """The certificates with what the solver has taken over (`mercer.problems.taken_over`), where that can be."""
        ...


class KeptData:
    """The training data of a fit, kept until what needs them has been asked for, and believed as long as they are the
    same."""

    if TYPE_CHECKING:
        data: Any
        _mark: Any

    def __init__(self, data: Any) -> None:
        self.data = data
        self._mark = fingerprint(data.X)

    def _is_same(self) -> bool:
        """Whether the data are there, and are those of the fit."""
        return self.data is not None and bool(fingerprint(self.data.X) == self._mark)


class Evidence(KeptData):
    """Kept by a fitted model until its certificates are asked for; then the data are dropped.

    A certificate needs every kernel value between a training point and a support vector in double precision, about as
    much work as the fit, so it waits until it is read, unless it could deny what the solver says: then `fit` computes
    it. Where that is long, what the solver has is checked and taken over instead: so little work that `fit` does it.
    The data are then kept for who wants everything recomputed.
    """

    if TYPE_CHECKING:
        # Let go of with the data, and then None.
        certifier: Any
        _found: list[Any] | None

    def __init__(self, data: Any, certifier: Certifier) -> None:
        super().__init__(data)
        self.certifier, self._found = certifier, None

    @classmethod
    def missing(cls) -> Self:
        """What a model has that was learnt elsewhere: nothing."""
        evidence = cls.__new__(cls)
        vars(evidence).update(data=None, certifier=None, _mark=None, _found=None)
        return evidence

    @classmethod
    def settled(cls, found: list[Any]) -> Self:
        """What is known already: certificates that the fit itself has computed."""
        evidence = cls.missing()
        evidence._found, evidence._mark = found, NOT_KEPT
        return evidence

    def certificates(
        self,
        full: bool = False,
        stop: Callable[[], bool] | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> list[Any]:
        """One certificate for each problem; where they are `full`, everything is recomputed for them."""
        if self._found is None or (full and not all(getattr(each, "is_full", True) for each in self._found)):
            self._require_data()
            if full or not self.take_over(stop):
                self._found = self.certifier.full(stop, tell)
                self._drop()
        return self._found or []

    def settle(self) -> list[Any]:
        """The certificates that are known, or that take little to know."""
        if self._found is None and self.data is not None:
            if not self._is_same():
                self._drop()
                self._mark = CHANGED
            elif not self.take_over() and not self.certifier.is_large:
                self.certificates()
        return self._found or []

    def take_over(self, stop: Callable[[], bool] | None = None) -> list[Any]:
        """Check what the solver has and take it over; nothing where that cannot be, or is not worth it."""
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
    """A model whose status is what its certificates say.

    A solver says OPTIMAL when its own numbers do, which it computes as it goes. Certificates are computed from data and
    coefficients: by `fit` where they could deny what the solver said, which is heeded, else when they are first read.
    `fit` alone sets the status. What is read later changes nothing, and says so if it should deny OPTIMAL.
    """

    if TYPE_CHECKING:
        # What the model has beside this.
        tol: Any
        status_: Status

    def _is_reached(self, certificate: Any) -> bool:
        """Whether a certificate shows what was asked for."""
        return certificate.is_optimal(self.tol, getattr(self, "gap_tol", None))

    def _is_denied(self, certificates: Iterable[Any]) -> bool:
        return self.status_ == Status.OPTIMAL and not all(map(self._is_reached, certificates))

    def _heed(self, certificates: Iterable[Any]) -> None:
        """Take OPTIMAL back where a certificate denies it, before `fit` returns; `fit` warns."""
        if self._is_denied(certificates):
            self._end_with(Status.OPTIMAL_INACCURATE)

    def _end_with(self, status: Status) -> None:
        self.status_ = status
        if hasattr(self, "fit_status_"):
            self.fit_status_ = int(status != Status.OPTIMAL)


class CertifiedLazily(Certified):
    """A model that keeps the evidence of its certificates until they are read, or `fit` has time to compute them."""

    if TYPE_CHECKING:
        _evidence: Evidence

    @property
    def certificate_(self) -> Any:
        """Certificates, computed by `fit` where it is large, else when first read (see `Evidence`)."""
        require_fitted(self)
        return self._told(self._evidence.certificates())

    def certificate(self, full: bool = False, callback: Callable[[float], Any] | None = None) -> Any:
        """The certificate, or a list of them; on request one for which everything is recomputed.

        Parameters
        ----------
        full : bool, default=False
            Compute every kernel value between a training row and a support vector in double precision, and take nothing
            over from the solver: as much work as the fit, and outside its limits. `certificate_` is then this one.
            `status_` stays what `fit` has said; a certificate that denies OPTIMAL comes with a `ConvergenceWarning`.
        callback : callable, optional
            ``callback(share)`` hears now and then what share is done; a true answer ends it with `CancelledError`.
            That, and Ctrl-C, leave the model as it was.

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
        """The certificates for who has asked, with a warning where they are a finding of their own."""
        if self._is_denied(found):
            warnings.warn(DENIED, ConvergenceWarning, stacklevel=3)
        return one_or_all(found)

    def _decide_status(self) -> None:
        """Whether OPTIMAL stands: the last word of a fit, within its limits.

        It stands where the certificate says so, or where the solver's numbers and what rounding can do to them leave
        no doubt that it will. Without the time to find out, the fit says what has ended it.
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
        """The certificates that decide; none where nothing could deny OPTIMAL."""
        evidence, asked = self._evidence, (getattr(self, "tol", None), getattr(self, "gap_tol", None))
        found = evidence.take_over(stop)
        if self._is_denied(found) or (not found and evidence.certifier.leaves_doubt(*asked)):
            # What was taken over is counted at its worst: only everything recomputed is a reason to take OPTIMAL back.
            found = evidence.certificates(True, stop)
        return found

    def __getstate__(self) -> dict[str, Any]:
        # The training data are not part of a model: what is to be said of them is said now.
        if "_evidence" in vars(self):
            self._evidence.settle()
        return cast(dict[str, Any], super().__getstate__())


def known_certificates(model: Any) -> Any:
    """`certificate_` where it is known or soon computed; None where that would take as long as a fit."""
    # Of a search, those of the machine that it has refitted.
    evidence = vars(vars(model).get("best_estimator_", model)).get("_evidence")
    if isinstance(evidence, Evidence) and evidence.data is not None and not evidence.settle():
        return None
    return getattr(model, "certificate_", None)


class _Work:
    """A computation outside a fit that Ctrl-C and a callback may end."""

    def __init__(self, callback: Callable[[float], Any] | None) -> None:
        self.limits, self._callback, self._is_cancelled = Limits(), callback, False

    def tell(self, share: float) -> None:
        """What share is done."""
        if self._callback is not None and self._callback(share):
            self._is_cancelled = True

    def stop(self) -> bool:
        """Whether to end now."""
        return self._is_cancelled or self.limits.stop()

    def done(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, or an error that says who ended it."""
        try:
            return compute()
        except Stopped:
            if self._is_cancelled:
                raise CancelledError("the callback ended the certificate; the model is as it was") from None
            if self.limits.reached() is Status.TIME_LIMIT:
                raise TimeLimitError("time_limit was over before the certificate; the model is as it was") from None
            raise KeyboardInterrupt from None
