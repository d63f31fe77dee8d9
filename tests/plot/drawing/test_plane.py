import numpy as np
import pytest
from scipy import sparse

from mercer import DataError
from mercer.plot.drawing.plane import axis_names, plane_points, response, ticks


class Tilted:
    """A classifier whose decision value is x1 - 2 x2."""

    classes_ = np.array(["no", "yes"])

    def decision_function(self, rows):
        return rows[:, 0] - 2.0 * rows[:, 1]


class Thirds(Tilted):
    """A classifier of three classes by x1 alone."""

    classes_ = np.array(["a", "b", "c"])

    def predict(self, rows):
        return self.classes_[np.digitize(rows[:, 0], [1.0, 2.0])]


class Frame:
    columns = ("length", "width")


def test_grid_is_indexed_by_row_then_column():
    grid_x, grid_y = np.array([0.0, 1.0, 2.0]), np.array([5.0, 7.0])
    np.testing.assert_array_equal(response(Tilted(), grid_x, grid_y), grid_x - 2.0 * grid_y[:, None])


def test_several_classes_answer_with_their_index():
    np.testing.assert_array_equal(response(Thirds(), np.array([0.5, 1.5, 2.5]), np.array([0.0])), [[0.0, 1.0, 2.0]])


def test_ticks_leave_room_on_both_sides():
    np.testing.assert_allclose(ticks(np.array([0.0, 10.0]), 0.1, 3), [-1.0, 5.0, 11.0])


def test_a_constant_column_still_has_an_axis():
    assert np.ptp(ticks(np.array([3.0, 3.0]), 0.1, 5)) == 2.0


def test_columns_of_a_frame_name_the_axes():
    assert axis_names(Frame()) == ("length", "width")
    assert axis_names(np.zeros((1, 2))) == ("x1", "x2")


def test_sparse_rows_become_points():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    np.testing.assert_array_equal(plane_points(sparse.csr_array(X)), X)


@pytest.mark.parametrize("shape", [(5, 3), (5, 1), (5,)])
def test_only_two_columns_can_be_drawn(shape):
    with pytest.raises(DataError, match="X must have 2 columns to be drawn in the plane, got shape"):
        plane_points(np.zeros(shape))


def test_no_rows_is_an_error():
    with pytest.raises(DataError, match="X must have at least one row to be drawn"):
        plane_points(np.zeros((0, 2)))
