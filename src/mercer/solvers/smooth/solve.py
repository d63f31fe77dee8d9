"""Any regularised risk, by the method that its loss allows.

A loss whose dual is a quadratic program goes to the dual solver, a smooth loss to Newton's method.
What a loss says of itself (`form`, `curvature`) decides.
"""

from mercer._errors import ParameterError
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.smooth import newton


def solve(problem, matrix, *, tol=1e-3, limits=None, start=None, gap_tol=None, memory=2**30, convex=True):
    """A `Solution` of a `KernelRisk`; parameters as in `decomposition.solve`."""
    loss = problem.loss
    if loss.form is not None:
        return _solve_quadratic(problem, matrix, tol, limits, start, gap_tol, memory, convex)
    if not hasattr(loss, "curvature"):
        raise ParameterError(f"the loss {loss.name!r} has neither a quadratic dual nor a curvature; no solver takes it")
    return newton.solve(
        problem, matrix, tol=tol, limits=limits, start=start, gap_tol=gap_tol, convex=convex, memory=memory
    )


def _solve_quadratic(problem, matrix, tol, limits, start, gap_tol, memory, convex):
    program = problem.quadratic()

    def gap(beta, gradient):
        projections = _projections(program, beta, gradient)
        return problem.gap(beta, projections, problem.intercept(beta, program.bias(beta, gradient)))

    return solve_dual(
        program, matrix, tol=tol, limits=limits, convex=convex, start=start, gap=gap, gap_tol=gap_tol, memory=memory
    )


def _projections(program, beta, gradient):
    """K beta, from the gradient."""
    quadratic = program.linear - gradient - program.shift * beta.sum()
    return quadratic if program.ridge is None else quadratic - program.ridge * beta
