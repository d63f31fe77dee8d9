"""Draws, halving, and settings that are left out with a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVCCV, SVRCV
from mercer.kernels import RBF
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.selection.tuning.racing import accuracy_bound, best_biases


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_draws_are_between_the_ends(cancer):
    model = SVCCV([0.01, 100.0], [1e-4, 1.0], n_iter=30, random_state=3, cv=3).fit(*cancer)
    C, gamma = (np.asarray(model.cv_results_[name], float) for name in ("param_C", "param_gamma"))
    assert len(C) == 30
    assert C.min() >= 0.01
    assert C.max() <= 100.0
    assert len(np.unique(gamma)) == 8  # four values of C for each
    assert np.log10(C).std() > 0.5
    assert model.best_score_ > 0.96
    again = SVCCV([0.01, 100.0], [1e-4, 1.0], n_iter=30, random_state=3, cv=3).fit(*cancer)
    np.testing.assert_array_equal(C, np.asarray(again.cv_results_["param_C"], float))


def test_draws_from_a_grid(cancer):
    model = SVCCV(param_grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}, n_iter=4, random_state=0, cv=3).fit(*cancer)
    assert len(model.cv_results_["params"]) == 4


def test_halving_ends_with_full_scores():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:900]
    grid = {"Cs": [0.1, 1.0, 10.0], "gammas": [1e-4, 1e-3, 1e-2, 1e-1]}
    halved = SVCCV(**grid, search="halving", random_state=0, cv=3).fit(X, y[:900])
    full = SVCCV(**grid, cv=3).fit(X, y[:900])
    rounds = halved.cv_results_["iter"]
    assert rounds.max() >= 1
    assert halved.cv_results_["n_resources"][rounds == 0][0] < 900
    assert rounds[halved.best_index_] == rounds.max()
    twin = full.cv_results_["params"].index(halved.best_params_)
    assert halved.best_score_ == pytest.approx(full.cv_results_["mean_test_score"][twin], abs=1e-12)
    assert halved.best_score_ >= full.best_score_ - 0.02


def test_halving_a_regression():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 1))
    model = SVRCV(Cs=3, gammas=3, search="halving", cv=3, random_state=0).fit(X, np.sin(X[:, 0]))
    assert model.best_score_ > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_early_stop_has_the_winner_of_the_full_search(seed):
    X, y = make_classification(700, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=seed)
    # A race takes another way to a solution: with a small `tol`, to one that labels every row the same.
    grid = {"Cs": [0.01, 0.1, 1.0, 10.0, 100.0], "gammas": [1e-3, 1e-2, 0.1, 1.0, 10.0], "tol": 1e-7}
    raced, full = (SVCCV(**grid, early_stop=stop).fit(X, y) for stop in (True, False))
    assert raced.best_params_ == full.best_params_
    assert raced.best_score_ == full.best_score_
    state, mean = raced.cv_results_["state"], raced.cv_results_["mean_test_score"]
    assert (state == "cut").any()
    assert np.isnan(mean[state == "cut"]).all()
    np.testing.assert_array_equal(mean[state == "done"], full.cv_results_["mean_test_score"][state == "done"])
    # What was cut could not have won.
    assert (full.cv_results_["mean_test_score"][state == "cut"] < full.best_score_).all()


def bootstraps(n):
    return [(np.random.default_rng(seed).integers(0, n, n), np.arange(seed, n, 4)) for seed in range(4)]


@pytest.mark.parametrize("cv", [ShuffleSplit(4, train_size=0.4, random_state=0), bootstraps(1200)])
def test_early_stop_with_folds_that_learn_from_few_rows_or_from_some_twice(cv):
    X, y = make_classification(1200, 8, n_informative=4, flip_y=0.1, class_sep=0.7, random_state=0)
    grid = {"Cs": [0.01, 0.1, 1.0, 10.0], "gammas": [1e-3, 1e-2, 0.1, 1.0], "cv": cv, "tol": 1e-7}
    raced, full = (SVCCV(**grid, early_stop=stop).fit(X, y) for stop in (True, False))
    assert raced.best_params_ == full.best_params_
    assert raced.best_score_ == full.best_score_
    assert (full.cv_results_["mean_test_score"][raced.cv_results_["state"] == "cut"] < full.best_score_).all()


def test_early_stop_of_several_classes():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    raced, full = (SVCCV([0.1, 10.0], [1e-3, 0.1, 10.0], cv=4, early_stop=stop).fit(X, y) for stop in (True, False))
    assert raced.best_params_ == full.best_params_
    assert (raced.cv_results_["state"] == "cut").any()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.1, 1.0, 10.0]), part=st.floats(0.0, 1.0))
def test_the_gap_bounds_the_accuracy_of_the_solution(seed, C, part):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    if len(np.unique(y[:40])) < 2:
        return
    solved = SVC(C=C, kernel=RBF(0.5), tol=1e-9).fit(X[:40], y[:40])
    accuracy = np.mean(solved.predict(X[40:]) == y[40:])
    # A point on the way from zero to the solution: in the box, and its sum is zero.
    beta = np.zeros(40)
    beta[solved.support_] = part * solved.dual_coef_[0]
    K = RBF(0.5)(X)
    problem = SoftMargin(y[:40], np.full(40, C))
    bound = accuracy_bound(problem, beta, K[:40, :40] @ beta, K[40:, :40] @ beta, np.ones(20), 1.0, y[40:] > 0)
    assert bound >= accuracy - 1e-9
    if part == 1.0:
        assert bound <= accuracy + 0.2


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_best_biases_are_the_least_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(25) < 0.4, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    problem = SoftMargin(signs, rng.choice([0.5, 1.0, 2.0], 25))
    projections = rng.normal(size=25).round(1)
    low, high = best_biases(problem, projections)

    def loss(b):
        return problem.C @ np.maximum(0.0, 1.0 - signs * (projections + b))

    assert low <= high
    least = min(loss(b) for b in signs - projections)
    assert loss(low) == pytest.approx(least)
    assert loss(high) == pytest.approx(least)
    assert loss(low - 0.01) > least
    assert loss(high + 0.01) > least
