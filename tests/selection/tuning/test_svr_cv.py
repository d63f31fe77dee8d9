"""SVRCV has the scores of a grid search over SVR."""

import numpy as np
import pytest
import sklearn
import sklearn.svm
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold

from mercer import SVR, SVRCV
from tests.selection.tuning.searched import oversampled, scores_of


def test_regression_scores_are_those_of_a_grid_search():
    X, y = load_diabetes(return_X_y=True)
    for rows in (300, 442):  # small, and in place
        grid = {"C": [1.0, 100.0], "gamma": [0.1, 10.0], "epsilon": [1.0, 10.0]}
        own = SVRCV(grid["C"], grid["gamma"], epsilons=grid["epsilon"], cv=11).fit(X[:rows], y[:rows])
        peer = GridSearchCV(sklearn.svm.SVR(), grid, cv=11).fit(X[:rows], y[:rows])
        assert own.best_params_ == peer.best_params_
        order = [own.cv_results_["params"].index(setting) for setting in peer.cv_results_["params"]]
        np.testing.assert_allclose(scores_of(own, 11)[order], scores_of(peer, 11), atol=1e-4)


def test_a_regression_with_weights_and_no_bias():
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    own = SVRCV([10.0, 100.0], [1.0], bias="none", epsilon=5.0, scoring="r2").fit(X, y, sample_weight=weights)
    train, test = next(iter(KFold(5).split(X)))
    alone = SVR(C=10.0, gamma=1.0, bias="none", epsilon=5.0).fit(X[train], y[train], sample_weight=weights[train])
    assert own.cv_results_["split0_test_score"][0] == pytest.approx(
        alone.score(X[test], y[test], sample_weight=weights[test]), abs=1e-4
    )


def test_a_bootstrap_of_a_regression_has_the_scores_of_a_grid_search():
    X, _, _ = oversampled()
    y, everything = X[:, 0] + np.sin(X[:, 1]), np.arange(600)
    draws = [np.random.default_rng(seed).integers(0, 600, 600) for seed in range(3)]
    cv = [(drawn, np.setdiff1d(everything, drawn)) for drawn in draws]
    found = SVRCV([1.0, 10.0], [0.1], cv=cv, tol=1e-5).fit(X, y)
    expected = GridSearchCV(sklearn.svm.SVR(gamma=0.1, tol=1e-5), {"C": [1.0, 10.0]}, cv=cv).fit(X, y)
    np.testing.assert_allclose(scores_of(found, 3), scores_of(expected, 3), atol=1e-4)
