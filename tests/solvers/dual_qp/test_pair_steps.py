"""Compiled steps where gradients grow until no mask is larger, and where their squares have no room."""

import numpy as np
import pytest

from mercer._jit.compile import UNBOUNDED
from mercer.solvers.dual_qp.block_steps import begin
from mercer.solvers.dual_qp.pair_steps import (
    DIVERGED,
    MASK,
    Groups,
    _index_of,
    grouped_pair_steps,
    pair_steps,
    set_masks,
    single_steps,
)

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


# ------------------------------------------------------------ single steps, against a search over all of them


def small(seed, kink=0.0, dtype=np.float64):
    """A problem of eight points somewhere in its box: (Q, linear, lower, upper, beta, state, scores)."""
    rng = np.random.default_rng(seed)
    n = WIDTH // 2
    root = rng.normal(size=(n, n))
    Q, linear = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n)
    upper = rng.uniform(0.05, 0.4, n)
    lower = -upper * rng.integers(0, 2, n)
    if kink:
        lower = -upper
    beta = np.clip(rng.uniform(-0.3, 0.3, n), lower, upper)
    beta[rng.integers(n)] = 0.0 if kink else beta.min()
    beta = np.clip(beta, lower, upper)
    matrix = np.zeros((n, WIDTH), dtype)
    matrix[:, :n] = Q
    gradient, diag, rise, fall, scores = np.empty((5, WIDTH), dtype)
    begin(matrix, linear, lower, upper, np.empty(n), gradient, diag, rise, fall)
    gradient[:n] = linear - Q @ beta
    for k in range(n):
        set_masks(k, beta, lower, upper, kink, rise, fall)
    return Q, linear, lower, upper, beta, (matrix, gradient, beta, lower, upper, kink, diag, rise, fall), scores


def ways(beta, gradient, lower, upper, kink):
    """(what rising gains, what falling costs), at once, for each coordinate; nothing where its box ends."""
    rising = gradient - np.where(beta >= 0.0, kink, -kink)
    falling = gradient + np.where(beta <= 0.0, kink, -kink)
    return np.where(beta < upper, rising, -np.inf), np.where(beta > lower, falling, np.inf)


def value(Q, linear, beta, kink):
    return linear @ beta - 0.5 * beta @ Q @ beta - kink * np.abs(beta).sum()


def along(Q, linear, beta, direction, most, kink):
    """The best point along a direction, no further than its first bound or kink, on a grid of lengths."""
    points = beta + np.linspace(0.0, most, 20001)[:, None] * direction
    values = points @ linear - 0.5 * np.einsum("ij,ij->i", points @ Q, points) - kink * np.abs(points).sum(axis=1)
    return points[values.argmax()]


def room_of(beta, lower, upper, kink, up):
    if kink and (beta < 0.0 if up else beta > 0.0):
        return abs(beta)
    return upper - beta if up else beta - lower


