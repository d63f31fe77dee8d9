"""Losses as maxima over their conjugate's box: every loop against the maximum found on a grid, or its derivative."""

import numpy as np
import pytest

from mercer.solvers.linear.loss_loops import (
    RoundedLosses,
    bracketed_minimum,
    dual_slope,
    dual_value,
    improve_dual,
    line_minimum,
    respond,
    row_loss,
    separable_dual,
    settled_bias,
    shrunk,
    slope_along,
    steepest,
    total_loss,
)

STEPS = np.linspace(0.0, 1.0, 4001)

# (lower, upper, ridge, epsilon): hinge, squared hinge, absolute and squared deviation beyond epsilon, Huber's.
LOSSES = [
    (0.0, 2.0, 0.0, 0.0),
    (-1.5, 0.0, 0.0, 0.0),
    (0.0, 50.0, 0.5, 0.0),
    (-2.0, 2.0, 0.0, 0.3),
    (-50.0, 50.0, 0.4, 0.3),
    (-1.0, 1.0, 0.5, 0.0),
]


def on_grid(z, lower, upper, ridge, epsilon, inverse=0.0, centre=0.0):
    """(maximum, where) of z b - epsilon |b| - ridge b^2 / 2 - inverse (b - centre)^2 / 2 over the box."""
    b = np.append(lower + (upper - lower) * STEPS, 0.0)
    value = z * b - epsilon * np.abs(b) - 0.5 * ridge * b**2 - 0.5 * inverse * (b - centre) ** 2
    return value.max(), b[value.argmax()]


