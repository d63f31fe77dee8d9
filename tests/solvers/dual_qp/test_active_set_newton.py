"""The active-set method, against a linear system and the judge of tests/oracles."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import padded_square
from mercer.solvers.dual_qp.active_set_newton import EXACT, NO_STEP, UNFINISHED, newton_steps


def program(n=30, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, rank or n))
    return root @ root.T, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def run(Q, linear, lower, upper, has_equality, max_steps=1000, start=None, free=None):
    n = len(linear)
    matrix = padded_square(n, np.float64)
    matrix[:, :n] = Q
    beta = np.zeros(n) if start is None else start.copy()
    gradient = np.zeros(matrix.shape[1])
    gradient[:n] = linear - Q @ beta
    free = np.ones(n, dtype=bool) if free is None else free
    ending = newton_steps(matrix, beta, gradient, lower, upper, free, None, int(has_equality), 1e-11, max_steps)
    return ending, beta, gradient[:n], free


def violation(beta, gradient, lower, upper, has_equality):
    highest = gradient[beta < upper].max(initial=-np.inf)
    lowest = gradient[beta > lower].min(initial=np.inf)
    return max(0.0, highest - lowest) if has_equality else max(0.0, highest, -lowest)


@pytest.mark.parametrize("has_equality", [True, False])
@pytest.mark.parametrize("rank", [None, 5])
@pytest.mark.parametrize("width", [1e3, 0.05, 1e-3])
def test_the_optimum_in_a_box(has_equality, rank, width):
    Q, linear = program(rank=rank)
    lower, upper = np.minimum(width * linear, 0.0), np.maximum(width * linear, 0.0)
    start = 0.5 * width * linear if not has_equality else np.zeros(30)
    ending, beta, gradient, _ = run(Q, linear, lower, upper, has_equality, start=start)
    assert ending in (EXACT, NO_STEP)
    assert (beta >= lower).all()
    assert (beta <= upper).all()
    np.testing.assert_allclose(gradient, linear - Q @ beta, atol=1e-7 * max(1.0, width))
    if has_equality:
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum() + 1e-300
    if ending == EXACT:
        assert violation(beta, gradient, lower, upper, has_equality) <= 1e-8 * max(1.0, width)


def test_in_a_wide_box_it_is_the_linear_system():
    Q, linear = program()
    ending, beta, gradient, free = run(Q, linear, np.full(30, -1e9), np.full(30, 1e9), has_equality=False)
    assert ending == EXACT
    np.testing.assert_allclose(Q @ beta, linear, atol=1e-8)
    assert np.abs(gradient).max() <= 1e-8
    assert free.all()


def test_the_dual_never_falls():
    Q, linear = program(seed=3)
    lower, upper = np.minimum(0.05 * linear, 0.0), np.maximum(0.05 * linear, 0.0)
    values = []
    for steps in range(1, 25):
        _, beta, _, _ = run(Q, linear, lower, upper, has_equality=True, max_steps=steps)
        values.append(linear @ beta - 0.5 * beta @ Q @ beta)
    assert (np.diff(values) >= -1e-12).all()
    assert values[-1] > values[0]


def test_steps_are_limited():
    Q, linear = program()
    lower, upper = np.minimum(0.01 * linear, 0.0), np.maximum(0.01 * linear, 0.0)
    assert run(Q, linear, lower, upper, has_equality=False, max_steps=1)[0] == UNFINISHED


@pytest.mark.parametrize("has_equality", [True, False])
def test_an_indefinite_system_gives_no_step(has_equality):
    _, linear = program()
    ending, beta, _, _ = run(-np.eye(30), linear, np.full(30, -1.0), np.full(30, 1.0), has_equality)
    assert ending == NO_STEP
    assert not beta.any()


def test_nothing_free_gives_no_step():
    Q, linear = program()
    ending, *_ = run(Q, linear, np.full(30, -1.0), np.full(30, 1.0), has_equality=False, free=np.zeros(30, dtype=bool))
    assert ending == NO_STEP


@pytest.mark.parametrize("size", [1.0, 1e-5, 1e-10])
def test_a_step_keeps_the_sum_however_small_the_kernel_values_are(size):
    # Of gradients around one and a matrix of 1e-10, a step that is solved for as a whole has a size of 1e10 before
    # the part that they have in common is taken off again.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        root = np.sqrt(size) * rng.normal(size=(7, 7))
        linear, reach = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), rng.uniform(1.0, 9.0, size=7)
        ends = linear * reach
        start = 0.1 * np.where(linear > 0, 4.0, -3.0)
        _, beta, _, _ = run(
            root @ root.T, linear, np.minimum(ends, 0.0), np.maximum(ends, 0.0), has_equality=True, start=start
        )
        assert abs(beta.sum() - start.sum()) <= 1e-13 * np.abs(beta).sum()


def sums_of(n_groups, groups):
    """One row for each fixed sum; if there is one, it is of everything."""
    if n_groups == 1:
        return np.ones((1, len(groups)))
    return np.stack([groups == g for g in range(n_groups)]).astype(float) if n_groups else np.empty((0, len(groups)))


def grouped(Q, linear, lower, upper, n_groups, groups, start, free, max_steps):
    n = len(linear)
    matrix = padded_square(n, np.float64)
    matrix[:, :n] = Q
    beta, free = start.copy(), free.copy()
    gradient = np.zeros(matrix.shape[1])
    gradient[:n] = linear - Q @ beta
    given = groups if n_groups == 2 else None
    ending = newton_steps(matrix, beta, gradient, lower, upper, free, given, n_groups, 1e-11, max_steps)
    return ending, beta, gradient[:n], free


def newton_point(Q, linear, sums, start, free):
    """The best point that moves the free coordinates alone and keeps the sums, by one linear system."""
    some = sums[:, free]
    some = some[some.any(axis=1)]
    f, g = free.sum(), len(some)
    system = np.block([[Q[np.ix_(free, free)], some.T], [some, np.zeros((g, g))]])
    step = np.linalg.solve(system, np.append((linear - Q @ start)[free], np.zeros(g)))[:f]
    found = start.copy()
    found[free] += step
    return found


@pytest.mark.parametrize("held", ["none", "some", "all of the first group", "all of the second group"])
@pytest.mark.parametrize("n_groups", [0, 1, 2])
def test_a_step_that_meets_no_bound_ends_at_the_best_point_of_all(n_groups, held):
    Q, linear = program(n=9, seed=4)
    groups = np.arange(9) % 2
    free = {
        "none": np.ones(9, bool),
        "some": np.arange(9) > 2,
        "all of the first group": groups == 1,
        "all of the second group": groups == 0,
    }[held]
    start, wide = np.linspace(-1.0, 2.0, 9), np.full(9, 1e6)
    best = newton_point(Q, linear, sums_of(n_groups, groups), start, free)
    _, beta, gradient, _ = grouped(Q, linear, -wide, wide, n_groups, groups, start, free, 1)
    np.testing.assert_allclose(beta, best, atol=1e-8)
    np.testing.assert_allclose(gradient, linear - Q @ best, atol=1e-7)


@pytest.mark.parametrize("n_groups", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_ends_at_the_first_bound_and_its_coordinate_stays_there(n_groups, seed):
    Q, linear = program(n=8, seed=seed)
    groups, free, start = np.arange(8) % 2, np.ones(8, bool), np.zeros(8)
    best = newton_point(Q, linear, sums_of(n_groups, groups), start, free)
    width = 0.4 * np.abs(best).max()
    share = (width / np.abs(best)).min()
    first = int(np.abs(best).argmax())
    _, beta, gradient, free = grouped(
        Q, linear, np.full(8, -width), np.full(8, width), n_groups, groups, start, free, 1
    )
    np.testing.assert_allclose(beta, share * best, atol=1e-9)
    np.testing.assert_allclose(gradient, linear - Q @ beta, atol=1e-8)
    assert abs(beta[first]) == width
    assert np.flatnonzero(~free).tolist() == [first]


@pytest.mark.parametrize("seed", range(6))
def test_two_sums_and_a_box(seed):
    """Within each group no coordinate that may rise has a larger gradient than one that may fall."""
    Q, linear = program(n=14, seed=seed)
    groups = np.arange(14) % 2
    width = np.full(14, 0.04)
    ending, beta, gradient, _ = grouped(Q, linear, -width, width, 2, groups, np.zeros(14), np.ones(14, bool), 1000)
    assert ending == EXACT
    assert (np.abs(beta) <= width).all()
    assert (np.abs(beta) == width).any()
    np.testing.assert_allclose(gradient, linear - Q @ beta, atol=1e-8)
    for g in range(2):
        some = groups == g
        assert abs(beta[some].sum()) <= 1e-12
        assert violation(beta[some], gradient[some], -width[some], width[some], has_equality=True) <= 1e-8


def test_a_coordinate_that_was_held_at_a_bound_is_freed_where_it_gains():
    """From a corner of the box that is not the solution, all but two of the coordinates held there."""
    for seed in range(5):
        Q, linear = program(n=8, seed=seed)
        width = np.full(8, 10.0)
        start = width * np.where(np.arange(8) % 2, 1.0, -1.0)
        free = np.arange(8) < 2
        start[free] = 0.0
        ending, beta, gradient, free = grouped(Q, linear, -width, width, 1, np.zeros(8, int), start, free, 1000)
        assert ending == EXACT
        assert violation(beta, gradient, -width, width, has_equality=True) <= 1e-7
        assert abs(beta.sum()) <= 1e-10
        assert (np.abs(beta) <= width).all()


def test_equal_rows_have_a_step_between_them():
    """The system is singular: a ridge decides who of the two moves, and what they move together is right."""
    Q, linear = np.array([[2.0, 2.0], [2.0, 2.0]]), np.array([1.0, 1.0])
    ending, beta, gradient, _ = run(Q, linear, np.full(2, -9.0), np.full(2, 9.0), has_equality=False)
    assert ending == EXACT
    assert beta.sum() == pytest.approx(0.5)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
