"""Primal, dual and certificate of the soft margin, by hand and against the judge of tests/oracles."""

import dataclasses

import numpy as np
import pytest

from mercer.problems.svm.soft_margin import BIASES, SoftMargin
from tests.oracles.kkt import judge

LOSSES = ["hinge", "squared_hinge"]


@pytest.fixture
def case(rng):
    X = rng.normal(size=(25, 3))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=25) > 0, 1.0, -1.0)
    return X @ X.T, signs, rng.uniform(0.5, 3.0, 25)


def some_beta(problem, rng):
    """Feasible, and far from optimal: points at zero, free, and at the bound."""
    dual = problem.dual()
    reach = np.where(np.isinf(dual.upper - dual.lower), 2.0, dual.upper - dual.lower)
    share = rng.choice([0.0, 0.3, 1.0], size=len(reach))
    return dual.feasible(problem.signs * reach * share)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_of_any_coefficients_is_what_the_judge_finds(loss, bias, case, rng):
    K, signs, C = case
    problem = SoftMargin(signs, C, loss, bias)
    for _ in range(20):
        beta = some_beta(problem, rng)
        intercept = problem.intercept(beta, 0.3)
        found = problem.certificate(beta, K @ beta, intercept)
        expected = judge(K, signs, C, beta, intercept, loss, bias)
        assert found.primal == pytest.approx(expected.primal)
        assert found.dual == pytest.approx(expected.dual)
        assert found.gap == pytest.approx(expected.gap)
        assert found.relative_gap == pytest.approx(expected.gap / max(1.0, expected.primal))
        assert found.box_violation == expected.box == 0.0
        assert found.equality_residual == pytest.approx(abs(beta.sum()) if bias == "free" else 0.0)
        if bias != "free":
            assert found.kkt_violation == pytest.approx(expected.complementarity)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_from_a_gradient_is_that_of_the_certificate(loss, bias, case, rng):
    K, signs, C = case
    problem = SoftMargin(signs, C, loss, bias)
    dual = problem.dual()
    beta = some_beta(problem, rng)
    ridge = 0.0 if dual.ridge is None else dual.ridge * beta
    gradient = signs - K @ beta - dual.shift * beta.sum() - ridge
    certificate = problem.certificate(beta, K @ beta, problem.intercept(beta, dual.bias(beta, gradient)))
    assert problem.gap(beta, gradient) == pytest.approx(certificate.relative_gap)


@pytest.mark.parametrize("bias", BIASES)
def test_points_are_counted_by_where_they_stand(bias, case):
    K, signs, C = case
    problem = SoftMargin(signs, C, "hinge", bias)
    beta = np.zeros(25)
    beta[0], beta[1:4] = 0.5 * signs[0] * C[0], signs[1:4] * C[1:4]
    certificate = problem.certificate(beta, K @ beta, 0.0)
    assert (certificate.n_free, certificate.n_bounded, certificate.n_zero) == (1, 3, 21)


def test_infeasible_coefficients_are_reported(case):
    K, signs, C = case
    problem = SoftMargin(signs, C)
    beta = np.zeros(25)
    beta[0], beta[1] = signs[0] * (C[0] + 0.25), -0.125 * signs[1]
    certificate = problem.certificate(beta, K @ beta, 0.0)
    assert certificate.box_violation == pytest.approx(0.25)
    assert certificate.equality_residual == pytest.approx(abs(beta.sum()))


