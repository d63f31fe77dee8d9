"""Any regularised risk, by the method that its loss allows.

A loss whose dual is a quadratic program goes to the dual solver, a smooth loss to Newton's method.
The loss's `form` and `curvature` decide.
"""

from typing import TYPE_CHECKING

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.smooth import newton

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.kernel_methods.kernel_risk import KernelRisk
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.result import Solution


def solve(
    problem: "KernelRisk",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    gap_tol: float | None = None,
    memory: int = 2**30,
    convex: bool = True,
) -> "Solution":
    """A `Solution` of a `KernelRisk`; parameters as in `decomposition.solve`."""
    loss = problem.loss
    if loss.form is not None:
        return _solve_quadratic(problem, matrix, tol, limits or Limits(), start, gap_tol, memory, convex)
    if not hasattr(loss, "curvature"):
        raise ParameterError(f"the loss {loss.name!r} has neither a quadratic dual nor a curvature; no solver takes it")
    return newton.solve(
        problem, matrix, tol=tol, limits=limits, start=start, gap_tol=gap_tol, convex=convex, memory=memory
    )


def _solve_quadratic(
    problem: "KernelRisk",
    matrix: "KernelMatrix",
    tol: float,
    limits: Limits,
    start: FloatArray | None,
    gap_tol: float | None,
    memory: int,
    convex: bool,
) -> "Solution":
    program = problem.quadratic()

    def gap(beta: FloatArray, gradient: FloatArray) -> float:
        projections = _projections(program, beta, gradient)
        return problem.gap(beta, projections, problem.intercept(beta, program.bias(beta, gradient)))

    return solve_dual(
        program, matrix, tol=tol, limits=limits, convex=convex, start=start, gap=gap, gap_tol=gap_tol, memory=memory
    )


def _projections(program: "DualProblem", beta: FloatArray, gradient: FloatArray) -> FloatArray:
    """K beta, from the gradient."""
    quadratic = program.linear - gradient - program.shift * beta.sum()
    return quadratic if program.ridge is None else quadratic - program.ridge * beta
