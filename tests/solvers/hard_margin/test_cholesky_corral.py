"""The factor of a corral whose members come and go."""

import numpy as np
import pytest

from mercer.solvers.hard_margin.cholesky_corral import _delete


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
