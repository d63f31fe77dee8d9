"""Steps of one row of Crammer and Singer's machine, against a general solver of the same small program."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer._jit.row_views import view_rows
from mercer.solvers.crammer_singer.linear import crammer_singer_pass, project, settle
from mercer.solvers.crammer_singer.row_steps import newton_on_rows, row_steps


def bounds(codes, C, K):
    upper = np.zeros((len(codes), K))
    upper[np.arange(len(codes)), codes] = C
    return upper


def best_of_row(B, code, C, A):
    upper = bounds([code], C, len(B))[0]
    found = minimize(
        lambda a: 0.5 * A * a @ a + B @ a,
        np.zeros(len(B)),
        jac=lambda a: A * a + B,
        bounds=[(None, u) for u in upper],
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 300},
    )
    return found.x


@pytest.mark.parametrize("seed", range(12))
def test_a_projection_is_the_best_row(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    B, code, C, A = 2.0 * rng.normal(size=K), int(rng.integers(K)), rng.uniform(0.2, 3.0), rng.uniform(0.3, 2.0)
    alpha = np.empty(K)
    project(B, code, C, A, alpha)
    expected = best_of_row(B, code, C, A)
    np.testing.assert_allclose(alpha, expected, atol=1e-5)
    assert abs(alpha.sum()) <= 1e-12
    assert (alpha <= bounds([code], C, K)[0]).all()


def test_a_row_is_settled_by_its_own_entry_or_by_the_others():
    alpha = np.array([-0.25, 0.4999, -0.25])
    settle(alpha, 1, 1.0)
    assert alpha.tolist() == [-0.25, 0.5, -0.25]
    # Its own entry is at the bound: the others share what is lacking in proportion.
    for own in (1.0, 0.9):
        alpha = np.array([-0.9, own, -0.3])
        settle(alpha, 1, 1.0)
        np.testing.assert_allclose(alpha, [-0.75, 1.0, -0.25])
    alpha = np.array([-0.3, 1.0, -0.1])
    settle(alpha, 1, 1.0)
    np.testing.assert_allclose(alpha, [-0.75, 1.0, -0.25])


def machine(n=9, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 4)), rng.integers(K, size=n)
    return X, codes, rng.uniform(0.3, 1.5, n)


def dual(alpha, gram, codes):
    return -0.5 * np.sum(alpha * (gram @ alpha)) - np.sum(alpha * (codes[:, None] != np.arange(alpha.shape[1])))


@pytest.mark.parametrize("scale", [0.0, 0.7])
def test_a_pass_takes_each_row_to_its_best(scale):
    X, codes, C = machine()
    C[4] = 0.0
    gram = X @ X.T + scale**2
    W, alpha, active = np.zeros((5, 3)), np.zeros((9, 3)), np.arange(9)
    before = 0.0
    for _ in range(60):
        kept = alpha.copy()
        count, largest = crammer_singer_pass(view_rows(X), codes, C, (X**2).sum(axis=1), scale, W, alpha, active, 0, 9)
        moved = np.flatnonzero((alpha != kept).any(axis=1))
        assert sorted(active[:count]) == moved.tolist()
        assert sorted(active) == list(range(9))
        moves = np.abs(alpha - kept).max(axis=1)[moved] / C[moved]
        assert largest == pytest.approx(moves.max(initial=0.0), abs=1e-12)
        np.testing.assert_allclose(W[:4], X.T @ alpha, atol=1e-12)
        np.testing.assert_allclose(W[4], scale * alpha.sum(axis=0), atol=1e-12)
        assert dual(alpha, gram, codes) >= before - 1e-12
        before = dual(alpha, gram, codes)
    assert not alpha[4].any()
    # At the end no row would be another, given the rest.
    for i in np.flatnonzero(C > 0):
        B = (codes[i] != np.arange(3)) + (gram @ alpha)[i] - gram[i, i] * alpha[i]
        np.testing.assert_allclose(alpha[i], best_of_row(B, codes[i], C[i], gram[i, i]), atol=1e-4)


def test_a_pass_visits_the_rows_it_is_given_and_passes_over_rows_of_zeros():
    X, codes, C = machine()
    X[5] = 0.0
    W, alpha, active = np.zeros((5, 3)), np.zeros((9, 3)), np.array([0, 5, 2, 7, 1, 3, 4, 6, 8])
    count, _ = crammer_singer_pass(view_rows(X), codes, C, (X**2).sum(axis=1), 0.0, W, alpha, active, 1, 4)
    assert count == 2
    assert np.flatnonzero(alpha.any(axis=1)).tolist() == [2, 7]
    assert active[1:3].tolist() == [2, 7]


def violation(scores, alpha, codes, C):
    value = scores + (codes[:, None] != np.arange(scores.shape[1]))
    free = alpha < bounds(codes, C, scores.shape[1]) - 1e-12
    return value.max(axis=1) - np.where(free, value, np.inf).min(axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_steps_take_the_row_that_violates_most_and_end_at_the_solution(seed):
    X, codes, C = machine(seed=seed)
    gram = X @ X.T + 0.1 * np.eye(9)
    alpha, scores, room = np.zeros((9, 3)), np.zeros((9, 3)), np.zeros(9)
    worst = violation(scores, alpha, codes, C)
    steps, left = row_steps(gram, codes, C, alpha, scores, room, 1e-9, 1)
    assert steps == 1
    assert np.flatnonzero(alpha.any(axis=1)).tolist() == [int(worst.argmax())]
    np.testing.assert_allclose(scores, gram @ alpha, atol=1e-12)
    assert left == pytest.approx(violation(scores, alpha, codes, C).max())
    steps, left = row_steps(gram, codes, C, alpha, scores, room, 1e-9, 5000)
    assert 0 < steps < 5000
    assert left <= 1e-9
    np.testing.assert_allclose(scores, gram @ alpha, atol=1e-9)
    assert violation(scores, alpha, codes, C).max() <= 1e-8
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-12)
    assert row_steps(gram, codes, C, alpha, scores, room, 1e-6, 5000)[0] == 0


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_newton_steps_end_where_the_free_coefficients_are_best(size):
    X, codes, C = machine(seed=2)
    C *= size
    gram = (X @ X.T + 0.1 * np.eye(9)) / size
    alpha, scores, room = np.zeros((9, 3)), np.zeros((9, 3)), np.zeros(9)
    row_steps(gram, codes, C, alpha, scores, room, 1e-3, 5000)
    rough = violation(scores, alpha, codes, C).max()
    newton_on_rows(gram, codes, C, alpha, scores, lambda: False)
    np.testing.assert_allclose(scores, gram @ alpha, atol=1e-9)
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9 * size)
    assert (alpha <= bounds(codes, C, 3) + 1e-12 * size).all()
    value = scores + (codes[:, None] != np.arange(3))
    free = alpha < bounds(codes, C, 3) - 1e-9 * size
    for row in np.flatnonzero(free.sum(axis=1) > 1):
        assert np.ptp(value[row, free[row]]) <= 1e-6 < rough
