import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.problems.dual import DualProblem
from mercer.solvers.selection import Violations


def state(n, seed):
    """A random point of a box, some coordinates at its ends, with a random gradient."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = DualProblem(signs, np.minimum(signs, 0.0), np.maximum(signs, 0.0))
    beta = signs * rng.choice([0.0, 0.4, 1.0], size=n, p=[0.5, 0.1, 0.4])
    return problem, beta, rng.normal(size=n), rng


def test_distances_from_the_bias():
    problem = DualProblem(np.ones(3), np.zeros(3), np.ones(3))
    violations = Violations(problem, np.arange(3), np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.2, 0.6]), 0.25)
    np.testing.assert_allclose(violations.upward, [0.05, -0.05, -np.inf])
    np.testing.assert_allclose(violations.downward, [-np.inf, 0.05, -0.35])
    np.testing.assert_array_equal(violations.free, [False, True, False])
    assert violations.worst == pytest.approx(0.05)


def test_settled_points_are_bounded_and_far_from_violating():
    problem = DualProblem(np.ones(3), np.zeros(3), np.ones(3))
    violations = Violations(problem, np.arange(3), np.array([0.0, 0.5, 1.0]), np.array([-9.0, -9.0, 9.0]), 0.0)
    np.testing.assert_array_equal(violations.settled(1.0), [True, False, True])
    np.testing.assert_array_equal(violations.settled(10.0), [False, False, False])


def test_only_active_coordinates_are_looked_at():
    problem, beta, gradient, _ = state(20, 0)
    active = np.array([3, 4, 19])
    violations = Violations(problem, active, beta, gradient, 0.0)
    np.testing.assert_array_equal(violations.upward + violations.downward != 0, [True] * 3)
    assert len(violations.free) == 3


@given(st.integers(3, 300), st.integers(0, 10**6), st.integers(2, 120))
def test_a_working_set_holds_the_maximal_violating_pair_and_is_not_too_large(n, seed, size):
    problem, beta, gradient, rng = state(n, seed)
    highest, lowest = problem.extremes(beta, gradient)
    if not highest > lowest:
        return
    violations = Violations(problem, np.arange(n), beta, gradient, 0.5 * (highest + lowest))
    largest = 60
    chosen = violations.choose(size, near=0.1, largest=largest, rng=rng)
    assert len(set(chosen.tolist())) == len(chosen) <= largest + 2
    assert (np.diff(chosen) > 0).all()
    can_rise, can_fall = problem.can_rise(beta)[chosen], problem.can_fall(beta)[chosen]
    assert gradient[chosen][can_rise].max() == highest
    assert gradient[chosen][can_fall].min() == lowest


def test_free_coordinates_are_all_there_while_they_fit():
    problem, beta, gradient, rng = state(200, 1)
    violations = Violations(problem, np.arange(200), beta, gradient, 0.0)
    chosen = violations.choose(40, near=0.1, largest=200, rng=rng)
    assert set(np.flatnonzero(violations.free)) <= set(chosen)


def test_where_all_fit_all_violators_are_taken():
    problem, beta, gradient, rng = state(200, 2)
    violations = Violations(problem, np.arange(200), beta, gradient, 0.0)
    violating = np.flatnonzero((violations.upward > 0) | (violations.downward > 0))
    chosen = violations.choose(400, near=0.0, largest=1000, rng=rng)
    assert set(violating) <= set(chosen)


def test_the_choice_is_the_same_for_the_same_state():
    for seed in range(5):
        chosen = []
        for _ in range(2):
            problem, beta, gradient, _ = state(300, seed)
            violations = Violations(problem, np.arange(300), beta, gradient, 0.0)
            chosen.append(violations.choose(30, 0.1, 100, np.random.default_rng(0)))
        np.testing.assert_array_equal(*chosen)
