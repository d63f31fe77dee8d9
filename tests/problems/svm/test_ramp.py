import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.problems.svm.ramp import RampMargin, ramp
from mercer.problems.svm.soft_margin import SoftMargin


def problem_and_point(seed, bias="free", s=-0.3):
    """A random problem with some outliers, and a feasible β with its projections."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    X = rng.normal(size=(n, 3))
    K = X @ X.T
    signs, C = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.uniform(0.1, 3.0, n)
    problem = RampMargin(signs, C, s, bias, rng.random(n) < 0.4)
    dual = problem.dual()
    beta = dual.feasible(rng.uniform(dual.lower, dual.upper))
    return problem, K, beta, float(rng.normal())


@pytest.mark.parametrize(("s", "top"), [(0.0, 1.0), (-1.0, 2.0), (0.5, 0.5)])
def test_the_ramp_is_a_hinge_that_stops(s, top):
    margins = np.array([-50.0, s - 0.1, s, 0.9, 1.0, 7.0])
    np.testing.assert_allclose(ramp(margins, s), [top, top, top, 0.1, 0.0, 0.0], atol=1e-12)


@given(st.floats(-10, 10), st.floats(-5, 0.99))
def test_the_ramp_is_a_difference_of_hinges(margin, s):
    difference = max(0.0, 1.0 - margin) - max(0.0, s - margin)
    assert ramp(np.array([margin]), s)[0] == pytest.approx(difference, abs=1e-12)


def test_at_zero_it_is_the_ramp_of_the_book():
    margins = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(ramp(margins, 0.0), np.minimum(1.0, np.maximum(0.0, 1.0 - margins)))


def test_the_box_of_an_outlier_lies_on_the_other_side_of_zero():
    problem = RampMargin(np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 2.0, 3.0, 4.0]), 0.0, "free")
    dual = problem.linearised(np.array([False, False, True, True])).dual()
    np.testing.assert_array_equal(dual.lower, [0.0, -2.0, -3.0, 0.0])
    np.testing.assert_array_equal(dual.upper, [1.0, 0.0, 0.0, 4.0])


def test_without_outliers_it_is_the_hinge():
    problem, K, _, b = problem_and_point(1)
    plain = RampMargin(problem.signs, problem.C, problem.s, "penalized")
    hinge = SoftMargin(problem.signs, problem.C, "hinge", "penalized")
    beta = hinge.dual().upper * 0.5 + hinge.dual().lower * 0.25
    ours, theirs = plain.certificate(beta, K @ beta, b), hinge.certificate(beta, K @ beta, b)
    for name, value in theirs.as_dict().items():
        assert getattr(ours, name) == pytest.approx(value), name


@given(st.integers(0, 10**6), st.sampled_from(["free", "penalized", "none"]))
def test_the_convex_objective_lies_above_and_touches_at_its_own_tangent(seed, bias):
    problem, K, beta, b = problem_and_point(seed, bias)
    projections = K @ beta
    objective = problem.objective(beta, projections, b)
    assert problem.primal(beta, projections, b) >= objective - 1e-9
    here = problem.linearised(problem.margins(projections, b) < problem.s)
    assert here.primal(beta, projections, b) == pytest.approx(objective, rel=1e-12, abs=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(["free", "penalized", "none"]))
def test_weak_duality_holds_for_every_feasible_pair(seed, bias):
    problem, K, beta, b = problem_and_point(seed, bias)
    dual = problem.dual()
    other = dual.feasible(np.random.default_rng(seed + 1).uniform(dual.lower, dual.upper))
    gradient = problem.signs - K @ other - problem.dual().shift * other.sum()
    intercept = problem.intercept(beta, b)
    assert problem.dual_value(other, gradient) <= problem.primal(beta, K @ beta, intercept) + 1e-9


def test_the_gradient_gives_back_the_projections():
    for bias in ("free", "penalized", "none"):
        problem, K, beta, _ = problem_and_point(5, bias)
        gradient = problem.signs - K @ beta - problem.dual().shift * beta.sum()
        np.testing.assert_allclose(problem.projections(beta, gradient), K @ beta, atol=1e-12)


def test_a_tangent_taken_elsewhere_is_no_stationary_point():
    signs, C = np.array([1.0, -1.0, 1.0]), np.ones(3)
    projections, beta = np.array([2.0, -2.0, -3.0]), np.zeros(3)
    right = RampMargin(signs, C, 0.0, "none", np.array([False, False, True])).certificate(beta, projections, 0.0)
    wrong = RampMargin(signs, C, 0.0, "none", np.array([True, False, False])).certificate(beta, projections, 0.0)
    assert (right.linearization_violation, right.n_outliers) == (0.0, 1)
    assert wrong.linearization_violation == 3.0
    assert not wrong.is_stationary(1.0)
    assert "linearisation violation 3.00e+00" in str(wrong)
    assert wrong.as_dict()["ramp_objective"] == wrong.ramp_objective


def test_a_margin_at_s_stays_what_it_was():
    problem = RampMargin(np.ones(4), np.ones(4), 0.0, "none", np.array([True, False, True, False]))
    following = problem.next_outliers(np.array([1e-4, -1e-4, 0.5, -0.5]), 0.0)
    np.testing.assert_array_equal(following, [True, False, False, True])


XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
SIDES = np.array([-1.0, -1.0, 1.0, 1.0])


def at_zero(outliers, s=0.0, bias="none"):
    """The certificate of w = 0, where every margin is at the kink of s = 0, and the program."""
    problem = RampMargin(SIDES, np.full(4, 10.0), s, bias, np.array(outliers))
    beta = np.where(outliers, 0.0, SIDES * 10.0)
    projections = XOR @ (XOR.T @ beta)
    return problem, problem.certificate(beta, projections, 0.0, lambda places: XOR[places] @ XOR[places].T)


def test_a_maximum_at_the_kink_is_no_stationary_point():
    """At w = 0 all four count as outliers. Counting the third the other way pulls w towards it: a slope of C |x|."""
    problem, found = at_zero([True] * 4)
    assert (found.n_at_kink, found.n_outliers, found.ramp_objective) == (4, 4, 40.0)
    assert found.is_optimal(1e-9)
    assert not found.is_stationary(1e-3)
    # Of all fifteen ways the steepest, as a share of the largest row that may cause it: sqrt(2) of the second.
    sums = [sum(SIDES[i] * XOR[i] for i in range(4) if mask >> i & 1) for mask in range(1, 16)]
    assert found.kink_slope >= max(np.linalg.norm(each) for each in sums) / (4.0 * np.sqrt(2.0))
    assert "4 margins at the kink" in str(found)
    assert problem.certificate(np.zeros(4), np.zeros(4), 0.0).kink_slope == np.inf


def test_rows_at_the_kink_change_sides_in_every_way():
    problem, _ = at_zero([True, False, True, False])
    found = [tuple(each.current_outliers.tolist()) for each in problem.other_sides(np.array([0, 1]))]
    rest = (True, False)
    assert sorted(found) == sorted([(False, False, *rest), (True, True, *rest), (False, True, *rest)])


def test_margins_are_at_the_kink_of_their_own_s():
    problem = RampMargin(SIDES, np.ones(4), -0.5, "none")
    assert problem.at_kink(np.array([0.5, -0.5, 0.5, -0.5]), 0.0).tolist() == [0, 3]


def test_one_outlier_by_hand():
    """w^2 / 2 + 2 max(0, 1 - w) + 2 (w + 1 / 2) is w^2 / 2 + 3 up to w = 1: least at w = 0."""
    problem = RampMargin(np.ones(1), np.array([2.0]), -0.5, "none", np.ones(1, bool))
    assert problem.primal(np.zeros(1), np.zeros(1), 0.0) == 3.0
    assert problem.dual_value(np.zeros(1), np.ones(1)) == 3.0
    assert problem.gap(np.zeros(1), np.ones(1)) == 0.0
    # At w = -1 / 4, where the margin is above s: the wrong side for an outlier.
    found = problem.certificate(np.array([-0.25]), np.array([-0.25]), 0.0)
    assert found.linearization_violation == pytest.approx(0.25)
    assert problem.gap(np.array([-0.25]), np.array([1.25])) == pytest.approx((3.03125 - found.dual) / 3.03125)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_that_of_the_certificate(seed):
    problem, K, beta, _ = problem_and_point(seed)
    gradient = problem.signs - K @ beta
    b = problem.dual().bias(beta, gradient)
    assert problem.gap(beta, gradient) == pytest.approx(problem.certificate(beta, K @ beta, b).relative_gap)


def test_outliers_have_a_margin_below_their_own_s():
    problem = RampMargin(np.ones(4), np.ones(4), -0.5, "none", np.array([True, False, True, False]))
    found = problem.next_outliers(np.array([-0.5, -0.5, 0.0, -0.6]), 0.0)
    assert found.tolist() == [True, False, False, True]  # at the kink each stays as it was