@pytest.mark.parametrize("kink", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_a_pair_step_takes_the_pair_of_largest_gain_to_its_best_point(seed, kink):
    Q, linear, lower, upper, beta, state, scores = small(seed, kink)
    before, gradient = beta.copy(), linear - Q @ beta
    rising, falling = ways(beta, gradient, lower, upper, kink)
    i, diag = int(rising.argmax()), np.diag(Q)
    bends = np.where(np.arange(len(beta)) == i, np.inf, diag[i] + diag - 2.0 * Q[i])
    j = int((np.maximum(rising[i] - falling, 0.0) ** 2 / bends).argmax())
    room = min(room_of(beta[i], lower[i], upper[i], kink, True), room_of(beta[j], lower[j], upper[j], kink, False))
    direction = np.zeros(len(beta))
    direction[i], direction[j] = 1.0, -1.0
    best = along(Q, linear, before, direction, room, kink)
    taken, highest, lowest, curvature = pair_steps(*state, 1e-6, 1, scores)
    assert taken == 1
    assert np.flatnonzero(beta != before).tolist() == sorted([i, j])
    np.testing.assert_allclose(beta, best, atol=2e-4 * room)
    np.testing.assert_allclose(state[1][: len(beta)], linear - Q @ beta, atol=1e-12)
    rising, falling = ways(beta, linear - Q @ beta, lower, upper, kink)
    assert highest == pytest.approx(rising.max())
    assert lowest == pytest.approx(falling.min())
    assert curvature == pytest.approx(min(1.0, (diag[i] + diag[j] - 2.0 * Q[i, j]) / (diag[i] + diag[j])))


@pytest.mark.parametrize("kink", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_a_single_step_takes_the_coordinate_of_largest_gain_to_its_best_point(seed, kink):
    Q, linear, lower, upper, beta, state, scores = small(seed, kink)
    before, gradient = beta.copy(), linear - Q @ beta
    rising, falling = ways(beta, gradient, lower, upper, kink)
    push = np.maximum(0.0, np.maximum(rising, -falling))
    i = int((push**2 / np.diag(Q)).argmax())
    up = rising[i] > -falling[i]
    room, direction = room_of(beta[i], lower[i], upper[i], kink, up), np.zeros(len(beta))
    direction[i] = 1.0 if up else -1.0
    best = along(Q, linear, before, direction, room, kink)
    taken, violation, _, curvature = single_steps(*state, 1e-6, 1, scores)
    assert taken == 1
    assert np.flatnonzero(beta != before).tolist() == [i]
    np.testing.assert_allclose(beta, best, atol=2e-4 * room)
    rising, falling = ways(beta, linear - Q @ beta, lower, upper, kink)
    assert violation == pytest.approx(max(0.0, rising.max(), (-falling).max()))
    assert curvature == pytest.approx(min(1.0, Q[i, i]))


@pytest.mark.parametrize("kink", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_steps_end_where_nothing_is_left_to_gain(seed, dtype, kink):
    for steps in (pair_steps, single_steps):
        Q, linear, lower, upper, beta, state, scores = small(seed, kink, dtype)
        total = beta.sum()
        taken, highest, lowest, _ = steps(*state, dtype(1e-4), 2000, scores)
        assert 0 < taken < 2000
        assert highest - lowest <= 1e-4
        rising, falling = ways(beta, linear - Q @ beta, lower, upper, kink)
        if steps is pair_steps:
            assert rising.max() - falling.min() <= 2e-4
            assert beta.sum() == pytest.approx(total, abs=1e-9)
        else:
            assert max(rising.max(), (-falling).max()) <= 2e-4
        assert (beta >= lower).all()
        assert (beta <= upper).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_grouped_step_stays_within_the_group_of_larger_gain(seed):
    Q, linear, lower, upper, beta, state, scores = small(seed)
    before, gradient, diag, split = beta.copy(), linear - Q @ beta, np.diag(Q), 4
    found = []
    for group in (range(split), range(split, len(beta))):
        rising, falling = ways(beta, gradient, lower, upper, 0.0)
        i = max(group, key=lambda k: rising[k])
        gains = {
            j: max(rising[i] - falling[j], 0.0) ** 2 / (diag[i] + diag[j] - 2.0 * Q[i, j]) for j in group if j != i
        }
        j = max(gains, key=gains.get)
        found.append((gains[j], i, j))
    _, i, j = max(found)
    matrix, gradient, beta, lower, upper, kink, diag, rise, fall = state
    groups = Groups(split, np.empty((2, 2)))

    def run(most):
        return grouped_pair_steps(
            matrix, gradient, beta, (lower, upper), kink, diag, rise, fall, groups, 1e-6, most, scores
        )

    taken, violation, _, curvature = run(1)
    assert taken == 1
    assert np.flatnonzero(beta != before).tolist() == sorted([i, j])
    assert curvature == pytest.approx(min(1.0, (Q[i, i] + Q[j, j] - 2.0 * Q[i, j]) / (Q[i, i] + Q[j, j])))
    assert value(Q, linear, beta, 0.0) > value(Q, linear, before, 0.0)
    for most in (0, 3000):
        taken, violation, _, _ = run(most)
        rising, falling = ways(beta, linear - Q @ beta, lower, upper, 0.0)
        for g, some in enumerate((slice(split), slice(split, None))):
            if rising[some].max() > -np.inf:
                assert groups.extremes[g, 0] == pytest.approx(rising[some].max(), abs=1e-9)
                lowest = falling[some].min()
                assert groups.extremes[g, 1] == pytest.approx(lowest, abs=1e-9) if lowest < np.inf else True
            assert beta[some].sum() == pytest.approx(before[some].sum())
    assert taken < 3000
    assert violation <= 1e-6
    gaps = [(rising[some].max() - falling[some].min()) for some in (slice(split), slice(split, None))]
    assert max(gaps) <= 2e-6


@pytest.mark.parametrize("n", [1, 31, 32, 33, 256, 300, 560])
def test_the_first_of_equal_values_is_found_wherever_it_is(n):
    for place in {0, n // 3, n // 2, n - 1}:
        values = np.zeros(n)
        values[place:] = 2.0
        assert _index_of(values, 2.0) == place
    assert _index_of(np.zeros(n), 2.0) == 0


def test_masks_are_the_slopes_of_a_kink_and_walls_at_the_bounds():
    beta, lower, upper = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.full(5, -1.0), np.ones(5)
    rise, fall = np.empty(5), np.empty(5)
    for k in range(5):
        set_masks(k, beta, lower, upper, 0.25, rise, fall)
    np.testing.assert_array_equal(rise, [0.25, 0.25, -0.25, -0.25, -MASK])
    np.testing.assert_array_equal(fall, [MASK, 0.25, 0.25, -0.25, -0.25])
