"""Isotonic regression: the best nondecreasing function.

Method (Ayer, Brunk, Ewing, Reid & Silverman 1955): neighbours in the wrong order are pooled
into their mean, until none are left. Cost: a sort, then one pass.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import FloatArray


def fit_isotonic(scores: FloatArray, targets: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(knots, values): least squares over functions that never fall, to be joined by straight lines.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.calibration.isotonic import fit_isotonic
    >>> fit_isotonic(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), np.ones(3))
    (array([1., 2., 3.]), array([0.  , 0.75, 0.75]))
    """
    knots, place = np.unique(scores, return_inverse=True)
    weight = np.bincount(place, weights)
    mean = np.bincount(place, weights * targets) / np.maximum(weight, 1e-300)
    levels = np.empty(len(knots))
    _pool(mean, weight, levels)
    return knots, levels


@jit
def _pool(means: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Pool adjacent violators: means of neighbours until they are non-decreasing."""
    n, blocks = means.shape[0], 0
    levels, masses, sizes = np.empty(n), np.empty(n), np.empty(n, np.int64)
    for k in range(n):
        level, mass, size = means[k], weights[k], 1
        while blocks and levels[blocks - 1] >= level:
            blocks -= 1
            before = masses[blocks]
            level = (levels[blocks] * before + level * mass) / max(before + mass, 1e-300)
            mass += before
            size += sizes[blocks]
        levels[blocks], masses[blocks], sizes[blocks] = level, mass, size
        blocks += 1
    place = 0
    for b in range(blocks):
        out[place : place + sizes[b]] = levels[b]
        place += sizes[b]
