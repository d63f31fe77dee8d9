"""Series of duals on one matrix: each answer is that of the general solver, held-out rows included."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.part_of_dual import narrowed, widened
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import decomposition, warm_sequence
from mercer.solvers.dual_qp.warm_sequence import WarmState, moved_to
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


def noisy(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0)


def path(problems, matrix, rows, n, tol=1e-4):
    """Solutions of several problems of some rows, one after the other."""
    state, last, found = WarmState.zero(n), None, []
    for problem in problems:
        dual = widened(problem.dual(), rows, n)
        state = state if last is None else moved_to(state, last, dual, matrix)
        assert not dual.has_equality or np.abs(state.beta.sum()) < 1e-9
        found.append((dual, warm_sequence.solve(dual, matrix, state=state, tol=tol, limits=Limits())))
        np.testing.assert_allclose(state.product, matrix.values[:, :n] @ state.beta, atol=1e-3)
        last = dual
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "form", [("hinge", "free"), ("hinge", "none"), ("squared_hinge", "free"), ("hinge", "penalized")]
)
def test_a_path_along_C_has_the_solutions_of_single_fits(dtype, form):
    X, y = noisy()
    matrix = StoredMatrix.of(RBF(0.7)(X).astype(dtype))
    rows = np.arange(100, 500)
    problems = [SoftMargin(y[rows], np.full(400, C), *form) for C in (0.1, 1.0, 10.0, 100.0)]
    for problem, (dual, found) in zip(problems, path(problems, matrix, rows, 500), strict=True):
        alone = decomposition.solve(problem.dual(), matrix.view(rows), tol=1e-4)
        assert found.status == Status.OPTIMAL
        assert dual.violation(found.beta, found.gradient) <= 1.01e-4
        assert not found.beta[:100].any()
        assert dual.objective(found.beta, found.gradient) == pytest.approx(
            problem.dual().objective(alone.beta, alone.gradient), rel=1e-5
        )
        # The rows held out: their decision values are those of the single fit.
        K = matrix.values[:100, rows].astype(float)
        expected = K @ alone.beta + problem.intercept(alone.beta, alone.bias)
        values = matrix.values[:100, :500].astype(float) @ found.beta + problem.intercept(found.beta, found.bias)
        np.testing.assert_allclose(values, expected, atol=5e-3)


def test_regression_and_a_box_that_shrinks():
    X, y = noisy()
    y = y + X[:, 0]
    matrix, rows = StoredMatrix.of(RBF(0.7)(X)), np.arange(450)
    problems = [
        EpsilonRegression(y[rows], np.full(450, C), eps, "free") for C, eps in ((1, 0.1), (10, 0.1), (0.5, 0.3))
    ]
    for problem, (dual, found) in zip(problems, path(problems, matrix, rows, 500), strict=True):
        alone = decomposition.solve(problem.dual(), matrix.view(rows), tol=1e-4)
        assert dual.violation(found.beta, found.gradient) <= 1.01e-4
        assert dual.objective(found.beta, found.gradient) == pytest.approx(
            problem.dual().objective(alone.beta, alone.gradient), rel=1e-5
        )


def test_weights_of_rows_that_change_start_anew_near_the_last():
    X, y = noisy(300)
    matrix, rows = StoredMatrix.of(RBF(0.7)(X)), np.arange(300)
    C = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    problems = [SoftMargin(y, np.ones(300)), SoftMargin(y, C)]
    for dual, found in path(problems, matrix, rows, 300):
        assert dual.violation(found.beta, found.gradient) <= 1.01e-4


def test_a_hopeless_problem_is_left():
    X, y = noisy(300)
    matrix, dual = StoredMatrix.of(RBF(0.7)(X)), SoftMargin(y, np.ones(300)).dual()
    found = warm_sequence.solve(
        dual, matrix, state=WarmState.zero(300), tol=1e-4, limits=Limits(), is_hopeless=lambda *_: True
    )
    assert found is None


def test_what_rounds_do_not_finish_the_general_solver_does(monkeypatch):
    X, y = noisy(450)
    monkeypatch.setattr(warm_sequence, "MOST_ROUNDS", 1)
    matrix, rows = StoredMatrix.of(RBF(0.7)(X)), np.arange(430)
    for dual, found in path([SoftMargin(y[rows], np.full(430, 10.0))], matrix, rows, 450):
        assert found.status == Status.OPTIMAL
        assert dual.violation(found.beta, found.gradient) <= 1.1e-4


def test_iterations_are_bounded():
    X, y = noisy(450)
    matrix, dual = StoredMatrix.of(RBF(0.7)(X)), SoftMargin(y, np.full(450, 100.0)).dual()
    found = warm_sequence.solve(dual, matrix, state=WarmState.zero(450), tol=1e-4, limits=Limits(max_iter=7))
    assert found.status == Status.ITERATION_LIMIT
    assert found.iterations == 7


def test_widened_and_narrowed_are_inverse():
    dual = SoftMargin(np.array([1.0, -1.0]), np.array([1.0, 2.0]), "squared_hinge").dual()
    wide = widened(dual, np.array([3, 1]), 5)
    assert wide.upper.tolist() == [0.0, 0.0, 0.0, np.inf, 0.0]
    back = narrowed(wide, np.array([3, 1]))
    np.testing.assert_array_equal(back.linear, dual.linear)
    np.testing.assert_array_equal(back.ridge, dual.ridge)


@pytest.mark.parametrize(("factor", "is_scaled"), [(0.5, True), (2.0, False)])
def test_mostly_free_coefficients_are_scaled_only_to_a_smaller_box(factor, is_scaled):
    """In a larger one they would leave their optimum, where the old ones are close to it."""
    last, following = (SoftMargin(np.array([1.0, -1.0, 1.0]), np.full(3, C)).dual() for C in (1.0, factor))
    beta = np.array([0.5, -0.75, 0.25])
    state = WarmState(beta, 2.0 * beta)
    found = moved_to(state, last, following, StoredMatrix.of(2.0 * np.eye(3)))
    np.testing.assert_allclose(found.beta, factor * beta if is_scaled else beta)
    np.testing.assert_allclose(found.product, 2.0 * found.beta)


def test_coefficients_at_a_bound_stay_there():
    """Where the dual still grows with them: it would to ten times what they are."""
    last, following = (SoftMargin(np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, C)).dual() for C in (1.0, 4.0))
    beta = np.array([1.0, -1.0, 0.0, 0.0])
    found = moved_to(WarmState(beta, 0.1 * beta), last, following, StoredMatrix.of(0.1 * np.eye(4)))
    np.testing.assert_array_equal(found.beta, 4.0 * beta)


def test_coefficients_grow_with_their_box_only_as_far_as_helps():
    """With the identity for a kernel, coefficients are C up to 1, and 1 beyond, whatever the box."""
    n = 420
    signs, matrix = np.where(np.arange(n) % 2, 1.0, -1.0), StoredMatrix.of(np.eye(n))
    duals = [SoftMargin(signs, np.full(n, C)).dual() for C in (0.25, 0.5, 4.0)]
    state = WarmState(0.25 * signs, 0.25 * signs)
    with_box = moved_to(state, duals[0], duals[1], matrix)
    np.testing.assert_array_equal(with_box.beta, 0.5 * signs)
    less_than_box = moved_to(with_box, duals[1], duals[2], matrix)
    np.testing.assert_allclose(less_than_box.beta, signs)
    np.testing.assert_allclose(less_than_box.product, signs)
