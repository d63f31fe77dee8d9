import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from mercer import SVC, SVDD, SVR, DataError, LinearSVC, OneClassSVM, ParameterError
from mercer.plot import DecisionBoundaryDisplay
from mercer.plot.drawing.palette import class_styles
from tests.plot.pictures import assert_pictured


@pytest.fixture
def toy_display(toy):
    X, y = toy
    model = SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y)
    return DecisionBoundaryDisplay.from_estimator(model, X, y)


def on_line(contours, level):
    """All points of the contour at `level`."""
    (index,) = np.flatnonzero(np.isclose(contours.levels, level))
    return np.concatenate(contours.allsegs[index])


def test_boundary_and_margins_stand_where_the_solution_puts_them(toy_display):
    # w = (1, -1), b = -1: the boundary is x1 - x2 = 1, the margins x1 - x2 = 0 and 2.
    for contours, level in ((toy_display.boundary_, 0.0), (toy_display.margins_, -1.0), (toy_display.margins_, 1.0)):
        x1, x2 = on_line(contours, level).T
        np.testing.assert_allclose(x1 - x2 - 1.0, level, atol=1e-3)


def test_support_vectors_of_the_toy_set_are_ringed_as_free(toy_display):
    centres = {tuple(centre) for centre in np.asarray(toy_display.free_.get_offsets())}
    assert centres == {(0.0, 0.0), (2.0, 2.0), (2.0, 0.0)}
    assert len(toy_display.bounded_.get_offsets()) == 0


def test_legend_has_no_entry_for_an_empty_case(toy_display):
    words = [text.get_text() for text in toy_display.ax_.get_legend().get_texts()]
    assert words == ["-1", "1", "free support vector"]


def test_both_cases_are_drawn_for_overlapping_classes(petals):
    X, y = petals
    model = SVC(C=10.0, gamma=0.5).fit(X[y > 0], y[y > 0])
    display = DecisionBoundaryDisplay.from_estimator(model, X[y > 0], y[y > 0])
    assert len(display.free_.get_offsets()) == model.certificate_.n_free
    assert len(display.bounded_.get_offsets()) == model.certificate_.n_bounded


def test_free_and_bounded_ones_have_rings_of_their_own_shape(toy_display):
    corners = [len(ring.get_paths()[0].vertices) for ring in (toy_display.free_, toy_display.bounded_)]
    assert corners[1] == 5 < corners[0]


def test_three_classes_are_drawn_as_regions(petals):
    model = SVC().fit(*petals)
    display = DecisionBoundaryDisplay.from_estimator(model, *petals, resolution=40)
    assert set(np.unique(display.response)) <= {0.0, 1.0, 2.0}
    assert display.margins_ is None
    assert len(display.points_) == 3


def test_it_draws_into_given_axes_and_returns_itself(toy):
    X, y = toy
    _, ax = plt.subplots()
    display = DecisionBoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, ax=ax, legend=False)
    assert display.ax_ is ax
    assert display.plot(ax=ax) is display


def test_rows_without_labels_take_predicted_ones(toy):
    X, y = toy
    model = SVC(kernel="linear", C=1e3).fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(display.labels, model.predict(X))


def test_axes_are_named_by_the_caller(toy):
    X, y = toy
    model = SVC().fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(model, X, y, xlabel="length", ylabel="width")
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")


def test_sparse_rows_are_drawn_like_dense_ones(toy):
    X, y = toy
    model = SVC(kernel="linear").fit(sparse.csr_array(X), y)
    display = DecisionBoundaryDisplay.from_estimator(model, sparse.csr_array(X), y)
    np.testing.assert_array_equal(display.points, X)


def test_a_model_that_never_decides_has_no_boundary_in_view(toy):
    X, y = toy
    model = SVC(kernel="linear", C=1e3).fit(X, y)
    far_away = X + 1000.0 * np.array([1.0, -1.0])
    display = DecisionBoundaryDisplay.from_estimator(model, far_away, y)
    assert display.boundary_ is None


def test_a_model_that_learnt_from_a_frame_is_drawn_without_a_warning(toy):
    X, y = toy
    model = SVC(kernel="linear").fit(X, y)
    model.feature_names_in_ = np.array(["length", "width"], dtype=object)
    DecisionBoundaryDisplay.from_estimator(model, X)


@pytest.fixture(scope="module")
def moons():
    from sklearn.datasets import make_moons

    return make_moons(80, noise=0.2, random_state=0)


def test_probabilities_are_shaded_with_lines_at_the_quarters(moons):
    model = SVC(gamma=1.0, probability=True, random_state=0).fit(*moons)
    display = DecisionBoundaryDisplay.from_estimator(model, *moons, response_method="predict_proba", resolution=80)
    assert 0.0 <= display.response.min() < display.response.max() <= 1.0
    np.testing.assert_allclose(display.boundary_.levels, [0.5])
    np.testing.assert_allclose(display.margins_.levels, [0.25, 0.75])
    crossing = on_line(display.boundary_, 0.5)
    np.testing.assert_allclose(model.predict_proba(crossing)[:, 1], 0.5, atol=0.03)
    assert {text.get_text() for text in display.margins_.labelTexts} <= {"25%", "75%"}


