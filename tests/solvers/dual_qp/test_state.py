"""Whatever is moved, the gradient is that of the coefficients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer._jit.threads import Stopped
from mercer.kernels import RBF
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.state import DualState

N = 30


def problem_of(loss="hinge", bias="free"):
    signs = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
    return SoftMargin(signs, np.full(N, 2.0), loss, bias).dual()


def matrix_of(dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(N, 3))
    kernel = RBF(0.4)
    return EvaluatedMatrix(
        kernel, lambda dtype, rows=None: kernel.prepare(X if rows is None else X[rows], dtype), dtype
    )


def move_some(state, rng, is_known=False):
    """Move a few coordinates within their box."""
    indices = np.sort(rng.permutation(N)[:5])
    lower, upper = state.problem.lower[indices], state.problem.upper[indices]
    after = rng.uniform(np.maximum(lower, -3.0), np.minimum(upper, 3.0))
    change = after - state.beta[indices]
    moved = change != 0
    own = None
    if is_known:
        columns = indices[moved]
        own = state.problem.quadratic_product(state.matrix, columns, change[moved], indices)
    state.move(indices, after, indices[moved], change[moved], own)


@pytest.mark.parametrize("bias", ["free", "penalized"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@given(data=st.data())
def test_the_gradient_and_the_dual_are_those_of_the_coefficients(loss, bias, data):
    problem, matrix = problem_of(loss, bias), matrix_of()
    state = DualState(problem, matrix)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    for _ in range(data.draw(st.integers(1, 8))):
        move_some(state, rng, data.draw(st.booleans()))
        exact = problem.gradient(matrix, state.beta)
        np.testing.assert_allclose(state.gradient, exact, atol=1e-10)
        assert state.is_current
    assert state.dual == pytest.approx(problem.objective(state.beta, exact), abs=1e-9)


def test_the_ends_are_those_of_the_gradient():
    assert DualState(problem_of(), matrix_of()).extremes() == (1.0, -1.0)


def test_what_is_known_of_everything_needs_no_product():
    state = DualState(problem_of(), matrix_of())
    everything, change = np.arange(N), np.where(np.arange(N) < 2, [1.0, -1.0] * (N // 2), 0.0)
    own = state.problem.quadratic_product(state.matrix, everything[:2], change[:2])
    state.matrix = None
    state.move(everything, change, everything[:2], change[:2], own)
    np.testing.assert_allclose(state.gradient, problem_of().linear - own)


def test_a_start_is_made_feasible_and_has_its_gradient():
    problem, matrix = problem_of(), matrix_of()
    state = DualState(problem, matrix, start=np.full(N, 5.0))
    assert abs(state.beta.sum()) < 1e-12
    np.testing.assert_allclose(state.gradient, problem.gradient(matrix, state.beta), atol=1e-12)


def test_an_interrupted_move_is_not_taken_for_a_finished_one():
    state = DualState(problem_of(), matrix_of(), stop=lambda: True)
    with pytest.raises(Stopped):
        state.move(np.array([0, 1]), np.array([1.0, -1.0]), np.array([0, 1]), np.array([1.0, -1.0]))
    assert not state.is_current


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_double_precision_from_a_matrix_in_single(loss, bias):
    problem = problem_of(loss, bias)
    state = DualState(problem, matrix_of(np.float32))
    rng = np.random.default_rng(1)
    for _ in range(5):
        move_some(state, rng)
    exact = problem.gradient(matrix_of(), state.beta)
    some = np.array([0, 7, 29])
    np.testing.assert_allclose(state.gradient_in_double(some), exact[some], atol=1e-12)
    assert np.abs(state.gradient - exact).max() > 1e-10
    state.switch_to_double()
    np.testing.assert_allclose(state.gradient, exact, atol=1e-12)
    assert state.is_current
    assert state.matrix.dtype == np.float64


def test_balancing_takes_rounding_out_of_the_sum():
    state = DualState(problem_of(), StoredMatrix.of(np.eye(N)))
    state.beta[0], state.beta[1] = 1.0, -1.0 + 1e-12
    state.balance()
    assert state.beta.sum() == 0.0
    assert (state.beta >= state.problem.lower).all()
    assert (state.beta <= state.problem.upper).all()


def test_balancing_does_not_leave_the_box():
    state = DualState(problem_of(), StoredMatrix.of(np.eye(N)))
    state.beta[0], state.beta[1] = 2.0, -2.0
    state.balance()
    np.testing.assert_array_equal(state.beta[:2], [2.0, -2.0])


@pytest.mark.parametrize("is_known", [False, True])
def test_a_single_coordinate_moves_the_gradient_of_all(is_known):
    problem, matrix = problem_of(bias="none"), matrix_of()
    state = DualState(problem, matrix, None)
    where, after = np.array([3]), np.array([0.75])
    own = 0.75 * matrix.rows(where)[0][where] if is_known else None
    state.move(where, after, where, after, own)
    expected = problem.linear - 0.75 * matrix.rows(where)[0]
    np.testing.assert_allclose(state.gradient, expected, atol=1e-12)
    assert state.dual == pytest.approx(0.5 * 0.75 * (problem.linear[3] + expected[3]))
