import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, DataError, KernelRidge, LinearSVC, ParameterError, theory
from mercer.plot import LossDisplay
from mercer.problems.losses.residual_losses import Huber
from tests.plot.pictures import assert_pictured


def test_a_line_is_the_loss_that_it_is_named_for():
    display = LossDisplay.from_losses()
    assert [loss.name for loss in display.losses] == list(theory.LOSSES)
    for line, loss in zip(display.lines_, theory.LOSSES.values(), strict=True):
        z, values = line.get_data()
        assert values == pytest.approx(loss.value(z))
        assert line.get_label() == f"{loss.name}: {loss.formula}"
    assert display.ax_.get_xlabel() == "margin z = y f(x)"
    assert display.ticks_ is None


def test_losses_of_the_residual_have_their_own_axis():
    display = LossDisplay.from_losses([Huber(delta=0.5), "epsilon_insensitive"], low=-3.0, high=3.0)
    assert display.ax_.get_xlabel() == "residual z = f(x) - y"
    assert display.ax_.get_xlim() == (-3.0, 3.0)


def test_lines_differ_by_more_than_colour():
    display = LossDisplay.from_losses()
    looks = [(line.get_linestyle(), line.get_linewidth(), line._dash_pattern) for line in display.lines_]
    assert len(set(map(str, looks))) == len(looks)


def test_the_margins_of_a_model_are_ticks_below_its_loss():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:] == 2
    model = make_pipeline(StandardScaler(), SVC(kernel="linear", loss="squared_hinge")).fit(X, y)
    display = LossDisplay.from_estimator(model, X, y)
    assert [loss.name for loss in display.losses] == ["zero_one", "squared_hinge"]
    margins = np.where(y, 1.0, -1.0) * model.decision_function(X)
    assert [segment[0, 0] for segment in display.ticks_.get_segments()] == pytest.approx(list(margins))
    assert (margins <= 0).sum() == (model.predict(X) != y).sum()


def test_the_loss_is_that_of_the_model():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(loss="hinge").fit(X[50:], y[50:])
    assert LossDisplay.from_estimator(model, X[50:], y[50:]).losses[1].name == "hinge"


def test_what_is_no_loss_is_refused(toy):
    with pytest.raises(ParameterError, match=r"losses must be among .*perceptron.*, or Loss objects, got 'hing'"):
        LossDisplay.from_losses("hing")
    with pytest.raises(ParameterError, match="all of the residual, got hinge of the margin, huber of the residual"):
        LossDisplay.from_losses(["hinge", "huber"])
    with pytest.raises(ParameterError, match="at least one loss"):
        LossDisplay.from_losses([])
    with pytest.raises(ParameterError, match=r"low must be below high, and both finite, got 1\.0 and 1\.0"):
        LossDisplay.from_losses("hinge", low=1.0, high=1.0)
    with pytest.raises(DataError, match="rows must be finite"):
        LossDisplay.from_losses("hinge", rows=[np.nan])
    with pytest.raises(ParameterError, match="needs a model with classes_, which KernelRidge does not have"):
        LossDisplay.from_estimator(KernelRidge().fit(*toy), *toy)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="a classifier of two classes, this one has 3"):
        LossDisplay.from_estimator(SVC().fit(X, y), X, y)
    with pytest.raises(DataError, match="y must hold labels among"):
        LossDisplay.from_estimator(SVC().fit(*toy), toy[0], [7, 7, 7, 7])


def test_the_picture():
    names = ["zero_one", "perceptron", "hinge", "squared_hinge", "ramp", "logistic"]
    display = LossDisplay.from_losses(names, rows=[-1.2, 0.3, 0.9, 1.4])
    assert_pictured(display.figure_, "losses")
