"""The nu-form against its formulas, written out point by point."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.problems.svm.nu import NO_LENGTH, RESOLVED, NuMargin, is_nothing

SIGNS = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])


def problem(nu=0.5, signs=SIGNS, weights=None, factors=None):
    weights = np.ones(len(signs)) if weights is None else np.asarray(weights, dtype=float)
    factors = np.ones(len(signs)) if factors is None else np.asarray(factors, dtype=float)
    return NuMargin(signs, weights, nu, factors)


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(6, 2))
    return X @ X.T + 0.1 * np.eye(6)


def test_the_sums_are_half_of_nu_times_the_weight():
    assert problem(nu=0.5, weights=[1, 2, 3, 4, 5, 6]).side == pytest.approx(0.25 * 21)


def test_the_largest_nu_is_twice_the_share_of_the_lighter_class():
    assert problem().largest_nu == pytest.approx(2 * 2 / 6)
    # With factors the lighter class may be the other one, and more may be feasible.
    assert problem(factors=[3, 3, 1, 1, 1, 1]).largest_nu == pytest.approx(2 * 4 / 10)
    assert problem(factors=[0.5, 0.5, 1, 1, 1, 1]).largest_nu == pytest.approx(2 * 2 / 6)


def test_factors_shape_the_box_and_leave_room_for_the_sums():
    signs, factors = np.array([1.0, 1.0, -1.0, -1.0]), [2, 2, 1, 1]
    np.testing.assert_allclose(problem(0.5, signs, factors=factors).box, [4 / 3, 4 / 3, 2 / 3, 2 / 3])
    # All of the lighter class is asked for, and its box is no smaller than that.
    np.testing.assert_allclose(problem(1.0, signs, factors=factors).box, [2.0, 2.0, 1.0, 1.0])


def test_the_dual_has_the_box_on_the_side_of_each_label_and_a_sum_for_each_class():
    dual = problem(0.5, weights=[1, 2, 1, 2, 1, 2]).dual()
    np.testing.assert_array_equal(dual.lower, [0, 0, -1, -2, -1, -2])
    np.testing.assert_array_equal(dual.upper, [1, 2, 0, 0, 0, 0])
    np.testing.assert_array_equal(dual.linear, np.zeros(6))
    np.testing.assert_array_equal(dual.total, [2.25, -2.25])
    np.testing.assert_array_equal(dual.groups, [0, 0, 1, 1, 1, 1])


def test_points_that_are_held_out_have_no_weight_and_nu_is_a_share_of_the_others():
    part, dual = problem(0.5).without(np.array([False, False, True, False, False, True]))
    np.testing.assert_array_equal(part.weights, [1, 1, 0, 1, 1, 0])
    assert part.side == pytest.approx(1.0)
    np.testing.assert_array_equal(dual.lower, [0, 0, 0, -1, -1, 0])


def test_margin_and_bias_come_from_the_biases_of_the_two_classes():
    biases = np.array([-1.5, 0.5])  # b - rho and b + rho
    assert problem(0.5).margin(biases) == 1.0
    assert problem(0.5).intercept(None, biases) == pytest.approx(-0.5)
    biases = np.array([-1.0, 3.0])
    assert problem(0.5).margin(biases) == 2.0
    assert problem(0.5).intercept(None, biases) == pytest.approx(0.5)
    np.testing.assert_allclose(problem(0.5).decision_values(np.array([4.0, -2.0]), None, biases), [2.5, -0.5])


@pytest.mark.parametrize("biases", [[1.0, 1.0], [1.0, 0.5], [1e13, 1e13 + 0.5], 0.25])
def test_where_there_is_no_margin_nothing_is_divided_by_it(biases):
    assert problem(0.5).margin(np.array(biases)) == 1.0


@pytest.mark.parametrize(("flip", "expected"), [(1.0, [-1.4, 1.0]), (-1.0, [-1.0, 1.4])])
def test_a_class_of_which_nu_asks_more_than_there_is_lies_farther_away(flip, expected):
    """Half of 0.8 of six points is 2.4, and the lighter class has two: its side is 1.2 times as far."""
    one = problem(0.8, flip * SIGNS)
    biases = np.array([-1.0, 1.0])
    assert one.margin(biases) == pytest.approx(1.2)
    assert one.intercept(None, biases) == pytest.approx(np.mean(expected) / 1.2)
    # No margin, nothing to widen.
    assert one.margin(np.array([1.0, 1.0])) == 1.0


def test_factors_that_make_the_classes_equally_heavy_widen_nothing():
    assert problem(0.8, factors=[2, 2, 1, 1, 1, 1]).margin(np.array([-1.0, 1.0])) == 1.0


def by_hand(nu, weights, gram, beta, biases):
    """(primal, dual) as the formulas have them."""
    S, (low, high) = 0.5 * nu * sum(weights), biases
    b, rho, f = 0.5 * (low + high), 0.5 * (high - low), gram @ beta
    losses = sum(u * max(0.0, rho - y * (z + b)) for u, y, z in zip(weights, SIGNS, f, strict=True))
    half = 0.5 * sum(beta[i] * beta[j] * gram[i, j] for i in range(6) for j in range(6))
    return half - 2.0 * S * rho + losses, -half


def test_both_objectives_are_those_of_the_formulas(gram):
    weights = np.array([1.0, 2.0, 1.0, 0.5, 1.5, 1.0])
    one = problem(0.5, weights=weights)
    beta = SIGNS * np.array([0.75, 1.0, 0.5, 0.25, 0.5, 0.5])
    certificate = one.certificate(beta, gram @ beta, None)
    biases = one.dual().bias(beta, -gram @ beta)
    primal, dual = by_hand(0.5, weights, gram, beta, biases)
    assert certificate.primal == pytest.approx(primal)
    assert certificate.dual == pytest.approx(dual)
    assert certificate.gap == pytest.approx(primal - dual)
    assert certificate.equality_residual == pytest.approx(0.0, abs=1e-15)
    assert (certificate.n_free, certificate.n_bounded, certificate.n_zero) == (6, 0, 0)
    assert one.gap(beta, -gram @ beta) == pytest.approx(certificate.relative_gap)


def test_two_points_are_solved_by_their_middle():
    """x = 1 and x = -1, nu = 1: all weight is asked for, w = 2, rho = 2 and the classifier is x itself."""
    one = problem(1.0, np.array([1.0, -1.0]))
    beta, gram = np.array([1.0, -1.0]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    certificate = one.certificate(beta, gram @ beta, None)
    assert certificate.gap == pytest.approx(0.0, abs=1e-12)
    assert certificate.primal == pytest.approx(-2.0)


@pytest.mark.parametrize(("rest", "is_zero"), [(1e-15, True), (1e-3, False)])
def test_rounding_is_no_margin_where_points_at_zero_take_all_coefficients(rest, is_zero):
    beta, K = np.array([3.0, -3.0, rest, -rest]), np.diag([0.0, 0.0, 1.0, 1.0])
    assert is_nothing(beta, K @ beta, np.diagonal(K)) is is_zero


def test_the_finest_tolerance_is_that_of_a_margin_whose_weights_are_rounding():
    """|w|^2 is at most 2 S rho, and rounding below NO_LENGTH (2 S)^2 k(x, x)."""
    one = problem(nu=0.4)
    rho = RESOLVED * one.finest(3.0)
    assert 2.0 * one.side * rho == pytest.approx(NO_LENGTH * (2.0 * one.side) ** 2 * 3.0)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_weights_are_nothing_in_any_unit(unit):
    """Of points of length `unit` whose products cancel but for rounding."""
    beta, diag = np.array([2.0, -2.0, 0.0]), np.full(3, unit**2)
    assert is_nothing(beta, 1e-13 * unit**2 * np.array([1.0, -1.0, 1.0]), diag)
    assert not is_nothing(beta, 1e-3 * unit**2 * np.array([1.0, -1.0, 1.0]), diag)
    # In every unit of the coefficients, too.
    assert is_nothing(1e6 * beta, 1e-7 * unit**2 * np.array([1.0, -1.0, 1.0]), diag)
    assert not is_nothing(1e-6 * beta, 1e-9 * unit**2 * np.array([1.0, -1.0, 1.0]), diag)


def test_a_margin_is_resolved_from_ten_tolerances_on():
    one = problem()
    assert one.is_resolved(np.array([-0.01, 0.01]), 0.9e-3)
    assert not one.is_resolved(np.array([-0.01, 0.01]), 1.1e-3)


def test_no_margin_or_no_weights_is_zero():
    diag, beta = np.ones(6), np.array([0.5, 0.5, -0.25, -0.25, -0.25, -0.25])
    for biases, gradient, is_zero in (
        ([-0.5, 0.5], -beta, False),
        ([0.5, 0.5], -beta, True),
        ([-0.5, 0.5], np.zeros(6), True),
    ):
        found = SimpleNamespace(bias=np.array(biases), beta=beta, gradient=gradient)
        assert problem().is_zero(found, diag) == is_zero


def test_the_conditions_of_both_classes(gram):
    """Within a class no margin of a point with a coefficient exceeds that of one whose coefficient may grow."""
    beta = np.array([0.75, 0.25, -0.5, -0.25, 0.0, -0.25])
    margins = SIGNS * (gram @ beta)
    one = problem()
    free, used = np.abs(beta) < one.box, beta != 0.0
    expected = max(
        (margins[used & (side == SIGNS)].max() - margins[free & (side == SIGNS)].min()) for side in (-1.0, 1.0)
    )
    assert one.certificate(beta, gram @ beta, 0.0).kkt_violation == pytest.approx(max(0.0, expected))
    assert expected > 0.0
