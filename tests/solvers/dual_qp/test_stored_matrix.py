"""Problems whose matrix is in memory: one round over everything, in either precision."""

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual, solve_for_scores
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from tests.oracles.kkt import assert_solved, judge

KERNEL = RBF(0.5)


def points(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.4 * rng.normal(size=n) > 1, 1.0, -1.0)


def stored(X, dtype):
    """The matrix as a fit has it, with the rows it was computed from."""
    return EvaluatedMatrix(
        KERNEL, lambda dtype, rows=None: KERNEL.prepare(X if rows is None else X[rows], dtype), dtype
    ).stored()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_solved_to_the_tolerance_for_entries_in_double_precision(dtype, loss, C):
    X, signs = points()
    problem = SoftMargin(signs, np.full(len(X), C), loss)
    solution = solve_dual(problem.dual(), stored(X, dtype), tol=1e-3, limits=Limits(), convex=True)
    assert solution.status is Status.OPTIMAL
    intercept = problem.intercept(solution.beta, solution.bias)
    assert_solved(judge(KERNEL(X), signs, problem.C, solution.beta, intercept, loss), 1e-3)
    # The trace is of the steps, whose entries may be rounded to seven digits.
    dual = problem.dual().objective(solution.beta, solution.gradient)
    assert solution.trace[-1].dual == pytest.approx(dual, rel=1e-5)


def test_the_number_of_steps_is_bounded():
    X, signs = points()
    problem = SoftMargin(signs, np.ones(len(X)))
    solution = solve_dual(problem.dual(), stored(X, np.float32), tol=1e-3, limits=Limits(max_iter=40), convex=True)
    assert (solution.status, solution.iterations) == (Status.ITERATION_LIMIT, 40)
    assert abs(solution.beta.sum()) < 1e-12
    # The gradient and the violation are those of the coefficients, not of the goal.
    np.testing.assert_allclose(solution.gradient, problem.dual().linear - KERNEL(X) @ solution.beta, atol=1e-4)
    assert solution.trace[-1].violation > 1e-3


def test_no_time_at_all_is_the_empty_solution():
    X, signs = points()
    dual = SoftMargin(signs, np.ones(500)).dual()
    solution = solve_dual(dual, stored(X, np.float32), tol=1e-3, limits=Limits(-1, 0.0), convex=True)
    assert solution.status is Status.TIME_LIMIT
    assert not solution.beta.any()


def test_entries_rounded_beyond_the_tolerance_are_computed_again():
    X, signs = points()
    problem = SoftMargin(signs, np.full(len(X), 100.0))
    exact = stored(X, np.float64)
    rough = StoredMatrix(exact.values.astype(np.float16).astype(np.float32), source=stored(X, np.float32)._source)
    solution = solve_dual(problem.dual(), rough, tol=1e-3, limits=Limits(), convex=True)
    assert solution.status is Status.OPTIMAL
    intercept = problem.intercept(solution.beta, solution.bias)
    assert_solved(judge(KERNEL(X), signs, problem.C, solution.beta, intercept), 1e-3)


@pytest.mark.parametrize("is_far", [False, True])
def test_scores_need_no_double_precision_but_for_rows_far_away(is_far, monkeypatch):
    X, signs = points()
    problem, matrix, asked = SoftMargin(signs, np.ones(len(X))), stored(X, np.float32), []
    in_double = StoredMatrix.product_in_double
    monkeypatch.setattr(StoredMatrix, "product_in_double", lambda *a: asked.append(1) or in_double(*a))
    matrix.is_rough = is_far
    solution = solve_for_scores(problem.dual(), matrix, tol=1e-3, score_tol=1e-2, limits=Limits(), convex=True)
    assert solution.status is Status.OPTIMAL
    assert bool(asked) == is_far
    intercept = problem.intercept(solution.beta, solution.bias)
    assert_solved(judge(KERNEL(X), signs, problem.C, solution.beta, intercept), 1e-2)


def test_few_rows_of_very_many_features_have_room():
    X = np.random.default_rng(0).normal(size=(60, 120_000)).astype(np.float32)
    assert SVC().fit(X, np.arange(60) % 2).status_ is Status.OPTIMAL
