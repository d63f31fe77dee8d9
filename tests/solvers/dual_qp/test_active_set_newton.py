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
