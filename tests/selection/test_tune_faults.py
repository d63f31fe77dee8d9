"""Bad input, limits and failing settings: a clear error, or the others go on."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from mercer import SVCCV, SVRCV, DataError, ParameterError
from mercer.kernels import Spectrum
from mercer.selection.shared_gram import SharedGram


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, "one"])
def test_C_that_is_not_positive(wine, C):
    with pytest.raises(ParameterError, match="C must be positive in every setting, got"):
        SVCCV([1.0, C]).fit(*wine)
    with pytest.raises(ParameterError, match="C must be positive in every setting, got"):
        SVCCV(param_grid={"C": [1.0, C]}).fit(*wine)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Cs": 0}, "Cs must be a positive number of values"),
        ({"Cs": []}, "Cs must have at least one value"),
        ({"Cs": "many"}, "Cs must be a list of values"),
        ({"gammas": [0.1], "kernel": "linear"}, "gammas were given, but 'linear' has no gamma"),
        ({"kernels": []}, "kernels must be None or a list"),
        ({"param_grid": {"D": [1]}}, "param_grid has 'D'"),
        ({"param_grid": 3}, "param_grid must be a dictionary"),
        ({"n_iter": 0}, "n_iter must be a whole number"),
        ({"search": "some"}, "search must be one of"),
        ({"factor": 1}, "factor must be a whole number, 2 or more"),
        ({"early_stop": "yes"}, "early_stop must be True or False"),
        ({"early_stop": True, "search": "halving"}, "early_stop=True goes with"),
        ({"early_stop": True, "scoring": lambda *_: 0.0}, "early_stop=True needs a score"),
        ({"scoring": "best"}, "scoring must be a name"),
        ({"scoring": ["accuracy", "f1_macro"]}, "refit must be one of 'accuracy', 'f1_macro'"),
        ({"error_score": "ignore"}, "error_score must be a number or 'raise'"),
        ({"time_limit": -1.0}, "time_limit must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"bias": "some"}, "bias must be one of"),
    ],
)
def test_parameters_that_cannot_be(wine, options, message):
    with pytest.raises(ParameterError, match=message):
        SVCCV(**options).fit(*wine)


def test_fewer_rows_than_folds(wine):
    X, y = wine
    with pytest.raises(DataError, match="cv=None cannot split n_samples=4 rows"):
        SVCCV().fit(X[[0, 1, 100, 101]], y[[0, 1, 100, 101]])


def test_a_fold_with_one_class_fails_alone(wine):
    X, y = wine[0][:120], wine[1][:120]
    folds = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1)), (np.arange(0, 120, 2), np.arange(1, 120, 2))]
    with pytest.warns(FitFailedWarning, match=r"2 of 4 fits failed.*greater than one"):
        model = SVCCV([0.1, 1.0], [0.1], cv=folds).fit(X, y)
    assert np.isnan(model.cv_results_["split0_test_score"]).all()
    assert np.isfinite(model.cv_results_["split1_test_score"]).all()
    assert (model.cv_results_["state"] == "failed").all()
    assert model.predict(X).shape == y.shape


@pytest.mark.filterwarnings("ignore:[0-9]+ of:sklearn.exceptions.FitFailedWarning")
def test_one_failing_setting_does_not_lose_the_others(wine):
    X, y = wine
    grid = [{"C": [1.0], "gamma": [0.1, -1.0]}, {"C": [1.0], "kernel": ["rbf", "nonsense"]}]
    model = SVCCV(param_grid=grid, cv=3).fit(X, y)
    assert model.cv_results_["state"].tolist() == ["done", "failed", "done", "failed"]
    assert np.isfinite(model.best_score_)
    assert model.best_index_ in (0, 2)
    worst = SVCCV(param_grid=grid, cv=3, error_score=-7.0).fit(X, y)
    assert worst.cv_results_["mean_test_score"][1] == -7.0


@pytest.mark.filterwarnings("ignore:[0-9]+ of:sklearn.exceptions.FitFailedWarning")
def test_every_parameter_of_a_setting_is_checked(wine):
    model = SVCCV(param_grid={"tol": [1e-3, -1.0], "bias": ["free"]}, cv=3).fit(*wine)
    assert model.cv_results_["state"].tolist() == ["done", "failed"]


def test_without_memory_for_the_matrix_settings_are_fitted_by_themselves(wine, monkeypatch):
    expected = SVCCV([0.1, 1.0], [0.1], cv=3).fit(*wine)

    def no_room(self):
        raise MemoryError

    monkeypatch.setattr(SharedGram, "_evaluated", no_room)
    found = SVCCV([0.1, 1.0], [0.1], cv=3).fit(*wine)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


@pytest.mark.filterwarnings("ignore:[0-9]+ of:sklearn.exceptions.FitFailedWarning")
def test_a_kernel_that_does_not_accept_the_data(wine):
    texts = ["abab", "baba", "cdcd", "dcdc"] * 5
    y = [0, 0, 1, 1] * 5
    model = SVCCV([1.0], None, kernels=["rbf", Spectrum(2)], cv=2).fit(texts, y)
    assert model.cv_results_["state"].tolist() == ["failed", "done"]
    assert model.best_score_ == 1.0


def test_all_settings_fail(wine):
    with pytest.raises(DataError, match=r"all the 3 fits failed: .*gamma must be"):
        SVCCV(param_grid={"gamma": [-1.0]}, cv=3).fit(*wine)
    with pytest.raises(ParameterError, match="gamma must be"):
        SVCCV(param_grid={"gamma": [-1.0]}, cv=3, error_score="raise").fit(*wine)


def test_data_that_cannot_be(wine):
    X, y = wine
    with pytest.raises(ValueError, match="NaN"):
        SVCCV().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(DataError, match="greater than one"):
        SVCCV().fit(X, np.zeros(len(y)))
    with pytest.raises(DataError, match="sample_weight"):
        SVRCV().fit(X, y.astype(float), sample_weight=np.ones(3))


def test_a_time_limit_keeps_the_best_so_far():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SVCCV(Cs=30, gammas=40, time_limit=0.5, n_jobs=1)
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT: [0-9]+ of 6000 fits were made"):
        model.fit(X, y)
    assert model.status_.name == "TIME_LIMIT"
    assert "untried" in model.cv_results_["state"]
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("search", ["all", "halving"])
def test_where_no_time_is_left_the_middle_of_the_grid_is_judged_all_the_same(wine, search):
    X, y = wine
    model = SVCCV([0.01, 1.0, 100.0], [1e-4, 0.1, 10.0], cv=3, time_limit=1e-9, search=search)
    with pytest.warns(ConvergenceWarning, match=r"TIME_LIMIT: 3 of 27 fits were made, .* compared with any other"):
        model.fit(X, y)
    assert model.best_params_ == {"C": 1.0, "gamma": 0.1}
    assert model.status_.name == "TIME_LIMIT"
    assert list(model.cv_results_["state"]).count("done") == 1
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_] > 0.5


def test_where_the_middle_of_the_grid_fails_there_is_no_time_for_others(wine):
    X, y = wine
    with pytest.raises(DataError, match=r"fits failed: .*gamma"):
        SVCCV([1.0], [-1.0], time_limit=1e-9).fit(X, y)


def test_a_search_ended_within_the_folds_goes_by_those_that_there_are(wine):
    X, y = wine
    with pytest.warns(ConvergenceWarning, match=r"INTERRUPTED: 3 of 15 fits were made; .* judged on 1 of 5 folds"):
        model = SVCCV([0.5, 2.0, 8.0], [0.1], callbacks=[lambda _: True], n_jobs=1).fit(X, y)
    assert model.best_score_ == model.cv_results_["split0_test_score"][model.best_index_]


def test_a_callback_ends_the_search():
    X, y = load_breast_cancer(return_X_y=True)
    X, seen = StandardScaler().fit_transform(X), []

    def stop(point):
        seen.append(point)
        return point.done >= 20

    with pytest.warns(ConvergenceWarning, match="INTERRUPTED: 2[0-9] of 40 fits"):
        model = SVCCV([0.1, 1.0], [0.1, 0.01, 0.001, 1.0], callbacks=[stop], n_jobs=1).fit(X, y)
    assert model.status_.name == "INTERRUPTED"
    assert np.isfinite(model.best_score_)
    assert [point.done for point in seen] == sorted(point.done for point in seen)
    assert seen[-1].total == 40
    assert seen[-1].seconds_left > 0


def test_progress_goes_to_standard_error(wine, capsys):
    SVCCV([1.0], [0.1, 0.01], verbose=1, cv=2).fit(*wine)
    told = capsys.readouterr()
    assert told.out == ""
    assert "4 of 4 fits, about 0.0 s left  best 0.9" in told.err


def test_max_iter_is_told_of_once():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with pytest.warns(ConvergenceWarning, match="10 of 10 fits of the search ended as ITERATION_LIMIT"):
        SVCCV([1.0, 10.0], [0.1], max_iter=3, refit=False).fit(X, y)


def test_a_splitter_that_wants_groups_says_where_they_go(wine):
    with pytest.raises(DataError, match="pass groups to fit"):
        SVCCV([1.0], [0.1], cv=GroupKFold(3)).fit(*wine)


SEARCH = """
import warnings
import numpy as np
from mercer import SVCCV

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1500) > 0).astype(int)
SVCCV([1.0], [0.1], cv=2).fit(X[:600], y[:600])

