"""Logistic fits whose C k(x, x) is large, in coordinates of the feature space."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelLogisticRegression, KernelMachine
from mercer.kernels import RBF, Polynomial
from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
from mercer.problems.kernel_methods.multinomial import SoftmaxRoot
from mercer.solvers.result import Status
from mercer.solvers.smooth.feature_newton import _Hessian, coordinates


def hard(seed):
    """(model, X, y, weights): up to 150 rows, C up to 1e10, two or three classes, all biases and kernels."""
    rng = np.random.default_rng(seed)
    n, d, C = int(rng.integers(10, 150)), int(rng.integers(1, 20)), 10.0 ** rng.uniform(2, 10)
    X, n_classes = rng.normal(size=(n, d)), int(rng.choice([2, 3]))
    if rng.random() < 0.4:
        X = X[rng.integers(0, n // 3, n)]
    edges = np.linspace(-0.3, 0.3, n_classes - 1)
    y = rng.integers(0, n_classes, n) if rng.random() < 0.5 else np.digitize(X[:, 0], edges)
    y[:3] = [0, 1, n_classes - 1]
    gamma = 10.0 ** rng.uniform(-2, 1) / d
    kernel = ["linear", RBF(gamma), Polynomial(degree=3, gamma=gamma, coef0=1.0), "precomputed"][rng.integers(4)]
    weights = 10.0 ** rng.uniform(-3, 3, n) if rng.random() < 0.3 else None
    model = KernelLogisticRegression(
        C=C, kernel=kernel, bias=str(rng.choice(["free", "penalized", "none"])), tol=1e-6, time_limit=60.0
    )
    return model, X @ X.T if kernel == "precomputed" else X, y, weights


def ended(model, *data, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **named)


# All of them ended as STALLED, or with a LinAlgError, in terms of coefficients.
SEEDS = [1, 2, 5, 7, 11, 12, 13, 15, 18, 19, 22, 24, 33, 41, 46, 53, 55, 59]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_C_ends_with_feasible_coefficients_and_a_true_status(seed):
    model, X, y, weights = hard(seed)
    found = ended(model, X, y, sample_weight=weights).certificate_
    assert model.status_ in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE)
    assert found.is_optimal(1e-6) or model.status_ == Status.OPTIMAL_INACCURATE
    assert np.isfinite(found.dual)
    assert found.box_violation <= 0.0
    assert found.relative_gap <= 1e-3
    assert max(model.n_iter_) <= 100


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_both_ways_agree_where_both_are_accurate(monkeypatch, rng, bias):
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=80), [-0.5, 0.5])
    model = KernelLogisticRegression(C=20.0, bias=bias, tol=1e-8)
    plain = model.fit(X, y).decision_function(X)
    monkeypatch.setattr("mercer.solvers.smooth.newton_gram.LARGE", 0.0)
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), plain, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_coefficients_stay_in_their_box_in_a_kernel_machine(rng, loss):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, 1, -1)
    model = ended(KernelMachine(loss=loss, alpha=1e-9, kernel="rbf"), X, y)
    (found,) = np.atleast_1d(model.certificate_)
    assert model.status_ in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE)
    assert np.isfinite(found.dual)
    assert found.box_violation <= 0.0


def test_where_rounding_outweighs_all_the_model_is_no_worse_than_none(rng):
    X = rng.normal(size=(60, 3)) + 1e4
    y = rng.integers(0, 2, 60)
    model = ended(KernelLogisticRegression(C=1e9, kernel=Polynomial(degree=3, gamma=1.0, coef0=1.0)), X, y)
    assert model.status_ == Status.STALLED
    assert np.isfinite(model.certificate_.dual)
    assert model.certificate_.primal <= 1e9 * 60 * np.log(2.0)


def test_limits_hold_in_coordinates(rng):
    X = rng.normal(size=(60, 3))
    model = ended(KernelLogisticRegression(C=1e8, max_iter=2), X, X[:, 0] > 0)
    assert model.status_ == Status.ITERATION_LIMIT
    assert model.n_iter_ == [2]
    assert model.certificate_.box_violation <= 0.0
    assert np.isfinite(model.certificate_.dual)


def test_coordinates_describe_the_matrix_or_there_are_none(rng):
    X = rng.normal(size=(30, 4))
    K = X @ X.T
    factor = coordinates(K, is_definite=False)
    assert factor.shape == (30, 4)
    np.testing.assert_allclose(factor @ factor.T, K, atol=1e-12)
    assert coordinates(K - np.eye(30), is_definite=False) is None
    K[0, 1] = np.nan
    assert coordinates(K, is_definite=True) is None


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_both_factors_of_the_hessian_solve_it(rng, has_bias, k):
    L, C = rng.normal(size=(20, 4)), rng.uniform(0.5, 2.0, 20)
    root = DiagonalRoot(np.sqrt(C)) if k == 1 else SoftmaxRoot(rng.dirichlet(np.ones(k), 20), C)
    w, b = rng.normal(size=(4, k)), rng.normal(size=k) if has_bias else np.zeros(k)
    b -= b.mean() if k > 1 else 0.0
    bent = root.times(root.transposed_times(L @ w + b))
    for is_careful in (False, True):
        dw, db = _Hessian(root, L, has_bias, is_careful).solved(w + L.T @ bent, bent.sum(axis=0))
        np.testing.assert_allclose(dw, w, atol=1e-12)
        np.testing.assert_allclose(db, b, atol=1e-12)


def test_every_step_in_coordinates_is_in_the_trace(rng):
    X = rng.normal(size=(60, 3))
    model = KernelLogisticRegression(C=1e6, tol=1e-6).fit(X, X[:, 0] + 0.3 * rng.normal(size=60) > 0)
    assert [point.iterations for point in model.trace_] == list(range(1, model.n_iter_[0] + 1))
    assert model.trace_[-1].violation <= 1e-6
    assert model.trace_[-1].dual == pytest.approx(model.certificate_.dual, rel=1e-4)
