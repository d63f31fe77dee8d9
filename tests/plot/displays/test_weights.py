import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mercer import SVC, DataError, ParameterError
from mercer.kernels import RBF, Linear
from mercer.plot import WeightsDisplay
from tests.plot.pictures import assert_pictured


class Fitted(BaseEstimator):
    """What a fitted model of several kernels has."""

    def __init__(self, kernels=None):
        self.kernels = kernels

    def fit(self, weights, classes=None):
        self.weights_ = np.array(weights)
        if classes is not None:
            self.classes_ = classes
        return self


def widths(bars):
    return [bar.get_width() for bar in bars]


def test_the_largest_weight_comes_first():
    display = WeightsDisplay.from_weights(["a", "b", "c"], [0.2, 0.7, 0.1])
    assert display.names == ["b", "a", "c"]
    assert widths(display.bars_[0]) == [0.7, 0.2, 0.1]
    assert display.ax_.yaxis_inverted()


def test_the_given_order_is_kept_on_request():
    display = WeightsDisplay.from_weights(["a", "b"], [0.2, 0.7], sort=False)
    assert display.names == ["a", "b"]


def test_a_kernel_that_is_not_used_is_said_to_be_so():
    display = WeightsDisplay.from_weights(["a", "b"], [1.0, 0.0])
    assert [text.get_text() for text in display.texts_] == ["1", "not used"]


def test_models_differ_by_hatch_as_well_as_by_colour():
    display = WeightsDisplay.from_weights(["a", "b"], {"first": [0.5, 0.5], "second": [0.9, 0.1]})
    first, second = (bars[0] for bars in display.bars_)
    assert first.get_hatch() != second.get_hatch()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["first", "second"]


@pytest.mark.parametrize(
    ("kernels", "names"),
    [
        ([RBF(gamma=1.0), Linear()], ["RBF(gamma=1.0)", "Linear()"]),
        ({"near": RBF(gamma=1.0), "far": Linear()}, ["near", "far"]),
        ([("near", RBF(gamma=1.0)), ("far", Linear())], ["near", "far"]),
        (None, ["kernel 0", "kernel 1"]),
    ],
)
def test_names_come_from_the_model(kernels, names):
    display = WeightsDisplay.from_estimator(Fitted(kernels).fit([0.6, 0.4]))
    assert display.names == names


def test_names_found_by_the_fit_come_first():
    model = Fitted([RBF(gamma=1.0), Linear()]).fit([0.6, 0.4])
    model.kernel_names_ = ["age", "town"]
    assert WeightsDisplay.from_estimator(model).names == ["age", "town"]


def test_a_model_with_weights_for_each_class_has_a_bar_for_each():
    model = Fitted([RBF(), Linear()]).fit([[0.6, 0.4], [0.1, 0.9]], ["x", "y"])
    display = WeightsDisplay.from_estimator(model, names=["a", "b"])
    assert display.models == ["x", "y"]
    np.testing.assert_allclose(display.weights, [[0.4, 0.6], [0.9, 0.1]])


def test_what_is_no_weight_is_refused(toy):
    with pytest.raises(ParameterError, match="needs a model with weights_, which SVC does not have; MKLClassifier"):
        WeightsDisplay.from_estimator(SVC().fit(*toy))
    with pytest.raises(DataError, match="weights must be one number for each of 2 names"):
        WeightsDisplay.from_weights(["a", "b"], [1.0])
    with pytest.raises(DataError, match="weights must be numbers that are not negative, got -1"):
        WeightsDisplay.from_weights(["a"], [-1.0])


def test_the_picture():
    weights = {"first": [0.5, 0.3, 0.2, 0.0], "second": [0.1, 0.8, 0.0, 0.1]}
    display = WeightsDisplay.from_weights(["rbf(0.1)", "rbf(1)", "linear", "poly(3)"], weights)
    assert_pictured(display.figure_, "weights")
