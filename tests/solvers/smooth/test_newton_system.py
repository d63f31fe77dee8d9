"""The systems of Newton's steps, against dense ones that are written out."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
from mercer.problems.kernel_methods.multinomial import SoftmaxRoot
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.smooth.newton_system import Preconditioner, solve_factored, solve_iterated

N = 12


def case(k, seed=0):
    """(L, root, A as a matrix of all entries of x, function by function)."""
    rng = np.random.default_rng(seed)
    if k == 1:
        root = DiagonalRoot(rng.uniform(0.2, 2.0, N))
    else:
        root = SoftmaxRoot(rng.dirichlet(np.ones(k), N), rng.uniform(0.5, 2.0, N))
    units = np.eye(N * k).reshape(N * k, k, N)
    A = np.column_stack([root.times(unit.T).T.ravel() for unit in units])
    return rng.normal(size=(N, 4)), root, A


def written_out(L, A, k, right, has_bias):
    """x, shape (n, k), of (I + A'KA) x = right, on the plane where each function of A x sums to zero."""
    K = np.kron(np.eye(k), L @ L.T)
    system = np.eye(N * k) + A.T @ K @ A
    if has_bias:
        sums = np.kron(np.eye(k), np.ones(N)) @ A
        system = np.block([[system, sums.T], [sums, np.zeros((k, k))]])
        right = np.append(right.T.ravel(), np.zeros(k))
    else:
        right = right.T.ravel()
    return np.linalg.lstsq(system, right, rcond=1e-12)[0][: N * k].reshape(k, N).T


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_factored_system_is_solved(has_bias, rng):
    L, root, A = case(1)
    right = rng.normal(size=(N, 1))
    moved, image = solve_factored(L @ L.T, root, right, has_bias)
    expected = root.times(written_out(L, A, 1, root.times(right), has_bias))
    np.testing.assert_allclose(moved, expected, atol=1e-10)
    np.testing.assert_allclose(image, L @ L.T @ moved)
    assert not has_bias or abs(moved.sum()) <= 1e-10


def test_losses_that_are_flat_everywhere_leave_nothing_to_solve(rng):
    L, _, _ = case(1)
    moved, _ = solve_factored(L @ L.T, DiagonalRoot(np.zeros(N)), rng.normal(size=(N, 1)), has_bias=True)
    assert not moved.any()


def test_a_matrix_that_is_not_definite_is_told():
    with pytest.raises(NotPositiveDefinite):
        solve_factored(-5.0 * np.eye(N), DiagonalRoot(np.ones(N)), np.ones((N, 1)), has_bias=False)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-8), (np.float32, 1e-3)])
def test_a_preconditioner_is_the_inverse_where_its_factor_is_exact(k, has_bias, dtype, atol, rng):
    L, root, A = case(k)
    right = root.transposed_times(rng.normal(size=(N, k)))
    used = root if dtype == np.float64 else root.in_single()
    apply = Preconditioner(L.astype(dtype), used, k, has_bias)
    found = apply(right.astype(dtype))
    expected = written_out(L, A, k, right, has_bias)
    # A common component across the plane moves no function.
    np.testing.assert_allclose(root.times(found.astype(float)), root.times(expected), atol=atol)


@pytest.mark.parametrize("k", [1, 3])
def test_without_a_factor_only_the_plane_counts(k, rng):
    _, root, A = case(k)
    right = root.transposed_times(rng.normal(size=(N, k)))
    found = Preconditioner(np.zeros((N, 0)), root, k, has_bias=True)(right)
    expected = written_out(np.zeros((N, 1)), A, k, right, has_bias=True)
    np.testing.assert_allclose(root.times(found), root.times(expected), atol=1e-9)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("k", [1, 3])
def test_iterations_find_what_a_rough_factor_leaves(k, has_bias, rng):
    L, root, A = case(k)
    K, rho = L @ L.T, rng.normal(size=(N, k))
    precondition = Preconditioner(L[:, :2], root, k, has_bias)
    begin, norm = precondition.guess(rho)
    right = K @ (rho - root.times(begin))
    moved, image, iterations = solve_iterated(lambda V: K @ V, root, right, begin, precondition, 1e-10, lambda: False)
    expected = written_out(L, A, k, root.transposed_times(K @ rho), has_bias)
    np.testing.assert_allclose(moved + root.times(begin), root.times(expected), atol=1e-7)
    np.testing.assert_allclose(image, K @ moved, atol=1e-9)
    assert 0 < iterations < 100
    assert norm > 0.0
    assert solve_iterated(lambda V: K @ V, root, right, begin, precondition, 1e-10, lambda: True)[2] == 0
