"""Certificates of a fit: from the training data and the coefficients alone, or reusing the solver's values."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.once import computed_once
from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.training import largest_entry
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.items.prepare_rows import squared_norms
from mercer.problems import taken_over

if TYPE_CHECKING:
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import TrainingData

Stop = Callable[[], bool] | None
Tell = Callable[[float], None] | None
# Kernel entries, of up to this many multiplications each, that are recomputed unconditionally: a quarter second.
SMALL_WORK, USUAL_COST = 5e7, 50
# Assumed multiplications of an entry if nothing is known.
UNKNOWN_COST = 1000
# Rows recomputed at a time if there are many; progress is reported in between.
BLOCK = 2048
# Numbers of all rows up to which they are prepared at once for several problems: 128 MiB in double precision.
FEW_NUMBERS = 2**24
# Problems with fewer rows than this are not sampled.
FEW_ROWS = 2400
# Safe bound on the error of a kernel entry, relative to the largest (docs/reliability.md).
ENTRY_ERROR = 1e-12
# Residual to which equations must hold if there is no tolerance (`is_optimal` of their certificates).
EQUATIONS = 1e-8
# Up to this many rows, a matrix is recomputed after a solution by factors or eigenvectors.
QUICK_ROWS = 2000


class Computed:
    """A certificate computed by a function."""

    is_large = False

    def __init__(self, n: int, compute: Callable[[], Any], known: float = np.inf) -> None:
        self._n, self._compute, self._known = n, compute, known

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether `fit` has to check: always if that is quick, else unless the solver has verified its equations."""
        return self._n <= QUICK_ROWS or not self._known <= (tol or EQUATIONS)

    def full(self, stop: Stop = None, tell: Tell = None) -> list[Any]:
        """A list of the one."""
        return [self._compute()]

    def sampled(self, stop: Stop = None) -> None:
        """There is nothing to reuse."""


