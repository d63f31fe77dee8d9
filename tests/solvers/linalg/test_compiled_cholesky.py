"""The compiled factor of a leading block, against LAPACK's."""

import numpy as np

from mercer.solvers.linalg.compiled_cholesky import backward, factorise, forward, substitute


def test_a_leading_block_is_factored_and_solved_and_the_rest_left_alone(rng):
    X = rng.normal(size=(9, 9))
    A, x = X @ X.T + np.eye(9), rng.normal(size=9)
    L = A.copy()
    assert factorise(L, 7)
    np.testing.assert_allclose(np.tril(L[:7, :7]), np.linalg.cholesky(A[:7, :7]), atol=1e-12)
    np.testing.assert_array_equal(L[7:], A[7:])
    solved = x.copy()
    substitute(L, 7, solved)
    np.testing.assert_allclose(solved[:7], np.linalg.solve(A[:7, :7], x[:7]), atol=1e-10)
    np.testing.assert_array_equal(solved[7:], x[7:])


def test_the_two_halves_are_those_of_the_triangle(rng):
    L, x = np.tril(rng.normal(size=(5, 5))) + 5.0 * np.eye(5), rng.normal(size=5)
    down, up = x.copy(), x.copy()
    forward(L, 5, down)
    backward(L, 5, up)
    np.testing.assert_allclose(L @ down, x, atol=1e-12)
    np.testing.assert_allclose(L.T @ up, x, atol=1e-12)


def test_an_indefinite_matrix_has_no_factor():
    assert not factorise(np.array([[1.0, 0.0], [2.0, 1.0]]), 2)
