"""Who computes the certificates of a fit: from the training data and the coefficients, or with what the solver has."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.once import computed_once
from mercer._types import FloatArray, IndexArray
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.items.prepare_rows import squared_norms
from mercer.problems import taken_over

if TYPE_CHECKING:
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import TrainingData

Stop = Callable[[], bool] | None
Tell = Callable[[float], None] | None
# Kernel entries, of up to so many multiplications each, that are recomputed without a second thought: a quarter second.
SMALL_WORK, USUAL_COST = 5e7, 50
# Multiplications that an entry is taken for where nothing is known.
UNKNOWN_COST = 1000
# Rows that are recomputed at a time, where there are many: between them somebody may hear how far it is.
BLOCK = 4096
# Problems of fewer rows than this are not sampled.
FEW_ROWS = 2400
# Numbers of all rows, up to which these are kept in double precision for many problems.
FEW = 2**20
# What a kernel entry may be off by, as a share of the largest (docs/reliability.md), to be on the safe side.
ENTRY_ERROR = 1e-12
# How well equations hold where no tolerance is asked for (`is_optimal` of their certificates).
EQUATIONS = 1e-8
# Rows up to which a matrix is computed once more, for what was solved by its factors or eigenvectors.
QUICK_ROWS = 2000


class Computed:
    """A certificate that a function computes."""

    is_large = False

    def __init__(self, n: int, compute: Callable[[], Any], known: float = np.inf) -> None:
        self._n, self._compute, self._known = n, compute, known

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether `fit` has to look: always where that is quick, else unless the solver has seen its equations hold."""
        return self._n <= QUICK_ROWS or not self._known <= (tol or EQUATIONS)

    def full(self, stop: Stop = None, tell: Tell = None) -> list[Any]:
        """A list of the one."""
        return [self._compute()]

    def sampled(self, stop: Stop = None) -> None:
        """There is nothing to take over."""


