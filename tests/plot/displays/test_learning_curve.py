import numpy as np
import pytest

from mercer import SVC, DataError, KernelRidge, ParameterError, theory
from mercer.plot import LearningCurveDisplay
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    return rng.normal(size=(160, 3)) + 1.2 * y[:, None], np.where(y == 1, "one", "two")


@pytest.fixture(scope="module")
def curve(clouds):
    display = LearningCurveDisplay.from_estimator(SVC(gamma=0.3), *clouds, train_sizes=[80, 20], repeats=3)
    return {key: getattr(display, key) for key in ("sizes", "train_errors", "test_errors", "bounds")}


def test_sizes_rise_and_every_fit_has_its_errors(curve):
    np.testing.assert_array_equal(curve["sizes"], [20, 80])
    assert curve["train_errors"].shape == curve["test_errors"].shape == (2, 3)
    assert np.isfinite(curve["test_errors"]).all()


def test_bounds_are_those_of_the_report(clouds):
    X, y = clouds
    display = LearningCurveDisplay.from_estimator(
        SVC(gamma=0.3), X, y, train_sizes=[40], repeats=1, bounds=["xi_alpha", "support_vectors"]
    )
    from sklearn.model_selection import StratifiedShuffleSplit

    train, test = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=0).split(X, y))
    other = int(np.argmax(y[train] != y[train[0]]))
    train[[1, other]] = train[[other, 1]]
    rows = train[:40]
    model = SVC(gamma=0.3).fit(X[rows], y[rows])
    report = theory.report(model, X[rows], y[rows])
    assert display.bounds["xi_alpha"][0, 0] == report["xi_alpha"].value
    assert display.test_errors[0, 0] == pytest.approx(1.0 - model.score(X[test], y[test]))
    assert display.train_errors[0, 0] == pytest.approx(1.0 - model.score(X[rows], y[rows]))


def test_lines_are_means_and_bounds_lie_above_the_training_error(curve):
    display = LearningCurveDisplay(**curve).plot()
    np.testing.assert_allclose(display.test_.get_ydata(), curve["test_errors"].mean(axis=1))
    assert {"support_vectors", "xi_alpha"} <= set(display.bounds_)
    for line in display.bounds_.values():
        assert (line.get_ydata() >= display.train_.get_ydata()).all()
    assert display.train_.get_marker() != display.test_.get_marker()


def test_a_bound_that_says_nothing_is_named_and_not_drawn():
    errors = np.full((2, 2), 0.1)
    bounds = {"vc": np.full((2, 2), 3.0), "xi_alpha": np.array([[1.4, 1.2], [0.4, np.nan]])}
    display = LearningCurveDisplay(
        sizes=np.array([10, 20]), train_errors=errors, test_errors=errors, bounds=bounds
    ).plot()
    assert list(display.bounds_) == ["xi_alpha"]
    np.testing.assert_allclose(display.bounds_["xi_alpha"].get_ydata(), [1.0, 0.4])
    assert display.vacuous_ == ["vc"]
    assert display.ax_.get_title(loc="left") == "1 or more, so vacuous: VC bound of halfspaces"


def test_without_bounds_the_errors_fill_the_picture(clouds):
    display = LearningCurveDisplay.from_estimator(SVC(), *clouds, train_sizes=[20, 60], repeats=2, bounds=[])
    assert display.bounds_ == {}
    assert display.ax_.get_ylim()[1] < 0.6


def test_texts_can_be_learnt_too():
    from mercer.kernels import Spectrum

    texts = ["ab" * (1 + k % 5) for k in range(20)] + ["xy" * (1 + k % 5) for k in range(20)]
    display = LearningCurveDisplay.from_estimator(
        SVC(kernel=Spectrum(length=2)),
        texts,
        [0] * 20 + [1] * 20,
        train_sizes=[4, 20],
        repeats=2,
        bounds=["support_vectors"],
    )
    assert display.test_errors[-1].max() == 0.0


def test_what_cannot_be_learnt_is_refused(clouds, petals):
    X, y = clouds
    with pytest.raises(DataError, match="y must have two classes for the bounds to apply, got 3"):
        LearningCurveDisplay.from_estimator(SVC(), *petals)
    with pytest.raises(ParameterError, match="train_sizes must be from 2 to 112, the rows outside the test part"):
        LearningCurveDisplay.from_estimator(SVC(), X, y, train_sizes=[500])
    with pytest.raises(ParameterError, match=r"bounds must be among 'theorem_15_4'.* got 'hope'"):
        LearningCurveDisplay.from_estimator(SVC(), X, y, bounds=["hope"])
    with pytest.raises(ParameterError, match="draws classifiers, got the regressor KernelRidge"):
        LearningCurveDisplay.from_estimator(KernelRidge(), X, y)


def test_the_picture():
    rng = np.random.default_rng(0)
    sizes = np.array([20, 40, 80, 160, 320])
    test = 0.05 + 1.0 / sizes[:, None] + 0.01 * rng.normal(size=(5, 4))
    bounds = {
        "xi_alpha": np.tile(3.0 / np.sqrt(sizes)[:, None], 4),
        "support_vectors": np.tile(5.0 / np.sqrt(sizes)[:, None], 4),
    }
    bounds["vc"] = np.full((5, 4), 2.0)
    display = LearningCurveDisplay(sizes=sizes, train_errors=0.6 * test, test_errors=test, bounds=bounds).plot()
    assert_pictured(display.figure_, "learning_curve")
