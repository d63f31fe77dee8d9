"""Made data whose share of support vectors does not depend on the number of rows."""

import numpy as np


def noisy_disc(rows, features=10, noise=0.1, seed=0):
    """Normal rows, a disc in two columns is the positive class, some labels are flipped.

    Flipped rows stay support vectors at any size and the boundary is learnt from few rows,
    so that the share of support vectors hardly moves (0.40 from 1000 rows on, at C = 10,
    gamma = 0.2) and growth curves measure the solver, not the data.
    """
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features)).astype(np.float32)
    X[:, 2:] *= np.float32(0.2)
    inside = np.square(X[:, :2]).sum(axis=1) < 2 * np.log(2)
    flipped = generator.random(rows) < noise
    return X, np.where(inside ^ flipped, 1, -1)


def teacher(rows, features=10, units=20, noise=0.5, seed=0):
    """Normal rows, labelled by a network of tanh units of random projections plus noise.

    Returns rows, labels and the network's value: targets for regression.
    """
    generator = np.random.default_rng(seed)
    inner = generator.normal(size=(features, units)) * 2.0 / np.sqrt(features)
    outer = generator.normal(size=units)
    X = generator.normal(size=(rows, features)).astype(np.float32)
    value = np.tanh(X @ inner) @ outer
    noisy = value + noise * value.std() * generator.normal(size=rows)
    return X, np.where(noisy > 0.0, 1, -1), noisy
