"""Kinks of the ramp loss: which rows change sides together, and the slope of the steepest way down."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.problems.losses.ramp_kinks import MOST_ALONE, changes_of_side, steepest_slope


def test_few_rows_change_sides_in_every_combination():
    found = changes_of_side([3, 5, 8], None)
    assert sorted(map(tuple, found)) == [(3,), (3, 5), (3, 5, 8), (3, 8), (5,), (5, 8), (8,)]
    assert [len(each) for each in found] == sorted(len(each) for each in found)
    assert changes_of_side([], None) == []
    assert len(changes_of_side([0, 1, 2, 3], None)) == 15


def test_many_rows_change_sides_alone_and_all_together():
    outliers = np.zeros(10, dtype=bool)
    outliers[[1, 2]] = True
    found = changes_of_side([0, 1, 2, 4, 6], outliers)
    assert found == [[0], [1], [2], [4], [6], [0, 4, 6], [1, 2], [0, 1, 2, 4, 6]]
    # A side of one row is that row alone, which is there already.
    outliers[1] = False
    assert changes_of_side([0, 1, 2, 4, 6], outliers) == [[0], [1], [2], [4], [6], [0, 1, 4, 6], [0, 1, 2, 4, 6]]
    assert sum(len(each) == 1 for each in changes_of_side(list(range(150)), np.zeros(150, bool))) == MOST_ALONE


def shortest(rows, moved, room):
    """By a general optimiser, over the coefficients of the rows on the margin."""
    m = len(room[0])

    def squared(x):
        total = rows[:m].T @ x + rows[m:].T @ moved
        return float(total @ total)

    bounds = list(zip(*room, strict=True))
    starts = [np.array(room[0]), np.array(room[1]), np.zeros(m)]
    return min(minimize(squared, start, bounds=bounds, method="L-BFGS-B", tol=1e-15).fun for start in starts) ** 0.5


@pytest.mark.parametrize("case", range(6))
def test_the_shortest_gradient(case):
    rng = np.random.default_rng(case)
    rows, moved = rng.normal(size=(5, 4)), np.array([1.5, -2.0])
    high = np.array([0.5, 0.0, 0.25]) if case % 2 else np.zeros(3)
    room = (np.array([-1.0, 0.0, 0.0]) if case % 2 else np.zeros(3), high)  # the second may not move, or none
    expected = shortest(rows, moved, room) if case % 2 else np.linalg.norm(rows[3:].T @ moved)
    largest = max(1.5 * np.linalg.norm(rows[3]), 2.0 * np.linalg.norm(rows[4]))
    assert steepest_slope(rows @ rows.T, moved, room) == pytest.approx(expected / largest, abs=1e-6)


def test_rows_on_the_margin_may_make_up_for_everything():
    rows = np.array([[1.0, 0.0], [2.0, 0.0]])
    assert steepest_slope(rows @ rows.T, np.array([1.0]), (np.array([-3.0]), np.array([0.0]))) == pytest.approx(0.0)
    # Half of it is within reach.
    assert steepest_slope(rows @ rows.T, np.array([1.0]), (np.array([-1.0]), np.array([0.0]))) == pytest.approx(0.5)


def test_rows_without_features_move_nothing():
    room = (np.zeros(0), np.zeros(0))
    assert steepest_slope(np.zeros((2, 2)), np.ones(2), room) == 0.0
    assert steepest_slope(np.eye(2), np.zeros(2), room) == 0.0
