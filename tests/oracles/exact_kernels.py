"""Kernels in long double, by differences, and what rounding in double precision may cost an entry.

Nothing is taken from the library. `values` are right to some 18 digits; `doubt` is, in units of the precision that an
entry is computed in, how far it may be off: a product of rows is a sum of d terms, a squared distance is computed from
rows that were moved to the mean of the training rows, and what follows is as smooth as the kernel is.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LONG = np.longdouble


@dataclass(frozen=True)
class ExactKernel:
    """A kernel of items: its values, and the doubt of each of them in units of rounding."""

    values: Callable
    doubt: Callable

    def __add__(self, other):
        return ExactKernel(
            lambda A, B: self.values(A, B) + other.values(A, B),
            lambda A, B: self.doubt(A, B) + other.doubt(A, B),
        )

    def __mul__(self, other):
        return ExactKernel(
            lambda A, B: self.values(A, B) * other.values(A, B),
            lambda A, B: self.doubt(A, B) * np.abs(other.values(A, B)) + other.doubt(A, B) * np.abs(self.values(A, B)),
        )

    def scaled(self, factor):
        """factor times the kernel."""
        return ExactKernel(lambda A, B: LONG(factor) * self.values(A, B), lambda A, B: factor * self.doubt(A, B))

    def normalised(self):
        """k(x, y) / sqrt(k(x, x) k(y, y)), zero where a root is."""

        def roots(A):
            return np.sqrt(np.array([self.values(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(len(A))], LONG))

        def scale(A, B):
            product = roots(A)[:, None] * roots(B)[None, :]
            return np.where(product > 0, product, LONG(1)), product > 0

        def values(A, B):
            product, is_positive = scale(A, B)
            return np.where(is_positive, self.values(A, B) / product, LONG(0))

        def doubt(A, B):
            own = [
                np.array([float(self.doubt(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(len(X))]) for X in (A, B)
            ]
            squares = [np.asarray(roots(X) ** 2, float) for X in (A, B)]
            shares = [o / np.where(s > 0, s, 1.0) for o, s in zip(own, squares, strict=True)]
            product, _ = scale(A, B)
            return self.doubt(A, B) / np.asarray(product, float) + shares[0][:, None] + shares[1][None, :] + 8.0

        return ExactKernel(values, doubt)


def long_rows(X):
    """Rows as a dense array of long doubles."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X).astype(LONG)


def _dots(A, B):
    return A @ B.T


def _sizes(A, B):
    """What the terms of each inner product add up to, and the number of them."""
    a, b = np.abs(np.asarray(A, float)), np.abs(np.asarray(B, float))
    return (4.0 + A.shape[1]) * (a @ b.T)


def _squares(A, B):
    total = np.zeros((len(A), len(B)), LONG)
    for k in range(A.shape[1]):
        total += (A[:, k, None] - B[None, :, k]) ** 2
    return total


def _spread(centre, A, B):
    """The doubt of squared distances between rows that were moved to `centre`."""
    norms = [np.asarray(((X - centre) ** 2).sum(axis=1), float) for X in (A, B)]
    return (4.0 + A.shape[1]) * (norms[0][:, None] + norms[1][None, :])


def linear():
    """x . y."""
    return ExactKernel(_dots, _sizes)


def of_dots(function, slope):
    """A function of x . y; `slope` is that of its size."""

    def doubt(A, B):
        values = np.asarray(function(_dots(A, B)), float)
        return slope(np.asarray(_dots(np.abs(A), np.abs(B)), float)) * _sizes(A, B) + 16.0 * np.abs(values)

    return ExactKernel(lambda A, B: function(_dots(A, B)), doubt)


def polynomial(degree, gamma, coef0):
    """(gamma x . y + coef0) ** degree."""
    return of_dots(
        lambda t: (LONG(gamma) * t + LONG(coef0)) ** degree,
        lambda t: degree * gamma * (gamma * t + abs(coef0)) ** max(degree - 1, 0),
    )


def sigmoid(gamma, coef0):
    """tanh(gamma x . y + coef0)."""
    return of_dots(lambda t: np.tanh(LONG(gamma) * t + LONG(coef0)), lambda _: gamma)