def test_probabilities_of_three_classes_mix_their_colours(petals):
    model = LogisticRegression().fit(*petals)
    display = DecisionBoundaryDisplay.from_estimator(model, *petals, response_method="predict_proba", resolution=30)
    assert display.response.shape == (30, 30, 3)
    np.testing.assert_allclose(display.response.sum(axis=2), 1.0)
    surest = np.unravel_index(display.response[..., 0].argmax(), (30, 30))
    shown = display.surface_.get_array()[surest]
    pure = 1.0 - 0.55 * (1.0 - np.array(to_rgb(class_styles(3)[0][0])))
    np.testing.assert_allclose(np.ravel(shown)[:3], pure, atol=0.05)


def test_a_linear_machine_has_a_boundary_and_no_rings(toy):
    display = DecisionBoundaryDisplay.from_estimator(LinearSVC().fit(*toy), *toy, resolution=40)
    assert display.boundary_ is not None
    assert len(display.free_.get_offsets()) == len(display.bounded_.get_offsets()) == 0


@pytest.mark.parametrize("detector", [OneClassSVM(nu=0.17, tol=1e-6), SVDD(nu=0.17)], ids=["half-space", "ball"])
def test_a_detector_has_a_border_and_no_margins(detector, rng):
    X = rng.normal(size=(60, 2))
    detector.fit(X)
    display = DecisionBoundaryDisplay.from_estimator(detector, X, padding=0.5, resolution=80)
    assert display.margins_ is None
    np.testing.assert_allclose(detector.decision_function(on_line(display.boundary_, 0.0)), 0.0, atol=0.05)
    outside = np.asarray(display.points_[0].get_offsets())
    assert len(outside) == np.sum(detector.predict(X) == -1)
    # Free support vectors lie on the border, bounded ones outside.
    free, bounded = (np.asarray(ring.get_offsets()) for ring in (display.free_, display.bounded_))
    assert len(free) == detector.certificate_.n_free
    assert len(bounded) == detector.certificate_.n_bounded
    assert np.abs(detector.decision_function(free)).max() < 0.02
    assert detector.decision_function(bounded).max() < 0.02
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words[:2] == ["outlier", "inlier"]


def test_rows_of_a_detector_are_marked_as_they_are_told(petals):
    X = petals[0][petals[1] == 1]
    detector = OneClassSVM(nu=0.2, gamma=0.5).fit(X)
    told = np.where(np.arange(len(X)) < 7, -1, 1)
    display = DecisionBoundaryDisplay.from_estimator(detector, X, told, resolution=20)
    assert len(display.points_[0].get_offsets()) == 7
    with pytest.raises(DataError, match="y must be -1"):
        DecisionBoundaryDisplay.from_estimator(detector, X, np.arange(len(X)))


def test_what_cannot_be_drawn_is_refused(toy, petals):
    X, y = toy
    with pytest.raises(NotFittedError):
        DecisionBoundaryDisplay.from_estimator(SVC(), X, y)
    with pytest.raises(ParameterError, match="got the regressor SVR; see TubeDisplay"):
        DecisionBoundaryDisplay.from_estimator(SVR().fit(X, y), X, y)
    with pytest.raises(ParameterError, match="which kernel='precomputed' does not allow"):
        DecisionBoundaryDisplay.from_estimator(SVC(kernel="precomputed").fit(X @ X.T, y), X, y)
    model = SVC().fit(X, y)
    with pytest.raises(DataError, match="X must have 2 columns"):
        DecisionBoundaryDisplay.from_estimator(model, np.zeros((3, 3)))
    with pytest.raises(DataError, match="X must be rows of numbers to be drawn, got list"):
        DecisionBoundaryDisplay.from_estimator(model, [["a", "b"]])
    with pytest.raises(DataError, match="y must have a label for each row of X: 4 rows, 2 labels"):
        DecisionBoundaryDisplay.from_estimator(model, X, y[:2])
    with pytest.raises(ParameterError, match=r"response_method must be one of 'auto'.*got 'score'"):
        DecisionBoundaryDisplay.from_estimator(model, X, y, response_method="score")
    with pytest.raises(ParameterError, match="response_method='predict_proba' needs a model with that method, got SVC"):
        DecisionBoundaryDisplay.from_estimator(model, X, y, response_method="predict_proba")
    with pytest.raises(ParameterError, match="'decision_function' shades two classes; for more use 'predict'"):
        DecisionBoundaryDisplay.from_estimator(SVC().fit(*petals), *petals, response_method="decision_function")


def test_pictures_of_two_classes_of_three_and_of_one(petals):
    X, y = petals
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    model = SVC(C=10.0, gamma=0.5, tol=1e-6)
    DecisionBoundaryDisplay.from_estimator(
        model.fit(X[y > 0], y[y > 0]), X[y > 0], y[y > 0], ax=axes[0], resolution=120
    )
    DecisionBoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=axes[1], resolution=120)
    detector = OneClassSVM(nu=0.2, gamma=0.5).fit(X[y == 1])
    DecisionBoundaryDisplay.from_estimator(detector, X[y == 1], ax=axes[2], padding=0.4, resolution=120)
    assert_pictured(figure, "decision_boundary")
