"""Solve the nu-form until its margin is known.

Its classifier is divided by the margin rho, which a solution to `tol` determines to about `tol`, in the scale of
kernel values times weights. If rho is not well above that, as with small kernel values or classes that hardly
separate, the divided function is still meaningless: the solver continues to finer tolerances, until rho stands out or
is zero up to rounding. Otherwise nothing is done.

Cost: that of the solver for each factor of a hundred. Needs: a `NuMargin`.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._types import FloatArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix
from mercer.problems.svm.nu import NuMargin, is_nothing
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status

# Factor between successive tolerances.
FINER = 1e-2


def solve(
    problem: NuMargin,
    matrix: KernelMatrix,
    *,
    tol: float,
    limits: Limits,
    start: FloatArray | None = None,
    **options: Any,
) -> Solution:
    """`solve_dual` for the dual of a `NuMargin`."""
    dual = problem.dual()
    found = solve_dual(dual, matrix, tol=tol, limits=limits, start=start, **options)
    finest = problem.finest(float(np.abs(matrix.diag).max(initial=0.0)))
    while found.status == Status.OPTIMAL and tol > finest and not _is_known(problem, matrix, found, tol):
        tol = max(FINER * tol, finest)
        left = limits.after(found.iterations)
        finer = solve_dual(dual, matrix, tol=tol, limits=left, start=found.beta, **options)
        if finer.status != Status.OPTIMAL:
            break  # solved, but rounding or a limit hides the margin
        found = replace(finer, iterations=found.iterations + finer.iterations, trace=[*found.trace, *finer.trace])
    if found.status == Status.OPTIMAL and _is_nothing(matrix, found):
        # Rounding may leave a difference between the biases too, and noise divided by noise is not small.
        middle = problem.margin(found.bias) * problem.intercept(found.beta, found.bias)
        return replace(found, bias=np.full(2, middle))
    return found


def _is_known(problem: NuMargin, matrix: KernelMatrix, found: Solution, tol: float) -> bool:
    """Whether the margin is well above `tol`, or zero."""
    return problem.is_resolved(found.bias, tol) or _is_nothing(matrix, found)


def _is_nothing(matrix: KernelMatrix, found: Solution) -> bool:
    return found.is_gradient_complete and is_nothing(found.beta, -found.gradient, matrix.diag)
