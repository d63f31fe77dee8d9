"""Linear machines of every kind against an interior-point solver."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer import LinearSVC, LinearSVR
from tests.oracles.linear_primal import optimum

BIASES = ("penalized", "free", "none")


def problem(seed, n=40, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3.0, size=d)
    score = X @ rng.normal(size=d) + 0.7
    return X, score, np.where(score + rng.normal(size=n) > 0, 1.0, -1.0), rng.uniform(0.2, 3.0, size=n)


def assert_optimal(model, value, tol=1e-7):
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(value, rel=tol)
    assert certificate.dual <= value * (1 + 1e-7) + 1e-9
    assert certificate.gap <= tol * max(1.0, value)
    assert certificate.box_violation <= 1e-10
    assert certificate.equality_residual <= 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("loss", "bias", "solver"),
    list(itertools.product(("hinge", "squared_hinge"), BIASES, ("newton", "dual_cd"))),
)
def test_classification(loss, bias, solver, seed):
    X, _, y, weight = problem(seed)
    model = LinearSVC(loss=loss, bias=bias, solver=solver, C=0.7, intercept_scaling=2.0, tol=1e-8, max_iter=-1).fit(
        X, y, sample_weight=weight
    )
    assert_optimal(model, optimum(X, y, 0.7 * weight, loss, bias=bias, scale=2.0))


@pytest.mark.parametrize(
    ("loss", "bias", "solver", "epsilon"),
    list(
        itertools.product(
            ("epsilon_insensitive", "squared_epsilon_insensitive"), BIASES, ("newton", "dual_cd"), (0.0, 0.5)
        )
    ),
)
def test_regression(loss, bias, solver, epsilon):
    X, score, _, weight = problem(5)
    model = LinearSVR(loss=loss, bias=bias, solver=solver, epsilon=epsilon, tol=1e-8, max_iter=-1)
    model.fit(X, score, sample_weight=weight)
    value = optimum(X, score, weight, loss, bias=bias, epsilon=epsilon)
    assert_optimal(model, value, 1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bias", BIASES)
def test_l1_penalty(bias, seed):
    X, _, y, weight = problem(seed)
    model = LinearSVC("l1", bias=bias, C=0.2, tol=1e-8).fit(X, y, sample_weight=weight)
    assert_optimal(model, optimum(X, y, 0.2 * weight, "squared_hinge", "l1", bias=bias))
    sparse_model = LinearSVC("l1", bias=bias, C=0.2, tol=1e-8).fit(sparse.csr_array(X), y, sample_weight=weight)
    np.testing.assert_allclose(sparse_model.coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_crammer_singer_of_two_classes_is_a_hinge(fit_intercept):
    X, _, y, _ = problem(1)
    model = LinearSVC(multi_class="crammer_singer", fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    bias = "penalized" if fit_intercept else "none"
    assert_optimal(model, optimum(X, y, 2.0 * np.ones(len(y)), "hinge", bias=bias))


def test_crammer_singer_closes_its_gap():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 5)), rng.integers(0, 4, size=120)
    X += 1.5 * np.eye(5)[y]
    model = LinearSVC(multi_class="crammer_singer", tol=1e-6, max_iter=-1).fit(X, y)
    certificate = model.certificate_
    assert -1e-9 <= certificate.relative_gap <= 1e-6
    assert certificate.box_violation <= 1e-12
    assert certificate.equality_residual <= 1e-12
    assert model.coef_.shape == (4, 5)
