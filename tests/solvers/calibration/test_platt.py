import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from mercer.solvers.calibration.isotonic import fit_isotonic
from mercer.solvers.calibration.out_of_fold import assign_folds, projected
from mercer.solvers.calibration.pairwise_coupling import couple
from mercer.solvers.calibration.platt import (
    _derivatives,
    _objective,
    bounded_copies,
    fit_sigmoid,
    sigmoid,
    smoothed_targets,
)


@pytest.fixture
def scored(rng):
    scores = rng.normal(size=300)
    return scores, rng.uniform(size=300) < 1.0 / (1.0 + np.exp(-2.0 * scores + 0.5)), rng.integers(1, 4, 300) * 1.0


def test_the_sigmoid_has_the_largest_likelihood(scored):
    scores, positive, weights = scored
    targets = smoothed_targets(positive, weights)

    def minus_log_likelihood(theta):
        u = theta[0] * scores + theta[1]
        return weights @ (targets * np.logaddexp(0.0, u) + (1.0 - targets) * np.logaddexp(0.0, -u))

    judge = minimize(minus_log_likelihood, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(fit_sigmoid(scores, positive, weights), judge.x, atol=1e-6)


def test_a_score_that_misleads_says_nothing(scored):
    scores, positive, weights = scored
    A, B = fit_sigmoid(-scores, positive, weights)
    assert A == 0.0
    p, _ = sigmoid(np.array([-5.0, 5.0]), A, B)
    assert p == pytest.approx(weights @ smoothed_targets(positive, weights) / weights.sum())


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_separated_scores_of_any_size(scale):
    scores = scale * np.array([-2.0, -1.0, 1.0, 2.0])
    A, B = fit_sigmoid(scores, scores > 0, np.ones(4))
    assert np.isfinite([A, B]).all()
    p, q = sigmoid(scores, A, B)
    assert (np.diff(p) > 0).all()
    np.testing.assert_allclose(p + q, 1.0)
    assert p[0] < 0.3
    assert p[-1] > 0.7


def test_scores_that_are_all_zero():
    assert fit_sigmoid(np.zeros(3), np.array([True, True, False]), np.ones(3)) == (0.0, pytest.approx(np.log(2 / 3)))


def test_isotonic_is_scikit_learns(scored, rng):
    scores, positive, weights = scored
    scores = scores.round(1)
    knots, levels = fit_isotonic(scores, positive.astype(float), weights)
    judge = IsotonicRegression().fit(scores, positive, weights)
    np.testing.assert_allclose(levels, judge.predict(knots), atol=1e-12)
    assert (np.diff(levels) >= 0).all()


@pytest.mark.parametrize("k", [3, 5])
def test_coupling_is_exact_where_pairs_agree(k, rng):
    p = rng.dirichlet(np.ones(k), size=20)
    i, j = np.triu_indices(k, 1)
    np.testing.assert_allclose(couple(p[:, i] / (p[:, i] + p[:, j]), k), p, atol=1e-6)


def test_coupling_minimises_its_objective(rng):
    k = 4
    r = rng.uniform(0.05, 0.95, size=(1, 6))
    i, j = np.triu_indices(k, 1)

    def objective(p):
        return np.sum(((1.0 - r[0]) * p[i] - r[0] * p[j]) ** 2)

    best = couple(r, k)[0]
    assert best.sum() == pytest.approx(1.0)
    for _ in range(200):
        step = rng.normal(size=k) * 1e-3
        other = best + step - step.mean()
        assert objective(other) >= objective(best) - 1e-12


@pytest.mark.parametrize("weight", [1e155, 1e300, 1.7e308])
def test_weights_however_large_count_as_many_copies(scored, weight):
    scores, positive, weights = scored
    many = fit_sigmoid(scores, positive, weights * 1e50)
    np.testing.assert_allclose(fit_sigmoid(scores, positive, weights / 3.0 * weight), many, rtol=1e-7)
    np.testing.assert_allclose(bounded_copies(weights * 1e300) / bounded_copies(weights * 1e300).max(), weights / 3.0)


def test_weights_of_usual_size_are_taken_as_they_are(scored):
    assert bounded_copies(scored[2]) is scored[2]


@pytest.mark.parametrize("scale", [1e-310, 5e-324, 1e300])
def test_folds_of_rows_of_any_size(rng, scale):
    X = np.round(10.0 * rng.normal(size=(60, 4)))
    keys = projected(X * scale)
    assert np.isfinite(keys).all()
    assert np.bincount(assign_folds(np.zeros(60, int), keys)).min() > 15


def test_folds_depend_on_contents_only(rng):
    X = rng.normal(size=(60, 4))
    codes = rng.integers(0, 3, 60)
    folds = assign_folds(codes, projected(X))
    order = rng.permutation(60)
    np.testing.assert_array_equal(assign_folds(codes[order], projected(X[order])), folds[order])
    twice = np.repeat(np.arange(60), 2)
    np.testing.assert_array_equal(assign_folds(codes[twice], projected(X[twice])), folds[twice])
    for code in range(3):
        sizes = np.bincount(folds[codes == code])
        assert sizes.max() - sizes.min() <= 1


def test_the_only_row_of_a_class_is_never_left_out():
    folds = assign_folds(np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 1.0]))
    assert folds[3] == -1
    assert sorted(folds[:3]) == [0, 1, 2]


def test_derivatives_are_differences_of_the_objective_and_of_each_other(rng):
    scores, targets, weights = 2.0 * rng.normal(size=20), rng.random(20), rng.random(20)
    A, B, h = -0.7, 0.3, 1e-5

    def objective(a, b):
        u = a * scores + b
        return weights @ (targets * np.logaddexp(0.0, u) + (1.0 - targets) * np.logaddexp(0.0, -u))

    assert _objective(scores, targets, weights, A, B) == pytest.approx(objective(A, B))
    found = _derivatives(scores, targets, weights, A, B)
    slopes = [
        (objective(A + h * a, B + h * b) - objective(A - h * a, B - h * b)) / (2 * h) for a, b in ((1, 0), (0, 1))
    ]
    np.testing.assert_allclose(found[:2], slopes, rtol=1e-6)
    bends = [
        (_derivatives(scores, targets, weights, A + h * a, B + h * b)[k] - found[k]) / h
        for a, b, k in ((1, 0, 0), (1, 0, 1), (0, 1, 1))
    ]
    np.testing.assert_allclose(found[2:], bends, rtol=1e-3)
