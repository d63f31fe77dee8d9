"""Any regularised risk, by the method that its loss allows.

A loss whose dual is a quadratic program goes to the dual solver; a tube makes two variables of each,
one for either side, over a view of the matrix that shows every item twice. A smooth loss goes to
Newton's method. What a loss says of itself (`form`, `curvature`) decides.
"""

import numpy as np

from mercer._errors import ParameterError
from mercer.solvers import newton, small


def solve(problem, matrix, *, tol=1e-3, limits=None, start=None, gap_tol=None, memory=2**30, convex=True):
    """A `Solution` of a `RegularisedRisk`; parameters as in `smo.solve`."""
    loss = problem.loss
    if loss.form is not None:
        return _solve_quadratic(problem, matrix, tol, limits, start, gap_tol, memory, convex)
    if not hasattr(loss, "curvature"):
        raise ParameterError(f"the loss {loss.name!r} has neither a quadratic dual nor a curvature; no solver takes it")
    return newton.solve(problem, matrix, tol=tol, limits=limits, start=start, gap_tol=gap_tol, convex=convex)


def _solve_quadratic(problem, matrix, tol, limits, start, gap_tol, memory, convex):
    n, tube = len(problem.C), problem.loss.form.tube
    program = problem.quadratic()
    places = np.arange(n)
    part = matrix.view(np.concatenate([places, places])) if tube else matrix

    def gap(variables, gradient):
        beta = problem.merged(variables)
        projections = _projections(program, variables, gradient)[:n]
        free = program.bias(variables, gradient)
        if problem.bias == "penalised":
            projections = projections - beta.sum()
        return problem.gap(beta, projections, problem.intercept(beta, free))

    found = small.solve(
        program,
        part,
        tol=tol,
        limits=limits,
        convex=convex,
        start=None if start is None else problem.split(start),
        gap=gap,
        gap_tol=gap_tol,
        memory=memory,
    )
    found.beta, found.gradient = problem.merged(found.beta), found.gradient[:n]
    return found


def _projections(program, variables, gradient):
    """K beta, with the penalised bias, from the gradient."""
    quadratic = program.linear - gradient
    return quadratic if program.ridge is None else quadratic - program.ridge * variables
