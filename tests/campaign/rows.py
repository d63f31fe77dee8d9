"""Random rows and targets: tame ones most of the time, and every kind of wild ones now and then."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

ALPHABET = list("abcd")


@dataclass(frozen=True)
class Rows:
    """What a model is fitted on, and new rows of the same kind."""

    X: object  # an array, a CSR matrix or a list of texts
    new: object

    @property
    def is_text(self):
        """Whether the items are texts."""
        return isinstance(self.X, list)

    @property
    def n(self):
        """Number of training rows."""
        return len(self.X) if self.is_text else self.X.shape[0]

    @property
    def eps(self):
        """Precision of the numbers."""
        return float(np.finfo(np.float64 if self.is_text else self.X.dtype).eps)


def log_uniform(rng, low, high):
    """A number between two powers of ten."""
    return float(10.0 ** rng.uniform(low, high))


def choose(rng, **shares):
    """A name, by its share."""
    names = list(shares)
    weights = np.array([shares[name] for name in names], float)
    return names[rng.choice(len(names), p=weights / weights.sum())]


def count(rng):
    """Number of rows: a few dozen mostly, sometimes two, rarely hundreds."""
    if rng.random() < 0.04:
        return int(rng.integers(120, 401))
    return max(2, round(float(np.exp(rng.uniform(np.log(3.0), np.log(90.0))))))


def _plain(rng, n, d):
    kind = choose(rng, normal=4, clusters=3, whole=2, counts=2, uniform=1, line=1)
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "clusters":
        centres = rng.normal(size=(rng.integers(1, 5), d)) * 2.0
        return centres[rng.integers(len(centres), size=n)] + 0.4 * rng.normal(size=(n, d))
    if kind == "whole":
        return rng.integers(-3, 4, size=(n, d)).astype(float)
    if kind == "counts":
        return rng.poisson(0.4, size=(n, d)).astype(float)
    if kind == "uniform":
        return rng.uniform(size=(n, d))
    return np.outer(rng.normal(size=n), rng.normal(size=d))


def _spoilt(rng, X):
    """Constant columns, repeated rows, columns of very different sizes, a scale and an offset."""
    n, d = X.shape
    if rng.random() < 0.1:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -7.5])
    if rng.random() < 0.15:
        X = X[rng.integers(n, size=n)]
    if rng.random() < 0.08:
        X = X * 10.0 ** rng.uniform(-3, 3, size=d)
    scale = log_uniform(rng, -12, 12) if rng.random() < 0.12 else 1.0
    offset = scale * rng.choice([1.0, 1e2, 1e4, 1e6]) if rng.random() < 0.15 else 0.0
    return X * scale + offset


def rows(rng, signed=True, n=None):
    """Numbers in either precision, dense or sparse; none negative unless `signed`; n rows, or some number of them."""
    n, d = n or count(rng), max(1, round(float(np.exp(rng.uniform(0.0, np.log(30.0))))))
    fresh = int(rng.integers(1, 12))
    X = _spoilt(rng, _plain(rng, n + fresh, d))
    X = X if signed else np.abs(X)
    X = X.astype(np.float32 if rng.random() < 0.35 else np.float64)
    parts = X[:n], X[n:]
    if rng.random() < 0.35:
        parts = tuple(sparse.csr_matrix(part) for part in parts)
    return Rows(*parts)


# Seeds from here on draw rows that are mostly zeros, every other one.
ZEROS_FROM = 3_000_000


def is_of_zeros(seed):
    """Whether the rows of a seed are dense, wide and mostly zeros."""
    return seed >= ZEROS_FROM and seed % 2 == 0


def mostly_zeros(rng):
    """Wide rows of which few numbers are not zero, enough of them that products skip the zeros; some far away."""
    n, d, fresh = int(rng.integers(560, 760)), int(rng.integers(120, 160)), int(rng.integers(1, 12))
    X = _plain(rng, n + fresh, d) * (rng.random((n + fresh, d)) < rng.uniform(0.01, 0.24))
    if rng.random() < 0.2:
        X[:, : d // 20] += 10.0 ** rng.integers(0, 5)
    X = X * (log_uniform(rng, -6, 6) if rng.random() < 0.1 else 1.0)
    X = X.astype(np.float32 if rng.random() < 0.5 else np.float64)
    return Rows(X[:n], X[n:])


def texts(rng):
    """Short texts of four letters."""
    found = ["".join(rng.choice(ALPHABET, size=rng.integers(0, 15))) for _ in range(count(rng) % 60 + 5)]
    cut = int(rng.integers(1, 4))
    return Rows(found[cut:], found[:cut])


def _signal(rng, data):
    """A number for each item that has something to do with it."""
    if data.is_text:
        raw = np.array([text.count("a") - text.count("b") for text in data.X], float)
    else:
        dense = np.asarray(data.X.toarray() if sparse.issparse(data.X) else data.X, float)
        raw = dense @ rng.normal(size=dense.shape[1])
        if rng.random() < 0.3:
            raw = np.sin(raw * (2.0 / (raw.std() or 1.0)))
    spread = raw.std()
    raw = (raw - raw.mean()) / spread if spread > 0 else raw * 0.0
    return raw + rng.choice([0.0, 0.1, 0.5, 3.0]) * rng.normal(size=data.n)


def labels(rng, data, most=6):
    """Two classes or more, related to the rows or not; always at least two of them."""
    n_classes = 2 if rng.random() < 0.7 else int(rng.integers(2, max(3, min(most, data.n) + 1)))
    signal = _signal(rng, data)
    shares = rng.dirichlet(np.full(n_classes, 0.7 if rng.random() < 0.3 else 20.0))
    cuts = np.quantile(signal, np.clip(np.cumsum(shares)[:-1], 0.0, 1.0))
    y = np.searchsorted(cuts, signal)
    y[rng.permutation(data.n)[: min(n_classes, data.n)]] = np.arange(min(n_classes, data.n))
    if rng.random() < 0.1:
        return np.array(["no", "yes", "maybe", "never", "always", "often"])[y]
    return y if rng.random() < 0.5 else 2 * y - 1


def targets(rng, data):
    """Quantities."""
    scale = log_uniform(rng, -6, 6) if rng.random() < 0.1 else 1.0
    y = scale * (_signal(rng, data) + rng.choice([0.0, 10.0, 1e4], p=[0.8, 0.15, 0.05]))
    return np.round(y, 1) if scale == 1.0 and rng.random() < 0.2 else y


def weights(rng, n):
    """Weights of rows, or none: alike, some zero, or over twelve orders of magnitude."""
    kind = choose(rng, none=7, mild=2, zeros=1, wild=1)
    if kind == "none":
        return None
    if kind == "wild":
        return 10.0 ** rng.uniform(-6, 6, size=n)
    found = rng.uniform(0.2, 3.0, size=n)
    return np.where(rng.random(n) < 0.2, 0.0, found) if kind == "zeros" else found
