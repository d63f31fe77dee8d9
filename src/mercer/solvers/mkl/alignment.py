"""The weights of largest alignment: a quadratic program with one variable for each kernel.

Method: Clarabel's interior point (Goulart & Chen 2024), whose answer is in the middle of all equally
good ones, so that equal kernels get equal weights. Cost: the cube of the number of kernels.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program

if TYPE_CHECKING:
    from mercer.problems.mkl.alignment import AlignmentProblem


def align(problem: "AlignmentProblem") -> FloatArray:
    """Weights of sum 1; equal ones if no kernel is aligned with the targets at all."""
    size = np.sqrt(np.maximum(np.diag(problem.M), 0.0))
    size = np.where(size > 0, size, 1.0)
    # Each kernel is scaled by its norm, so that the program is well conditioned.
    M, a = problem.M / np.outer(size, size), problem.a / size
    largest = float(a.max(initial=0.0))
    if not largest > 0:
        return np.full(len(a), 1.0 / len(a))
    found = solve_quadratic_program(M, -a / largest, np.eye(len(a)), np.zeros(len(a)))
    weights = np.maximum(found.u, 0.0) / size
    weights[weights < 1e-8 * weights.max()] = 0.0
    return weights / weights.sum()
