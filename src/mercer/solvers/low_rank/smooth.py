"""A smooth risk of one or several functions in coordinates: Newton's method without any matrix of all rows.

The steps are those of `mercer.solvers.smooth.feature_newton`; products with the kernel matrix are two with coordinates.

Cost of a step: see `feature_newton` for up to `FACTORED` coordinates of all functions, `feature_system` for more.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.threads import Stopped, one_blas_thread
from mercer._types import FloatArray
from mercer.solvers.result import Solution, Status
from mercer.solvers.smooth.feature_newton import CoordinateSteps
from mercer.solvers.smooth.feature_system import IteratedSystem, bytes_of_system
from mercer.solvers.smooth.optimal_bias import flat

if TYPE_CHECKING:
    from mercer.solvers._types import SmoothRisk
    from mercer.solvers.limits import Limits

# Up to this many coordinates of all functions together, the Hessian is factored.
FACTORED = 500
# Doubles for each row and function: coefficients, values, probabilities, and what is computed of them.
STATE = 15


class Spanned:
    """L L' as an operator, never formed."""

    def __init__(self, factor: FloatArray) -> None:
        self.factor = factor

    def __matmul__(self, columns: FloatArray) -> FloatArray:
        return self.factor @ (self.factor.T @ columns)

    def __abs__(self) -> "Spanned":
        """A bound on the entries: products of the lengths of the rows."""
        return Spanned(np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))[:, None])


def bytes_beside(n: int, m: int, k: int, bias: str, *, in_single: bool) -> int:
    """What `solve` takes at most beside coordinates (n, m) of k functions."""
    r = m + (bias == "penalized")
    copied, state = 8 * n * r * (bias == "penalized"), 8 * n * k * STATE
    if k * r <= FACTORED:
        return copied + state + 8 * n * (r + 1)
    return copied + state + bytes_of_system(n, r, k, in_single)


def solve(
    problem: "SmoothRisk", coordinates: FloatArray, *, tol: float, gap_tol: float | None, limits: "Limits",
    start: FloatArray | None = None, memory: float = np.inf,
) -> Solution:  # fmt: skip
    """A `Solution` of a `KernelRisk` or `Multinomial` whose kernel matrix is that of coordinates (n, m).

    With `memory` for it, products are in single precision as long as that is enough.
    """
    n, k = len(coordinates), problem.n_functions
    factor = np.column_stack([coordinates, np.ones(n)]) if problem.bias == "penalized" else coordinates
    begin = np.zeros((n, k)) if start is None else problem.feasible(start).reshape(n, k)
    system = None
    try:
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            if k * factor.shape[1] > FACTORED:
                in_single = bytes_beside(n, coordinates.shape[1], k, problem.bias, in_single=True) <= memory
                system = IteratedSystem(factor, k, problem.bias == "free", limits.stop, in_single)
            matrix: Any = Spanned(factor)
            steps = CoordinateSteps(problem, matrix, factor, tol, gap_tol, limits, begin, system)
            status = steps.run()
    except Stopped:
        status = limits.reached() or Status.INTERRUPTED
        nothing = np.zeros((n, k))
        return Solution(flat(nothing), flat(nothing), np.zeros(k) if k > 1 else 0.0, status, 0)
    beta = flat(steps.beta)
    bias = steps.b if k > 1 else float(steps.b[0])
    return Solution(beta, np.zeros_like(beta), bias, status, steps.iterations, trace=steps.trace)