def test_the_toy_set_of_the_source_documents(toy):
    X, signs = toy
    problem = SoftMargin(signs, np.full(4, np.inf))
    beta = signs * np.array([0.5, 0.5, 1.0, 0.0])
    certificate = problem.certificate(beta, X @ X.T @ beta, -1.0)
    assert certificate.primal == certificate.dual == 1.0
    assert certificate.kkt_violation == certificate.equality_residual == 0.0
    assert (certificate.n_free, certificate.n_bounded, certificate.n_zero) == (3, 0, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_hard_margin_that_is_missed_is_measured_at_the_nearest_multiple_that_has_it(loss):
    """w = 0.9 misses the margin of two points at ±1; w = 1 has it, and 1/2 is its objective."""
    signs = np.array([1.0, -1.0])
    problem = SoftMargin(signs, np.full(2, np.inf), loss)
    beta = 0.45 * signs
    certificate = problem.certificate(beta, 0.9 * signs, 0.0)
    assert certificate.primal == pytest.approx(0.5)
    assert certificate.dual == pytest.approx(0.9 - 0.5 * 0.81)
    # Below an objective of 1 the relative gap is the gap.
    assert certificate.relative_gap == certificate.gap == pytest.approx(0.005)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_hard_margin_on_the_wrong_side_has_no_finite_objective(loss):
    signs = np.array([1.0, -1.0])
    certificate = SoftMargin(signs, np.full(2, np.inf), loss).certificate(np.zeros(2), np.zeros(2), 0.0)
    assert certificate.primal == certificate.gap == certificate.relative_gap == np.inf
    assert certificate.dual == 0.0


def test_points_with_and_without_a_hard_margin_stand_together():
    """The first point must have margin 1: (w, b) is doubled, and the third then costs C (1 + 1)."""
    signs = np.array([1.0, -1.0, 1.0])
    problem = SoftMargin(signs, np.array([np.inf, np.inf, 3.0]))
    certificate = problem.certificate(np.array([0.5, -0.5, 0.0]), np.array([0.5, -0.5, -0.5]), 0.0)
    assert certificate.primal == pytest.approx(0.5 * 0.5 / 0.5**2 + 3.0 * 2.0)


def test_the_dual_is_the_program_of_the_notes(case):
    _, signs, C = case
    hinge = SoftMargin(signs, C).dual()
    np.testing.assert_array_equal(hinge.linear, signs)
    np.testing.assert_array_equal(hinge.upper, np.where(signs > 0, C, 0.0))
    np.testing.assert_array_equal(hinge.lower, np.where(signs > 0, 0.0, -C))
    assert (hinge.has_equality, hinge.ridge, hinge.shift) == (True, None, 0.0)
    squared = SoftMargin(signs, C, "squared_hinge", "penalized").dual()
    np.testing.assert_array_equal(squared.ridge, 0.5 / C)
    assert np.isinf(squared.upper - squared.lower).all()
    assert (squared.has_equality, squared.shift) == (False, 1.0)


@pytest.mark.parametrize(("bias", "expected"), [("free", 0.7), ("penalized", 1.5), ("none", 0.0)])
def test_the_intercept_of_each_kind_of_bias(bias, expected):
    problem = SoftMargin(np.ones(2), np.ones(2), bias=bias)
    assert problem.intercept(np.array([1.0, 0.5]), 0.7) == expected


def test_a_problem_cannot_be_changed(case):
    _, signs, C = case
    with pytest.raises(dataclasses.FrozenInstanceError):
        SoftMargin(signs, C).loss = "hinge"


@pytest.mark.parametrize(("bias", "b"), [("free", 0.3), ("penalized", 0.5), ("none", 0.0)])
def test_decision_values_are_projections_and_the_bias(bias, b):
    problem = SoftMargin(np.array([1.0, -1.0]), np.ones(2), "hinge", bias)
    found = problem.decision_values(np.array([1.0, 2.0]), np.array([1.0, -0.5]), 0.3)
    np.testing.assert_allclose(found, [1.0 + b, 2.0 + b])


def test_points_that_are_held_out_have_a_box_of_nothing(case):
    _, signs, C = case
    problem, held = SoftMargin(signs, C), np.arange(25) % 4 == 0
    same, dual = problem.without(held)
    assert same is problem
    assert (dual.lower[held] == 0.0).all()
    assert (dual.upper[held] == 0.0).all()
    np.testing.assert_array_equal(dual.lower[~held], problem.dual().lower[~held])
    np.testing.assert_array_equal(dual.upper[~held], problem.dual().upper[~held])


# Where any weight is infinite, rows are counted.
@pytest.mark.parametrize(
    ("C", "answer"),
    [([1.0, 1.0, 1.0], 1.0), ([1.0, 1.0, 3.0], -1.0), ([1.0, 1.0, 2.0], 0.0), ([1.0, 1.0, np.inf], 1.0)],
)
def test_before_the_first_step_the_heavier_class_is_answered(C, answer):
    assert SoftMargin(np.array([1.0, 1.0, -1.0]), np.array(C)).best_constant() == answer
