import numpy as np
import pytest

import mercer
from mercer import SVC, DataError
from mercer.plot import PathDisplay
from tests.plot.pictures import assert_pictured

C = np.array([1.0, 2.0, 4.0, 8.0])
ALPHA = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 4.0, 2.0], [0.0, 6.0, 0.0]])
Y = ["a", "b", "b"]


@pytest.fixture
def display():
    return PathDisplay.from_arrays(C, ALPHA, Y, breakpoints=[1.5, 3.0, 100.0])


def test_lines_are_shares_of_the_box(display):
    np.testing.assert_allclose([line.get_ydata() for line in display.lines_], (ALPHA / C[:, None]).T)
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), C)
    assert display.axes_[1].get_xscale() == "log"


def test_every_row_is_in_one_case_at_every_C(display):
    counts = display.counts()
    np.testing.assert_array_equal(counts["bounded"], [2, 1, 1, 0])
    np.testing.assert_array_equal(counts["free"], [0, 2, 1, 1])
    np.testing.assert_array_equal(counts["zero"], [1, 0, 1, 2])
    # The areas are stacked: together they reach the number of rows.
    top = display.cases_[-1].get_paths()[0].vertices[:, 1].max()
    assert top == 3


def test_cases_and_classes_are_told_without_colour(display):
    assert len({(area.get_hatch(), tuple(area.get_facecolor()[0])) for area in display.cases_}) == 3
    assert display.cases_[1].get_hatch() == "///"
    assert display.lines_[0].get_linestyle() != display.lines_[1].get_linestyle()


def test_breakpoints_in_view_are_ticks(display):
    assert [segment[0][0] for segment in display.ticks_.get_segments()] == [1.5, 3.0]


def test_the_legend_has_each_class_and_case_once(display):
    assert [text.get_text() for text in display.axes_[1].get_legend().get_texts()] == [
        "a",
        "b",
        "bounded",
        "free",
        "zero",
    ]


def test_signs_order_and_weights_are_taken_into_account():
    plain = PathDisplay.from_arrays(C, ALPHA)
    mixed = PathDisplay.from_arrays(C[::-1], -ALPHA[::-1])
    np.testing.assert_array_equal(plain.shares, mixed.shares)
    np.testing.assert_array_equal(mixed.C, C)
    weighted = PathDisplay.from_arrays(C, ALPHA, weights=[2.0, 1.0, 1.0])
    np.testing.assert_allclose(weighted.shares[:, 0], plain.shares[:, 0] / 2.0)


def test_solutions_of_a_machine_have_the_cases_of_its_certificate(petals):
    X, y = petals
    X, y = X[y > 0] + 1e-3 * np.random.default_rng(0).normal(size=(100, 2)), y[y > 0]
    grid, alpha, free = [0.1, 1.0, 10.0], np.zeros((3, 100)), []
    for k, each in enumerate(grid):
        model = SVC(C=each, gamma=0.5, tol=1e-9).fit(X, y)
        alpha[k, model.support_] = model.dual_coef_[0]
        free.append(model.certificate_.n_free)
    np.testing.assert_array_equal(PathDisplay.from_arrays(grid, alpha, y).counts()["free"], free)


def test_what_is_no_path_is_refused():
    with pytest.raises(DataError, match="alpha must have a row for each of at least two C"):
        PathDisplay.from_arrays(C, ALPHA[:2])
    with pytest.raises(DataError, match="C must be positive and finite, got 0"):
        PathDisplay.from_arrays([0.0, 1.0], ALPHA[:2])
    with pytest.raises(DataError, match="y must have a label for each row: 3 rows, 1 labels"):
        PathDisplay.from_arrays(C, ALPHA, ["a"])


def test_the_picture(display):
    assert_pictured(display.figure_, "path")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.repeat(["l", "r"], 10)
    return mercer.regularization_path(
        mercer.SVC(gamma=0.5), X + (y == "r")[:, None], y, C_max=50.0, sample_weight=1 + np.arange(20) % 3
    )


def test_an_exact_path_is_drawn_with_its_bends(found):
    display = PathDisplay.from_path(found)
    bends = found.breakpoints[found.breakpoints > 0]
    assert np.isin(bends, display.C).all()
    assert len(display.ticks_.get_segments()) == len(bends)
    np.testing.assert_array_equal(display.labels, np.repeat(["l", "r"], 10))
    for C in display.C[::50]:
        certificate, row = found.certificate(C), int(np.searchsorted(display.C, C))
        assert display.counts()["bounded"][row] == certificate.n_bounded
        assert display.counts()["zero"][row] == certificate.n_zero


def test_the_caller_may_say_where_to_look(found):
    display = PathDisplay.from_path(found, C=[1.0, 10.0])
    np.testing.assert_array_equal(display.C, [1.0, 10.0])
    np.testing.assert_allclose(display.shares[1], found.alpha(10.0) / (10.0 * found.weights))


def test_rows_that_take_no_part_are_not_drawn():
    X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), [0, 0, 1, 1]
    found = mercer.regularization_path(mercer.SVC(kernel="linear"), X, y, sample_weight=[1.0, 1.0, 1.0, 0.0])
    assert len(PathDisplay.from_path(found).lines_) == 3
