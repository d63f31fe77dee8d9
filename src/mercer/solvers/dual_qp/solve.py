"""The entry point to the dual: `solve_dual` takes any `DualProblem` over any `KernelMatrix`.

`policy` decides how; each way has its own file. Problems that are not solved to rounding error (a larger matrix, an
indefinite kernel, an unbounded dual) are solved in rounds of working sets.
"""

from typing import Any, cast

import numpy as np

from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp import decomposition, polish
from mercer.solvers.dual_qp.policy import is_exact
from mercer.solvers.dual_qp.start_from_sample import sampled_start
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution


# Huge bounds and weights may overflow; the status reports the outcome.
@np.errstate(over="ignore", invalid="ignore")
def solve_dual(
    problem: DualProblem,
    matrix: KernelMatrix,
    *,
    tol: float,
    limits: Limits,
    convex: bool,
    start: np.ndarray | None = None,
    gap_tol: float | None = None,
    **options: Any,
) -> Solution:
    """Solve a dual problem over a kernel matrix.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    tol : float
        Largest violation of the KKT conditions at the end.
    limits : Limits
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    start : ndarray, optional
        Coefficients to start from.
    gap_tol : float, optional
        Stop as soon as the gap is this small, instead of at `tol`.
    **options
        `gap`, `memory` and `is_trusted`, as in `decomposition.solve`.

    Returns
    -------
    Solution
    """
    asked: dict[str, Any] = {"tol": tol, "convex": convex, "gap_tol": gap_tol}
    if start is None and problem.has_total:
        start = sampled_start(problem, matrix, limits, solve_dual, {**asked, **options})
    if is_exact(matrix):
        solution = polish.solve(
            problem, cast(StoredMatrix, matrix), limits=limits, start=start, gap=options.get("gap"), **asked
        )
        if solution is not None:
            return solution
    return decomposition.solve(problem, matrix, limits=limits, start=start, **asked, **options)


def solve_for_scores(
    problem: DualProblem,
    matrix: KernelMatrix,
    *,
    tol: float,
    score_tol: float,
    limits: Limits,
    convex: bool,
    start: np.ndarray | None = None,
    solver: Any = solve_dual,
    **options: Any,
) -> Solution:
    """`solve_dual`, only as accurate as decision values within `score_tol` require: for the folds of a fit."""
    if not is_exact(matrix):  # small problems are solved to rounding error anyway
        tol = max(tol, score_tol)
        if solver is solve_dual and matrix.is_stored and not matrix.is_rough:
            # The entries are more accurate than the scores need, and comparing them would take as long as the steps.
            options["is_trusted"] = True
    return solver(problem, matrix, tol=tol, limits=limits, convex=convex, start=start, **options)