class ProblemCertifier:
    """A certificate for each problem of a fit."""

    # Whether the solutions are those of `DualProblem`s, with their gradients.
    takes_over = False

    def __init__(self, data: "TrainingData", setup: Any, solved: Any, n_jobs: int | None, tol: float) -> None:
        self.data, self.setup, self.solved, self.n_jobs, self.tol = data, setup, solved, n_jobs, tol
        self._stop: Stop = None
        self._tell: Tell = None
        self._done = 0.0
        self._all_rows: Any = None

    @computed_once
    def is_large(self) -> bool:
        """Whether recomputing everything takes long."""
        if not (self.takes_over and hasattr(self.solved, "solutions")):
            return False
        cost = max(1.0, _entry_cost(self.data) / USUAL_COST)
        # Small fits are recognised by their rows alone: anything more would take a noticeable part of their time.
        most = len(self.solved.intercepts) * self.data.shape[0] ** 2 * cost
        return most > SMALL_WORK and self.work * cost > SMALL_WORK

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether the certificate may refute the solver, so that `fit` has to check."""
        return True

    @computed_once
    def work(self) -> float:
        """Kernel entries between the rows of the problems and their support vectors."""
        return float(sum(len(beta) * np.count_nonzero(beta) for beta in self.solved.betas()))

    def full(self, stop: Stop = None, tell: Tell = None) -> list[Any]:
        """The certificates, with everything recomputed."""
        self._stop, self._tell, self._done = stop, tell, 0.0
        with self._sharing_rows():
            return self._certify()

    @contextmanager
    def _sharing_rows(self) -> Iterator[None]:
        """Several problems share rows: those of all are prepared once, where that takes little memory."""
        rows = self.data.X
        is_little = getattr(rows, "nnz", getattr(rows, "size", 0)) <= FEW_NUMBERS
        if (len(self.setup.tasks) > 1 and is_little) or isinstance(self.data.kernel, Precomputed):
            self._all_rows = self.data.prepare(np.float64)
        try:
            yield
        finally:
            self._all_rows = None

    def _prepare(self, indices: IndexArray) -> Any:
        """Rows in double precision."""
        return self.data.prepare(np.float64, indices) if self._all_rows is None else self._all_rows.take(indices)

    def _certify(self) -> list[Any]:
        each = zip(self.setup.problems, self.setup.tasks, self.solved.betas(), self.solved.intercepts, strict=True)
        return [self._certificate(*one) for one in each]

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> Any:
        projections = self._projections(task, beta)
        # Diverged coefficients have no finite objective, which the certificate reports.
        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, projections, intercept)

    def _projections(self, task: "BinaryTask", beta: FloatArray) -> FloatArray:
        """<w, psi(x_i)> = sum_j beta_j k(x_j, x_i) for the points of a problem."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return np.zeros(len(beta))
        if self.is_large:
            return self._projections_in_blocks(task, beta, support)
        points = self._prepare(task.indices)
        return self._product(points, points.take(support), beta[support])

    def _projections_in_blocks(self, task: "BinaryTask", beta: FloatArray, support: IndexArray) -> FloatArray:
        """The same within the memory of a few rows."""
        recompute, out, total = self._recompute(task, beta), np.empty(len(beta)), self.work
        for begin in range(0, len(beta), BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, len(beta)))
            out[rows] = recompute(rows)
            self._done += len(rows) * len(support)
            if self._tell is not None:
                self._tell(self._done / total)
        return out

    def _recompute(self, task: "BinaryTask", beta: FloatArray) -> Callable[[IndexArray], FloatArray]:
        """A function that gives <w, psi(x_i)> at some rows of a problem."""
        support = np.flatnonzero(beta)

        def recompute(rows: IndexArray) -> FloatArray:
            # Support vectors also block by block: all of them in double precision may not fit.
            out, left = np.zeros(len(rows)), self._prepare(task.indices[rows])
            for begin in range(0, len(support), BLOCK):
                part = support[begin : begin + BLOCK]
                out += self._product(left, self._prepare(task.indices[part]), beta[part])
            return out

        return recompute

    def _product(self, left: Any, right: Any, coefficients: FloatArray) -> FloatArray:
        return tiles.product(self.data.kernel, left, right, coefficients, self.n_jobs, self._stop)

    def sampled(self, stop: Stop = None) -> list[Any] | None:
        """The certificates with the solver's values reused; None if a problem does not allow it."""
        self._stop, self._tell = stop, None
        each = zip(self.setup.problems, self.setup.tasks, self.solved.solutions, self.solved.intercepts, strict=True)
        problems = list(each)
        if not all(self._may_take_over(problem, solution) for problem, _, solution, _ in problems):
            return None
        with np.errstate(over="ignore", invalid="ignore"), self._sharing_rows():
            return [self._sampled_one(*one) for one in problems]

    def _may_take_over(self, problem: Any, solution: Any) -> bool:
        return solution.is_gradient_complete and taken_over.allows(problem, solution.beta)

    def _sampled_one(self, problem: Any, task: "BinaryTask", solution: Any, intercept: float) -> Any:
        beta = solution.beta
        if len(beta) < FEW_ROWS or not beta.any():
            return self._certificate(problem, task, beta, intercept)
        likely = self._longest(task.indices, len(beta) // (8 * taken_over.ONE_IN))
        recompute = self._recompute(task, beta)
        return taken_over.certificate(problem, beta, solution.gradient, intercept, self.tol, recompute, likely)

    def _longest(self, indices: IndexArray, count: int) -> IndexArray:
        """The rows farthest from the origin, whose entries rounding disturbs most: at most this many, none if no row is
        longer than the others."""
        if count == 0 or not self.data.kernel.is_dot_product_form or isinstance(self.data.kernel, Precomputed):
            return indices[:0]
        count = min(count, taken_over.SAMPLE // 4)
        return np.sort(np.argpartition(self._lengths[indices], -count)[-count:])

    @computed_once
    def _lengths(self) -> FloatArray:
        """|x - origin|^2 of all rows, but for a constant."""
        X, origin = self.data.X, self.data.origin
        norms = squared_norms(X)
        # In the precision of X, which suffices for a comparison: converting it took a tenth of the time of a fit.
        return norms if origin is None else norms - 2.0 * np.asarray(X @ origin.astype(X.dtype)).ravel()


class DualCertifier(ProblemCertifier):
    """The same for solutions of signed duals, whose gradient can be reused."""

    takes_over = True

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether rounding of kernel entries could raise the violation above `tol`.

        Values computed in double precision are off by at most the errors of all entries together, and those compared
        with them by little more than observed (`Solution.rounding`). If that stays below `tol`, the problem is solved
        without recomputing anything.
        """
        if tol is None or gap_tol is not None:
            return True
        violation = max(self.solved.violations(), default=np.inf)
        reach = float(max(self.solved.reaches(), default=0.0))
        return not violation + 2.0 * ENTRY_ERROR * reach * _largest_entry(self.data) <= tol


class JointCertifier(ProblemCertifier):
    """One certificate for all functions together."""

    def _certify(self) -> list[Any]:
        beta, places = self.solved.solution.beta, self.setup.tasks[0].indices
        points = self.data.prepare(np.float64, places)
        # A kernel that is positive semidefinite by construction is symmetric, so each pair is evaluated once.
        is_symmetric = self.data.kernel.is_psd is True and not isinstance(self.data.kernel, Precomputed)
        projections = self._symmetric(points, beta) if is_symmetric else self._product(points, points, beta)
        intercept = self.solved.intercepts if beta.ndim == 2 else float(self.solved.intercepts[0])
        return [self.setup.joint.certificate(beta, projections, intercept)]

    def _symmetric(self, points: Any, beta: FloatArray) -> FloatArray:
        columns = beta.reshape(len(beta), -1)
        return symmetric_product(self.data.kernel, points, columns, self.n_jobs, self._stop).reshape(beta.shape)


def _largest_entry(data: "TrainingData") -> float:
    """A bound of |k(x, y)| over all rows."""
    bound = largest_entry(data.kernel)
    return bound if bound < np.inf else float(np.abs(data.diagonal(np.arange(data.shape[0]))).max(initial=0.0))


def _entry_cost(data: "TrainingData") -> float:
    """Multiplications per kernel entry, roughly."""
    if isinstance(data.kernel, Precomputed):
        return 1.0
    if not data.kernel.is_dot_product_form:
        return UNKNOWN_COST
    return data.X.nnz / max(1, data.X.shape[0]) if sparse.issparse(data.X) else data.shape[-1]
