"""The data on which faults are tried: ordinary, so that only the fault is unusual."""

import numpy as np


def overlapping(n=120, n_classes=2, seed=0):
    """Classes of equal size that overlap, in four features of unit size; labels -1 and 1 for two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    codes = np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)
    return X, 2 * codes - 1 if n_classes == 2 else codes
