"""Isotonic regression: the best of all functions that never fall.

Method (Ayer, Brunk, Ewing, Reid & Silverman 1955): neighbours that are in the wrong order are pooled
into their mean, until none are left. Cost: a sort, then one pass.
"""

import numpy as np


def fit_isotonic(scores, targets, weights):
    """(knots, values): least squares over functions that never fall, to be joined by straight lines.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.isotonic import fit_isotonic
    >>> fit_isotonic(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), np.ones(3))
    (array([1., 2., 3.]), array([0.  , 0.75, 0.75]))
    """
    knots, place = np.unique(scores, return_inverse=True)
    weight = np.bincount(place, weights)
    mean = np.bincount(place, weights * targets) / np.maximum(weight, 1e-300)
    sizes, levels, masses = [], [], []
    for level, mass in zip(mean.tolist(), weight.tolist(), strict=True):
        size = 1
        while levels and levels[-1] >= level:
            before = masses.pop()
            level = (levels.pop() * before + level * mass) / max(before + mass, 1e-300)  # noqa: PLW2901
            mass += before  # noqa: PLW2901
            size += sizes.pop()
        sizes.append(size)
        levels.append(level)
        masses.append(mass)
    return knots, np.repeat(levels, sizes)
