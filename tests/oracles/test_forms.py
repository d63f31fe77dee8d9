"""Regression, nu-forms and one-class: random problems, each solved by Mercer and by Clarabel.

The programs are written down here as the papers have them, in unsigned variables, and share nothing
with the library's signed form.
"""

import clarabel
import numpy as np
import pytest
from scipy import sparse

from mercer import SVDD, SVR, NuSVC, NuSVR, OneClassSVM

SEEDS = range(6)
GAMMA = 0.4


def gram(X):
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def maximise(Q, q, upper, rows, sums):
    """The largest q'a - a'Qa/2 over 0 <= a <= upper with rows a = sums."""
    n = len(q)
    constraint = sparse.vstack([sparse.csc_matrix(rows), sparse.identity(n), -sparse.identity(n)], format="csc")
    cones = [clarabel.ZeroConeT(len(sums)), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    quadratic = sparse.triu(sparse.csc_matrix(Q + 1e-13 * np.eye(n)), format="csc")
    bounds = np.concatenate([sums, upper, np.zeros(n)])
    found = clarabel.DefaultSolver(quadratic, -q, constraint, bounds, cones, settings).solve()
    assert str(found.status) == "Solved"
    return -found.obj_val


def random_rows(seed):
    """Rows, some of them twice, targets, and weights of different sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    X[30:33] = X[:3]
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=40), rng.uniform(0.2, 3.0, size=40)


def assert_certified(model, expected, scale=1.0):
    certificate = model.certificate_
    assert certificate.dual == pytest.approx(expected, rel=1e-7, abs=1e-7 * scale)
    assert abs(certificate.gap) <= 1e-7 * max(scale, abs(expected))
    assert certificate.box_violation <= 1e-10
    assert certificate.equality_residual <= 1e-9
    assert certificate.is_optimal(1e-7)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("C", "epsilon"), [(1.0, 0.1), (50.0, 0.3), (3.0, 0.0)])
def test_regression(seed, C, epsilon):
    X, y, weights = random_rows(seed)
    K, n = gram(X), len(y)
    Q = np.block([[K, -K], [-K, K]])
    q = np.concatenate([y - epsilon, -y - epsilon])
    sides = np.concatenate([np.ones(n), -np.ones(n)])[None]
    expected = maximise(Q, q, C * np.tile(weights, 2), sides, np.zeros(1))
    model = SVR(gamma=GAMMA, C=C, epsilon=epsilon, tol=1e-9).fit(X, y, weights)
    assert_certified(model, expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("C", "nu"), [(1.0, 0.5), (10.0, 0.2), (30.0, 0.4)])
def test_regression_that_finds_its_tube(seed, C, nu):
    X, y, weights = random_rows(seed)
    K, n = gram(X), len(y)
    Q, q = np.block([[K, -K], [-K, K]]), np.concatenate([y, -y])
    sides = np.kron(np.eye(2), np.ones(n))
    expected = maximise(Q, q, C * np.tile(weights, 2), sides, np.full(2, 0.5 * nu * C * weights.sum()))
    model = NuSVR(gamma=GAMMA, C=C, nu=nu, tol=1e-9).fit(X, y, weights)
    assert_certified(model, expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_half_space(seed, nu):
    X, _, weights = random_rows(seed)
    expected = maximise(gram(X), np.zeros(40), weights, np.ones((1, 40)), np.array([nu * weights.sum()]))
    assert_certified(OneClassSVM(gamma=GAMMA, nu=nu, tol=1e-9).fit(X, sample_weight=weights), expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nu", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_ball(seed, nu, kernel):
    X, _, weights = random_rows(seed)
    K = gram(X) if kernel == "rbf" else X @ X.T
    upper = weights / (nu * weights.sum()) if nu else np.ones(40)
    expected = maximise(2.0 * K, K.diagonal().copy(), upper, np.ones((1, 40)), np.ones(1))
    model = SVDD(gamma=GAMMA, kernel=kernel, nu=nu, tol=1e-9).fit(X, sample_weight=weights)
    assert_certified(model, expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.6])
def test_margin_by_share(seed, nu):
    X, targets, weights = random_rows(seed)
    y = np.where(targets > 0, 1.0, -1.0)
    Q = y[:, None] * gram(X) * y[None]
    sides = np.array([y > 0, y < 0], float)
    expected = maximise(Q, np.zeros(40), weights, sides, np.full(2, 0.5 * nu * weights.sum()))
    assert_certified(NuSVC(gamma=GAMMA, nu=nu, tol=1e-9).fit(X, y, weights), expected)
