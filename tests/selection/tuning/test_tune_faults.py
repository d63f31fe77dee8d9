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
from mercer.kernels import RBF, Linear, Spectrum
from mercer.selection.tuning.progress import Progress
from mercer.selection.tuning.search import Search
from mercer.selection.tuning.shared_matrix import SharedGram
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from tests.faults.own_time import Stopwatch


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
        ({"param_grid": []}, r"param_grid must have at least one setting, got \[\]"),
        ({"param_grid": {"kernel": [Linear()], "kernel__gamma": [1.0]}}, "Linear has no parameter 'gamma'"),
        ({"scoring": "neg_log_loss"}, "scoring='neg_log_loss' needs probabilities; set probability=True"),
        (
            {"scoring": ["accuracy", "roc_auc_ovr"], "refit": "accuracy"},
            "'roc_auc_ovr' needs probabilities; set probability=True",
        ),
        ({"n_iter": 0}, "n_iter must be a whole number"),
        ({"search": "some"}, "search must be one of"),
        ({"factor": 1}, "factor must be a whole number, 2 or more"),
        ({"early_stop": "yes"}, "early_stop must be True or False"),
        ({"early_stop": True, "search": "halving"}, "early_stop=True needs"),
        ({"early_stop": True, "scoring": lambda *_: 0.0}, "early_stop=True needs a score"),
        ({"scoring": "best"}, "scoring must be one of sklearn"),
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


def test_fewer_rows_than_folds_are_divided_into_as_many_as_there_can_be(wine):
    X, y = wine[0][[0, 1, 100, 101]], wine[1][[0, 1, 100, 101]]
    assert SVCCV().fit(X, y).n_splits_ == 2  # of each class two rows
    with pytest.raises(DataError, match="cv=5 cannot split n_samples=4 rows"):
        SVCCV(cv=5).fit(X, y)


def test_a_fold_with_one_class_fails_alone(wine):
    X, y = wine[0][:120], wine[1][:120]
    folds = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1)), (np.arange(0, 120, 2), np.arange(1, 120, 2))]
    with pytest.warns(FitFailedWarning, match=r"2 of 4 fits failed.*greater than one"):
        model = SVCCV([0.1, 1.0], [0.1], cv=folds).fit(X, y)
    assert np.isnan(model.cv_results_["split0_test_score"]).all()
    assert np.isfinite(model.cv_results_["split1_test_score"]).all()
    assert (model.cv_results_["state"] == "failed").all()
    assert model.predict(X).shape == y.shape


@pytest.fixture
def lame(wine):
    """Two classes, and three folds of which the first has one class to learn from."""
    X, y = wine[0][:120], wine[1][:120]
    halves = np.arange(0, 120, 2), np.arange(1, 120, 2)
    return X, y, [(np.flatnonzero(y == 0), np.flatnonzero(y == 1)), halves, halves[::-1]]


@pytest.mark.parametrize("options", [{}, {"early_stop": True}, {"search": "halving", "random_state": 0}])
def test_settings_are_compared_on_the_folds_that_there_are(lame, options):
    X, y, folds = lame
    with pytest.warns(FitFailedWarning, match=r"greater than one.* On fold 0 every setting failed; .* on the others"):
        model = SVCCV([1e-4, 0.01, 1.0], [0.1], cv=folds, **options).fit(X, y)
    sound = SVCCV([1e-4, 0.01, 1.0], [0.1], cv=folds[1:]).fit(X, y)
    assert model.best_params_ == sound.best_params_ == {"C": 1.0, "gamma": 0.1}
    assert model.best_score_ == sound.best_score_
    last = model.cv_results_.get("iter", np.zeros(3)) == model.cv_results_.get("iter", np.zeros(3)).max()
    assert model.cv_results_["rank_test_score"][model.best_index_] == 1
    if last.all():
        for name in ("mean_test_score", "std_test_score", "rank_test_score"):
            np.testing.assert_array_equal(model.cv_results_[name], sound.cv_results_[name])


@pytest.mark.filterwarnings("ignore:[0-9]+ of:sklearn.exceptions.FitFailedWarning")
def test_an_error_score_that_is_a_number_counts_as_such(lame):
    X, y, folds = lame
    model = SVCCV([1e-4, 1.0], [0.1], cv=folds, error_score=0.0).fit(X, y)
    sound = SVCCV([1e-4, 1.0], [0.1], cv=folds[1:]).fit(X, y)
    assert model.best_params_ == sound.best_params_
    assert model.best_score_ == pytest.approx(sound.best_score_ * 2 / 3)


