"""Nystroem's factor is exact where the rows drawn span all, and says where they are not definite."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.nystroem import nystroem_factor


def test_a_matrix_of_low_rank_is_reproduced(rng):
    X = rng.normal(size=(60, 3))
    L = nystroem_factor(StoredMatrix.of(X @ X.T), 20, rng, 1e-9)
    assert L.shape == (60, 20)
    np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-6)


def test_an_indefinite_matrix_is_refused(rng):
    with pytest.raises(NotPositiveDefinite):
        nystroem_factor(StoredMatrix.of(np.diag([1.0, -1.0])), 2, rng, 1e-9)
