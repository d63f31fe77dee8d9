"""What a certificate is computed from, the training data and the coefficients and nothing else; and what it decides."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.marks import mark
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.kernels.evaluation import tiles
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import TrainingData


CHANGED = "the training data were changed after fit, so the fit cannot be certified; fit again"
ELSEWHERE = "the model was learnt by another tool, and the training data, which certify a fit, are not here; fit again"


def fingerprint(X: Rows) -> Any:
    """A number that changes when the data do: the model must not certify other data."""
    if sparse.issparse(X):
        return mark(X.data), mark(X.indices), mark(X.indptr)
    return mark(X) if isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64) else len(X)


class Certified:
    """A model whose status is what its certificates say.

    A solver says OPTIMAL when its own numbers do, which it computes as it goes. Certificates are computed from data and
    coefficients alone, most of them when they are first read: one that denies what the solver said is heeded.
    """

    if TYPE_CHECKING:
        # What the model has beside this.
        tol: Any
        status_: Status

    def _is_reached(self, certificate: Any) -> bool:
        """Whether a certificate shows what was asked for."""
        return certificate.is_optimal(self.tol, getattr(self, "gap_tol", None))

    def _heed(self, certificates: Iterable[Any], warns: bool = True) -> None:
        """Take OPTIMAL back where a certificate denies it; with a warning, unless `fit` is about to give one."""
        if self.status_ == Status.OPTIMAL and not all(map(self._is_reached, certificates)):
            self.status_ = Status.OPTIMAL_INACCURATE
            if hasattr(self, "fit_status_"):
                self.fit_status_ = 1
            if warns:
                warn_unless_optimal(self.status_)


class Evidence:
    """Kept by a fitted model until its certificates are asked for; then the data are dropped.

    A certificate needs every kernel value between a training point and a support vector in
    double precision, about as much work as the fit, so it waits until it is read.
    """

    if TYPE_CHECKING:
        # All but what was found is let go of, and is then None.
        data: Any
        setup: Any
        solved: Any
        n_jobs: int | None
        _mark: Any
        _found: list[Any] | None

    def __init__(self, data: "TrainingData", setup: Any, solved: Any, n_jobs: int | None) -> None:
        self.data, self.setup, self.solved, self.n_jobs = data, setup, solved, n_jobs
        self._mark = fingerprint(data.X)
        self._found = None

    @classmethod
    def missing(cls) -> Self:
        """What a model has that was learnt elsewhere: nothing."""
        evidence = cls.__new__(cls)
        vars(evidence).update(data=None, setup=None, solved=None, n_jobs=None, _mark=None, _found=None)
        return evidence

    @classmethod
    def settled(cls, found: list[Any]) -> Self:
        """What is known already: certificates that the fit itself has computed."""
        evidence = cls.missing()
        evidence._found = found
        return evidence

    def certificates(self) -> list[Any]:
        """One certificate for each two-class problem."""
        self.settle()
        if self._found is None:
            raise DataError(ELSEWHERE if self._mark is None else CHANGED)
        return self._found

    def settle(self) -> list[Any]:
        """Compute the certificates now, if the data are still the same, and let the data go: those there are."""
        if self.data is not None:
            if fingerprint(self.data.X) == self._mark:
                self._found = self._certify()
            self.data = self.setup = self.solved = None
        return self._found or []

    def _certify(self) -> list[Any]:
        each = zip(self.setup.problems, self.setup.tasks, self.solved.betas(), self.solved.intercepts, strict=True)
        return [self._certificate(*one) for one in each]

    def _projections(self, task: "BinaryTask", beta: FloatArray) -> FloatArray:
        """<w, psi(x_i)> = sum_j beta_j k(x_j, x_i) for the points of a problem."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return np.zeros(len(beta))
        points = self.data.prepare(np.float64, task.indices)
        return tiles.product(self.data.kernel, points, points.take(support), beta[support], self.n_jobs)

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> Any:
        projections = self._projections(task, beta)
        # Coefficients that have diverged have no finite objective, and the certificate says so.
        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, projections, intercept)


class JointEvidence(Evidence):
    """One certificate for all functions together."""

    def _certify(self) -> list[Any]:
        beta, places = self.solved.solution.beta, self.setup.tasks[0].indices
        points = self.data.prepare(np.float64, places)
        projections = tiles.product(self.data.kernel, points, points, beta, self.n_jobs)
        intercept = self.solved.intercepts if beta.ndim == 2 else float(self.solved.intercepts[0])
        return [self.setup.joint.certificate(beta, projections, intercept)]