def test_settings_that_each_fail_somewhere(lame):
    X, y, folds = lame

    def score(machine, X, y):
        if y[0] == int(machine.C > 1):
            raise ValueError("no")
        return machine.score(X, y)

    folds = [(np.arange(120), np.flatnonzero(y == k)) for k in (0, 1)]
    with pytest.warns(
        FitFailedWarning, match="No setting was judged on all folds: .* is the best of those judged on most"
    ):
        model = SVCCV([0.5, 5.0], [0.1], cv=folds, scoring=score).fit(X, y)
    assert model.best_score_ > 0.9


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_fold_without_a_score_is_left_out(lame):
    X, y, folds = lame
    folds = [(np.arange(0, 120, 2), np.flatnonzero(y == 1)), *folds[1:]]
    with pytest.warns(UserWarning, match="2 of 6 fits have the score NaN. On fold 0 no setting has a score"):
        model = SVCCV([1e-4, 1.0], [10.0], cv=folds, scoring="roc_auc").fit(X, y)
    sound = SVCCV([1e-4, 1.0], [10.0], cv=folds[1:], scoring="roc_auc").fit(X, y)
    assert (model.best_params_, model.best_score_) == (sound.best_params_, sound.best_score_)


@pytest.mark.filterwarnings("ignore:[0-9]+ of [0-9]+ fits have the score NaN")
def test_where_no_setting_has_a_score_none_wins(wine):
    with pytest.raises(DataError, match="NaN on every fold for every setting"):
        SVCCV([0.1, 1.0], [0.1], cv=2, scoring=lambda *_: np.nan).fit(*wine)
    table = SVCCV([0.1, 1.0], [0.1], cv=2, scoring=lambda *_: np.nan, refit=False).fit(*wine)
    assert np.isnan(table.best_score_)
    some = SVCCV([0.1, 1.0], [0.1], cv=2, scoring=lambda m, *_: np.nan if m.C < 1 else 0.5).fit(*wine)
    assert some.best_index_ == 1


@pytest.mark.parametrize("options", [{}, {"early_stop": True}, {"search": "halving"}])
def test_a_setting_that_no_machine_takes_does_not_lose_the_others(wine, options):
    grid = {"kernel": [Linear(), RBF(1.0)], "kernel__gamma": [0.1]}
    with pytest.warns(FitFailedWarning, match="3 of 6 fits failed .*: Linear has no parameter 'gamma'"):
        model = SVCCV(param_grid=grid, cv=3, **options).fit(*wine)
    assert model.cv_results_["state"].tolist() == ["failed", "done"]
    assert model.best_params_["kernel"] == RBF(1.0)
    with pytest.raises(ParameterError, match="Linear has no parameter 'gamma'"):
        SVCCV(param_grid=grid, cv=3, error_score="raise", **options).fit(*wine)


def test_probabilities_that_some_settings_have(wine):
    with pytest.warns(FitFailedWarning, match="2 of 4 fits failed .* set probability=True"):
        model = SVCCV(param_grid={"probability": [False, True]}, cv=2, scoring="neg_log_loss").fit(*wine)
    assert model.best_params_ == {"probability": True}
    with pytest.raises(ParameterError, match="needs probabilities; a regression has none"):
        SVRCV(scoring="neg_log_loss").fit(wine[0], wine[1].astype(float))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (([0, 1.5, 100], [2]), r"cv must yield row numbers, which are integers, got 1\.5"),
        (([0, 100, 178], [2]), "cv must yield row numbers below n_samples=178, got 178"),
        (([0, -179], [2]), "cv must yield row numbers below n_samples=178, got -179"),
        ((np.ones(100, bool), [2]), "cv must yield masks of 178 rows"),
        ((np.zeros(178, bool), [2]), "cv must yield folds with rows to learn from"),
        (([0, 100], []), "cv must yield folds with rows to learn from"),
        ((["a"], [2]), "cv must yield row numbers"),
    ],
)
def test_splits_that_cannot_be(wine, split, message):
    with pytest.raises(DataError, match=message):
        SVCCV([1.0], [0.1], cv=[split]).fit(*wine)


@pytest.mark.parametrize(
    ("refit", "given", "message"),
    [
        (True, {"a": 1.0, "b": 2.0}, r"refit must name one of the scores that scoring returns \('a', 'b'\), got True"),
        ("c", {"a": 1.0}, "refit must name one of .* got 'c'"),
        (False, {}, "refit must name one of"),
        ("a", 1.0, "refit must be True or False if scoring returns one number, got 'a'"),
    ],
)
def test_what_a_function_gives_and_refit_must_agree(wine, refit, given, message):
    with pytest.raises(ParameterError, match=message):
        SVCCV([1.0], [0.1], cv=2, scoring=lambda *_: given, refit=refit).fit(*wine)


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
    with pytest.raises(DataError, match=r"all 3 fits failed: .*gamma must be"):
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


