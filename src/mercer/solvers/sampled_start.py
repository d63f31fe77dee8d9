"""Where to begin when a sum of coefficients is fixed: zero is not allowed, and a good start is worth much.

A sample of the points is solved first, with the bounds scaled so that its sum is that of the whole.
Its solution says of every point how much it wants to be a support vector; those that want it most
are set to their bound until the sum is reached. For nu-forms, in which about a share nu of the
points end at their bound, most of them are then where they belong.

Cost: that of the sample, and n kernel entries for each of its support vectors. Needs: a
`DualProblem` with a sum that is not zero.
"""

from dataclasses import replace

import numpy as np

from mercer.kernels.matrix import StoredMatrix
from mercer.solvers import small

# Problems up to this size begin with the first points at their bound.
SMALLEST = 2000
SHARE = 8
# A sample is solved only roughly: to this share of what gradients are (a sum times a kernel value).
SAMPLE_TOL = 2e-3


def solve(problem, matrix, *, tol, limits, start=None, **options):
    """As `small.solve`, beginning with the solution of a sample where no start is given."""
    if start is None:
        start = sampled_start(problem, matrix, tol, limits, options)
    return small.solve(problem, matrix, tol=tol, limits=limits, start=start, **options)


def sampled_start(problem, matrix, tol, limits, options):
    """A feasible point for `problem`, near its solution; the sample is solved within the same limits."""
    if len(problem) <= SMALLEST or isinstance(matrix, StoredMatrix):
        return problem.beginning()
    sample = _draw(problem, np.random.default_rng(0))
    part = scaled_part(problem, sample)
    if part is None:
        return problem.beginning()
    size = float(np.abs(problem.total).max()) * float(np.abs(matrix.diag).mean())
    rough = {**options, "gap": None, "gap_tol": None}
    found = solve(part, matrix.view(sample), tol=max(tol, SAMPLE_TOL * size), limits=limits.unwatched(), **rough)
    support = np.flatnonzero(found.beta)
    slopes = problem.linear - problem.quadratic_product(matrix, sample[support], found.beta[support])
    return problem.filled(slopes)


def _draw(problem, rng):
    """An eighth of each group, sorted."""
    places = np.arange(len(problem))
    parts = [places[mask] for mask in problem.members()]
    kept = [rng.permutation(part)[: max(SMALLEST // 4, len(part) // SHARE)] for part in parts]
    return np.sort(np.concatenate(kept))


def scaled_part(problem, sample):
    """The problem of a sample, its box widened so that each sum can be what it is in the whole."""
    part = replace(
        problem,
        linear=problem.linear[sample],
        lower=problem.lower[sample],
        upper=problem.upper[sample],
        ridge=None if problem.ridge is None else problem.ridge[sample],
        groups=None if problem.groups is None else problem.groups[sample],
    )
    lower, upper = part.lower.copy(), part.upper.copy()
    for whole, own in zip(problem.members(), part.members(), strict=True):
        for bound, of_all in ((lower, problem.lower), (upper, problem.upper)):
            reach = bound[own].sum()
            bound[own] *= of_all[whole].sum() / reach if reach else 1.0
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return None
    return replace(part, lower=lower, upper=upper)