def second_order():
    """x . y + (x . y)^2."""
    return of_dots(lambda t: t + t * t, lambda t: 1.0 + 2.0 * t)


def of_squares(function, slope, centre):
    """A function of |x - y|^2, of rows around `centre`; `slope(square, value)` is the size of its own."""

    def doubt(A, B):
        square = _squares(A, B)
        value = function(square)
        return np.asarray(slope(square, value), float) * _spread(centre, A, B) + 16.0 * np.asarray(value, float)

    return ExactKernel(lambda A, B: function(_squares(A, B)), doubt)


def rbf(gamma, centre):
    """exp(-gamma |x - y|^2)."""
    return of_squares(lambda s: np.exp(-LONG(gamma) * s), lambda _, k: gamma * k + 1e-300, centre)


def rational_quadratic(alpha, length, centre):
    """(1 + |x - y|^2 / (2 alpha length^2)) ** -alpha."""
    unit = LONG(2.0) * LONG(alpha) * LONG(length) ** 2
    return of_squares(lambda s: (1 + s / unit) ** -LONG(alpha), lambda s, k: alpha * k / (unit + s), centre)


def matern(nu, length, centre):
    """Matérn's kernel of order 1/2, 3/2 or 5/2."""

    def value(square):
        r = np.sqrt(LONG(2.0) * LONG(nu) * square) / LONG(length)
        return {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu] * np.exp(-r)

    def exact_doubt(A, B):
        # exp(-r) has a corner where rows meet: there the doubt is that of a root, at most that of the distance's terms.
        square, spread = np.asarray(_squares(A, B), float), _spread(centre, A, B)
        scale = np.sqrt(2.0 * nu) / length
        if nu > 1.0:
            return scale**2 * spread + 16.0
        eps = np.finfo(np.float64).eps
        root = np.sqrt(square + eps * spread)
        return scale * np.where(root > 0, spread / np.where(root > 0, root, 1.0), 0.0) + 16.0

    return ExactKernel(lambda A, B: value(_squares(A, B)), exact_doubt)


def laplacian(gamma, centre):
    """exp(-gamma |x - y|_1)."""

    def distances(A, B):
        total = np.zeros((len(A), len(B)), LONG)
        for k in range(A.shape[1]):
            total += np.abs(A[:, k, None] - B[None, :, k])
        return total

    def doubt(A, B):
        reach = [np.asarray(np.abs(X - centre).sum(axis=1), float) for X in (A, B)]
        k = np.asarray(np.exp(-LONG(gamma) * distances(A, B)), float)
        return k * (gamma * (4.0 + A.shape[1]) * (reach[0][:, None] + reach[1][None, :]) + 16.0)

    return ExactKernel(lambda A, B: np.exp(-LONG(gamma) * distances(A, B)), doubt)


def cosine():
    """x . y / (|x| |y|), zero where a row is."""
    return linear().normalised()


def chi_squared(gamma):
    """exp(-gamma sum (x - y)^2 / (x + y)), of rows that are nowhere negative."""

    def distances(A, B):
        total = np.zeros((len(A), len(B)), LONG)
        for k in range(A.shape[1]):
            both = A[:, k, None] + B[None, :, k]
            total += np.where(both > 0, (A[:, k, None] - B[None, :, k]) ** 2 / np.where(both > 0, both, 1), 0)
        return total

    def doubt(A, B):
        t = np.asarray(distances(A, B), float)
        return np.exp(-gamma * t) * (gamma * t * (8.0 + A.shape[1]) + 16.0)

    return ExactKernel(lambda A, B: np.exp(-LONG(gamma) * distances(A, B)), doubt)


def spectrum(length):
    """How often two texts share each substring of `length` characters."""

    def counts(text):
        return Counter(text[i : i + length] for i in range(len(text) - length + 1))

    def values(A, B):
        left, right = [counts(t) for t in A], [counts(t) for t in B]
        return np.array([[sum(n * b[u] for u, n in a.items()) for b in right] for a in left], LONG)

    return ExactKernel(values, lambda A, B: 16.0 * np.asarray(values(A, B), float))


def given(values):
    """A function of the user's: right by definition."""
    return ExactKernel(lambda A, B: np.asarray(values(A, B), LONG), lambda A, B: np.zeros((len(A), len(B))))
