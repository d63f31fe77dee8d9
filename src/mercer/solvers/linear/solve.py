"""The choice of solver for a linear model: dual coordinate descent, Newton's method, or one after the other.

With few features and many rows, Newton's method, whose systems are small. Otherwise coordinate descent,
which needs a dozen passes if features are many and sparse. If it turns out to be slow (large C,
correlated features), Newton's method continues from where it is.
"""

from typing import TYPE_CHECKING

from mercer._errors import ParameterError
from mercer._jit.threads import one_blas_thread
from mercer.solvers.linear import dual_cd, proximal_newton
from mercer.solvers.linear.proximal_newton_system import DIRECT

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.problems.linear.dual import LinearDual
    from mercer.solvers.limits import Limits
    from mercer.solvers.linear_result import LinearSolution

SOLVERS = ("auto", "dual_cd", "newton")
# Remaining passes that coordinate descent may seem to need before Newton's method takes over.
PATIENCE = 2000
# Up to this many rows and features, a machine is solved to rounding error.
TINY = 100


def solve(
    products: "RowProducts",
    dual: "LinearDual",
    *,
    gap_tol: float,
    limits: "Limits",
    solver: str = "auto",
    start: "LinearSolution | None" = None,
    seed: int = 0,
) -> "LinearSolution":
    """Solve a linear machine by the solver of that name.

    Parameters
    ----------
    products : RowProducts
    dual : LinearDual
    gap_tol : float
    limits : Limits
    solver : {"auto", "dual_cd", "newton"}
    start : LinearSolution, optional
    seed : int

    Returns
    -------
    LinearSolution
    """
    if solver not in SOLVERS:
        raise ParameterError(f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {solver!r}")
    with one_blas_thread():
        if solver == "newton" or (solver == "auto" and _has_small_systems(products)):
            return proximal_newton.solve(
                products, dual, gap_tol=gap_tol, limits=limits, start=start, polish=is_tiny(products)
            )
        patience = PATIENCE if solver == "auto" else float("inf")
        beta = None if start is None else start.beta
        found = dual_cd.solve(products, dual, gap_tol=gap_tol, limits=limits, start=beta, seed=seed, patience=patience)
        if found.status is not None:
            return found
        after = proximal_newton.solve(products, dual, gap_tol=gap_tol, limits=limits, start=found)
        after.iterations += found.iterations
        after.trace = found.trace + after.trace
        return after


def is_tiny(products: "RowProducts") -> bool:
    """Whether a problem is so small that solving it to rounding error is free: the answer then does not depend on row
    order, on dense or sparse storage, or on whether rows are repeated or weighted."""
    return max(products.n, products.n_features) <= TINY


def _has_small_systems(products: "RowProducts") -> bool:
    return products.n_features < min(DIRECT, products.n) or is_tiny(products)
