"""Small problems are solved until only rounding is left, whatever the tolerance."""

import itertools

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import decomposition, policy
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from tests.oracles.kkt import assert_solved, judge

SHAPES = list(itertools.product(["hinge", "squared_hinge"], ["free", "penalized", "none"]))


def case(n=80, seed=0, repeat=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[n - repeat :] = X[:repeat]
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2)), signs


def solve(problem, K, tol=1e-3, limits=None, **more):
    return solve_dual(problem.dual(), StoredMatrix.of(K), tol=tol, limits=limits or Limits(), **{"convex": True} | more)


@pytest.mark.parametrize("repeat", [0, 30])
@pytest.mark.parametrize(("C", "reached"), [(0.1, 1e-9), (10.0, 1e-9), (1e4, 1e-2)])
@pytest.mark.parametrize(("loss", "bias"), SHAPES)
def test_far_more_accurate_than_was_asked_for(loss, bias, C, reached, repeat):
    K, signs = case(repeat=repeat)
    problem = SoftMargin(signs, np.full(80, C), loss, bias)
    solution = solve(problem, K, tol=1e-2)
    assert solution.status is Status.OPTIMAL
    verdict = judge(K, signs, problem.C, solution.beta, problem.intercept(solution.beta, solution.bias), loss, bias)
    assert_solved(verdict, reached)
    assert solution.is_gradient_complete
    np.testing.assert_allclose(
        solution.gradient, problem.dual().gradient(StoredMatrix.of(K), solution.beta), atol=1e-9 * C
    )


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_so_is_a_regression_with_the_kink_of_its_tube(C, bias):
    K, _ = case()
    targets = np.random.default_rng(1).normal(size=80)
    problem = EpsilonRegression(targets, np.full(80, C), 0.3, bias)
    solution = solve(problem, K, tol=1e-2)
    assert solution.status is Status.OPTIMAL
    found = problem.certificate(solution.beta, K @ solution.beta, problem.intercept(solution.beta, solution.bias))
    assert found.gap <= 1e-9 * found.primal
    np.testing.assert_allclose(
        solution.gradient, problem.dual().gradient(StoredMatrix.of(K), solution.beta), atol=1e-9 * C
    )


def test_it_is_the_solution_that_pair_steps_converge_to():
    K, signs = case()
    problem = SoftMargin(signs, np.full(80, 2.0))
    exact = solve(problem, K)
    crept = decomposition.solve(problem.dual(), StoredMatrix.of(K), tol=1e-10)
    np.testing.assert_allclose(exact.beta, crept.beta, atol=1e-7)
    assert exact.bias == pytest.approx(crept.bias, abs=1e-8)


def test_the_order_of_rows_does_not_show():
    K, signs = case()
    order = np.random.default_rng(1).permutation(80)
    one = solve(SoftMargin(signs, np.full(80, 2.0)), K)
    other = solve(SoftMargin(signs[order], np.full(80, 2.0)), K[np.ix_(order, order)])
    np.testing.assert_allclose(other.beta, one.beta[order], atol=1e-9)


@pytest.mark.parametrize("is_for_a_gap", [False, True])
@pytest.mark.parametrize("steps", [1, 3, 20])
def test_max_iter_is_exact(steps, is_for_a_gap):
    K, signs = case()
    problem = SoftMargin(signs, np.full(80, 2.0))
    asked = {"gap": problem.gap, "gap_tol": 1e-9} if is_for_a_gap else {}
    solution = solve(problem, K, limits=Limits(max_iter=steps), **asked)
    assert (solution.status, solution.iterations) == (Status.ITERATION_LIMIT, steps)


@pytest.mark.parametrize("is_for_a_gap", [False, True])
def test_an_interruption_keeps_what_there_is(is_for_a_gap):
    K, signs = case(200)
    limits = Limits(callbacks=[lambda _: True])
    limits.report(None)
    problem = SoftMargin(signs, np.full(200, 1e6))
    asked = {"gap": problem.gap, "gap_tol": 1e-12} if is_for_a_gap else {}
    solution = solve(problem, K, tol=1e-12, limits=limits, **asked)
    assert solution.status is Status.INTERRUPTED
    assert np.isfinite(solution.beta).all()


def test_a_callback_sees_one_round():
    K, signs = case()
    seen = []
    solution = solve(SoftMargin(signs, np.full(80, 2.0)), K, limits=Limits(callbacks=[seen.append]))
    assert seen == solution.trace
    (point,) = seen
    assert point.working_set == point.active == 80
    assert point.iterations == solution.iterations


def test_a_gap_is_reached():
    K, signs = case()
    problem = SoftMargin(signs, np.full(80, 2.0))
    solution = solve(problem, K, tol=0.5, gap=problem.gap, gap_tol=1e-9)
    assert solution.status is Status.OPTIMAL
    assert problem.gap(solution.beta, solution.gradient) <= 1e-9


@pytest.mark.parametrize(("loss", "bias"), SHAPES)
def test_an_indefinite_matrix_ends_without_nonsense(loss, bias):
    """Where the dual has no maximum, coefficients must not grow until they overflow."""
    K, signs = case()
    solution = solve(SoftMargin(signs, np.ones(80), loss, bias), K - 3.0 * np.eye(80), convex=False)
    assert solution.status in (Status.NOT_CONVEX, Status.STALLED)
    assert np.abs(solution.beta).max() < 1e101


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_hard_margin_that_does_not_exist_ends_without_nonsense(bias):
    K, signs = case()
    K = K[:, :3] @ K[:, :3].T
    solution = solve(SoftMargin(signs, np.full(80, np.inf), "hinge", bias), K)
    assert solution.status is Status.STALLED
    assert np.abs(solution.beta).max() < 1e101


def test_large_problems_are_left_to_rounds(monkeypatch):
    asked = []
    monkeypatch.setattr(decomposition, "solve", lambda *args, **more: asked.append(more["tol"]))
    K, signs = case(policy.EXACT_SIZE + 1)
    solve(SoftMargin(signs, np.ones(len(signs))), K, tol=0.25)
    assert asked == [0.25]
