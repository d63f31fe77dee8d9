"""The state of a dual solver: coefficients, their gradient, and the value of the dual."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix
from mercer.problems.svm.signed_dual import DualProblem

NOTHING = np.arange(0)


class DualState:
    """Coefficients of a dual problem with their gradient.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    start : ndarray, optional
        Coefficients to start from; `DualProblem.beginning` otherwise.
    stop : callable, optional
        Asked during long products (see `run_parallel`).
    """

    def __init__(
        self,
        problem: DualProblem,
        matrix: KernelMatrix,
        start: FloatArray | None = None,
        stop: Callable[..., Any] | None = None,
    ) -> None:
        self.problem, self.matrix, self.stop = problem, matrix, stop
        self.beta = problem.beginning(start)
        self.gradient = problem.gradient(matrix, self.beta, stop)
        self.dual = problem.objective(self.beta, self.gradient)
        # False while the gradient waits for a product in progress.
        self.is_current = True

    def extremes(self) -> tuple[float, float] | FloatArray:
        """Largest gradient that may rise, smallest that may fall."""
        return self.problem.extremes(self.beta, self.gradient)

    def move(
        self,
        indices: IndexArray,
        beta: FloatArray,
        moved: IndexArray,
        change: FloatArray,
        own: FloatArray | None = None,
    ) -> None:
        """Set beta[indices], where `moved` changed by `change`, and update the gradient.

        `own` is the resulting decrease of the gradient at `indices`, if already known.
        """
        self.dual += self.problem.kink_cost(self.beta[indices]) - self.problem.kink_cost(beta)
        self.beta[indices] = beta
        if len(moved) == 0:
            return
        before = self.gradient[moved]
        self.is_current = False
        if own is None:
            self.gradient -= self.problem.quadratic_product(self.matrix, moved, change, stop=self.stop)
        else:
            is_other = np.ones(len(self.problem), bool)
            is_other[indices] = False
            rows = np.flatnonzero(is_other)
            if len(rows):
                self.gradient[rows] -= self.problem.quadratic_product(self.matrix, moved, change, rows, self.stop)
            self.gradient[indices] -= own
        self.is_current = True
        self.dual += 0.5 * float(change @ (before + self.gradient[moved]))

    def gradient_in_double(self, rows: IndexArray) -> FloatArray:
        """The gradient at `rows` from kernel entries in double precision."""
        problem, beta = self.problem, self.beta
        support = np.flatnonzero(beta)
        product = self.matrix.product_in_double(support, beta[support], rows)
        product += problem.shift * beta.sum()
        if problem.ridge is not None:
            product += problem.ridge[rows] * beta[rows]
        return problem.linear[rows] - product

    def rounding_error(self, level: float | FloatArray, apart: IndexArray = NOTHING) -> float:
        """The error of single precision in the gradient, sampled at free coordinates or at those whose gradient is
        nearest to the bias `level`; coordinates that stand `apart` are excluded."""
        matrix = self.matrix
        candidates = np.setdiff1d(np.flatnonzero(self.problem.is_free(self.beta)), apart, assume_unique=True)
        if len(candidates) == 0:
            distances = np.abs(self.gradient - self.problem.thresholds(level))
            distances[apart] = np.inf
            candidates = np.argsort(distances, kind="stable")[: matrix.rows_to_compare]
        sample = candidates[:: max(1, len(candidates) // matrix.rows_to_compare)]
        # Long rows lose the most digits, so a sample without them would be too optimistic.
        sample = np.union1d(sample, matrix.longest(candidates, matrix.rows_to_compare // 4))
        return float(np.abs(self.gradient_in_double(sample) - self.gradient[sample]).max(initial=0.0))

    def switch_to_double(self) -> None:
        """Continue with a matrix in double precision."""
        self.matrix = self.matrix.in_double()
        self.gradient = self.problem.gradient(self.matrix, self.beta, self.stop)

    def balance(self) -> None:
        """Remove accumulated rounding from the sum of beta, where the box leaves room."""
        self.beta = self.problem.balanced(self.beta)
