"""The kink and the two groups of the dual, in NumPy alone."""

import numpy as np
import pytest

from mercer import ParameterError
from mercer.problems.svm.epsilon_regression import EpsilonRegression, NuRegression
from mercer.problems.svm.nu import NuMargin
from mercer.problems.svm.one_class import OneClass, SoftBall
from mercer.problems.svm.part_of_dual import narrowed, widened
from mercer.problems.svm.signed_dual import DualProblem

TUBE = DualProblem(np.array([1.0, -2.0, 0.5, 3.0]), -np.full(4, 2.0), np.full(4, 2.0), kink=0.25)
GROUPS = DualProblem(np.zeros(5), np.zeros(5), np.ones(5), total=np.array([1.5, 0.5]), groups=np.array([0, 1, 0, 1, 0]))


def test_a_kink_is_felt_from_both_sides():
    beta, gradient = np.array([0.0, -1.0, 1.0, 2.0]), np.zeros(4)
    np.testing.assert_array_equal(TUBE.upward(beta, gradient), [-0.25, 0.25, -0.25, -np.inf])
    np.testing.assert_array_equal(TUBE.downward(beta, gradient), [0.25, 0.25, -0.25, -0.25])
    np.testing.assert_array_equal(TUBE.is_free(beta), [False, True, True, False])
    assert TUBE.objective(beta, gradient) == pytest.approx(0.5 * beta @ TUBE.linear - 0.25 * 4.0)


def test_a_point_inside_the_tube_violates_nothing():
    assert TUBE.violation(np.zeros(4), np.array([0.2, -0.2, 0.0, 0.25])) == 0.0
    assert TUBE.violation(np.zeros(4), np.array([0.3, -0.3, 0.0, 0.0])) == pytest.approx(0.1)


def test_groups_have_a_pair_and_a_bias_each():
    beta = np.array([1.0, 0.5, 0.5, 0.0, 0.0])
    gradient = np.array([3.0, 7.0, 2.0, 6.0, 1.0])
    highest, lowest = GROUPS.extremes(beta, gradient)
    np.testing.assert_array_equal(highest, [2.0, 7.0])
    np.testing.assert_array_equal(lowest, [2.0, 7.0])
    assert GROUPS.violation(beta, gradient) == 0.0
    np.testing.assert_array_equal(GROUPS.bias(beta, gradient), [2.0, 7.0])
    np.testing.assert_array_equal(GROUPS.thresholds(np.array([2.0, 7.0]), np.array([1, 2])), [7.0, 2.0])


def test_a_beginning_fills_what_is_preferred():
    beta = GROUPS.filled(np.array([0.0, 1.0, 5.0, 2.0, 3.0]))
    np.testing.assert_array_equal(beta, [0.0, 0.0, 1.0, 0.5, 0.5])
    np.testing.assert_array_equal(GROUPS.excess(beta), [0.0, 0.0])
    negative = DualProblem(np.zeros(3), -np.ones(3), np.zeros(3), total=-1.5)
    np.testing.assert_array_equal(negative.filled(np.array([1.0, 3.0, 2.0])), [-1.0, 0.0, -0.5])


def test_one_coordinate_without_a_bound_takes_the_whole_sum():
    problem = DualProblem(np.zeros(4), np.zeros(4), np.array([1.0, np.inf, np.inf, np.inf]), total=2.5)
    np.testing.assert_array_equal(problem.filled(np.array([4.0, 3.0, 2.0, 1.0])), [1.0, 1.5, 0.0, 0.0])
    np.testing.assert_array_equal(problem.filled(np.array([0.0, 1.0, 3.0, 2.0])), [0.0, 0.0, 2.5, 0.0])
    negative = DualProblem(np.zeros(3), np.full(3, -np.inf), np.zeros(3), total=-1.5)
    np.testing.assert_array_equal(negative.filled(np.array([2.0, 1.0, 3.0])), [0.0, -1.5, 0.0])


def test_one_coordinate_without_a_bound_takes_all_that_a_sum_lacks():
    problem = DualProblem(np.zeros(3), np.zeros(3), np.full(3, np.inf), total=2.5)
    np.testing.assert_array_equal(
        problem.topped_up(np.array([0.5, 0.0, 0.0]), np.array([1.0, 3.0, 2.0])), [0.5, 2.0, 0.0]
    )


def test_a_feasible_point_stays_as_it_is():
    beta = np.array([1.0, 0.5, 0.5, 0.0, 0.0])
    off = beta + np.array([0.0, 0.0, 1e-15, 0.0, 0.0])
    np.testing.assert_array_equal(GROUPS.feasible(off) == 0.0, beta == 0.0)
    moved = GROUPS.feasible(np.full(5, 0.9))
    np.testing.assert_allclose(GROUPS.excess(moved), 0.0, atol=1e-12)
    with pytest.raises(ParameterError, match="no point of the box"):
        DualProblem(np.zeros(2), np.zeros(2), np.ones(2), total=3.0).feasible(np.zeros(2))


