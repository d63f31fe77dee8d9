"""The factor of a corral whose members come and go."""

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.hard_margin.cholesky_corral import KernelCorral, _delete


@pytest.mark.parametrize("place", range(6))
def test_a_factor_without_a_row_is_that_of_the_matrix_without_it(place):
    rows = np.random.default_rng(0).normal(size=(6, 8))
    G = rows @ rows.T
    factor = np.zeros((9, 9))
    factor[:6, :6] = np.linalg.cholesky(G)
    _delete(factor, 6, place)
    L = np.tril(factor[:5, :5])
    rest = np.delete(np.arange(6), place)
    np.testing.assert_allclose(L @ L.T, G[np.ix_(rest, rest)], atol=1e-10)
    assert (np.diag(L) > 0.0).all()


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_rounding_of_a_row_that_is_there_twice_is_no_proof_that_a_kernel_is_none(size):
    K = size * np.array([[1.0, 1.0 + 1e-10], [1.0 + 1e-10, 1.0]])
    corral = KernelCorral(StoredMatrix.of(K), np.ones(2), np.zeros(2, np.intp))
    corral.start([0])
    assert not corral.add(1)
    K[0, 1] = K[1, 0] = 1.001 * size
    corral = KernelCorral(StoredMatrix.of(K), np.ones(2), np.zeros(2, np.intp))
    corral.start([0])
    with pytest.raises(NotPositiveSemidefiniteError):
        corral.add(1)