@pytest.mark.parametrize("end", ["callback", "time"])
def test_halving_that_ends_between_rounds_says_so(end, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X, is_over = StandardScaler().fit_transform(X), []

    def stop(point):
        if point.done == 48 * 3:
            is_over.append(point)
        return end == "callback" and bool(is_over)

    if end == "time":
        monkeypatch.setattr(Limits, "reached", lambda _: Status.TIME_LIMIT if is_over else None)
    name = {"callback": "INTERRUPTED", "time": "TIME_LIMIT"}[end]
    search = SVCCV(cv=3, search="halving", random_state=0, callbacks=[stop], n_jobs=1, refit=False)
    with pytest.warns(ConvergenceWarning, match=rf"{name}: 144 of 210 fits.* best of 48 settings, judged on 64 rows"):
        model = search.fit(X, y)
    assert model.status_.name == name
    assert set(model.cv_results_["n_resources"]) == {64}


def test_halving_out_of_time_in_a_later_round_goes_by_the_one_before(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    X, is_over = StandardScaler().fit_transform(X), []
    begin = Search.run_all

    def run_all(search):
        if search.task.n > 64:
            is_over.append(True)
        begin(search)

    monkeypatch.setattr(Search, "run_all", run_all)
    monkeypatch.setattr(Limits, "reached", lambda _: Status.TIME_LIMIT if is_over else None)
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT: 144 of 210 fits were made; the best of 48 settings"):
        model = SVCCV(cv=3, search="halving", random_state=0, n_jobs=1, refit=False).fit(X, y)
    assert model.cv_results_["iter"][model.best_index_] == 0
    assert model.best_score_ == model.cv_results_["mean_test_score"][:48].max()


@pytest.mark.parametrize("options", [{"early_stop": True}, {"search": "halving", "random_state": 0}])
def test_what_is_told_of_a_search_ends_with_its_end(options):
    X, y = load_breast_cancer(return_X_y=True)
    seen = []
    SVCCV(cv=3, callbacks=[seen.append], n_jobs=1, **options).fit(StandardScaler().fit_transform(X), y)
    assert len({point.total for point in seen}) == 1
    assert [point.done for point in seen] == sorted(point.done for point in seen)
    assert seen[-1].done == seen[-1].total
    assert seen[-1].seconds_left == 0.0 < min(point.seconds_left for point in seen[:-1])


def test_time_left_counts_the_rows_of_later_rounds():
    progress = Progress([(9, 100), (3, 200)])
    assert progress.total == 12
    assert progress.seconds_left(9, 9.0) == pytest.approx(12.0)
    progress.place = 1
    assert progress.done(1) == 10
    assert progress.seconds_left(1, 13.0) == pytest.approx(8.0)


@pytest.mark.parametrize("options", [{}, {"early_stop": True}, {"search": "halving"}])
def test_where_no_time_is_left_the_middle_of_the_grid_is_fitted_and_said(wine, options):
    X, y = wine
    model = SVCCV([0.01, 1.0, 100.0], [1e-4, 0.1, 10.0], cv=3, time_limit=1e-9, **options)
    with pytest.warns(ConvergenceWarning, match=r"TIME_LIMIT: 0 of \d+ fits .* nothing was judged, .* the middle"):
        model.fit(X, y)
    assert model.best_params_ == {"C": 1.0, "gamma": 0.1}
    assert model.status_.name == "TIME_LIMIT"
    assert "done" not in model.cv_results_["state"]
    assert np.isnan(model.best_score_)
    assert model.predict(X).shape == y.shape


def test_where_the_middle_of_the_grid_cannot_be_fitted_that_is_said(wine):
    X, y = wine
    with pytest.raises(ParameterError, match="gamma must be"):
        SVCCV([1.0], [-1.0], time_limit=1e-9).fit(X, y)


@pytest.mark.parametrize("kind", [SVCCV, SVRCV])
@pytest.mark.parametrize("time_limit", [0.05, 0.6])
def test_the_last_fit_has_what_is_left(kind, time_limit):
    """It would take many seconds, as one fold does."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    # Time for the compiler, where it has not been here before.
    kind([1.0], [0.3], cv=2).fit(X, y)
    model = kind([1e6], [0.01], cv=2, tol=1e-9, time_limit=time_limit)
    watch = Stopwatch()
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT.*The last fit had no time"):
        model.fit(X, y)
    assert watch.seconds <= time_limit + 0.5
    assert model.status_.name == model.best_estimator_.status_.name == "TIME_LIMIT"
    assert model.best_estimator_.time_limit is None
    assert np.isfinite(model.predict(X[:5])).all()


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
    with pytest.warns(ConvergenceWarning, match="10 of 10 fits of the search ended with ITERATION_LIMIT"):
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
    out, err = process.communicate(timeout=600)
    assert out == "INTERRUPTED\n", err
    assert process.returncode == 0


def test_whoever_watches_a_search_sees_nothing_but_the_search(monkeypatch):
    # As where a kernel matrix takes long, which a fit would tell.
    monkeypatch.setattr("mercer.solvers.limits.SILENCE_SECONDS", 0.0)
    X, y = np.random.default_rng(0).normal(size=(600, 5)), np.arange(600) % 2
    seen = []
    SVCCV([0.01], [0.1, 1.0], cv=2, n_jobs=1, callbacks=[seen.append]).fit(X, y)
    assert {type(point).__name__ for point in seen} == {"SearchPoint"}
