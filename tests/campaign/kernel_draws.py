"""Random kernels, as an estimator takes them, each beside the oracle's own of the same meaning."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer import kernels as given_kernels
from tests.campaign.rows import choose, log_uniform
from tests.oracles import exact_kernels as exact
from tests.oracles.exact_kernels import ExactKernel, long_rows

# Rows up to which a function of two of them is called for every pair.
MOST_CALLED = 400


@dataclass(frozen=True)
class KernelDraw:
    """Parameters for an estimator, and the oracle's kernel; `gamma` is a rule that the fit resolves."""

    parameters: dict
    exact: ExactKernel
    is_psd: bool = True
    form: str = "rows"  # or "matrix" or "function"


def _variance(X):
    """Mean squared distance from the mean."""
    X = long_rows(X)
    return float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())


def _gamma(rng, size):
    """One over a squared size of the data, more or less."""
    factor = log_uniform(rng, -1.5, 1.2) if rng.random() < 0.9 else log_uniform(rng, -6, 4)
    return float(factor / size) if size > 0 and np.isfinite(factor / size) else factor


def rule_gamma(rule, X):
    """What "scale" and "auto" stand for."""
    X = long_rows(X)
    spread = float(((X - X.mean()) ** 2).mean())
    return 1.0 / X.shape[1] if rule == "auto" or spread == 0 else 1.0 / (X.shape[1] * spread)


def _named(rng, data):
    """A kernel by its name."""
    X, centre = long_rows(data.X), long_rows(data.X).mean(axis=0)
    longest = float((X**2).sum(axis=1).max())
    name = choose(rng, rbf=6, linear=3, poly=2, sigmoid=0.5, laplacian=0.7, cosine=0.7)
    if name in ("linear", "cosine"):
        return KernelDraw({"kernel": name}, getattr(exact, name)())
    if name in ("rbf", "laplacian"):
        size = _variance(data.X)
        gamma = _gamma(rng, size if name == "rbf" else np.sqrt(size))
        return KernelDraw({"kernel": name, "gamma": gamma}, getattr(exact, name)(gamma, centre))
    gamma, coef0 = _gamma(rng, longest), float(rng.choice([0.0, 1.0, 0.25]))
    if name == "poly":
        degree = int(rng.integers(1, 6))
        parameters = {"kernel": "poly", "gamma": gamma, "degree": degree, "coef0": coef0}
        return KernelDraw(parameters, exact.polynomial(degree, gamma, coef0))
    parameters = {"kernel": "sigmoid", "gamma": gamma, "coef0": coef0}
    return KernelDraw(parameters, exact.sigmoid(gamma, coef0), is_psd=False)


def _object(rng, data, deep=True):
    """A kernel as a value of `mercer.kernels`, and sums, products and normalised ones."""
    X, centre = long_rows(data.X), long_rows(data.X).mean(axis=0)
    longest, size = float((X**2).sum(axis=1).max()), _variance(data.X)
    kind = choose(rng, rbf=4, matern=2, rational=1, linear=1, poly=1, second=0.5, combined=3 if deep else 0)
    if kind == "combined":
        return _combined(rng, data)
    if kind == "rbf":
        gamma = _gamma(rng, size)
        return given_kernels.RBF(gamma), exact.rbf(gamma, centre)
    if kind == "matern":
        nu, length = float(rng.choice([0.5, 1.5, 2.5])), _gamma(rng, size) ** -0.5
        return given_kernels.Matern(nu, length), exact.matern(nu, length, centre)
    if kind == "rational":
        alpha, length = float(rng.choice([0.5, 1.0, 2.5])), _gamma(rng, size) ** -0.5
        return given_kernels.RationalQuadratic(alpha, length), exact.rational_quadratic(alpha, length, centre)
    if kind == "poly":
        gamma = _gamma(rng, longest)
        return given_kernels.Polynomial(2, gamma, 1.0), exact.polynomial(2, gamma, 1.0)
    if kind == "second":
        return given_kernels.SecondOrder(), exact.second_order()
    return given_kernels.Linear(), exact.linear()


def _combined(rng, data):
    (own, first), (other, second) = _object(rng, data, deep=False), _object(rng, data, deep=False)
    kind = choose(rng, sum=3, product=2, scaled=1, normalised=1)
    if kind == "sum":
        return own + other, first + second
    if kind == "product":
        return own * other, first * second
    if kind == "scaled":
        factor = log_uniform(rng, -2, 2)
        return factor * own, first.scaled(factor)
    return own.normalized(), first.normalised()


def _in_double(A, B):
    """A kernel of the user's, of two whole sets of rows."""
    A, B = (np.asarray(X.toarray() if hasattr(X, "toarray") else X, float) for X in (A, B))
    return A @ B.T + 0.5


def _of_rows(a, b):
    """The same of two rows."""
    a, b = (np.atleast_2d(row.toarray() if sparse.issparse(row) else row) for row in (a, b))
    return float(_in_double(a, b)[0, 0])


def matrix_of(draw, data):
    """(training matrix, matrix of new rows) in double precision."""
    A, B = long_rows(data.X), long_rows(data.new)
    return np.asarray(draw.exact.values(A, A), float), np.asarray(draw.exact.values(B, A), float)


def of_texts(rng):
    """A kernel of texts."""
    length = int(rng.integers(1, 4))
    own, other = given_kernels.Spectrum(length), exact.spectrum(length)
    if rng.random() < 0.5:
        own, other = own.normalized(), other.normalised()
    return KernelDraw({"kernel": own}, other)


def of_rows(rng, data, pairwise_functions=False):
    """A kernel of rows: by name, as a value, as a function or as a matrix."""
    form = choose(rng, named=6, value=4, function=0.5, matrix=1.5)
    if form == "function" and data.n <= MOST_CALLED:
        function = _of_rows if pairwise_functions else _in_double
        return KernelDraw({"kernel": function}, exact.given(_in_double), form="function")
    if form == "value":
        own, other = _object(rng, data)
        return KernelDraw({"kernel": own}, other)
    drawn = _named(rng, data)
    return replace(drawn, form="matrix") if form == "matrix" else drawn


def several(rng, data):
    """A few kernels as values, for machines that weigh them."""
    return [_object(rng, data, deep=False) for _ in range(int(rng.integers(1, 5)))]
