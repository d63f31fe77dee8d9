"""Compiled steps where gradients grow until no mask is larger, and where their squares have no room."""

import numpy as np
import pytest

from mercer._jit.compile import UNBOUNDED
from mercer.solvers.dual_qp.block_steps import begin
from mercer.solvers.dual_qp.pair_steps import DIVERGED, Groups, grouped_pair_steps, pair_steps, single_steps

WIDTH = 16
UNTOUCHED = 7.0


def _state(dtype):
    """Two points of no curvature at all or a negative one, without a box, and memory after their coefficients."""
    matrix = np.zeros((2, WIDTH), dtype)
    matrix[0, 1] = matrix[1, 0] = 1.0
    memory = np.full(WIDTH, UNTOUCHED)
    gradient, diag, rise, fall, scores = np.empty((5, WIDTH), dtype)
    lower, upper = np.full(2, -UNBOUNDED), np.full(2, UNBOUNDED)
    begin(matrix, np.array([1.0, -1.0]), lower, upper, memory[:2], gradient, diag, rise, fall)
    return memory, (matrix, gradient, memory[:2], lower, upper, 0.0, diag, rise, fall), scores


@pytest.mark.parametrize("steps", [pair_steps, single_steps])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_that_diverge_end_and_move_nothing_but_coefficients(steps, dtype):
    memory, state, scores = _state(dtype)
    taken, highest, lowest, _ = steps(*state, dtype(1e-3), 1000, scores)
    assert taken < 1000
    assert not highest - lowest < DIVERGED
    assert (memory[2:] == UNTOUCHED).all()


def _grouped(*arguments):
    """All points in one group, the padding in the other."""
    matrix, gradient, beta, lower, upper, kink, diag, rise, fall, tol, most, scores = arguments
    groups = Groups(WIDTH // 2, np.empty((2, 2), scores.dtype))
    return grouped_pair_steps(matrix, gradient, beta, (lower, upper), kink, diag, rise, fall, groups, tol, most, scores)


@pytest.mark.parametrize("steps", [pair_steps, single_steps, _grouped])
@pytest.mark.parametrize("unit", [1e22, 1e-25])
def test_coefficients_stay_in_their_box_where_gains_overflow_or_vanish(steps, unit, rng):
    """Squares of such gradients are infinite or zero in single precision."""
    n, curvature = WIDTH // 2, 1e15
    rows = rng.normal(size=(n, 3))
    matrix = np.zeros((n, WIDTH), np.float32)
    matrix[:, :n] = curvature * (rows @ rows.T + 0.1 * np.eye(n))
    beta = np.empty(n)
    gradient, diag, rise, fall, scores = np.empty((5, WIDTH), np.float32)
    upper = np.full(n, 0.3 * unit / curvature)
    upper[0] = 1e-3 * upper[1]  # the first is at its bound soon, and may not rise any more
    begin(matrix, unit * np.linspace(2.0, -2.0, n), -upper, upper, beta, gradient, diag, rise, fall)
    tol = np.float32(1e-3 * unit)
    taken, highest, lowest, _ = steps(matrix, gradient, beta, -upper, upper, 0.0, diag, rise, fall, tol, 5000, scores)
    assert 0 < taken < 5000
    assert highest - lowest <= tol
    assert (np.abs(beta) <= upper).all()
    if steps is not single_steps:
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
