"""The bias where all points are at their bounds, but for rounding."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVCCV, leave_one_out
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.bias import common_bias


@pytest.mark.parametrize("seed", range(20))
def test_compiled_and_not_are_the_same(seed):
    rng = np.random.default_rng(seed)
    lower, upper = np.where(rng.random(12) < 0.5, -1.0, 0.0), np.ones(12)
    share = rng.choice([0.0, 1e-16, 1e-13, 0.5, 1.0 - 1e-13, 1.0], 12, p=[0.3, 0.1, 0.1, 0.05, 0.15, 0.3])
    beta, gradient = lower + share * (upper - lower), rng.normal(size=12)
    expected = DualProblem(gradient, lower, upper).bias(beta, gradient)
    assert common_bias(beta, gradient, lower, upper) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("off", [0.0, 1e-17, 1e-15, 1e-13])
def test_a_point_that_rounding_keeps_from_its_bound_does_not_decide(off):
    beta, gradient = np.array([1.0 - off, 1.0, -1.0, -1.0 + off]), np.array([0.9, 0.5, -0.7, -0.3])
    problem = DualProblem(gradient, np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0]))
    # Those above may fall to 0.5, those below may rise to -0.3.
    assert problem.bias(beta, gradient) == pytest.approx(0.1)


def test_near_a_kink_is_at_it():
    beta, gradient = np.array([1e-17, 1.0, -1.0]), np.array([0.3, 2.0, -2.0])
    problem = DualProblem(gradient, -np.ones(3), np.ones(3), kink=0.5)
    assert problem.bias(beta, gradient) == pytest.approx(problem.bias(np.array([0.0, 1.0, -1.0]), gradient))


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n", [300, 600])
def test_a_search_finds_the_bias_of_a_fit_where_all_is_at_its_bound(n, class_weight):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n // 2) if class_weight is None else (np.arange(n) < 0.37 * n).astype(int)
    X = rng.normal(size=(n, 5))
    X[:, 0] += 0.7 * y
    grid = {"C": [1e-3, 0.01, 0.1], "gamma": [0.1]}
    found = SVCCV(grid["C"], grid["gamma"], cv=5, class_weight=class_weight).fit(X, y)
    expected = GridSearchCV(SVC(class_weight=class_weight), grid, cv=5).fit(X, y)
    for fold in range(5):
        name = f"split{fold}_test_score"
        assert np.allclose(found.cv_results_[name], expected.cv_results_[name], atol=1.01 / (n // 5))


def test_the_order_of_balanced_rows_does_not_matter(cancer):
    X, y = cancer
    order = np.random.default_rng(1).permutation(len(y))
    one = SVC(C=1e-3, gamma=0.01, class_weight="balanced").fit(X, y)
    other = SVC(C=1e-3, gamma=0.01, class_weight="balanced").fit(X[order], y[order])
    assert np.allclose(one.intercept_, other.intercept_, atol=1e-6)


@pytest.mark.parametrize("more", [0, 1])
def test_leaving_one_out_exactly_is_fitting_without_it_where_all_is_at_its_bound(cancer, more):
    X, y = cancer
    rows = np.r_[np.flatnonzero(y == 0)[: 30 + more], np.flatnonzero(y == 1)[:30]]
    model = SVC(C=0.01, gamma=0.03)
    exact, refitted = (leave_one_out(model, X[rows], y[rows], method=method) for method in ("exact", "refit"))
    assert exact.error == refitted.error
