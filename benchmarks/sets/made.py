"""Made data of any size: rows in single precision, labels -1 and 1, or the values whose signs they are.

`noisy_disc` has a share of support vectors that does not depend on the number of rows; `teacher` has a function worth
learning; the others are the shapes of data that solvers find hard.
"""

import numpy as np
from sklearn.datasets import load_digits

# Rows of digits that are deformed at a time.
BLOCK = 20_000


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


def teacher_values(rows, features=10, units=20, noise=0.5, seed=0):
    """Normal rows, and a network of random weights at them: a sum of tanh of random projections, plus noise.

    The network is the same for every number of rows; its values have variance 1 and the noise `noise` squared.
    """
    weights = np.random.default_rng(99)
    inner = weights.normal(size=(features, units)) * (2.0 / np.sqrt(features))
    outer = weights.normal(size=units)
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features)).astype(np.float32)
    values = np.tanh(X @ inner.astype(np.float32)) @ outer
    return X, values / (np.linalg.norm(outer) * 0.8) + noise * generator.normal(size=rows)


def teacher(rows, seed=0):
    """The signs of `teacher_values`."""
    X, values = teacher_values(rows, seed=seed)
    return X, _signs(values)


def deformed_digits(rows, seed=0):
    """Pictures of digits (8 by 8), each turned, moved and stretched a little; the even ones are positive."""
    generator = np.random.default_rng(seed)
    pictures, digits = load_digits(return_X_y=True)
    chosen = generator.integers(0, len(digits), rows)
    X = np.empty((rows, 64), np.float32)
    for begin in range(0, rows, BLOCK):
        part = slice(begin, min(begin + BLOCK, rows))
        X[part] = _deformed(pictures[chosen[part]].reshape(-1, 8, 8) / 16.0, generator)
    return X, np.where(digits[chosen] % 2 == 0, 1, -1)


def _deformed(pictures, generator):
    """Each picture through a random affine map, by bilinear interpolation."""
    n = len(pictures)
    angle, stretch = generator.normal(0.0, 0.12, n), 1.0 + generator.normal(0.0, 0.08, (2, n))
    moved = generator.normal(0.0, 0.4, (2, n))
    down, right = np.mgrid[0:8, 0:8].reshape(2, 64) - 3.5
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    rows = stretch[0][:, None] * (cos * down - sin * right) + 3.5 + moved[0][:, None]
    columns = stretch[1][:, None] * (sin * down + cos * right) + 3.5 + moved[1][:, None]
    padded = np.pad(pictures, ((0, 0), (1, 2), (1, 2)))
    rows, columns = np.clip(rows, -1.0, 8.0) + 1.0, np.clip(columns, -1.0, 8.0) + 1.0
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    below, beside, own = rows - top, columns - left, np.arange(n)[:, None]
    upper = (1.0 - beside) * padded[own, top, left] + beside * padded[own, top, left + 1]
    lower = (1.0 - beside) * padded[own, top + 1, left] + beside * padded[own, top + 1, left + 1]
    return (1.0 - below) * upper + below * lower


def isotropic(rows, features=50, seed=0):
    """Normal rows of many columns, so that no few directions hold them: a kernel matrix without low rank."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features)).astype(np.float32)
    return X, _signs(X[:, :5].sum(axis=1) + generator.normal(size=rows))


def clustered(rows, features=10, centres=50, seed=0):
    """Tight clusters far apart, each of one class but for a twentieth of its rows."""
    generator = np.random.default_rng(seed)
    middle = 3.0 * np.random.default_rng(99).normal(size=(centres, features))
    chosen = generator.integers(0, centres, rows)
    X = (middle[chosen] + 0.3 * generator.normal(size=(rows, features))).astype(np.float32)
    flipped = generator.random(rows) < 0.05
    return X, np.where((chosen % 2 == 0) ^ flipped, 1, -1)


def imbalanced(rows, features=10, share=1e-3, seed=0):
    """One row in a thousand is positive, somewhat apart from the others."""
    generator = np.random.default_rng(seed)
    positive = np.zeros(rows, bool)
    positive[generator.choice(rows, max(1, round(share * rows)), replace=False)] = True
    X = generator.normal(size=(rows, features)).astype(np.float32)
    X[positive, :3] += np.float32(1.5)
    return X, np.where(positive, 1, -1)


def heavy_tailed(rows, features=10, seed=0):
    """Columns of Student's t with two degrees of freedom: a few rows are very far away."""
    generator = np.random.default_rng(seed)
    X = generator.standard_t(2, size=(rows, features)).astype(np.float32)
    return X, _signs(np.tanh(X[:, :3]).sum(axis=1) + 0.5 * generator.normal(size=rows))


def _signs(values):
    return np.where(values > 0, 1, -1)


MADE = {
    "disc": noisy_disc,
    "teacher": teacher,
    "digits": deformed_digits,
    "isotropic": isotropic,
    "clustered": clustered,
    "imbalanced": imbalanced,
    "heavy-tailed": heavy_tailed,
}
