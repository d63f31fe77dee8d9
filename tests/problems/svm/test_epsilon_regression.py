"""Regression in a tube, of a given width and of a width that is found, against its formulas."""

import numpy as np
import pytest

from mercer.problems.svm.epsilon_regression import EpsilonRegression, NuRegression

TARGETS = np.array([1.0, -2.0, 0.5, 3.0])
C = np.array([1.0, 2.0, 1.0, 4.0])
BETA = np.array([0.5, -1.0, -0.5, 1.0])


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(4, 2))
    return X @ X.T


def losses(f, epsilon):
    return sum(c * max(0.0, abs(y - z) - epsilon) for c, y, z in zip(C, TARGETS, f, strict=True))


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_both_objectives(gram, bias):
    one = EpsilonRegression(TARGETS, C, 0.25, bias)
    intercept = one.intercept(BETA, 0.3)
    assert intercept == {"free": 0.3, "penalized": 0.0, "none": 0.0}[bias]
    half = 0.5 * float(BETA @ gram @ BETA)
    certificate = one.certificate(BETA, gram @ BETA, intercept)
    assert certificate.primal == pytest.approx(half + losses(gram @ BETA + intercept, 0.25))
    assert certificate.dual == pytest.approx(float(BETA @ TARGETS) - 0.25 * np.abs(BETA).sum() - half)
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)


def test_a_penalised_bias_is_the_sum_of_the_coefficients_and_costs_half_its_square(gram):
    one, beta = EpsilonRegression(TARGETS, C, 0.25, "penalized"), BETA + 0.25
    assert one.intercept(beta, None) == pytest.approx(1.0)
    half = 0.5 * float(beta @ gram @ beta) + 0.5
    certificate = one.certificate(beta, gram @ beta, 1.0)
    assert certificate.primal == pytest.approx(half + losses(gram @ beta + 1.0, 0.25))
    assert certificate.dual == pytest.approx(float(beta @ TARGETS) - 0.25 * np.abs(beta).sum() - half)
    assert one.gap(beta, TARGETS - gram @ beta - 1.0) == pytest.approx(certificate.relative_gap)


def test_only_a_free_bias_asks_for_a_sum_and_only_a_penalised_one_lifts_the_matrix():
    duals = {bias: EpsilonRegression(TARGETS, C, 0.25, bias).dual() for bias in ("free", "penalized", "none")}
    assert {bias: dual.has_equality for bias, dual in duals.items()} == {
        "free": True,
        "penalized": False,
        "none": False,
    }
    assert {bias: dual.shift for bias, dual in duals.items()} == {"free": 0.0, "penalized": 1.0, "none": 0.0}
    np.testing.assert_array_equal(duals["none"].lower, -C)
    assert duals["none"].kink == 0.25


def test_points_of_infinite_weight_are_in_the_tube_or_the_objective_is_infinite():
    one = EpsilonRegression(np.array([1.0, 5.0]), np.array([np.inf, 2.0]), 0.5, "none")
    assert one.primal(np.zeros(2), np.array([0.5, 0.0]), 0.0) == pytest.approx(9.0)
    # As far outside as rounding explains, for targets of this size.
    assert one.primal(np.zeros(2), np.array([0.5 - 4e-9, 0.0]), 0.0) == pytest.approx(9.0)
    assert one.primal(np.zeros(2), np.array([0.5 - 6e-9, 0.0]), 0.0) == np.inf


def test_two_points_are_solved_by_the_flattest_line_in_the_tube():
    """y = x at 1 and -1, half a tube of 0.5: the slope is 0.5."""
    one = EpsilonRegression(np.array([1.0, -1.0]), np.full(2, 10.0), 0.5)
    beta, f = np.array([0.25, -0.25]), np.array([0.5, -0.5])
    certificate = one.certificate(beta, f, 0.0)
    assert (certificate.primal, certificate.dual, certificate.kkt_violation) == (0.125, 0.125, 0.0)


def test_copies_rise_and_fall():
    one = NuRegression(TARGETS, C, 0.5)
    assert one.side == 2.0
    dual = one.dual()
    np.testing.assert_array_equal(dual.lower, [0, 0, 0, 0, -1, -2, -1, -4])
    np.testing.assert_array_equal(dual.upper, [1, 2, 1, 4, 0, 0, 0, 0])
    np.testing.assert_array_equal(dual.linear, np.tile(TARGETS, 2))
    np.testing.assert_array_equal(dual.total, [2.0, -2.0])
    np.testing.assert_array_equal(dual.groups, np.repeat([0, 1], 4))
    np.testing.assert_array_equal(one.copies(BETA), [0.5, 0, 0, 1, 0, -1, -0.5, 0])
    np.testing.assert_array_equal(one.folded(one.copies(BETA)), BETA)


def test_bias_and_tube_come_from_the_biases_of_the_copies():
    one = NuRegression(TARGETS, C, 0.5)
    assert one.intercept(None, np.array([1.0, 0.5])) == 0.75
    assert one.found_epsilon(np.array([1.0, 0.5])) == 0.25
    assert one.found_epsilon(np.array([0.5, 1.0])) == 0.0
    assert one.found_epsilon(0.5) == 0.0


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5, 0.9, 1.0])
def test_no_tube_is_better_than_the_one_that_is_found(gram, nu):
    one, f, b = NuRegression(TARGETS, C, nu), gram @ BETA, 0.2

    def cost(epsilon):
        return nu * C.sum() * epsilon + losses(f + b, epsilon)

    others = [0.0, *np.abs(TARGETS - f - b)]  # it is piecewise linear, with its kinks there
    assert cost(one.epsilon(f, b)) == pytest.approx(min(map(cost, others)))


def test_both_objectives_of_the_tube_that_is_found(gram):
    one, f, b = NuRegression(TARGETS, C, 0.75), gram @ BETA, 0.2
    epsilon = one.epsilon(f, b)
    half = 0.5 * float(BETA @ f)
    certificate = one.certificate(BETA, f, b)
    assert certificate.primal == pytest.approx(half + 0.75 * 8.0 * epsilon + losses(f + b, epsilon))
    assert certificate.dual == pytest.approx(float(BETA @ TARGETS) - half)
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    # The sizes of the coefficients are 3 together, and 6 are allowed; with nu = 1/4 only 2 are.
    assert certificate.equality_residual == pytest.approx(0.0, abs=1e-15)
    assert NuRegression(TARGETS, C, 0.25).certificate(BETA, f, b).equality_residual == pytest.approx(1.0)


def test_the_gap_of_the_copies_is_that_of_the_points(gram):
    one, f = NuRegression(TARGETS, C, 0.75), gram @ BETA
    copies, gradient = one.copies(BETA), np.tile(TARGETS - f, 2)
    b = one.intercept(BETA, one.dual().bias(copies, gradient))
    assert one.gap(copies, gradient) == pytest.approx(one.certificate(BETA, f, b).relative_gap)


def test_the_conditions_of_the_tube_that_is_found(gram):
    """Points above the tube have one threshold, those below another; between rising and falling points of each none."""
    r = TARGETS - gram @ BETA
    above, below = np.maximum(BETA, 0.0), np.maximum(-BETA, 0.0)
    expected = max(
        r[above < C].max() - r[above > 0].min(),
        r[below > 0].max() - r[below < C].min(),
    )
    found = NuRegression(TARGETS, C, 0.75).certificate(BETA, gram @ BETA, 0.2)
    assert found.kkt_violation == pytest.approx(max(0.0, expected))
    assert expected > 0.0
