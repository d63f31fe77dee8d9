"""Decision values of rows left out, exactly, without solving again.

Method: the coefficient of a support vector is led back to zero while all other conditions hold
(Cauwenberghs & Poggio 2000); the result solves the problem without it, so its value there is that of
a model that never saw it. Rows that are not support vectors can be left out without change.

Cost: some events for each support vector, the k-th taking k n multiplications; all start from the same
tableau, which none of them changes, and run two at a time on two cores. Needs: twice the matrix in memory
in double precision; a positive semidefinite kernel.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._jit.threads import Stopped, one_blas_thread, run_parallel, thread_count
from mercer._types import FloatArray
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.paths.parametric_events import Cycling, Infeasible
from mercer.solvers.paths.parametric_qp import Homotopy

if TYPE_CHECKING:
    from mercer.problems.svm.soft_margin import SoftMargin
    from mercer.solvers.limits import Limits

# Larger bounds never bind.
LARGEST_BOUND = 1e150
NEARLY = 1e-6


class ExactSolution:
    """The solution of a two-class problem to rounding error, which can be led elsewhere.

    Parameters
    ----------
    problem : SoftMargin
    matrix : StoredMatrix
        In double precision.
    limits : Limits

    Attributes
    ----------
    values : ndarray (n, padded(n))
        K + s 11' + R, including the terms of a penalised bias and the squared hinge.
    homotopy : Homotopy
    """

    @one_blas_thread()
    def __init__(self, problem: "SoftMargin", matrix: StoredMatrix, limits: "Limits") -> None:
        self.problem, self.dual, n = problem, problem.dual(), matrix.n
        dual = self.dual
        self.values = matrix.values.copy() if dual.shift or dual.ridge is not None else matrix.values
        if dual.shift:
            self.values[:, :n] += dual.shift
        if dual.ridge is not None:
            self.values[np.arange(n), np.arange(n)] += dual.ridge
        found = solve_dual(dual, matrix, tol=NEARLY, limits=limits, convex=True)
        homotopy = Homotopy(self.values, dual.linear, problem.signs, self.bounds, dual.has_equality)
        self.homotopy = homotopy.settle(found.beta, limits)

    @property
    def bounds(self) -> FloatArray:
        """The upper bound of each alpha."""
        return np.minimum(np.maximum(self.dual.upper, -self.dual.lower), LARGEST_BOUND)

    @property
    def beta(self) -> FloatArray:
        """Signed coefficients."""
        return self.homotopy.beta

    @property
    def decision_values(self) -> FloatArray:
        """f(x_i) = (K beta)_i + b, without the squared hinge's contribution to the diagonal."""
        own = 0.0 if self.dual.ridge is None else self.dual.ridge * self.beta
        return self.dual.linear - self.homotopy.gradient - own + self.homotopy.bias

    def values_left_out(self, limits: "Limits", n_jobs: int | None = None) -> FloatArray:
        """The decision value at each row of a model trained without it.

        Raises Stopped if the limits say so.
        """
        out, matrix = self.decision_values, StoredMatrix(self.values)

        def leave_out(point: int) -> None:
            out[point] = _without(self.homotopy, point, self.problem, matrix, limits)

        run_parallel(leave_out, np.flatnonzero(self.beta), thread_count(n_jobs), limits.stop)
        return out


def _without(whole: Homotopy, point: int, problem: "SoftMargin", matrix: StoredMatrix, limits: "Limits") -> float:
    """f(x_point) of the solution without that point."""
    alone = np.count_nonzero(problem.signs == problem.signs[point]) == 1
    if alone and problem.bias == "free":
        # Only one class is left, and the bias puts everything there.
        return -problem.signs[point]
    part = whole.copy()
    try:
        part.take_back(point)
        return part.value_at(point)
    except (Cycling, Infeasible):
        return _solved_without(point, problem, matrix, limits)


def _solved_without(point: int, problem: "SoftMargin", matrix: StoredMatrix, limits: "Limits") -> float:
    """The same by solving again, where ties do not resolve."""
    held = np.zeros(matrix.n, bool)
    held[point] = True
    _, dual = problem.without(held)
    dual = replace(dual, shift=0.0, ridge=None)  # the matrix has both in it already
    found = solve_dual(dual, matrix, tol=1e-9, limits=limits.unwatched(), convex=True)
    if limits.stop():
        raise Stopped
    return float(matrix.rows(np.array([point]))[0] @ found.beta) + cast(float, found.bias)
