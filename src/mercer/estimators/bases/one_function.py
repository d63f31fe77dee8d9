"""Models that are one function: regression and one-class learning."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.fitting.parameters import require_flag, require_optional_number
from mercer.estimators.fitting.tasks import BinaryTask
from mercer.estimators.fitting.training import Budget, solve_all
from mercer.estimators.fitting.two_class import Solved
from mercer.estimators.fitting.weights import target_weights
from mercer.estimators.out_of_core.given import are_blocks, no_sum_of_losses
from mercer.solvers.dual_qp.solve import solve_dual

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class OneProblem:
    """The problem of a fit in the form in which `Solved` and `ProblemCertifier` take several.

    Parameters
    ----------
    problem
        One of `mercer.problems`.
    indices : ndarray of int
        The points that take part.
    n : int
        Number of all points.
    """

    has_pairs = False
    n_classes = 1

    def __init__(self, problem: Any, indices: IndexArray, n: int) -> None:
        self.problems = [problem]
        self.tasks = [BinaryTask(indices, np.ones(len(indices)), (0,))]
        self.codes = np.zeros(n, np.intp)


class OneFunctionModel(KernelModel):
    """Base class; a subclass defines its problem (`_problem`)."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("cache_size", self.cache_size, above=0.0)
        require_flag("warm_start", self.warm_start)

    if TYPE_CHECKING:

        def _checked(self, X: Rows, y: Any, sample_weight: ArrayLike | None) -> tuple[Rows, Array | None]:
            """Rows, targets if any, with "auto" parameters resolved."""

    def _targets_of_blocks(self, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> tuple[Array, Any]:
        """(targets, weights or None) of `Blocks`, for a machine that can learn from them."""
        raise no_sum_of_losses(self)

    def _learn(self, limits: "Limits", X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> None:
        if are_blocks(X):
            y, sample_weight = self._targets_of_blocks(X, y, sample_weight, limits)
        else:
            X, y = self._checked(X, y, sample_weight)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = target_weights(sample_weight, n)
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        items, data = self._bound(X, None if sample_weight is None else weights, budget, 1, limits)
        setup = self._setup(y, weights, data)
        solved = self._solved(data, setup, budget, limits)
        self._items = items
        self._keep(X, data, setup, solved)
        self.n_iter_ = int(self.n_iter_[0])

    def _setup(self, y: Array | None, weights: FloatArray, data: "TrainingData | None" = None) -> OneProblem:
        """The problem of checked targets, if any, with the weight of each row."""
        used = np.flatnonzero(weights)
        problem = self._problem(None if y is None else y[used], weights[used], data, used)
        return OneProblem(problem, used, len(weights))

    def _solve(self, data: "TrainingData", setup: Any, budget: Budget, limits: "Limits") -> "SolvedProblems":
        (start,) = self._starts(setup) or [None]

        def solve(problem: Any, part: "KernelMatrix", _: int) -> "Solution":
            return self._solve_one(
                problem,
                part,
                tol=self.tol,
                limits=limits,
                start=start,
                gap=problem.gap,
                gap_tol=self.gap_tol,
                memory=budget.working,
                convex=data.kernel.is_psd is True,
            )

        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))

    def _solve_one(self, problem: Any, matrix: "KernelMatrix", **options: Any) -> "Solution":
        return solve_dual(problem.dual(), matrix, **options)

    def _function(self, X: Rows) -> FloatArray:
        """The function at the rows of X."""
        return self._values(X)[:, 0]
