"""Worked examples 9, 10, 11 and 14 of the sources, each from its statement."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import scale

from benchmarks.sets.data import data_folder
from mercer import SVC, Regularization, theory
from mercer.io import read_boston_housing
from mercer.kernels import Polynomial


@pytest.mark.parametrize("lam", [1e-4, 0.01, 1.0, 100.0])
def test_exercise_3_is_false_for_every_lambda(lam):
    """Two rows at ±sqrt(lambda): Hard-SVM has w = 1/sqrt(lambda), Soft-SVM half of it."""
    X, y = np.sqrt(lam) * np.array([[1.0], [-1.0]]), np.array([1, -1])
    hard = SVC(kernel="linear", C=np.inf, bias="none", tol=1e-10).fit(X, y).coef_[0, 0]
    soft = SVC(kernel="linear", C=Regularization.from_lambda(lam), bias="none", tol=1e-10).fit(X, y).coef_[0, 0]
    assert hard == pytest.approx(1.0 / np.sqrt(lam))
    assert soft == pytest.approx(0.5 / np.sqrt(lam))


@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_above_root_two_lambda_hard_and_soft_agree(lam):
    X, y = np.sqrt(2.1 * lam) * np.array([[1.0], [-1.0]]), np.array([1, -1])
    soft = SVC(kernel="linear", C=Regularization.from_lambda(lam), bias="none", tol=1e-10).fit(X, y).coef_[0, 0]
    assert soft == pytest.approx(1.0 / np.sqrt(2.1 * lam))


@pytest.mark.parametrize("loss", ["logistic", "squared", "exponential", "squared_hinge"])
def test_representer_theorem_for_any_loss(loss, rng):
    """In w and in alpha the same minimum, and w lies in the span of the features."""
    X = rng.normal(size=(8, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 > 0, 1.0, -1.0)
    kernel = Polynomial(degree=3, gamma=1.0, coef0=1.0)
    features, K = kernel.feature_map(X), kernel(X)
    assert features.shape[1] > len(X)  # so that the span is not everything
    value = theory.LOSSES[loss].value

    def in_w(w):
        return value(y * (features @ w)).sum() + 0.3 * w @ w

    def in_alpha(alpha):
        return value(y * (K @ alpha)).sum() + 0.3 * alpha @ K @ alpha

    options = {"method": "BFGS", "options": {"gtol": 1e-8, "maxiter": 5000}}
    w = minimize(in_w, np.zeros(features.shape[1]), **options)
    alpha = minimize(in_alpha, np.zeros(len(X)), **options)
    assert w.fun == pytest.approx(alpha.fun, rel=1e-6)
    inside = features.T @ np.linalg.lstsq(features.T, w.x, rcond=None)[0]
    assert np.linalg.norm(w.x - inside) <= 1e-4 * np.linalg.norm(w.x)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_representer_theorem_for_the_hinge(bias, rng):
    """The alpha-form that a machine is, and the w-form of its features, have one objective."""
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    model = SVC(C=2.0, kernel=kernel, bias=bias, tol=1e-9).fit(X, y)
    w = model.dual_coef_[0] @ kernel.feature_map(X[model.support_])
    f = kernel.feature_map(X) @ w + model.intercept_[0]
    in_w = 0.5 * w @ w + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
    linear = SVC(C=2.0, kernel="linear", bias=bias, tol=1e-9).fit(kernel.feature_map(X), y)
    assert in_w == pytest.approx(model.certificate_.primal)
    assert in_w == pytest.approx(linear.certificate_.primal, rel=1e-6)


def test_weak_duality_at_every_step_and_strong_at_the_end():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0, 2:], y[y > 0]
    best = SVC(C=10.0, gamma=0.5, tol=1e-9).fit(X, y).certificate_
    duals = []
    for steps in (1, 2, 4, 8, 16):
        with pytest.warns(UserWarning, match="ITERATION_LIMIT"):
            certificate = SVC(C=10.0, gamma=0.5, tol=1e-9, max_iter=steps).fit(X, y).certificate_
        assert certificate.dual <= best.primal + 1e-9
        assert certificate.primal >= best.dual - 1e-9
        assert certificate.gap >= 0.0
        duals.append(certificate.dual)
    assert duals == sorted(duals)
    assert 0.0 <= best.gap + 1e-9 <= 1e-6


def test_setosa_is_linearly_separable_from_the_others(petals):
    X, y = petals
    is_setosa = np.where(y == 0, 1, -1)
    found = theory.report(SVC(kernel="linear", C=1e3, tol=1e-8).fit(X, is_setosa), X, is_setosa)
    assert found.is_separated
    assert found.hinge == pytest.approx(0.0, abs=1e-6)
    is_virginica = np.where(y == 2, 1, -1)
    assert not theory.report(SVC(kernel="linear", C=1e3).fit(X, is_virginica), X, is_virginica).is_separated


def test_digits_are_learnt_and_their_margin_beats_the_dimension():
    X, y = load_digits(return_X_y=True)
    X, is_eight = X / 16.0, np.where(y == 8, 1, -1)
    model = SVC(C=10.0, gamma=0.3).fit(X[:1200], is_eight[:1200])
    assert model.score(X[1200:], is_eight[1200:]) > 0.97
    found = theory.report(model, X[:1200], is_eight[:1200])
    assert found.is_separated
    held_out = float(np.mean(model.predict(X[1200:]) != is_eight[1200:]))
    assert held_out <= found["xi_alpha"].value <= found["support_vectors"].value < 0.5


def test_rows_in_the_form_of_boston_housing_are_told_apart_at_the_median_price(tmp_path):
    """Made-up prices that rise with rooms and fall with status, from a file as a reader would have it."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(506, 14))
    rows[:, 13] = 30.0 + 20.0 * rows[:, 5] - 15.0 * rows[:, 12] + 0.3 * rng.normal(size=506)
    np.savetxt(tmp_path / "housing.data", rows, fmt="%9.5f")
    housing = read_boston_housing(tmp_path / "housing.data")
    model = SVC(kernel="linear", C=100.0).fit(scale(housing.X), housing.is_dear)
    weights = dict(zip(housing.columns, model.coef_[0], strict=True))
    assert model.score(scale(housing.X), housing.is_dear) > 0.95
    assert weights["RM"] == max(weights.values())
    assert weights["LSTAT"] == min(weights.values())
    # The direction is that of the rule that made them.
    assert weights["RM"] / -weights["LSTAT"] == pytest.approx(20.0 / 15.0, rel=0.1)


# Real prices, where the data of the races are there.
if data_folder() is not None:

    def test_boston_housing_above_and_below_the_median_price(tmp_path):
        """A Gaussian machine tells dear from cheap, and its report does not claim what it cannot."""
        with np.load(data_folder() / "regression" / "boston.npz") as held:
            np.savetxt(tmp_path / "housing.data", np.column_stack([held["X"], held["y"]]), fmt="%.10g")
        housing = read_boston_housing(tmp_path / "housing.data")
        X, price = scale(housing.X), housing.price
        is_dear = np.where(housing.is_dear, 1, -1)
        order = np.random.default_rng(0).permutation(len(price))
        rows, kept = order[:380], order[380:]
        model = SVC(C=3.0, gamma=0.08).fit(X[rows], is_dear[rows])
        held_out = 1.0 - model.score(X[kept], is_dear[kept])
        assert held_out < 0.15
        found = theory.report(model, X[rows], is_dear[rows])
        assert held_out <= found["xi_alpha"].value
