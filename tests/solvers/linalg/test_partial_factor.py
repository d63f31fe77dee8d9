"""Cholesky with pivots: K = L L' with as few columns as K has dimensions."""

import numpy as np
import pytest

from mercer.kernels import RBF, Polynomial
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.linalg.pivoted_cholesky import dense_factor, partial_factor, pivoted_factor


@pytest.mark.parametrize("kernel", [Polynomial(3, 0.5, 1.0), RBF(0.05)])
def test_coordinates_of_a_kernel_matrix_reproduce_it(kernel, rng):
    K = kernel(rng.normal(size=(200, 2)))
    L = pivoted_factor(StoredMatrix.of(K), 150)
    assert L.shape[1] < 150
    np.testing.assert_allclose(L @ L.T, K, atol=1e-14 * K.max())


def test_a_matrix_of_full_rank_has_no_few_coordinates(rng):
    K = StoredMatrix.of(RBF(50.0)(rng.normal(size=(100, 5))))
    assert pivoted_factor(K, 50) is None
    assert pivoted_factor(K, 100).shape == (100, 100)
    assert pivoted_factor(K, 100, stop=lambda: True) is None


def test_low_rank_is_found_or_something_is_left(rng):
    X = rng.normal(size=(40, 3))
    K = StoredMatrix.of(X @ X.T)
    L, is_partial = partial_factor(K, 8, 1e-12)
    assert L.shape == (40, 3)
    assert not is_partial
    np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-12)
    assert partial_factor(K, 2, 1e-12)[1]
    assert partial_factor(StoredMatrix.of(np.eye(5)), 0, 1e-12)[1]


def test_rows_at_the_pivots_of_a_whole_matrix_are_a_triangle(rng):
    X = rng.normal(size=(30, 4))
    L, pivots = dense_factor(X @ X.T, 1e-10)
    np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-12)
    np.testing.assert_array_equal(np.triu(L[pivots], 1), 0.0)
    assert len(pivots) == 4
