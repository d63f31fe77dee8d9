"""Every vector kernel as one plain formula in double precision, to compare against."""

import numpy as np
from scipy import special

from mercer import kernels as k


def dots(X, Y):
    return X @ Y.T


def squared(X, Y):
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)


def cosine(X, Y):
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    return np.where(lengths > 0, dots(X, Y) / np.where(lengths > 0, lengths, 1.0), 0.0)


def laplacian(X, Y, gamma):
    return np.exp(-gamma * np.abs(X[:, None, :] - Y[None, :, :]).sum(axis=2))


def chi_squared(X, Y, gamma):
    total = X[:, None, :] + Y[None, :, :]
    difference = (X[:, None, :] - Y[None, :, :]) ** 2
    return np.exp(-gamma * np.where(total > 0, difference / np.where(total > 0, total, 1.0), 0.0).sum(axis=2))


def matern(X, Y, nu, length):
    a = np.sqrt(2.0 * nu * squared(X, Y)) / length
    away = np.where(a > 0, a, 1.0)
    return np.where(a > 0, 2.0 ** (1 - nu) / special.gamma(nu) * away**nu * special.kv(nu, away), 1.0)


def delta(X, Y):
    return (X[:, None, :] == Y[None, :, :]).all(axis=2).astype(float)


FORMULAS = {
    "linear": (k.Linear(), dots),
    "polynomial": (k.Polynomial(3, 0.5, 1.0), lambda X, Y: (0.5 * dots(X, Y) + 1.0) ** 3),
    "polynomial-0": (k.Polynomial(0, 0.5, 1.0), lambda X, Y: np.ones((len(X), len(Y)))),
    "polynomial-1": (k.Polynomial(1, 2.0, -0.5), lambda X, Y: 2.0 * dots(X, Y) - 0.5),
    "rbf": (k.RBF(0.7), lambda X, Y: np.exp(-0.7 * squared(X, Y))),
    "rbf-sigma-squared": (k.RBF.from_sigma_squared(1.5), lambda X, Y: np.exp(-squared(X, Y) / 1.5**2)),
    "rbf-two-sigma": (k.RBF.from_two_sigma(1.5), lambda X, Y: np.exp(-squared(X, Y) / (2 * 1.5))),
    "sigmoid": (k.Sigmoid(0.3, -0.2), lambda X, Y: np.tanh(0.3 * dots(X, Y) - 0.2)),
    "laplacian": (k.Laplacian(0.4), lambda X, Y: laplacian(X, Y, 0.4)),
    "cosine": (k.Cosine(), cosine),
    "chi-squared": (k.ChiSquared(0.8), lambda X, Y: chi_squared(X, Y, 0.8)),
    "matern-0.5": (k.Matern(0.5, 1.3), lambda X, Y: np.exp(-np.sqrt(squared(X, Y)) / 1.3)),
    "matern-1.5": (k.Matern(1.5, 1.3), lambda X, Y: matern(X, Y, 1.5, 1.3)),
    "matern-2.5": (k.Matern(2.5, 0.9), lambda X, Y: matern(X, Y, 2.5, 0.9)),
    "matern-5.5": (k.Matern(5.5, 2.0), lambda X, Y: matern(X, Y, 5.5, 2.0)),
    "matern-bessel": (k.Matern(0.8, 1.1), lambda X, Y: matern(X, Y, 0.8, 1.1)),
    "matern-inf": (k.Matern(np.inf, 1.3), lambda X, Y: np.exp(-squared(X, Y) / (2 * 1.3**2))),
    "rational-quadratic": (
        k.RationalQuadratic(0.6, 1.2),
        lambda X, Y: (1 + squared(X, Y) / (2 * 0.6 * 1.2**2)) ** -0.6,
    ),
    "rational-quadratic-1": (k.RationalQuadratic(1.0, 2.0), lambda X, Y: 1 / (1 + squared(X, Y) / 8.0)),
    "delta": (k.Delta(), delta),
    "second-order": (k.SecondOrder(), lambda X, Y: (0.5 + dots(X, Y)) ** 2 - 0.25),
    "constant": (k.Constant(1.5), lambda X, Y: np.full((len(X), len(Y)), 1.5)),
}
