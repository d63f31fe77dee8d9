"""The two forms in which stochastic gradient descent keeps its iterates.

*w*: a weight for each feature. *alpha*: a coefficient for each support vector, for any kernel.
Both hold one iterate for each two-class problem, take rows from a fixed set or as they come,
and can continue from where they stopped.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.training import Budget, TrainingData, stored_if_small
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.vector.linear import Linear
from mercer.solvers.result import Status
from mercer.solvers.stochastic.kernel_pegasos import KernelIterate
from mercer.solvers.stochastic.pegasos import LinearIterate, run_steps
from mercer.solvers.tolerances import IN_DOUBLE

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.stochastic.pegasos import Iterate, Steps


def _each(iterates: "Sequence[Iterate]", work: Callable[[int], Any], n_jobs: int | None) -> list[Any]:
    """work(k) for each two-class problem, side by side; the results in order."""
    answers = [None] * len(iterates)

    def run(k: int) -> None:
        answers[k] = work(k)

    run_parallel(run, range(len(iterates)), thread_count(n_jobs))
    return answers


def _sample(
    iterates: "Sequence[Iterate]",
    source: Any,
    sides: FloatArray,
    weights: FloatArray,
    sampler: Any,
    T: int,
    limits: "Limits",
    n_jobs: int | None,
) -> tuple[Status, list[Any]]:
    """T steps of each problem over drawn rows: (status, traces)."""
    found = _each(iterates, lambda k: run_steps(iterates[k], source, sides[k], weights, sampler, T, limits), n_jobs)
    return Status.worst([status for status, _ in found]), [trace for _, trace in found]


def _visit(
    iterates: "Sequence[Iterate]",
    source: Any,
    sides: FloatArray,
    weights: FloatArray,
    places: IndexArray,
    limits: "Limits",
    n_jobs: int | None,
) -> tuple[Status, list[Any]]:
    """One visit to each of `places` in order: (status, a trace point for each problem)."""

    def work(k: int) -> Any:
        def draw(first: int, count: int) -> IndexArray:
            return places[first : first + count]

        status = iterates[k].run(source, sides[k], weights, (draw, len(places)), limits)
        return status or Status.OPTIMAL, iterates[k].take_trace(limits)

    found = _each(iterates, work, n_jobs)
    return Status.worst([status for status, _ in found]), [point for _, point in found]


class WeightForm:
    """Weights of features, for the linear kernel."""

    def __init__(self, n_features: int, n_problems: int, steps: "Steps") -> None:
        self.iterates = [LinearIterate(n_features, steps) for _ in range(n_problems)]
        self.has_bias = steps.has_bias

    def fit(
        self,
        X: Rows,
        sides: FloatArray,
        weights: FloatArray,
        sampler: Any,
        T: int,
        limits: "Limits",
        n_jobs: int | None,
    ) -> tuple[Status, list[Any]]:
        """T steps over rows of X that `sampler` draws."""
        return _sample(self.iterates, X, sides, weights, sampler, T, limits, n_jobs)

    def visit(
        self, X: Rows, sides: FloatArray, weights: FloatArray, limits: "Limits", n_jobs: int | None
    ) -> tuple[Status, list[Any]]:
        """A visit to each row of X."""
        places = np.arange(X.shape[0])
        return _visit(self.iterates, X, sides, weights, places, limits, n_jobs)

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """(weights (n_problems, d), intercepts)."""
        found = [iterate.weights() for iterate in self.iterates]
        return np.array([w for w, _ in found]), np.array([b for _, b in found])

    def expansion(self) -> Expansion:
        """The weights as functions: each is the linear kernel with one vector."""
        weights, intercepts = self.coefficients()
        return Expansion.single(Linear(), weights, np.eye(len(weights)), intercepts)

    def squares(self, X: Rows) -> FloatArray:
        """|x|^2 of each row, the penalised bias feature included."""
        return RowProducts(view_rows(X), X.shape[1]).squares() + float(self.has_bias)


class KernelForm:
    """Coefficients of support vectors, for any kernel.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    n_problems : int
    steps : Steps
    budget : int or None
    strategy : {"merging", "removal"}
    memory_limit : int, str or None
    """

    if TYPE_CHECKING:
        origin: FloatArray | None

    def __init__(
        self,
        kernel: "Kernel",
        n_problems: int,
        steps: "Steps",
        budget: int | None,
        strategy: str,
        memory_limit: int | str | None,
    ) -> None:
        self.kernel, self.memory_limit, self.has_bias = kernel, memory_limit, steps.has_bias
        self.iterates = [KernelIterate(0, steps, budget, strategy) for _ in range(n_problems)]
        self.items, self.vectors, self.origin = None, None, None
        self.support = np.empty(0, np.int64)

    def fit(
        self,
        X: Rows,
        sides: FloatArray,
        weights: FloatArray,
        sampler: Any,
        T: int,
        limits: "Limits",
        n_jobs: int | None,
    ) -> tuple[Status, list[Any]]:
        """T steps over items of X that `sampler` draws."""
        data, matrix = self._matrix(X, limits, n_jobs)
        self.iterates = [iterate.extended(matrix.n) for iterate in self.iterates]
        # One after the other: each product uses all cores.
        ended = _sample(self.iterates, matrix, sides, weights, sampler, T, limits, 1)
        self._keep(data)
        return ended

    def visit(
        self, X: Rows, sides: FloatArray, weights: FloatArray, limits: "Limits", n_jobs: int | None
    ) -> tuple[Status, list[Any]]:
        """A visit to each item of X, after the present support vectors."""
        held = len(self.support)
        more = X.shape[0] if hasattr(X, "shape") else len(X)
        data, matrix = self._matrix(_joined(self.items, X), limits, n_jobs)
        self.iterates = [iterate.extended(more) for iterate in self.iterates]
        # Support vectors carry signs and weights in their coefficients; these entries are not read.
        sides = np.concatenate([np.ones((len(sides), held)), sides], axis=1)
        weights = np.concatenate([np.ones(held), weights])
        ended = _visit(self.iterates, matrix, sides, weights, np.arange(held, held + more), limits, 1)
        self._keep(data)
        return ended

    def _matrix(self, X: Rows, limits: "Limits", n_jobs: int | None) -> "tuple[TrainingData, KernelMatrix]":
        data, budget = TrainingData(self.kernel, X), Budget.resolve(self.memory_limit, None, X)
        # Kernel values in single precision could change a step.
        matrix = data.matrix(IN_DOUBLE, None, budget, n_jobs)
        # Without reports on the matrix: callbacks of stochastic descent expect points of another kind.
        return data, stored_if_small(matrix, budget, lambda _share=None: limits.stop())

    def _keep(self, data: TrainingData) -> None:
        """Drop everything but the support vectors of any problem."""
        self.support = np.unique(np.concatenate([iterate.support() for iterate in self.iterates]))
        for iterate in self.iterates:
            iterate.keep(self.support)
        self.items, self.vectors = data.support_vectors(self.support), data.expansion_vectors(self.support)
        self.origin = data.origin

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """(coefficients (n_problems, n_support), intercepts)."""
        found = np.array([iterate.coefficients() for iterate in self.iterates])
        return found, found.sum(axis=1) * float(self.has_bias)

    def expansion(self) -> Expansion:
        """The decision functions."""
        coefficients, intercepts = self.coefficients()
        return Expansion.single(self.kernel, self.vectors, coefficients.T, intercepts, self.origin)

    def squares(self, X: Rows) -> FloatArray:
        """k(x, x) of each item, the penalised bias feature included."""
        data = TrainingData(self.kernel, X)
        return np.maximum(self.kernel.diag_of(data.prepare(np.float64)), 0.0) + float(self.has_bias)

    @property
    def is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed)


def _joined(items: Any, more: Any) -> Any:
    """Items with others of the same kind appended."""
    if items is None:
        return more
    if sparse.issparse(more):
        return sparse.vstack([items, more], format="csr")
    return [*items, *more] if isinstance(more, list) else np.concatenate([items, more])
