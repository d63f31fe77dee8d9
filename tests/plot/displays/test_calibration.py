import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from mercer import SVC, DataError, KernelLogisticRegression, ParameterError
from mercer.plot import CalibrationDisplay
from mercer.plot.displays.calibration import reliability, wilson_interval
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def honest():
    """Probabilities that mean what they say."""
    rng = np.random.default_rng(0)
    p = rng.uniform(size=1500)
    return rng.uniform(size=1500) < p, p


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_curve_is_that_of_scikit_learn(honest, strategy):
    share, mean = calibration_curve(*honest, n_bins=8, strategy=strategy)
    display = CalibrationDisplay.from_predictions(*honest, n_bins=8, strategy=strategy)
    x, y = display.lines_[0].get_data()
    np.testing.assert_allclose(x, mean)
    np.testing.assert_allclose(y, share)


def test_the_band_is_the_interval_of_wilson():
    for hits, n in ((0, 5), (3, 10), (50, 60), (7, 7)):
        expected = binomtest(hits, n).proportion_ci(0.9, method="wilson")
        low, high = wilson_interval(np.array([hits / n]), np.array([n]), 0.9)
        assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_honest_probabilities_lie_within_their_bands(honest):
    curve = reliability(*honest, confidence=0.99)
    assert ((curve.low <= curve.probability) & (curve.probability <= curve.high)).all()
    assert curve.error < 0.05


def test_counts_count_every_row(honest):
    display = CalibrationDisplay.from_predictions(*honest)
    assert display.curves["model"].counts.sum() == 1500
    assert display.counts_[0].get_data().values.sum() == 1500


def test_errors_are_in_the_legend():
    display = CalibrationDisplay.from_predictions([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5], n_bins=1)
    curve = display.curves["model"]
    assert (curve.error, curve.brier) == (0.25, 0.25)
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert texts == ["model: calibration error 0.250, Brier 0.250"]


def test_models_are_told_apart_without_colour(honest):
    y, p = honest
    display = CalibrationDisplay.from_predictions(y, {"a": p, "b": p**2})
    first, second = display.lines_
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()


def test_a_model_is_asked_for_the_class_in_question(petals):
    X, y = petals
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = KernelLogisticRegression().fit(X, names)
    display = CalibrationDisplay.from_estimator(model, X, names, pos_label="versicolor", n_bins=4)
    expected = reliability(names == "versicolor", model.predict_proba(X)[:, 1], 4)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), expected.share)
    assert display.axes_[1].get_xlabel() == "probability of versicolor"


def test_what_is_no_probability_is_refused(toy, petals):
    with pytest.raises(ParameterError, match=r"needs a model with predict_proba, .* SVC\(probability=True\) has it"):
        CalibrationDisplay.from_estimator(SVC().fit(*toy), *toy)
    with pytest.raises(DataError, match="y_prob must be probabilities, from 0 to 1, got -1 to 2; decision values"):
        CalibrationDisplay.from_predictions([0, 1], [-1.0, 2.0])
    with pytest.raises(DataError, match="y_prob must be one probability for each of the 2 labels"):
        CalibrationDisplay.from_predictions([0, 1], [0.5])
    with pytest.raises(ParameterError, match="pos_label must say which of the 3 classes"):
        CalibrationDisplay.from_predictions([0, 1, 2], [0.5, 0.5, 0.5])
    with pytest.raises(ParameterError, match="pos_label must be one of 0, 1, 2, got 'rose'"):
        CalibrationDisplay.from_estimator(KernelLogisticRegression().fit(*petals), *petals, pos_label="rose")
    for wrong, words in (
        ({"n_bins": 0}, "n_bins must be positive"),
        ({"strategy": "kmeans"}, "strategy must be 'uniform' or 'quantile', got 'kmeans'"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1, got 1.0"),
    ):
        with pytest.raises(ParameterError, match=words):
            CalibrationDisplay.from_predictions([0, 1], [0.2, 0.8], **wrong)


def test_the_picture(honest):
    y, p = honest
    assert_pictured(CalibrationDisplay.from_predictions(y, {"honest": p, "too sure": p**2}).figure_, "calibration")
