"""A small problem in one compiled call: its solution, its endings, and what it hands back with them."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import padded_square
from mercer.solvers.dual_qp.block_steps import (
    ITERATION_LIMIT,
    LEFT,
    NOT_CONVEX,
    OPTIMAL,
    UNDERFLOW,
    gradient_afresh,
    margin,
    solve_in_precision,
    solve_plain,
    step_plain,
)


def problem(n=24, seed=0, C=1.0, dtype=np.float64, gamma=0.5):
    """The dual of a machine: (padded matrix, K, signs, lower, upper)."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n, 2)), np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X += 0.7 * signs[:, None]
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2)).astype(dtype)
    matrix = padded_square(n, dtype)
    matrix[:, :n] = K
    return matrix, K.astype(np.float64), signs, np.minimum(C * signs, 0.0), np.maximum(C * signs, 0.0)


def solved(how, matrix, signs, lower, upper, convex=True, tol=1e-3, max_iter=-1):
    beta, gradient = np.full(len(signs), 7.0), np.full(matrix.shape[1], 7.0)
    found = how(matrix, signs, lower, upper, convex, tol, max_iter, beta, gradient)
    return found, beta, gradient[: len(signs)]


def violation_of(beta, gradient, lower, upper):
    return gradient[beta < upper].max() - gradient[beta > lower].min()


@pytest.mark.parametrize("convex", [True, False])
@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_to_rounding(seed, C, convex):
    matrix, K, signs, lower, upper = problem(seed=seed, C=C)
    for how in (solve_plain, solve_in_precision):
        (taken, ending, violation, bias), beta, gradient = solved(how, matrix, signs, lower, upper, convex)
        assert ending == OPTIMAL
        assert 0 < taken <= 20 * len(signs)
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
        assert ((lower <= beta) & (beta <= upper)).all()
        np.testing.assert_allclose(gradient, signs - K @ beta, atol=1e-9)
        assert violation == pytest.approx(max(0.0, violation_of(beta, gradient, lower, upper)), abs=1e-9)
        assert violation <= 1e-8
        free = (beta > lower) & (beta < upper)
        assert bias == pytest.approx(gradient[free].mean(), abs=1e-6)


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_of_rounded_entries_to_the_tolerance(seed, C):
    matrix, K, signs, lower, upper = problem(seed=seed, C=C, dtype=np.float32)
    for how in (step_plain, solve_in_precision):
        (taken, ending, violation, _), beta, gradient = solved(how, matrix, signs, lower, upper)
        assert ending == OPTIMAL
        assert taken > 0
        assert violation <= 1e-3
        assert violation == pytest.approx(max(0.0, violation_of(beta, gradient, lower, upper)), abs=1e-6)
        np.testing.assert_allclose(gradient, signs - K @ beta, atol=1e-6 * max(1.0, C))
        assert abs(beta.sum()) <= 1e-9 * max(1.0, C)
        assert ((lower <= beta) & (beta <= upper)).all()


def test_rounded_entries_that_may_be_indefinite_are_left_to_the_caller():
    matrix, _, signs, lower, upper = problem(dtype=np.float32)
    (taken, ending, _, _), _, _ = solved(step_plain, matrix, signs, lower, upper, convex=False)
    assert (taken, ending) == (0, LEFT)


@pytest.mark.parametrize(("how", "dtype"), [(solve_plain, np.float64), (step_plain, np.float32)])
def test_steps_are_counted_and_limited(how, dtype):
    matrix, _, signs, lower, upper = problem(dtype=dtype, C=100.0)
    for most in (0, 1, 5):
        (taken, ending, violation, _), beta, gradient = solved(how, matrix, signs, lower, upper, max_iter=most)
        assert (taken, ending) == (most, ITERATION_LIMIT)
        assert np.count_nonzero(beta) <= 2 * most
        assert violation == pytest.approx(violation_of(beta, gradient, lower, upper), abs=1e-5)


def test_an_indefinite_matrix_is_noticed():
    signs = np.array([1.0, -1.0])
    matrix = padded_square(2, np.float64)
    matrix[:, :2] = [[1.0, 2.0], [2.0, 1.0]]
    ends = np.minimum(signs, 0.0), np.maximum(signs, 0.0)
    assert solved(solve_plain, matrix, signs, *ends, convex=False)[0][1] == NOT_CONVEX
    # The same without the negative direction is none.
    matrix[:, :2] = [[2.0, 1.0], [1.0, 2.0]]
    assert solved(solve_plain, matrix, signs, *ends, convex=False)[0][1] == OPTIMAL


def test_a_gradient_computed_afresh():
    matrix, K, signs, _, _ = problem()
    beta, gradient = np.linspace(-3.0, 2.0, 24), np.empty(matrix.shape[1])
    beta[4] = 0.0
    assert gradient_afresh(matrix, signs, beta, gradient) == 3.0
    np.testing.assert_allclose(gradient[:24], signs - K @ beta)
    assert gradient_afresh(matrix, signs, np.zeros(24), gradient) == 0.0


def test_the_margin_of_a_point():
    lower, upper = np.zeros(4), np.ones(4)
    # One at each bound and two between: the largest that may rise is 0.8, the smallest that may fall -0.5.
    beta, gradient = np.array([0.0, 1.0, 0.5, 0.3]), np.array([0.8, 0.1, -0.5, 0.3])
    violation, bias = margin(beta, gradient, lower, upper)
    assert violation == pytest.approx(1.3)
    assert bias == pytest.approx(-0.1)
    # Nothing is violated if those that may only fall are above those that may only rise.
    violation, bias = margin(np.array([0.0, 1.0]), np.array([-1.0, 2.0]), lower[:2], upper[:2])
    assert violation == 0.0
    assert bias == pytest.approx(0.5)
    # A bias that is the residue of an underflow is none.
    tiny = np.full(1, 0.1 * UNDERFLOW)
    assert margin(np.full(1, 0.5), tiny, lower[:1], upper[:1]) == (0.0, 0.0)
    assert margin(np.full(1, 0.5), -1e3 * tiny, lower[:1], upper[:1])[1] < 0.0
