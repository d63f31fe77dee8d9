"""Steps of coordinate descent, each against the dual itself."""

import numpy as np
import pytest

from mercer._jit.row_views import view_rows
from mercer.solvers.linear.cd_steps import (
    BETA,
    CURVATURE,
    LEAST,
    LINEAR,
    LOWER,
    MOST,
    RIDGE,
    UPPER,
    WIDTH,
    next_random,
    remaining,
    schedule,
    shuffle,
    sweep,
)

UNKNOWN = 1e300


def test_random_numbers_are_those_of_marsaglia():
    """xorshift64 with the shifts 13, 7 and 17, of which the upper half is scaled."""
    state, x = np.array([88172645463325252], np.uint64), 88172645463325252
    for below in (1, 2, 7, 1000, 2**31):
        x ^= (x << 13) % 2**64
        x ^= x >> 7
        x ^= (x << 17) % 2**64
        assert next_random(state, below) == ((x >> 32) * below) >> 32
        assert int(state[0]) == x


def test_every_order_is_as_likely_as_any_other():
    state, seen = np.array([1234567], np.uint64), {}
    for _ in range(1200):
        order = np.arange(3)
        shuffle(order, state)
        seen[tuple(order)] = seen.get(tuple(order), 0) + 1
    assert len(seen) == 6
    assert min(seen.values()) > 130  # of 200 that are expected; the standard deviation is 13
    one = np.array([5])
    shuffle(one, state)
    assert one.tolist() == [5]


def test_rows_are_visited_in_proportion_to_their_preferences():
    preferences = np.array([1.0, 3.0, 9.0, 0.5, 1.5], np.float32)
    active, credit = np.array([0, 1, 3, 4]), np.full(5, 0.5, np.float32)
    visits = np.zeros(5)
    for _ in range(60):
        order = np.full(8, -1)
        count, mean = schedule(active, preferences, credit, order)
        assert mean == pytest.approx(1.5)
        assert (order[:count] >= 0).all()
        visits += np.bincount(order[:count], minlength=5)
    np.testing.assert_allclose(visits, 60 * preferences / 1.5 * [1, 1, 0, 1, 1], atol=1.0)


def test_a_schedule_ends_where_its_room_does():
    order, credit = np.full(3, -1), np.full(2, 0.5)
    count, _ = schedule(np.array([0, 1]), np.array([1.0, 1.0]), credit, order[:1])
    assert (count, order.tolist()) == (1, [0, -1, -1])
    # What was not visited keeps its credit.
    assert credit.tolist() == [0.5, 1.5]
    assert schedule(np.array([1]), np.array([1.0, 1.0]), credit, order)[0] == 2


def test_rows_that_stay_come_first_and_in_order():
    active = np.array([4, 0, 2, 1])
    kept = remaining(active, np.array([1.0, -1.0, 0.2, 5.0, -0.2]))
    assert active[:kept].tolist() == [0, 2]


