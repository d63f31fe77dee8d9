"""The judge of the races agrees with the formulas written out, and with LIBSVM."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from benchmarks.harness import objective
from benchmarks.harness.objective import gaussian, judge, pair_coefficients, pair_signs
from benchmarks.harness.peers import coefficients

C, GAMMA = 2.0, 0.3


def fitted(n_classes, tol=1e-6):
    X, y = make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=1
    )
    return X, y, SVC(C=C, gamma=GAMMA, tol=tol).fit(X, y)


def written_out(X, y, model):
    """Primal and dual of a two-class fit, from alpha for every row and the whole Gram."""
    labels = np.where(y == model.classes_[1], 1.0, -1.0)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    K = np.exp(-GAMMA * np.square(X[:, None] - X[None]).sum(axis=2))
    hinge = np.maximum(0, 1 - labels * model.decision_function(X)).sum()
    return beta @ K @ beta / 2 + C * hinge, (labels * beta).sum() - beta @ K @ beta / 2


def test_gaussian_is_the_formula():
    left, right = np.random.default_rng(0).normal(size=(2, 4, 3))
    expected = np.exp(-0.7 * np.square(left[:, None] - right[None]).sum(axis=2))
    np.testing.assert_allclose(gaussian(left, right, 0.7), expected, rtol=1e-12)


def test_two_classes_agree_with_the_formulas():
    X, y, model = fitted(2)
    found = judge(X, y, C, GAMMA, coefficients(model))
    assert (found.primal, found.dual) == pytest.approx(written_out(X, y, model), rel=1e-10)


def test_one_vs_one_is_the_sum_of_the_pairs_fitted_alone():
    X, y, model = fitted(4)
    alone = 0.0
    for i in range(4):
        for j in range(i + 1, 4):
            rows = (y == i) | (y == j)
            pair = SVC(C=C, gamma=GAMMA, tol=1e-6).fit(X[rows], y[rows])
            alone += written_out(X[rows], y[rows], pair)[0]
    found = judge(X, y, C, GAMMA, coefficients(model))
    assert found.primal == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_tight_fit_has_almost_no_gap_and_is_feasible(n_classes):
    X, y, model = fitted(n_classes)
    found = judge(X, y, C, GAMMA, coefficients(model))
    assert 0 <= found.relative_gap < 1e-5
    assert found.equality_residual < 1e-9
    assert found.box_violation <= 0 + 1e-12


def test_a_wrong_sign_is_seen_as_a_violation():
    X, y, model = fitted(2)
    right = coefficients(model)
    wrong = objective.Coefficients(right.support, -right.dual_coef, right.intercept)
    assert judge(X, y, C, GAMMA, wrong).box_violation > 0.1


def test_blocks_and_sparse_rows_change_nothing(monkeypatch):
    X, y, model = fitted(4)
    whole = judge(X, y, C, GAMMA, coefficients(model))
    monkeypatch.setattr(objective, "BLOCK_ENTRIES", 700)
    in_blocks = judge(sparse.csr_matrix(X), y, C, GAMMA, coefficients(model))
    assert in_blocks.primal == pytest.approx(whole.primal, rel=1e-12)
    assert in_blocks.dual == pytest.approx(whole.dual, rel=1e-12)


def test_layout_of_three_classes():
    # Rows of dual_coef are the opponents, in order, the vector's own class left out.
    dual_coef = np.array([[12.0, -12.0, -13.0], [13.0, 23.0, -23.0]])
    beta = pair_coefficients(dual_coef, np.array([0, 1, 2]), 3)
    np.testing.assert_array_equal(beta, [[12, 13, 0], [-12, 0, 23], [0, -13, -23]])
    np.testing.assert_array_equal(np.sign(beta), pair_signs(3))
