"""Searches on a cluster: the table that one process makes, to the last bit."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning

from mercer import SVCCV, SVRCV, MKLClassifier, MKLRegressor, distributed

GRID = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.01, 0.1]}


@pytest.fixture(scope="module")
def data():
    return make_classification(450, 6, n_informative=4, flip_y=0.1, random_state=0)


def assert_same_table(found, expected):
    for name, column in expected.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(np.asarray(found.cv_results_[name]), np.asarray(column), err_msg=name)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SVCCV(**GRID),
        lambda: SVCCV(**GRID, early_stop=True, cv=3),
        lambda: SVCCV(**GRID, search="halving", random_state=0, cv=3),
        lambda: SVCCV(Cs=["auto", 1.0], gammas=None, cv=3, return_train_score=True),
        lambda: SVCCV(Cs=[1.0], gammas=[0.1], probability=True, scoring="neg_log_loss", cv=3),
        lambda: SVRCV(**GRID, cv=3),
    ],
)
def test_a_search_finds_what_one_process_finds(two_workers, data, make):
    X, y = data
    alone = make().fit(X, y)
    with distributed.cluster(two_workers):
        assert_same_table(make().fit(X, y), alone)


def several_scores(model, X, y):
    right = np.mean(model.predict(X) == y)
    return {"right": right, "wrong": 1.0 - right}


def test_scores_of_a_function_come_back_by_name(two_workers, data):
    X, y = data
    how = {"Cs": [0.1, 1.0], "gammas": [0.1], "cv": 3, "scoring": several_scores, "refit": "right"}
    alone = SVCCV(**how).fit(X, y)
    with distributed.cluster(two_workers):
        found = SVCCV(**how).fit(X, y)
    assert_same_table(found, alone)
    assert found.multimetric_
    assert found.best_score_ == alone.best_score_


def refuses(_X, _Y):
    raise ValueError("no such rows")


def test_settings_that_fail_are_told_as_ever(two_workers, data):
    X, y = data
    grid = {"kernel": ["rbf", refuses]}
    with distributed.cluster(two_workers):
        with pytest.warns(FitFailedWarning, match=r"3 of 6 fits failed.*no such rows"):
            found = SVCCV(param_grid=grid, cv=3).fit(X, y)
        assert found.best_params_ == {"kernel": "rbf"}
        with pytest.raises(ValueError, match="no such rows"):
            SVCCV(param_grid=grid, cv=3, error_score="raise").fit(X, y)


def test_a_search_on_a_cluster_shows_how_far_it_is_and_may_be_ended(two_workers, data):
    X, y = data
    points = []
    with distributed.cluster(two_workers):
        SVCCV(**GRID, callbacks=[points.append]).fit(X, y)
        assert points[-1].done == points[-1].total == 30
        seen = []
        with pytest.warns(match="fits were made"):
            ended = SVCCV(**GRID, callbacks=[lambda point: seen.append(point) or len(seen) == 2]).fit(X, y)
    assert 0 < np.count_nonzero(~np.isnan(ended.cv_results_["split0_test_score"])) < 6


@pytest.mark.parametrize("make", [MKLClassifier, MKLRegressor])
def test_kernel_weights_by_folds_are_those_of_one_process(two_workers, data, make):
    X, y = data[0][:150], data[1][:150]
    alone = make(method="cv", cv=3).fit(X, y)
    with distributed.cluster(two_workers):
        found = make(method="cv", cv=3).fit(X, y)
    np.testing.assert_array_equal(found.weights_, alone.weights_)
    np.testing.assert_array_equal(found.dual_coef_, alone.dual_coef_)
