import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse

from mercer import SVC
from mercer.plot import DecisionBoundaryDisplay


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
