import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, DataError, ParameterError
from mercer.kernels import RBF, Linear
from mercer.plot import TuningDisplay
from tests.plot.pictures import assert_pictured


def results(params, scores, spread=None, splits=5):
    found = {"params": params, "mean_test_score": np.asarray(scores, dtype=float)}
    if spread is not None:
        found["std_test_score"] = np.asarray(spread, dtype=float)
    return found | {f"split{k}_test_score": np.asarray(scores) for k in range(splits)}


GRID = [{"C": C, "gamma": gamma} for C in (1, 10, 100) for gamma in (0.1, 1.0)]
SCORES = [0.5, 0.6, 0.9, 0.8, 0.7, 0.65]


def test_a_map_has_the_first_parameter_across_and_the_second_upwards():
    display = TuningDisplay.from_results(results(GRID, SCORES))
    np.testing.assert_allclose(display.scores, [[0.5, 0.9, 0.7], [0.6, 0.8, 0.65]])
    np.testing.assert_allclose(display.map_.get_array(), display.scores)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["1", "10", "100"]
    assert [text.get_text() for text in display.texts_] == ["0.500", "0.900", "0.700", "0.600", "0.800", "0.650"]


def test_the_star_is_at_the_best_and_the_legend_names_it():
    display = TuningDisplay.from_results(results(GRID, SCORES))
    np.testing.assert_allclose(display.best_.get_offsets()[0], [1.0, 0.0], atol=0.3)
    assert display.best_.get_label() == "best: 0.900 at C = 10, gamma = 0.1"


def test_places_within_one_standard_error_are_dotted():
    display = TuningDisplay.from_results(results(GRID, SCORES, np.full(6, 0.2)))
    # 0.2 / sqrt(5 - 1) = 0.1: only 0.8 is as good as 0.9.
    np.testing.assert_allclose(display.near_.get_offsets(), [[1.0, 1.0]], atol=0.3)
    alone = TuningDisplay.from_results(results(GRID, SCORES, np.full(6, 0.2), splits=0))
    assert len(alone.near_.get_offsets()) == 0


def test_other_parameters_are_taken_at_their_best():
    params = [{**each, "kernel": kernel} for each in GRID for kernel in ("rbf", "poly")]
    scores = [value for score in SCORES for value in (score - 0.1, score)]
    display = TuningDisplay.from_results(results(params, scores))
    assert display.names == ["C", "gamma"]
    assert np.nanmax(display.scores) == 0.9
    by_kernel = TuningDisplay.from_results(results(params, scores), params=["kernel", "C"])
    np.testing.assert_allclose(by_kernel.scores, [[0.6, 0.5], [0.9, 0.8], [0.7, 0.6]])


def test_a_failed_fit_is_hatched():
    display = TuningDisplay.from_results(results(GRID, [0.5, np.nan, *SCORES[2:]]))
    assert len(display.texts_) == 5
    hatched = [patch for patch in display.ax_.patches if patch.get_hatch()]
    assert [patch.get_xy() for patch in hatched] == [(-0.5, 0.5)]


def test_one_parameter_is_a_line_with_a_band(petals):
    search = GridSearchCV(SVC(), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=3).fit(*petals)
    display = TuningDisplay.from_estimator(search)
    np.testing.assert_array_equal(display.map_.get_xdata(), [0.01, 0.1, 1.0, 10.0])
    np.testing.assert_allclose(display.map_.get_ydata(), search.cv_results_["mean_test_score"])
    assert display.ax_.get_xscale() == "log"


def test_random_candidates_are_points(petals):
    from scipy.stats import loguniform

    spread = {"svc__C": loguniform(0.1, 100.0), "svc__gamma": loguniform(0.01, 1.0)}
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = RandomizedSearchCV(pipeline, spread, n_iter=8, cv=3, random_state=0).fit(*petals)
    display = TuningDisplay.from_estimator(search)
    assert not display.is_grid
    assert len(display.map_.get_offsets()) == 8
    assert display.ax_.get_xlabel() == "C"
    best = search.best_params_
    np.testing.assert_allclose(display.best_.get_offsets()[0], [best["svc__C"], best["svc__gamma"]])


def test_values_that_are_no_numbers_are_named():
    params = [{"kernel": kernel} for kernel in (RBF(gamma=1.0), Linear(), None)]
    display = TuningDisplay.from_results(results(params, [0.1, 0.2, 0.3]))
    assert display.values[0][0] is None
    assert {text.get_text() for text in display.ax_.get_xticklabels()} == {"None", "Linear()", "RBF(gamma=1.0)"}


def test_what_is_no_search_is_refused(toy):
    with pytest.raises(ParameterError, match="needs a model with cv_results_, which SVC does not have"):
        TuningDisplay.from_estimator(SVC().fit(*toy))
    with pytest.raises(ParameterError, match=r"metric must be one that cv_results has \(score\), got 'f1'"):
        TuningDisplay.from_results(results(GRID, SCORES), metric="f1")
    with pytest.raises(ParameterError, match="params must be one or two of 'C', 'gamma', got"):
        TuningDisplay.from_results(results(GRID, SCORES), params=["degree"])
    with pytest.raises(DataError, match="must have tried at least two values"):
        TuningDisplay.from_results(results([{"C": 1.0}], [0.5]))
    with pytest.raises(DataError, match="every fit failed"):
        TuningDisplay.from_results(results(GRID, [np.nan] * 6))


def test_the_picture():
    assert_pictured(TuningDisplay.from_results(results(GRID, [np.nan, *SCORES[1:]], np.full(6, 0.2))).figure_, "tuning")
