"""Stochastic gradient steps, and pair steps from where they end.

Kernel Pegasos (Shalev-Shwartz et al. 2011; see `kernel_pegasos`) draws a point, in proportion to its
weight, and moves towards it if its margin is short. The mean of its iterates is a combination of
the points with coefficients nearly inside the box of the dual: clipped to it, they are a dual
point with most support vectors found, and pair steps take it to `tol` (Bottou & Bousquet
2008 on why SGD alone is fast at the start and slow at the end).

Cost of a step: a kernel entry for each support vector so far. Needs the hinge loss with finite
weights; a free bias is left to the pair steps.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic.kernel_pegasos import KernelIterate
from mercer.solvers.stochastic.pegasos import Steps, run_steps
from mercer.solvers.stochastic.visit_order import Sampler

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.result import Solution

# Mean number of visits to each point.
EPOCHS = 10


def solve(
    problem: "DualProblem",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    **finish: Any,
) -> "Solution":
    """As `decomposition.solve`; a given `start` replaces the stochastic steps."""
    problem.require_one_zero_sum("sgd")
    limits = limits or Limits()
    beta, steps = (start, 0) if start is not None else _stochastic_steps(problem, matrix, limits)
    solution = solve_dual(problem, matrix, tol=tol, limits=limits.after(steps), start=beta, **finish)
    solution.iterations += steps
    return solution


def _stochastic_steps(problem: "DualProblem", matrix: "KernelMatrix", limits: Limits) -> tuple[FloatArray, int]:
    """(coefficients of the mean iterate, steps taken)."""
    if problem.ridge is not None:
        raise ParameterError('solver="sgd" minimises the hinge loss only; solver="smo" takes loss="squared_hinge"')
    weights = np.maximum(problem.upper, -problem.lower)
    if not np.isfinite(weights).all():
        raise ParameterError('solver="sgd" needs a finite C; solver="smo" takes C=inf')
    n, signs = len(problem), np.sign(problem.linear)
    # Half the squared norm plus the weighted losses, divided by the sum of the weights.
    run = Steps(1.0 / weights.sum(), 1, np.inf, problem.shift > 0, averaged=True)
    iterate = KernelIterate(n, run)
    sampler = Sampler(n, 0, "replacement", weights)
    most = min(EPOCHS * n, limits.iterations_left(0))
    run_steps(iterate, matrix.in_double(), signs, np.ones(n), sampler, most, limits.unwatched())
    return iterate.mean(), iterate.iterations
