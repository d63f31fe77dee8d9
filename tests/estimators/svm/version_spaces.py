"""Two clouds of points, and their version space on the sphere."""

import numpy as np


def clouds(seed=0, n=40, gap=2.5, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 2
    X[:, 0] += gap * (2 * y - 1)
    return X, y


def unit(vector):
    return vector / np.linalg.norm(vector)


def point_of(model):
    """The weights of a linear model on the sphere."""
    return unit(np.append(model.coef_[0], model.intercept_))


def walls_of(X, y):
    rows = np.column_stack([X, np.ones(len(X))])
    return np.where(y == 1, 1.0, -1.0)[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]
