"""Rows that are left out: where the solver begins without them, and what it says of them."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.nu import NuMargin
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.calibration.out_of_fold import assign_folds, out_of_fold_scores, start_without
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status


def solved(dual, matrix, start=None):
    return solve_dual(dual, matrix, tol=1e-9, limits=Limits(), start=start, convex=True)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 3))
    signs = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    return X @ X.T, signs


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("is_complete", [True, False])
def test_a_value_is_that_of_the_machine_without_the_row(rows, bias, loss, is_complete):
    """From the gradient, or from the matrix where a solver has left the gradient stale."""
    K, signs = rows
    problem, matrix = SoftMargin(signs, np.ones(30), loss, bias), StoredMatrix.of(K)

    def solve(dual, matrix, start=None):
        found = solved(dual, matrix, start)
        if not is_complete:
            found.gradient, found.is_gradient_complete = np.full(30, 1e3), False
        return found

    folds = np.arange(30) % 3
    folds[:2] = -1
    values, status = out_of_fold_scores(problem, matrix, solve(problem.dual(), matrix), folds, solve)
    assert status == Status.OPTIMAL
    for fold in (-1, 0, 1, 2):
        part, dual = problem.without(folds == fold) if fold >= 0 else (problem, problem.dual())
        found = solved(dual, matrix)
        expected = part.decision_values(K @ found.beta, found.beta, found.bias)
        np.testing.assert_allclose(values[folds == fold], expected[folds == fold], atol=1e-6)


def test_the_worst_status_is_told(rows):
    K, signs = rows
    problem, matrix = SoftMargin(signs, np.ones(30)), StoredMatrix.of(K)

    def solve(dual, matrix, start):
        return Solution(start, np.zeros(30), 0.0, Status.STALLED, 0)

    found = solved(problem.dual(), matrix)
    assert out_of_fold_scores(problem, matrix, found, np.arange(30) % 3, solve)[1] == Status.STALLED


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_start_takes_what_is_too_much_from_free_coefficients_first(sign):
    dual = SoftMargin(sign * np.array([1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(5)).dual()
    beta = sign * np.array([1.0, 0.25, 0.75, -1.0, -1.0])
    held = np.array([False, False, False, False, True])
    np.testing.assert_allclose(start_without(dual, beta, held), sign * np.array([1.0, 0.0, 0.0, -1.0, 0.0]))
    # Where free ones are not enough, those at a bound give the rest.
    held = np.array([False, False, False, True, True])
    np.testing.assert_allclose(start_without(dual, beta, held), np.zeros(5))


def test_a_start_without_an_equality_or_an_excess_keeps_all_others():
    signs, beta = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.5, 0.25, -0.5, -0.25])
    held = np.array([False, True, False, False])
    free, none = (SoftMargin(signs, np.ones(4), "hinge", bias).dual() for bias in ("free", "none"))
    np.testing.assert_allclose(start_without(none, beta, held), [0.5, 0.0, -0.5, -0.25])
    np.testing.assert_allclose(start_without(free, beta, np.array([False, True, False, True])), [0.5, 0.0, -0.5, 0.0])


def test_sums_that_are_not_zero_are_made_up_by_those_with_the_most_to_gain():
    signs = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    dual = NuMargin(signs, np.ones(6), 0.5, np.ones(6)).dual()
    beta = dual.feasible(np.zeros(6))
    held = np.array([True, False, False, False, False, False])
    part = NuMargin(signs, np.ones(6), 0.5, np.ones(6)).without(held)[1]
    gradient = np.array([0.0, 5.0, -5.0, 0.0, 0.0, 0.0])
    with_gradient, without = start_without(part, beta, held, gradient), start_without(part, beta, held)
    for start in (with_gradient, without):
        assert start[0] == 0.0
        assert (start >= part.lower).all()
        assert (start <= part.upper).all()
        assert start[signs > 0].sum() == pytest.approx(-start[signs < 0].sum())
    assert with_gradient[1] > with_gradient[2]


def test_keys_that_differ_by_rounding_of_the_largest_are_dealt_out_together():
    keys = np.array([0.0, 1.0, 1.0 + 4e-16, -2.0, 3.0])
    folds = assign_folds(np.zeros(5, int), keys, 3)
    np.testing.assert_array_equal(folds, [1, 2, 2, 0, 0])
    np.testing.assert_array_equal(assign_folds(np.zeros(2, int), np.array([1.0, 1.0 + 4e-16])), [-1, -1])
