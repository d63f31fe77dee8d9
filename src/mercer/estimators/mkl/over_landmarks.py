"""Kernel weights learnt over landmarks.

The sum of kernels restricted to landmarks spans other functions with other weights, so that weights and function
together would not be a convex problem. With coordinates of each kernel by itself, it is the problem of
`mercer.problems.mkl.weighted_kernels` for the kernels K^_m = F_m F_m', and what solves that solves it. Products with a
kernel cost n m instead of n^2. The machine is then that of the weighted sum over the same landmarks.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.low_rank.over_blocks import better_choice, machine_of
from mercer.estimators.low_rank.restricted import FEW_ROWS, Landmarks, require_room, rows_used
from mercer.estimators.mkl.solve import Machines
from mercer.kernels._types import Stop
from mercer.kernels.gram.kernel_family import SeveralKernels
from mercer.kernels.items.rows import Rows
from mercer.kernels.vector.linear import Linear
from mercer.solvers.blocks.newton import solve_many
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.blocks.source import LocalBlocks
from mercer.solvers.low_rank.basis import Basis
from mercer.solvers.result import Solution, Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import Budget
    from mercer.estimators.mkl.kernels import BaseKernelData
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits

# Rows of a block, and the share of the required gap to which machines are solved over blocks.
ROWS, SHARE = 8192, 0.2


class SeveralCoordinates(SeveralKernels):
    """Kernels that are inner products of coordinates (n, m), one array for each."""

    def __init__(self, coordinates: Sequence[FloatArray], n_jobs: int | None = None) -> None:
        super().__init__([Linear() for _ in coordinates], [Rows(each) for each in coordinates], n_jobs)
        self.coordinates = list(coordinates)

    def products(
        self, coefficients: FloatArray, chosen: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        if self.matrices is not None:
            return super().products(coefficients, chosen, stop)
        return np.stack([each @ (each.T @ coefficients) for each in self._parts(chosen)])

    def quadratic_forms(self, coefficients: FloatArray, chosen: IndexArray) -> FloatArray:
        if self.matrices is not None:
            return super().quadratic_forms(coefficients, chosen)
        return np.array([np.sum((each.T @ coefficients) ** 2) for each in self._parts(chosen)])

    def inner_products(self, weights: FloatArray, stop: Stop | None = None) -> FloatArray:
        weighted = [weights[:, None] * each for each in self.coordinates]
        return np.array([[np.sum((left.T @ right) ** 2) for right in self.coordinates] for left in weighted])

    def _parts(self, chosen: IndexArray | None) -> list[FloatArray]:
        return self.coordinates if chosen is None else [each[chosen] for each in self.coordinates]

    def stacked(self, weights: FloatArray) -> FloatArray:
        """Rows whose inner products are the weighted sum of the kernels."""
        return np.hstack([np.sqrt(w) * each for w, each in zip(weights, self.coordinates, strict=True) if w > 0.0])


class LandmarkMachines(Machines):
    """`Machines` in coordinates; those of many rows are solved over blocks of them.

    Attributes
    ----------
    objectives : list of Objective or None
        Of each problem, where it is a sum of losses over rows.
    """

    several: SeveralCoordinates
    objectives: list[Objective] | None = None

    def matrix(self, weights: FloatArray, ridge: FloatArray | None = None) -> "KernelMatrix":
        if self.are_kept:
            return super().matrix(weights, ridge)
        self._rows, self._first_tol = self.several.stacked(weights), getattr(self, "_first_tol", self.tol)
        return TrainingData(Linear(), self._rows).matrix(self.tol, self.gap_tol, self.budget, self.data.n_jobs)

    def solutions(
        self,
        matrix: "KernelMatrix",
        betas: Sequence[FloatArray] | None = None,
        setup: Any = None,
        problems: Sequence[Any] | None = None,
    ) -> list[Solution]:
        is_own = setup is None and problems is None
        if self.are_kept or not is_own or self.objectives is None or self.several.n <= FEW_ROWS:
            return super().solutions(matrix, betas, setup, problems)
        rows, n = self._rows, self.several.n
        tasks, spans = self.setup.tasks, [slice(begin, begin + ROWS) for begin in range(0, n, ROWS)]
        blocks = LocalBlocks(
            lambda i, dtype: rows[spans[i]].astype(dtype, copy=False),
            [len(rows[span]) for span in spans], rows.shape[1], self.data.n_jobs, self.limits.stop,
        )  # fmt: skip
        machines = [machine_of(each, task.indices, n) for each, task in zip(self.objectives, tasks, strict=True)]
        gap_tol = self.tol if self.gap_tol is None else SHARE * self.gap_tol * self.tol / self._first_tol
        found = solve_many(blocks, machines, gap_tol=gap_tol, limits=self.limits, starts=self._starts(betas))
        self._widths = [each.width for each in found]
        return [self._solution(*each) for each in zip(self.setup.problems, tasks, found, strict=True)]

    def _starts(self, betas: Sequence[FloatArray] | None) -> list[BlockSolution | None]:
        """The last coefficients in the present coordinates."""
        starts: list[BlockSolution | None] = [None] * len(self.setup.tasks)
        for k, beta in enumerate(betas or ()):
            whole = np.zeros(self.several.n)
            whole[self.setup.tasks[k].indices] = beta
            w = self._rows.T @ whole
            last = self._last[0].solutions[k] if self._last is not None else None
            bias = 0.0 if last is None else float(last.bias)
            starts[k] = BlockSolution(w, w, bias, whole, Status.OPTIMAL, 0, None, [], self._widths[k])
        return starts

    def _solution(self, problem: Any, task: Any, found: BlockSolution) -> Solution:
        """With the gradient of its dual, from its coefficients alone."""
        dual, beta = problem.dual(), found.beta[task.indices]
        values = self._rows[task.indices] @ (self._rows[task.indices].T @ beta)
        gradient = dual.linear - values - dual.shift * beta.sum()
        if dual.ridge is not None:
            gradient = gradient - dual.ridge * beta
        return Solution(beta, gradient, dual.bias(beta, gradient), found.status, found.iterations)


def coordinates_of_each(
    model: Any, data: "BaseKernelData", setup: Any, budget: "Budget", limits: "Limits"
) -> SeveralCoordinates:
    """The coordinates of all rows for each kernel, over the landmarks that a model asks for, drawn once."""
    marks = Landmarks(model, model.approximation, data, rows_used(setup), limits)
    if marks.choice == "auto":
        marks.choice = better_choice(marks, setup, model._objectives(setup), limits)
    marks.take(model.approximation.landmarks)
    n, m = data.shape[0], marks.basis.size
    # Once for each kernel, and once more for the weighted sum of them.
    require_room(16 * n * m * len(data.kernels), budget, data.X)
    found = []
    for place, kernel in enumerate(data.kernels):
        items = data.prepared(place, kernel)
        own = partial(_same, marks.prepared_for(kernel, items))
        basis = Basis(kernel, own, np.float64, model.n_jobs, limits.stop)
        found.append(basis.coordinates(items, limits.stop))
    return SeveralCoordinates(found, model.n_jobs)


def _same(items: Any, _dtype: Any) -> Any:
    return items
