import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import SVC, SVR, DataError, KernelRidge, NuSVR, ParameterError
from mercer.plot import TubeDisplay
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 6.0, 60))[:, None]
    return X, np.sin(X[:, 0]) + rng.normal(0.0, 0.15, 60)


@pytest.fixture(scope="module")
def model(wave):
    return SVR(C=10.0, gamma=1.0, epsilon=0.2, tol=1e-6).fit(*wave)


@pytest.fixture
def display(model, wave):
    return TubeDisplay.from_estimator(model, *wave)


def test_the_line_is_the_function_and_the_borders_are_epsilon_away(display, model):
    x, y = display.line_.get_data()
    np.testing.assert_allclose(y, model.predict(x[:, None]))
    low, high = (border.get_ydata() for border in display.borders_)
    np.testing.assert_allclose(high - y, 0.2)
    np.testing.assert_allclose(y - low, 0.2)


def test_rings_are_the_support_vectors_by_kkt_case(display, model, wave):
    free, bounded = (np.asarray(ring.get_offsets()) for ring in (display.free_, display.bounded_))
    assert len(free) == model.certificate_.n_free
    assert len(bounded) == model.certificate_.n_bounded
    np.testing.assert_allclose(np.abs(free[:, 1] - model.predict(free[:, :1])), 0.2, atol=1e-3)
    assert (np.abs(bounded[:, 1] - model.predict(bounded[:, :1])) > 0.2).all()


def test_the_tube_that_nu_found_is_drawn(wave):
    model = NuSVR(C=10.0, gamma=1.0, nu=0.3).fit(*wave)
    assert TubeDisplay.from_estimator(model, *wave).epsilon == pytest.approx(model.epsilon_)


def test_a_model_without_a_tube_is_a_line_and_rows(wave):
    display = TubeDisplay.from_estimator(KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1).fit(*wave), *wave)
    assert display.tube_ is None
    assert display.borders_ == []
    assert len(display.free_.get_offsets()) == len(display.bounded_.get_offsets()) == 0


def test_it_draws_into_given_axes_with_given_names(model, wave):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = TubeDisplay.from_estimator(model, *wave, ax=ax, xlabel="time", ylabel="height", legend=False)
    assert display.ax_ is ax
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_legend()) == ("time", "height", None)


def test_what_cannot_be_drawn_is_refused(model, wave, toy):
    X, y = wave
    with pytest.raises(NotFittedError):
        TubeDisplay.from_estimator(SVR(), X, y)
    with pytest.raises(ParameterError, match="TubeDisplay draws regressors, got SVC"):
        TubeDisplay.from_estimator(SVC().fit(*toy), *toy)
    with pytest.raises(
        DataError, match=r"X must have 1 column and a row to be drawn along an axis, got shape \(60, 2\)"
    ):
        TubeDisplay.from_estimator(model, np.column_stack([X, X]), y)
    with pytest.raises(DataError, match="y must be one number for each of the 60 rows of X"):
        TubeDisplay.from_estimator(model, X, y[:5])


def test_the_picture(display):
    assert_pictured(display.figure_, "tube")
