"""The parts of a Newton step on few features, against derivatives of the objective and against a linear system."""

import numpy as np
import pytest

from mercer._jit.row_views import view_rows
from mercer.problems.linear.dual import LinearDual
from mercer.solvers.linear.loss_loops import RoundedLosses
from mercer.solvers.linear.small_newton import (
    SMALLEST,
    Best,
    Constant,
    Point,
    Room,
    fused_response,
    fused_run,
    fused_step,
    narrow,
    weights_of_rounding,
)

N, D = 15, 3


def rows(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, D)), rng.normal(size=N)


def squared(y, width=1e6, ridge=0.5):
    """Squared deviations, in a box so wide that it never binds."""
    return RoundedLosses(y, np.full(N, -width), np.full(N, width), np.full(N, ridge), 0.0, np.zeros(N), np.zeros(N))


def at_zero():
    return Point(np.zeros(D + 1), np.zeros(N), np.zeros(N), np.zeros(D), np.empty(N), np.empty(N))


def room():
    return Room(np.empty((D + 2, D + 1)), np.empty(N))


def solution(X, y, scale, weight, ridge=0.5):
    """Of |w|^2/2 + weight v^2/2 + |y - Xw - scale v|^2 / (2 ridge), by a linear system."""
    Z = np.column_stack([X, np.full(N, scale)])
    penalty = np.diag([*np.ones(D), weight if scale else 1.0])
    return np.linalg.solve(penalty + Z.T @ Z / ridge, Z.T @ y / ridge)


@pytest.mark.parametrize(("scale", "weight"), [(0.0, 1.0), (1.0, 0.0), (0.6, 1.0)])
def test_one_step_solves_a_quadratic_problem(scale, weight):
    X, y = rows()
    losses, point, space = squared(y), at_zero(), room()
    loss, distance, balance = fused_response(view_rows(X), losses, point)
    assert loss == pytest.approx(y @ y / (2 * 0.5))
    assert distance == 0.0
    assert balance == pytest.approx(y.sum() / 0.5)
    np.testing.assert_allclose(point.total, X.T @ point.beta)
    residual = np.append(point.total, scale * balance)
    assert fused_step(view_rows(X), losses, point, residual, Constant(scale, weight), space)
    expected = solution(X, y, scale, weight)
    # The search along the step ends when the slope has fallen to a tenth; for a quadratic its first guess is exact.
    np.testing.assert_allclose(point.w, expected, atol=1e-9)
    np.testing.assert_allclose(point.values, X @ expected[:D] + scale * expected[D], atol=1e-9)
    # Responses add to the sum what has changed.
    fused_response(view_rows(X), losses, point)
    np.testing.assert_allclose(point.beta, (y - point.values) / 0.5)
    np.testing.assert_allclose(point.total, X.T @ point.beta)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("scale", "weight"), [(0.0, 1.0), (1.0, 0.0), (0.6, 1.0)])
@pytest.mark.parametrize("kind", ["squared hinge", "hinge", "epsilon"])
def test_a_run_ends_with_a_small_gap_after_few_steps(kind, scale, weight, seed):
    X, y = rows(seed)
    signs = np.where(y > 0, 1.0, -1.0)
    ends = {"squared hinge": 50.0, "hinge": 0.5}.get(kind)
    lower, upper = (-0.5, 0.5) if ends is None else (np.minimum(ends * signs, 0.0), np.maximum(ends * signs, 0.0))
    ridge, linear = np.full(N, 0.4 if kind == "squared hinge" else 0.0), y if ends is None else signs
    epsilon = 0.1 if ends is None else 0.0
    dual = LinearDual(linear, np.full(N, lower), np.full(N, upper), ridge, epsilon, scale, weight == 0.0)
    losses = RoundedLosses(linear, dual.lower, dual.upper, ridge, epsilon, weights_of_rounding(dual, 0.5), np.zeros(N))
    point = at_zero()
    best = Best(np.zeros(D + 1), np.zeros(N), np.zeros(D), np.array([1e300, 0.0]))
    done, distance, balance = fused_run(
        view_rows(X), losses, point, best, Constant(scale, weight), room(), kind != "squared hinge", 1e-6, 60
    )
    assert done < 60
    assert distance >= 0.0
    assert balance == pytest.approx(point.beta.sum())
    values = X @ best.w[:D] + scale * best.w[D]
    excess = np.sign(linear - values) * np.maximum(0.0, np.abs(linear - values) - epsilon)
    beta = np.where(excess > 0, dual.upper, dual.lower) * (excess != 0)
    if ridge.any():
        beta = np.clip(excess / 0.4, dual.lower, dual.upper)
    primal = 0.5 * best.w[:D] @ best.w[:D] + 0.5 * weight * best.w[D] ** 2
    primal += (excess * beta - 0.5 * ridge * beta**2).sum()
    assert best.values[0] == pytest.approx(primal)
    np.testing.assert_allclose(best.total, X.T @ best.beta, atol=1e-9)
    assert best.values[1] == pytest.approx(dual.value(best.beta, best.total))
    assert best.values[0] - best.values[1] <= 1e-6 * primal
    if weight == 0.0:
        assert abs(best.beta.sum()) <= 1e-3


def test_steps_of_a_run_are_limited_and_counted():
    X, y = rows()
    losses, best = squared(y), Best(np.zeros(D + 1), np.zeros(N), np.zeros(D), np.array([1e300, 0.0]))
    done, distance, _ = fused_run(view_rows(X), losses, at_zero(), best, Constant(0.0, 1.0), room(), False, 1e-9, 1)
    assert (done, distance) == (1, -1.0)
    # What a run has found is what it would have found in one go: a quadratic problem takes one step.
    best = Best(np.zeros(D + 1), np.zeros(N), np.zeros(D), np.array([1e300, 0.0]))
    assert fused_run(view_rows(X), losses, at_zero(), best, Constant(0.0, 1.0), room(), False, 1e-9, 9)[0] == 1


def test_a_system_that_is_no_number_leaves_everything_as_it_was():
    X, y = rows()
    X[0, 0] = np.nan
    point = at_zero()
    point.slope[:] = 1.0
    assert not fused_step(view_rows(X), squared(y), point, np.ones(D + 1), Constant(0.0, 1.0), room())
    assert not point.w.any()
    assert not point.values.any()


def test_rounding_is_narrowed_where_there_is_any():
    inverse = np.array([0.0, 4.0, 2.0 * SMALLEST])
    narrow(inverse, 4.0)
    assert inverse.tolist() == [0.0, 1.0, SMALLEST]


def test_weights_of_rounding_are_the_width_over_the_box():
    ridge, upper = np.array([0.0, 0.0, 0.3, 0.0]), np.array([2.0, 0.0, 2.0, 1e300])
    dual = LinearDual(np.ones(4), np.array([-4.0, 0.0, 0.0, 0.0]), upper, ridge)
    assert weights_of_rounding(dual, 0.5).tolist() == [0.125, 0.5, 0.0, SMALLEST]