def machine(seed=0, ridge=0.0, epsilon=0.0, n=12):
    """(rows, points, dual): a problem with a constant feature of 0.8."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    points = np.zeros((n, WIDTH))
    points[:, LINEAR], points[:, LOWER], points[:, UPPER] = y, -0.6, 0.7
    points[:, RIDGE], points[:, CURVATURE] = ridge, (X**2).sum(axis=1) + 0.8**2 + ridge

    def dual(beta, price):
        w = beta @ X
        smooth = (y - price) @ beta - 0.5 * (w @ w + (0.8 * beta.sum()) ** 2 + ridge * beta @ beta)
        return smooth - epsilon * np.abs(beta).sum()

    return X, points, dual


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("price", [0.0, 0.3])
def test_each_step_reaches_the_best_value_of_its_coefficient(ridge, epsilon, price):
    X, points, dual = machine(1, ridge, epsilon)
    flat, w, preferences = points.ravel(), np.zeros(4), np.ones(12, np.float32)
    grid = np.append(np.linspace(-0.6, 0.7, 1301), 0.0)
    for step in range(36):
        i, before = step % 12, points[:, BETA].copy()
        largest, gap, loss = sweep(
            view_rows(X), flat, epsilon, 0.8, price, w, np.array([i]), 0, 1, UNKNOWN, preferences, None
        )
        others = np.tile(before, (len(grid), 1))
        others[:, i] = grid
        values = [dual(each, price) for each in others]
        assert points[i, BETA] == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)
        assert dual(points[:, BETA], price) >= max(values) - 1e-9
        np.testing.assert_allclose(w, [*(points[:, BETA] @ X), 0.8 * points[:, BETA].sum()], atol=1e-12)
        # The row's part of the duality gap, before the step: its loss, less what its coefficient gains.
        z = points[i, LINEAR] - before @ X @ X[i] - price - 0.64 * before.sum()
        conjugate = z * grid - epsilon * np.abs(grid) - 0.5 * ridge * grid**2
        assert loss == pytest.approx(conjugate.max(), abs=1e-4)
        now = z * before[i] - epsilon * abs(before[i]) - 0.5 * ridge * before[i] ** 2
        assert gap == pytest.approx(conjugate.max() - now, abs=1e-4)
        if points[i, BETA] != before[i]:
            assert largest == pytest.approx(max(0.0, abs(z - ridge * before[i]) - epsilon))
        else:
            assert largest == 0.0


def test_many_steps_are_one_after_another():
    X, points, _ = machine(2, 0.1)
    again = points.copy()
    order, w, alone = np.random.default_rng(0).permutation(12), np.zeros(4), np.zeros(4)
    ones = np.ones(12, np.float32)
    largest, gap, loss = sweep(view_rows(X), points.ravel(), 0.0, 0.8, 0.0, w, order, 2, 9, UNKNOWN, ones, None)
    found = [
        sweep(view_rows(X), again.ravel(), 0.0, 0.8, 0.0, alone, order, k, k + 1, UNKNOWN, ones, None)
        for k in range(2, 9)
    ]
    np.testing.assert_allclose(points, again)
    np.testing.assert_allclose(w, alone)
    assert (largest, gap, loss) == pytest.approx((max(f[0] for f in found), *np.sum(found, axis=0)[1:]))
    assert not points[order[[0, 1, 9, 10, 11]], BETA].any()


def test_rows_firmly_at_a_bound_are_dropped_and_others_are_not():
    X = np.eye(3)
    points = np.zeros((3, WIDTH))
    # At its upper bound with a slope of -1, of -0.05, and one that moves.
    points[:, LINEAR], points[:, UPPER], points[:, BETA] = [-1.0, -0.05, 2.0], 1.0, 0.0
    points[:, CURVATURE] = 1.0
    for firm, dropped in ((UNKNOWN, []), (0.1, [0]), (1.0, [])):
        preferences, copy = np.ones(3, np.float32), points.copy()
        sweep(view_rows(X), copy.ravel(), 0.0, 0.0, 0.0, np.zeros(4), np.arange(3), 0, 3, firm, preferences, None)
        assert np.flatnonzero(preferences < 0).tolist() == dropped
        assert np.abs(preferences).tolist() == [1.0, 1.0, 1.0]


def test_a_row_that_gains_more_than_the_mean_is_preferred():
    """Gains are curvature times the square of the move: here 1, 0.01 and 0, and their mean was 0.1."""
    X = np.eye(3)
    points = np.zeros((3, WIDTH))
    points[:, LINEAR], points[:, UPPER], points[:, CURVATURE] = [1.0, 0.1, -1.0], 10.0, 1.0
    preferences, pace = np.array([1.0, 1.0, -1.0], np.float32), np.array([2.0, 0.1, 0.25])
    before = preferences.copy()
    _, gap, _ = sweep(
        view_rows(X), points.ravel(), 0.0, 0.0, 0.0, np.zeros(4), np.arange(3), 0, 3, UNKNOWN, preferences, pace
    )
    size, was = np.abs(preferences), np.abs(before)
    assert size[0] > was[0]
    assert size[1] < was[1]
    assert size[2] < was[2]
    assert (size >= LEAST).all()
    assert (size <= MOST).all()
    # The mean follows each gain by a quarter; a row visited half as often as the mean counts twice for the gap.
    mean = 0.1
    for gain in (1.0, 0.01, 0.0):
        mean += 0.25 * (gain - mean)
    assert pace[1] == pytest.approx(mean)
    assert gap == pytest.approx(2.0 * (10.0 + 1.0))


def test_preferences_keep_within_their_bounds():
    points = np.zeros((2, WIDTH))
    points[:, UPPER], points[:, CURVATURE] = 1e9, 1.0
    preferences, pace = np.ones(2, np.float32), np.array([1.0, 1.0, 0.0])
    rows, w = view_rows(np.eye(2)), np.zeros(3)
    for _ in range(30):
        points[0, LINEAR] += 1e3  # it moves at every visit, and the other one never
        sweep(rows, points.ravel(), 0.0, 0.0, 0.0, w, np.arange(2), 0, 2, UNKNOWN, preferences, pace)
    assert preferences.tolist() == pytest.approx([MOST, LEAST])
