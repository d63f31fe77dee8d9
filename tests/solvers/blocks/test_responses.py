"""Responses of a block's rows: each against the loop of one row at a time, and against derivatives."""

import numpy as np
import pytest

from mercer.solvers.blocks.responses import (
    _NEAR,
    _respond,
    _slopes,
    joined_rows,
    scale_sides,
    shares_of_sides,
    sum_of_sides,
)
from mercer.solvers.linear.loss_loops import RoundedLosses, respond, slope_along


def rows(n=14, seed=0, epsilon=0.2, inverse=0.5):
    """Rows of three losses: with two sides, with one, and squared."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    ridge = np.array([0.0, 0.0, 0.6])[kinds]
    return RoundedLosses(
        2.0 * rng.normal(size=n),
        np.array([-1.0, 0.0, -3.0])[kinds],
        np.array([1.5, 2.0, 3.0])[kinds],
        ridge,
        epsilon,
        np.where(ridge > 0.0, 0.0, inverse),
        np.where(ridge > 0.0, 0.0, 0.3),
    ), rng.normal(size=n)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_all_rows_together_answer_as_each_does_alone(seed, epsilon):
    losses, values = rows(seed=seed, epsilon=epsilon)
    beta, slope, sums = np.empty(14), np.empty(14), np.empty(11)
    _respond(values, losses, beta, slope, sums)
    alone, change, slopes = np.zeros(14), np.empty(14), np.empty(14)
    loss, distance = respond(values, losses, alone, change, slopes)
    np.testing.assert_allclose(beta, alone, atol=1e-12)
    np.testing.assert_allclose(slope, slopes)
    up, down = beta > 0.0, beta < 0.0
    gain = losses.linear * beta - epsilon * np.abs(beta)
    square = 0.5 * losses.ridge * beta**2
    expected = [
        *(each[side].sum() for each in (beta, gain, square) for side in (up, down)),
        loss,
        distance,
        beta @ values,
        np.count_nonzero(slope),
        np.count_nonzero(beta),
    ]
    np.testing.assert_allclose(sums, expected, atol=1e-12)
    assert up.any()
    assert down.any()


def test_rows_at_rest_count_for_nothing():
    """Where a value is within epsilon of its target there is no loss, no coefficient, and nothing that moves."""
    losses = RoundedLosses(np.ones(3), np.full(3, -1.0), np.ones(3), np.array([0.0, 0.5, 0.0]), 0.2, *np.zeros((2, 3)))
    losses = losses._replace(inverse=np.array([0.5, 0.0, 0.5]))
    beta, slope, sums = np.empty(3), np.empty(3), np.empty(11)
    _respond(np.array([0.9, 1.1, 1.0]), losses, beta, slope, sums)
    assert not beta.any()
    assert not slope.any()
    assert not sums.any()


@pytest.mark.parametrize("n", [14, _NEAR - 1, _NEAR, 2 * _NEAR + 3])
def test_slopes_at_several_points_of_a_step(n):
    losses, values = rows(n=n)
    direction = np.random.default_rng(1).normal(size=n)
    parts, out = np.array([0.0, 0.3, 1.0, 7.0]), np.full(4, 9.0)
    _slopes(parts, values, direction, losses, out)
    np.testing.assert_allclose(out, [slope_along(t, values, direction, losses)[0] for t in parts])


def test_sides_are_scaled_until_they_sum_to_zero():
    assert shares_of_sides(np.array([4.0, -1.0]), is_free=False).tolist() == [1.0, 1.0]
    assert shares_of_sides(np.array([4.0, -1.0]), is_free=True).tolist() == [0.25, 1.0]
    assert shares_of_sides(np.array([1.0, -2.0]), is_free=True).tolist() == [1.0, 0.5]
    assert shares_of_sides(np.array([0.0, -2.0]), is_free=True).tolist() == [1.0, 0.0]
    assert shares_of_sides(np.array([2.0, 0.0]), is_free=True).tolist() == [0.0, 1.0]
    assert shares_of_sides(np.zeros(2), is_free=True).tolist() == [1.0, 1.0]
    assert sum_of_sides(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 2.0])).tolist() == [6.5, 9.0]


def test_coefficients_are_scaled_by_sign_in_place():
    beta = np.array([2.0, -4.0, 0.0, 1.0])
    assert scale_sides(beta, np.array([0.5, 0.25])) is beta
    assert beta.tolist() == [1.0, -1.0, 0.0, 0.5]
    assert scale_sides(beta, np.array([0.0, 1.0])).tolist() == [0.0, -1.0, 0.0, 0.0]


def test_rows_of_blocks_are_joined_in_order_and_their_parts_let_go():
    rng = np.random.default_rng(0)
    parts = [(rng.normal(size=n), rng.normal(size=n)) for n in (3, 0, 5, 1)]
    expected = [np.concatenate(each) for each in zip(*parts, strict=True)]
    found = joined_rows(parts)
    assert parts == []
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, other)