class ProblemCertifier:
    """A certificate for each problem of a fit."""

    # Whether the solutions are those of `DualProblem`s, with their gradients.
    takes_over = False

    def __init__(self, data: "TrainingData", setup: Any, solved: Any, n_jobs: int | None, tol: float) -> None:
        self.data, self.setup, self.solved, self.n_jobs, self.tol = data, setup, solved, n_jobs, tol
        self._stop: Stop = None
        self._tell: Tell = None
        self._done = 0.0

    @computed_once
    def is_large(self) -> bool:
        """Whether recomputing everything takes long."""
        if not (self.takes_over and hasattr(self.solved, "solutions")):
            return False
        cost = max(1.0, _entry_cost(self.data) / USUAL_COST)
        # Small fits are told by their rows alone: to ask for more would take some of their time.
        most = len(self.solved.intercepts) * self.data.shape[0] ** 2 * cost
        return bool(most > SMALL_WORK and self.work * cost > SMALL_WORK)

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether the certificate may deny what the solver says, so that `fit` has to look."""
        return True

    @computed_once
    def work(self) -> float:
        """Kernel entries between the rows of the problems and their support vectors."""
        return float(sum(len(beta) * np.count_nonzero(beta) for beta in self.solved.betas()))

    def full(self, stop: Stop = None, tell: Tell = None) -> list[Any]:
        """The certificates, everything recomputed."""
        self._stop, self._tell, self._done = stop, tell, 0.0
        return self._certify()

    def _certify(self) -> list[Any]:
        each = zip(self.setup.problems, self.setup.tasks, self.solved.betas(), self.solved.intercepts, strict=True)
        return [self._certificate(*one) for one in each]

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> Any:
        projections = self._projections(task, beta)
        # Coefficients that have diverged have no finite objective, and the certificate says so.
        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, projections, intercept)

    def _projections(self, task: "BinaryTask", beta: FloatArray) -> FloatArray:
        """<w, psi(x_i)> = sum_j beta_j k(x_j, x_i) for the points of a problem."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return np.zeros(len(beta))
        if self.is_large:
            return self._projections_in_blocks(task, beta, support)
        points = self.data.prepare(np.float64, task.indices)
        return self._product(points, points.take(support), beta[support])

    def _projections_in_blocks(self, task: "BinaryTask", beta: FloatArray, support: IndexArray) -> FloatArray:
        """The same with no more memory than some rows take."""
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
        support, prepare = np.flatnonzero(beta), self._preparation(task)

        def recompute(rows: IndexArray) -> FloatArray:
            # Support vectors, too, a block at a time: all of them in double precision may not have room.
            out, left = np.zeros(len(rows)), prepare(rows)
            for begin in range(0, len(support), BLOCK):
                part = support[begin : begin + BLOCK]
                out += self._product(left, prepare(part), beta[part])
            return out

        return recompute

    def _preparation(self, task: "BinaryTask") -> Callable[[IndexArray], Any]:
        if isinstance(self.data.kernel, Precomputed):
            # Its rows are rows of one matrix, which is converted as a whole.
            return self.data.prepare(np.float64, task.indices).take
        if len(self.setup.tasks) > 1 and np.prod(self.data.shape) <= FEW:
            return lambda rows: self._everything.take(task.indices[rows])
        return lambda rows: self.data.prepare(np.float64, task.indices[rows])

    @computed_once
    def _everything(self) -> Any:
        """All rows, prepared once for the many problems that use some of them."""
        return self.data.prepare(np.float64)

    def _product(self, left: Any, right: Any, coefficients: FloatArray) -> FloatArray:
        return tiles.product(self.data.kernel, left, right, coefficients, self.n_jobs, self._stop)

    def sampled(self, stop: Stop = None) -> list[Any] | None:
        """The certificates with what the solver has taken over; None where a problem does not allow it."""
        self._stop, self._tell = stop, None
        each = zip(self.setup.problems, self.setup.tasks, self.solved.solutions, self.solved.intercepts, strict=True)
        problems = list(each)
        if not all(self._may_take_over(problem, solution) for problem, _, solution, _ in problems):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
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
        """The rows farthest from the origin, whose entries rounding disturbs most: at most so many, none where no row
        is longer than others."""
        if count == 0 or not self.data.kernel.is_dot_product_form or isinstance(self.data.kernel, Precomputed):
            return indices[:0]
        count = min(count, taken_over.SAMPLE // 4)
        return np.sort(np.argpartition(self._lengths[indices], -count)[-count:])

    @computed_once
    def _lengths(self) -> FloatArray:
        """|x - origin|^2 of all rows, but for a constant."""
        X, origin = self.data.X, self.data.origin
        norms = squared_norms(X)
        # In the precision of X, which suffices to compare: to convert that took as long as a tenth of a fit.
        return norms if origin is None else norms - 2.0 * np.asarray(X @ origin.astype(X.dtype)).ravel()


class DualCertifier(ProblemCertifier):
    """The same for solutions of duals in signed form, whose gradient can be taken over."""

    takes_over = True

    def leaves_doubt(self, tol: float | None, gap_tol: float | None) -> bool:
        """Whether rounding of kernel entries could make the violation larger than `tol`.

        What the solver has computed in double precision is off by no more than all entries together can be, and what it
        has compared with that by little more than it has seen (`Solution.rounding`). Where that does not matter,
        nothing need be recomputed to know that it is solved.
        """
        if tol is None or gap_tol is not None:
            return True
        violation = max(self.solved.violations(), default=np.inf)
        reach = max((float(np.abs(beta).sum()) for beta in self.solved.betas()), default=0.0)
        return not violation + 2.0 * ENTRY_ERROR * reach * _largest_entry(self.data) <= tol


class JointCertifier(ProblemCertifier):
    """One certificate for all functions together."""

    def _certify(self) -> list[Any]:
        beta, places = self.solved.solution.beta, self.setup.tasks[0].indices
        points = self.data.prepare(np.float64, places)
        projections = self._product(points, points, beta)
        intercept = self.solved.intercepts if beta.ndim == 2 else float(self.solved.intercepts[0])
        return [self.setup.joint.certificate(beta, projections, intercept)]


def _largest_entry(data: "TrainingData") -> float:
    """A bound of |k(x, y)| over all rows."""
    if data.kernel.is_dot_product_form:
        bound = data.kernel.entry_bound(np.inf)
        if np.isfinite(bound):
            return bound
    return float(np.abs(data.diagonal(np.arange(data.shape[0]))).max(initial=0.0))


def _entry_cost(data: "TrainingData") -> float:
    """Multiplications that a kernel entry takes, roughly."""
    if isinstance(data.kernel, Precomputed):
        return 1.0
    if not data.kernel.is_dot_product_form:
        return UNKNOWN_COST
    return data.X.nnz / max(1, data.X.shape[0]) if sparse.issparse(data.X) else data.shape[-1]
