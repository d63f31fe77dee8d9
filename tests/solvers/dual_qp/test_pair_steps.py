"""Compiled steps where gradients grow until no mask is larger."""

import numpy as np
import pytest

from mercer._jit.compile import UNBOUNDED
from mercer.solvers.dual_qp.block_steps import begin
from mercer.solvers.dual_qp.pair_steps import DIVERGED, pair_steps, single_steps

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
