"""Leave-one-out by leading coefficients back, against fits without each row."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict

from mercer import (
    SVC,
    SVCCV,
    SVR,
    DataError,
    KernelRidge,
    LeaveOneOutScorer,
    ParameterError,
    WholeSample,
    leave_one_out,
    theory,
)


def noisy(n=45, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kernel": "linear"},
        {"C": 100.0},
        {"C": np.inf, "gamma": 5.0},
        {"bias": "none"},
        {"bias": "penalized"},
        {"loss": "squared_hinge"},
        {"class_weight": {0: 1.5, 1: 1.0}},
    ],
    ids=str,
)
def test_values_are_those_of_models_that_never_saw_the_row(given):
    X, y = noisy()
    model = SVC(**{"gamma": 0.5, "tol": 1e-10, **given})
    found = leave_one_out(model, X, y)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut(), method="decision_function")
    assert np.allclose(found.values, expected, atol=1e-8)
    assert found.error == np.mean(found.predictions != y)
    assert found.kind == "exact"


def test_repeated_rows_and_ties():
    X = np.array([[i, j] for i in range(4) for j in range(4)] * 2, dtype=float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    y[5] = 1 - y[5]
    model = SVC(kernel="linear", tol=1e-10)
    found = leave_one_out(model, X, y)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut(), method="decision_function")
    assert np.allclose(found.values, expected, atol=1e-7)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], np.array(["a", "b", "c"])[y[::3]]
    model = SVC(C=2.0, gamma=0.3, tol=1e-9, multi_class=multi_class)
    found, again = leave_one_out(model, X, y), leave_one_out(model, X, y, method="refit")
    assert (found.predictions == again.predictions).all()
    assert found.error == again.error
    assert found.values.shape == (50, 3)


def test_the_only_row_of_a_class_is_an_error():
    X, y = noisy(20)
    y[:] = 0
    y[3] = 1
    found = leave_one_out(SVC(), X, y)
    assert found.predictions[3] == 0
    assert found.error >= 0.05


def test_rows_of_weight_zero_are_judged_but_not_learnt():
    X, y = noisy(30)
    weights = np.ones(30)
    weights[4] = 0.0
    found = leave_one_out(SVC(gamma=0.5), X, y, sample_weight=weights)
    alone = SVC(gamma=0.5, tol=1e-9).fit(np.delete(X, 4, axis=0), np.delete(y, 4))
    assert found.values[4] == pytest.approx(alone.decision_function(X[4:5])[0], abs=1e-6)


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_bounds_are_above_and_the_span_is_near(C, bias):
    X, y = noisy(80, seed=1)
    model = SVC(C=C, gamma=0.5, bias=bias)
    exact = leave_one_out(model, X, y).error
    assert leave_one_out(model, X, y, method="xi_alpha").error >= exact
    assert abs(leave_one_out(model, X, y, method="span").error - exact) <= 0.15
    support = len(SVC(C=C, gamma=0.5, bias=bias).fit(X, y).support_)
    assert exact <= theory.support_vector_bound(support, 80)


def test_ridge_has_a_formula():
    X, _ = noisy(30)
    y = X[:, 0] ** 2 + X[:, 1]
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
    found, again = leave_one_out(model, X, y), leave_one_out(model, X, y, method="refit")
    assert np.allclose(found.predictions, again.predictions, atol=1e-8)
    assert found.error == pytest.approx(again.error)
    assert again.as_dict()["method"] == "refit"


def test_it_is_a_score_for_searches():
    X, y = noisy(60, seed=2)
    grid = {"C": [0.01, 1.0]}
    search = GridSearchCV(SVC(gamma=0.5), grid, scoring=LeaveOneOutScorer(), cv=WholeSample()).fit(X, y)
    by_fits = GridSearchCV(SVC(gamma=0.5), grid, cv=LeaveOneOut()).fit(X, y)
    assert np.allclose(search.cv_results_["mean_test_score"], by_fits.cv_results_["mean_test_score"])
    ridge = GridSearchCV(KernelRidge(), {"alpha": [0.1, 10.0]}, scoring=LeaveOneOutScorer(), cv=WholeSample())
    assert ridge.fit(X, X[:, 0]).best_params_ == {"alpha": 0.1}


def test_weights_of_rows_reach_the_score():
    X, y = noisy(60, seed=2)
    weights, Cs = np.r_[np.full(30, 50.0), np.ones(30)], [0.1, 1.0]
    expected = [1.0 - leave_one_out(SVC(C=C, gamma=0.5), X, y, sample_weight=weights).error for C in Cs]
    assert expected != [1.0 - leave_one_out(SVC(C=C, gamma=0.5), X, y).error for C in Cs]
    search = SVCCV(Cs, [0.5], scoring=LeaveOneOutScorer(), cv=WholeSample()).fit(X, y, sample_weight=weights)
    assert np.allclose(search.cv_results_["mean_test_score"], expected)
    with config_context(enable_metadata_routing=True):
        model, scorer = SVC(gamma=0.5).set_fit_request(sample_weight=True), LeaveOneOutScorer()
        search = GridSearchCV(model, {"C": Cs}, scoring=scorer, cv=WholeSample())
        with pytest.raises(ValueError, match="set_score_request"):
            search.fit(X, y, sample_weight=weights)
        scorer.set_score_request(sample_weight=True)
        assert np.allclose(clone(search).fit(X, y, sample_weight=weights).cv_results_["mean_test_score"], expected)


def test_errors_say_what_can_be_done():
    X, y = noisy(20)
    with pytest.raises(ParameterError, match='"refit" takes any estimator'):
        leave_one_out(SVR(), X, y, method="exact")
    with pytest.raises(ParameterError, match="method must be one of"):
        leave_one_out(SVC(), X, y, method="guess")
    with pytest.raises(DataError, match="needs two classes"):
        leave_one_out(SVC(), X, np.arange(20) % 3, method="span")
    with pytest.raises(ParameterError, match="crammer_singer"):
        leave_one_out(SVC(multi_class="crammer_singer", bias="none"), X, y)
    with pytest.raises(DataError, match="memory_limit leaves"):
        leave_one_out(SVC(memory_limit="12MiB"), np.zeros((600, 1)), np.arange(600) % 2)
    with pytest.raises(DataError, match="time_limit"):
        leave_one_out(SVC(), *noisy(300), time_limit=1e-6)


def test_any_estimator_can_be_fitted_again():
    X, _ = noisy(12)
    found = leave_one_out(SVR(), X, X[:, 0])
    assert found.method == "refit"
    assert "leave-one-out error" in str(found)