seen = []
def tell(point):
    if not seen and np.isfinite(point.best_score):
        seen.append(point)
        print("begun", flush=True)

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    model = SVCCV(np.logspace(-2, 4, 60), np.logspace(-3, 1, 40), n_jobs=1, callbacks=[tell], cv=2).fit(X, y)
assert np.isfinite(model.best_score_), model.best_score_
assert model.predict(X).shape == y.shape and model.certificate_.is_optimal(1e-2)
assert "untried" in model.cv_results_["state"] and "done" in model.cv_results_["state"]
assert any("INTERRUPTED" in str(each.message) for each in told)
print(model.status_.name, flush=True)
"""


def test_control_c_in_the_middle_of_a_search():
    """The best setting so far is kept, refitted, and said to be only that."""
    process = subprocess.Popen(
        [sys.executable, "-c", SEARCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "INTERRUPTED\n", err
    assert process.returncode == 0


def test_whoever_watches_a_search_sees_nothing_but_the_search(monkeypatch):
    # As where a kernel matrix takes long, which a fit would tell.
    monkeypatch.setattr("mercer.solvers.limits.SILENCE_SECONDS", 0.0)
    X, y = np.random.default_rng(0).normal(size=(600, 5)), np.arange(600) % 2
    seen = []
    SVCCV([0.01], [0.1, 1.0], cv=2, n_jobs=1, callbacks=[seen.append]).fit(X, y)
    assert {type(point).__name__ for point in seen} == {"SearchPoint"}