@pytest.mark.parametrize("seed", range(20))
def test_weak_duality(seed):
    """No feasible point has a dual value above any primal value."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, 4))
    K, y, weights = A @ A.T, rng.normal(size=12), rng.uniform(0.5, 2.0, size=12)
    signs = np.where(np.arange(12) % 2, 1.0, -1.0)
    for problem in (
        EpsilonRegression(y, weights, 0.3),
        EpsilonRegression(y, weights, 0.3, "penalized"),
        NuMargin(signs, weights, 0.3, np.ones(12)),
        OneClass(weights, 0.4),
        SoftBall.with_share(K.diagonal(), weights, 0.4),
    ):
        beta = problem.dual().feasible(rng.uniform(-1.0, 1.0, size=12))
        certificate = problem.certificate(beta, K @ beta, rng.normal())
        assert certificate.gap >= -1e-9
        assert certificate.equality_residual < 1e-9
        assert certificate.box_violation == 0.0
    problem = NuRegression(y, weights, 0.5)
    beta = problem.folded(problem.dual().feasible(problem.copies(rng.uniform(-1.0, 1.0, size=12))))
    assert problem.certificate(beta, K @ beta, rng.normal()).gap >= -1e-9


def test_largest_nu():
    signs = np.array([1.0, 1.0, 1.0, -1.0])
    assert NuMargin(signs, np.ones(4), 0.1, np.ones(4)).largest_nu == pytest.approx(0.5)
    assert NuMargin(signs, np.array([1.0, 1.0, 1.0, 3.0]), 0.1, np.ones(4)).largest_nu == pytest.approx(1.0)


def test_the_found_tube_is_the_best_for_its_function():
    problem = NuRegression(np.arange(10.0), np.ones(10), 0.35)
    projections = np.zeros(10)

    def primal(epsilon):
        return problem._values(np.zeros(10), projections, 4.0, epsilon)[0]

    best = problem.epsilon(projections, 4.0)
    assert all(primal(best) <= primal(other) + 1e-12 for other in np.linspace(0.0, 6.0, 121))


def test_what_a_sum_lacks_is_added_where_it_gains_most():
    problem = DualProblem(
        np.zeros(6),
        np.array([0.0, 0.0, 0.0, -1.0, -1.0, -1.0]),
        np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        total=np.array([1.5, -1.0]),
        groups=np.array([0, 0, 0, 1, 1, 1]),
    )
    beta = np.array([0.2, 0.0, 0.0, -1.0, -0.5, 0.0])
    gradient = np.array([3.0, 1.0, 2.0, -1.0, 4.0, 2.0])
    # The first sum lacks 1.3: the first coordinate is filled, then the third. The second one has 0.5 too much, and
    # the coordinate that gains most by rising gives it.
    np.testing.assert_allclose(problem.topped_up(beta, gradient), [1.0, 0.0, 0.5, -1.0, 0.0, 0.0])
    np.testing.assert_allclose(problem.topped_up(10.0 * beta, gradient), [1.0, 0.0, 0.5, -1.0, 0.0, 0.0])


def test_what_a_sum_has_too_much_is_taken_where_it_gains_least():
    problem = DualProblem(np.zeros(4), np.zeros(4), np.ones(4), total=1.25)
    found = problem.topped_up(np.array([1.0, 0.5, 1.0, 0.0]), np.array([1.0, 4.0, 2.0, 0.0]))
    np.testing.assert_allclose(found, [0.0, 0.5, 0.75, 0.0])


def test_the_violation_of_groups_is_that_of_the_worst():
    """In the first nothing can be gained, in the second 3: from the point that may fall to the one that may rise."""
    beta, gradient = np.array([1.0, 0.0, 0.5, 0.5, 0.0]), np.array([2.0, 4.0, 2.0, 1.0, 2.0])
    assert GROUPS.violation(beta, gradient) == 3.0


def test_points_that_are_one_row_become_one_coordinate():
    """Two halves of r (b/2)^2 are one half of (r/2) b^2."""
    problem = DualProblem(
        linear=np.array([1.0, 1.0, -2.0]),
        lower=np.array([-1.0, -1.0, -3.0]),
        upper=np.array([2.0, 2.0, 4.0]),
        ridge=np.array([0.5, 0.5, 0.25]),
    )
    wide = widened(problem, np.array([3, 3, 1]), 5)
    np.testing.assert_array_equal(wide.linear, [0.0, -2.0, 0.0, 1.0, 0.0])
    np.testing.assert_array_equal(wide.lower, [0.0, -3.0, 0.0, -2.0, 0.0])
    np.testing.assert_array_equal(wide.upper, [0.0, 4.0, 0.0, 4.0, 0.0])
    np.testing.assert_array_equal(wide.ridge, [0.0, 0.25, 0.0, 0.25, 0.0])


def test_some_coordinates_keep_what_is_theirs():
    problem = DualProblem(np.arange(4.0), -np.arange(4.0), 2.0 * np.arange(4.0), ridge=3.0 * np.arange(4.0))
    part = narrowed(problem, np.array([3, 1]))
    np.testing.assert_array_equal(part.linear, [3.0, 1.0])
    np.testing.assert_array_equal(part.lower, [-3.0, -1.0])
    np.testing.assert_array_equal(part.upper, [6.0, 2.0])
    np.testing.assert_array_equal(part.ridge, [9.0, 3.0])


def test_rounding_errors_of_a_sum_go_where_there_is_room_for_them():
    problem = DualProblem(np.zeros(2), -np.ones(2), np.ones(2))
    np.testing.assert_allclose(problem.balanced(np.array([0.5, -0.4])), [0.5, -0.5])
    # Nowhere is there twice as much room as is to be moved.
    np.testing.assert_array_equal(problem.balanced(np.array([1.0, -0.9])), [1.0, -0.9])