@pytest.mark.parametrize("z", [-2.0, -0.31, -0.3, 0.0, 0.2, 0.3, 0.7, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_is_the_maximum_of_its_conjugate(loss, z):
    assert row_loss(z, *loss) == pytest.approx(on_grid(z, *loss)[0], abs=1e-4)


def test_a_soft_threshold_moves_towards_zero_and_not_past_it():
    assert [shrunk(z, 0.5) for z in (-2.0, -0.5, -0.1, 0.0, 0.5, 0.75)] == [-1.5, 0.0, 0.0, 0.0, 0.0, 0.25]


def rows(n=12, seed=0, inverse=0.0, centre=0.0):
    """Rows of every loss with one epsilon, and values about where their losses bend."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    lower = np.array([-1.0, 0.0, -40.0])[kinds]
    upper = np.array([1.5, 2.0, 40.0])[kinds]
    ridge = np.array([0.0, 0.0, 0.6])[kinds]
    losses = RoundedLosses(
        rng.normal(size=n), lower, upper, ridge, 0.2, np.where(ridge > 0.0, 0.0, inverse), np.full(n, centre)
    )
    return losses, rng.normal(size=n)


def in_all(values, losses):
    """(sum of the rounded losses, maximisers) on the grid."""
    found = [
        on_grid(p - f, low, high, ridge, losses.epsilon, v, c)
        for f, p, low, high, ridge, v, c in zip(
            values,
            losses.linear,
            losses.lower,
            losses.upper,
            losses.ridge,
            losses.inverse,
            losses.centre,
            strict=True,
        )
    ]
    return sum(value for value, _ in found), np.array([where for _, where in found])


def test_the_total_is_the_sum_of_the_losses_at_shifted_values():
    losses, values = rows()
    total = total_loss(values, 0.4, *losses[:5])
    assert total == pytest.approx(in_all(values + 0.4, losses)[0], abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_responses_are_where_the_maxima_are(seed):
    losses, values = rows(seed=seed, inverse=0.7, centre=0.3)
    before = np.linspace(-1.0, 1.0, len(values))
    beta, change, slope = before.copy(), np.empty(len(values)), np.empty(len(values))
    loss, distance = respond(values, losses, beta, change, slope)
    np.testing.assert_allclose(beta, in_all(values, losses)[1], atol=0.02)
    np.testing.assert_allclose(before + change, beta)
    assert loss == pytest.approx(total_loss(values, 0.0, *losses[:5]))
    assert distance == pytest.approx(losses.inverse @ (beta - losses.centre) ** 2)
    # The slope is how fast a response falls as its value rises: nothing at a bound or at the kink.
    again, others = np.zeros(len(values)), (np.empty(len(values)), np.empty(len(values)))
    respond(values + 1e-7, losses, again, *others)
    np.testing.assert_allclose((beta - again) / 1e-7, slope, atol=1e-5)
    assert (slope == 0.0).any()
    assert (slope > 0.0).any()


def test_a_response_of_nothing_varies_where_there_is_no_kink():
    losses = RoundedLosses(*(np.array([each]) for each in (1.0, -1.0, 1.0, 0.5)), 0.0, np.zeros(1), np.zeros(1))
    room = np.empty(1), np.empty(1), np.empty(1)
    respond(np.ones(1), losses, *room)
    assert [float(each[0]) for each in (room[0], room[2])] == [0.0, 2.0]


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_along_a_line(seed):
    losses, values = rows(seed=seed, inverse=0.7, centre=0.3)
    direction = np.random.default_rng(9).normal(size=len(values))
    for step, along in ((direction, direction), (None, np.ones(len(values)))):
        first, second = slope_along(0.5, values, step, losses)
        near = [slope_along(0.5 + h, values, step, losses)[0] for h in (-1e-6, 1e-6)]
        assert second == pytest.approx((near[1] - near[0]) / 2e-6, abs=1e-4)
        ends = [in_all(values + (0.5 + h) * along, losses)[0] for h in (-0.01, 0.01)]
        assert first == pytest.approx((ends[1] - ends[0]) / 0.02, abs=0.05)


@pytest.mark.parametrize("square", [0.0, 0.5])
@pytest.mark.parametrize("length", [0.003, 1.0, 200.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_search_ends_where_the_derivative_is_a_tenth(seed, length, square):
    losses, values = rows(seed=seed, inverse=1e-3)
    direction = np.random.default_rng(seed).normal(size=len(values)) / length

    def derivative(t):
        return slope_along(t, values, direction, losses)[0] + along + square / length**2 * t

    for along in (-0.5 / length, 0.5 / length):
        if derivative(0.0) > 0.0:
            direction, along = -direction, -along  # noqa: PLW2901 - downhill
        t = line_minimum(values, direction, along, square / length**2, losses)
        assert t > 0.0
        assert abs(derivative(t)) <= 0.1 * abs(derivative(0.0)) * (1.0 + 1e-9)
        for sign in (1.0, -1.0):
            direction, along = sign * direction, sign * along  # noqa: PLW2901 - and uphill
            t = bracketed_minimum(values, direction, along, square / length**2, 1.0, losses)
            assert t * sign > 0.0
            assert abs(derivative(t)) <= 0.1 * abs(derivative(0.0)) * (1.0 + 1e-9)


def test_a_search_at_a_minimum_stays_there():
    losses = RoundedLosses(*(np.array([each]) for each in (0.0, -1.0, 1.0, 1.0)), 0.0, np.zeros(1), np.zeros(1))
    assert bracketed_minimum(np.zeros(1), np.ones(1), 0.0, 1.0, 1.0, losses) == 0.0


def test_a_search_without_an_end_stays_where_the_derivative_had_not_risen():
    """A hinge that is met nowhere: the derivative is minus one for ever."""
    losses = RoundedLosses(np.array([1.0]), np.zeros(1), np.ones(1), np.zeros(1), 0.0, np.array([1e-9]), np.zeros(1))
    t = bracketed_minimum(np.zeros(1), np.array([-1.0]), -2.0, 0.0, 1.0, losses)
    assert t > 1.0
    assert slope_along(t, np.zeros(1), np.array([-1.0]), losses)[0] - 2.0 == -1.0
    assert bracketed_minimum(np.zeros(1), np.array([1.0]), 2.0, 0.0, 1.0, losses) == -t


@pytest.mark.parametrize("shift", [-1e5, -30.0, 0.0, 30.0, 1e5])
@pytest.mark.parametrize("seed", range(3))
def test_a_settled_bias_leaves_responses_that_sum_to_zero(seed, shift):
    losses, values = rows(seed=seed, inverse=1e-3)
    found = settled_bias(values + shift, losses)
    around = [slope_along(found + h, values + shift, None, losses)[0] for h in (-1e-6, 0.0, 1e-6)]
    assert around[0] <= 1e-7
    assert around[2] >= -1e-7
    assert settled_bias(values, losses) - shift == pytest.approx(found, abs=1e-6 * max(1.0, abs(shift)))


def test_a_bias_that_a_single_kink_decides_is_found_by_halving():
    """The median of three numbers is the middle one."""
    tiny = np.full(3, 1e-12)
    losses = RoundedLosses(np.array([-7.0, 2.0, 31.0]), -np.ones(3), np.ones(3), np.zeros(3), 0.0, tiny, np.zeros(3))
    assert settled_bias(np.zeros(3), losses) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("beta", [-1.0, -0.4, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("gradient", [-0.9, -0.1, 0.0, 0.1, 0.9])
def test_a_slope_is_the_better_of_the_two_ways_that_the_box_allows(beta, gradient):
    h, epsilon = 1e-6, 0.25
    ways = [
        (gradient * step - epsilon * (abs(beta + step) - abs(beta))) / h
        for step in (-h, h)
        if -1.0 <= beta + step <= 1.0
    ]
    assert dual_slope(beta, gradient, epsilon, -1.0, 1.0) == pytest.approx(max(ways), abs=1e-8)


def test_rows_that_are_firmly_at_a_bound_are_left_out():
    losses, values = rows(n=40)
    beta = np.clip(np.random.default_rng(1).integers(-1, 2, 40) * 40.0, losses.lower, losses.upper)
    gradient = losses.linear - values - losses.ridge * beta
    slopes = [
        dual_slope(b, g, 0.2, low, high)
        for b, g, low, high in zip(beta, gradient, losses.lower, losses.upper, strict=True)
    ]
    active = np.full(40, -1)
    count, largest = steepest(values, *losses[:5], beta, 0.5, active)
    assert 0 < count < 40
    assert active[:count].tolist() == [i for i in range(40) if slopes[i] >= -0.5]
    assert largest == pytest.approx(max(slopes))
    # The limit itself counts among those that stay.
    firm = -min(slopes)
    assert steepest(values, *losses[:5], beta, firm, active)[0] == 40
    # If nothing can rise the largest slope is none.
    assert steepest(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1), np.zeros(1), 0.0, np.ones(1), 9.0, active) == (
        1,
        0.0,
    )


def dual_at(beta, X, linear, ridge, epsilon, scale):
    separable = linear @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ (ridge * beta)
    w = beta @ X
    return separable - 0.5 * (w @ w + (scale * beta.sum()) ** 2)


@pytest.fixture
def segment():
    """Rows, their dual, and two points of it."""
    rng = np.random.default_rng(3)
    X, linear, ridge = rng.normal(size=(6, 3)), rng.normal(size=6), rng.uniform(0.1, 1.0, 6)
    return X, linear, ridge, rng.normal(size=6), rng.normal(size=6)


def test_the_dual_is_what_the_formula_says(segment):
    X, linear, ridge, beta, _ = segment
    value, total = separable_dual(beta, linear, ridge, 0.3)
    assert value == pytest.approx(linear @ beta - 0.3 * np.abs(beta).sum() - 0.5 * beta @ (ridge * beta))
    assert total == pytest.approx(beta.sum())
    found = dual_value(beta, beta @ X, linear, ridge, 0.3, 2.0)
    assert found == pytest.approx(dual_at(beta, X, linear, ridge, 0.3, 2.0))


@pytest.mark.parametrize("scale", [0.0, 1.5])
@pytest.mark.parametrize("share", [0.15, 0.6, 0.9])
def test_the_best_point_of_a_segment_is_reached(segment, scale, share):
    """Segments through the highest point of all, so that it is the best of each."""
    X, linear, ridge, best, _ = segment
    highest = np.linalg.solve(X @ X.T + np.diag(ridge) + scale**2, linear)
    beta = best + (highest - best) / share
    value, total = dual_at(best, X, linear, ridge, 0.0, scale), best @ X
    found = improve_dual(best, total, value, beta, beta @ X, linear, ridge, 0.0, scale)
    np.testing.assert_allclose(best, highest, rtol=1e-9, atol=1e-9)
    assert found == pytest.approx(dual_at(highest, X, linear, ridge, 0.0, scale))
    np.testing.assert_allclose(total, best @ X)


def test_an_end_of_a_segment_that_is_best_is_where_it_ends(segment):
    X, linear, ridge, best, beta = segment
    Q = X @ X.T + np.diag(ridge)
    solution = np.linalg.solve(Q, linear)
    highest = dual_at(solution, X, linear, ridge, 0.0, 0.0)
    # From the solution nothing is gained; towards it, and beyond, everything.
    kept, total = solution.copy(), solution @ X
    assert improve_dual(kept, total, highest, beta, beta @ X, linear, ridge, 0.0, 0.0) == pytest.approx(highest)
    np.testing.assert_allclose(kept, solution, atol=1e-9)
    half = 0.5 * (best + solution)
    best, total, value = best.copy(), best @ X, dual_at(best, X, linear, ridge, 0.0, 0.0)
    found = improve_dual(best, total, value, half, half @ X, linear, ridge, 0.0, 0.0)
    np.testing.assert_allclose(best, half)
    assert found == pytest.approx(dual_at(half, X, linear, ridge, 0.0, 0.0))


def test_rows_of_zeros_move_along_a_line_to_its_better_end():
    best, total = np.zeros(2), np.zeros(1)
    none = np.zeros(2)
    assert improve_dual(best, total, 0.0, np.array([0.1, 0.2]), np.zeros(1), np.ones(2), none, 0.0, 0.0) == (
        pytest.approx(0.3)
    )
    np.testing.assert_allclose(best, [0.1, 0.2])
    assert improve_dual(best, total, 0.3, none, np.zeros(1), np.ones(2), none, 0.0, 0.0) == 0.3
