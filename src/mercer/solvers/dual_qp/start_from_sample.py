"""A starting point when a sum of coefficients is fixed: zero is not allowed, and a good start saves much.

Two groups start where least squares would have them (`start_from_least_squares`). A single group has no targets, so
a sample of its points is solved first, with the bounds scaled so that its sum is that of the whole.
Its solution ranks all points by how likely they are to be support vectors; the first of them
are set to their bound until the sum is reached. In one-class learning about a fraction nu of the
points end at their bound, so most of them are then where they belong.

Cost: that of the sample, and n kernel entries for each of its support vectors. Needs: a
`DualProblem` with a sum that is not zero.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp import start_from_least_squares
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution

# Up to this size a problem starts with the first points at their bounds.
SMALLEST = 2000
SHARE = 8
# The sample is solved roughly, to this share of the gradient's scale (a sum times a kernel value).
SAMPLE_TOL = 2e-3


def sampled_start(
    problem: DualProblem,
    matrix: KernelMatrix,
    limits: Limits,
    solve: Callable[..., Solution],
    options: dict[str, Any],
) -> FloatArray | None:
    """A feasible point of `problem` near its solution, or None if finding one would take as long as it saves.
    ``solve(part, matrix, limits=..., **options)`` solves a sample within the same limits."""
    smallest = SMALLEST if problem.groups is None else start_from_least_squares.SMALLEST
    if len(problem) <= smallest or matrix.is_stored:
        return None
    if problem.groups is not None:
        return start_from_least_squares.start(problem, matrix)
    sample = _draw(problem, np.random.default_rng(0))
    part = scaled_part(problem, sample)
    size = float(np.abs(problem.total).max()) * float(np.abs(matrix.diag).mean())
    rough = {**options, "gap": None, "gap_tol": None, "tol": max(options["tol"], SAMPLE_TOL * size)}
    found = solve(part, matrix.view(sample), limits=limits.unwatched(), **rough)
    support = np.flatnonzero(found.beta)
    try:
        product = problem.quadratic_product(matrix, sample[support], found.beta[support], stop=limits.stop)
    except Stopped:
        return problem.beginning()
    return problem.filled(problem.linear - product)


def _draw(problem: DualProblem, rng: np.random.Generator) -> IndexArray:
    """An eighth of the points, sorted."""
    n = len(problem)
    return np.sort(rng.permutation(n)[: max(SMALLEST // 4, n // SHARE)])


def scaled_part(problem: DualProblem, sample: IndexArray) -> DualProblem:
    """The problem restricted to a sample, its box widened so that the sum can match the whole."""
    lower, upper = (
        bounds[sample] * (bounds.sum() / reach if (reach := bounds[sample].sum()) else 1.0)
        for bounds in (problem.lower, problem.upper)
    )
    ridge = None if problem.ridge is None else problem.ridge[sample]
    return replace(problem, linear=problem.linear[sample], lower=lower, upper=upper, ridge=ridge)
