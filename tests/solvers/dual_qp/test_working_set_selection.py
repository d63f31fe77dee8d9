import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.working_set_selection import Violations


def state(n, seed):
    """A random point of a box, some coordinates at its ends, with a random gradient."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = DualProblem(signs, np.minimum(signs, 0.0), np.maximum(signs, 0.0))
    beta = signs * rng.choice([0.0, 0.4, 1.0], size=n, p=[0.5, 0.1, 0.4])
    return problem, beta, rng.normal(size=n), rng


def test_distances_from_the_bias():
    problem = DualProblem(np.ones(3), np.zeros(3), np.ones(3))
    violations = Violations(problem, np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.2, 0.6]), 0.25)
    np.testing.assert_allclose(violations.upward, [0.05, -0.05, -np.inf])
    np.testing.assert_allclose(violations.downward, [-np.inf, 0.05, -0.35])
    np.testing.assert_array_equal(violations.free, [False, True, False])


def test_settled_points_are_bounded_and_far_from_violating():
    problem = DualProblem(np.ones(3), np.zeros(3), np.ones(3))
    violations = Violations(problem, np.array([0.0, 0.5, 1.0]), np.array([-9.0, -9.0, 9.0]), 0.0)
    np.testing.assert_array_equal(violations.settled(1.0), [True, False, True])
    np.testing.assert_array_equal(violations.settled(10.0), [False, False, False])


@given(st.integers(3, 300), st.integers(0, 10**6), st.integers(2, 120))
def test_a_working_set_holds_the_maximal_violating_pair_and_is_not_too_large(n, seed, size):
    problem, beta, gradient, rng = state(n, seed)
    highest, lowest = problem.extremes(beta, gradient)
    if not highest > lowest:
        return
    violations = Violations(problem, beta, gradient, 0.5 * (highest + lowest))
    largest = 60
    chosen = violations.choose(size, near=0.1, largest=largest, rng=rng)
    assert len(set(chosen.tolist())) == len(chosen) <= largest + 2
    assert (np.diff(chosen) > 0).all()
    can_rise, can_fall = problem.can_rise(beta)[chosen], problem.can_fall(beta)[chosen]
    assert gradient[chosen][can_rise].max() == highest
    assert gradient[chosen][can_fall].min() == lowest


def test_free_coordinates_are_all_there_while_they_fit():
    problem, beta, gradient, rng = state(200, 1)
    violations = Violations(problem, beta, gradient, 0.0)
    chosen = violations.choose(40, near=0.1, largest=200, rng=rng)
    assert set(np.flatnonzero(violations.free)) <= set(chosen)


def test_where_all_fit_all_violators_are_taken():
    problem, beta, gradient, rng = state(200, 2)
    violations = Violations(problem, beta, gradient, 0.0)
    violating = np.flatnonzero((violations.upward > 0) | (violations.downward > 0))
    chosen = violations.choose(400, near=0.0, largest=1000, rng=rng)
    assert set(violating) <= set(chosen)


def test_the_choice_is_the_same_for_the_same_state():
    for seed in range(5):
        chosen = []
        for _ in range(2):
            problem, beta, gradient, _ = state(300, seed)
            violations = Violations(problem, beta, gradient, 0.0)
            chosen.append(violations.choose(30, 0.1, 100, np.random.default_rng(0)))
        np.testing.assert_array_equal(*chosen)


def risers(gradient, size, near=0.1, largest=10_000, bias=0.0):
    """What is chosen where every point is at its lower bound, so that it may only rise."""
    n = len(gradient)
    problem = DualProblem(np.ones(n), np.zeros(n), np.ones(n))
    violations = Violations(problem, np.zeros(n), gradient, bias)
    return violations.choose(size, near, largest, np.random.default_rng(0))


def test_bounded_points_close_to_violating_come_along_and_others_do_not():
    chosen = risers(np.array([0.3, -0.05, -0.2, 0.1, -0.09, -0.11]), size=10)
    np.testing.assert_array_equal(chosen, [0, 1, 3, 4])


def test_where_not_all_fit_those_that_violate_most_are_taken():
    gradient = np.linspace(0.02, -0.09, 100)
    np.testing.assert_array_equal(risers(gradient, size=40), np.arange(40))


def test_where_more_violate_than_fit_the_worst_are_among_them_and_the_rest_is_a_sample():
    gradient = np.linspace(1.0, 0.01, 1000)
    chosen = risers(gradient, size=160)
    assert len(chosen) == 160
    assert set(range(10)) <= set(chosen)
    assert chosen.mean() == pytest.approx(500, abs=80)


def test_each_side_has_its_half_and_what_the_other_does_not_need():
    n = 400
    problem = DualProblem(np.ones(n), np.zeros(n), np.ones(n))
    rng = np.random.default_rng(0)
    for rising in (200, 10):
        beta = np.where(np.arange(n) < rising, 0.0, 1.0)
        gradient = np.where(np.arange(n) < rising, 1.0, -1.0) * rng.uniform(0.5, 1.0, n)
        chosen = Violations(problem, beta, gradient, 0.0).choose(100, 0.1, 1000, rng)
        share = np.count_nonzero(chosen < rising)
        assert abs(share - (50 if rising == 200 else 10)) <= 1
        assert abs(len(chosen) - 100) <= 2


def test_free_points_take_at_most_half_of_a_small_working_set():
    n = 100
    problem = DualProblem(np.ones(n), np.zeros(n), np.ones(n))
    beta = np.where(np.arange(n) < 90, 0.5, 0.0)
    violations = Violations(problem, beta, np.linspace(0.5, 1.0, n), 0.0)
    chosen = violations.choose(50, 0.1, 40, np.random.default_rng(0))
    assert 20 <= np.count_nonzero(chosen < 90) <= 22
    assert set(range(90, 100)) <= set(chosen)
