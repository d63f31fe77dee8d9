import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.doubled import RepeatedMatrix
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix, padded_square


@pytest.fixture(params=["stored", "evaluated", "single"])
def matrices(request, rng):
    """The repeated matrix, and what it should hold."""
    X, kernel = rng.normal(size=(20, 3)), RBF(0.5)
    K = kernel(X)
    if request.param == "stored":
        base = StoredMatrix.of(K)
    else:
        dtype = np.float64 if request.param == "evaluated" else np.float32

        def prepare(dtype, indices=None):
            return kernel.prepare(X if indices is None else X[indices], dtype)

        base = EvaluatedMatrix(kernel, prepare, dtype)
    return RepeatedMatrix(base), np.tile(K, (2, 2))


def test_entries(matrices):
    ours, K = matrices
    tolerance = 1e-6 if ours.dtype == np.float32 else 1e-12
    assert ours.n == 40
    np.testing.assert_allclose(ours.diag, K.diagonal(), atol=tolerance)
    chosen = np.array([3, 25, 23, 39, 5])
    np.testing.assert_allclose(ours.rows(chosen), K[chosen], atol=tolerance)
    for some in (chosen, np.array([1, 2, 39]), np.arange(40)):
        out = padded_square(len(some), ours.dtype)
        ours.submatrix(some, out)
        np.testing.assert_allclose(out[:, : len(some)], K[np.ix_(some, some)], atol=tolerance)
    np.testing.assert_allclose(ours.stored().values[:, :40], K, atol=tolerance)
    np.testing.assert_allclose(ours.view(chosen).diag, np.ones(5), atol=tolerance)


def test_products(matrices, rng):
    ours, K = matrices
    columns, rows = np.array([0, 20, 7, 38]), np.array([2, 22, 9])
    values = rng.normal(size=4)
    tolerance = 1e-5 if ours.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(ours.product(columns, values), K[:, columns] @ values, atol=tolerance)
    np.testing.assert_allclose(ours.product(columns, values, rows), (K[:, columns] @ values)[rows], atol=tolerance)
    exact = ours.product_in_double(columns, values, rows)
    np.testing.assert_allclose(exact, (K[:, columns] @ values)[rows], atol=1e-12)
    several = rng.normal(size=(40, 3))
    np.testing.assert_allclose(ours.products(several), K @ several, atol=tolerance)
    double = ours.in_double()
    np.testing.assert_allclose(double.product(columns, values), K[:, columns] @ values, atol=1e-12)


def test_copies_that_cancel_leave_nothing(matrices):
    ours, _ = matrices
    cancelling = np.array([4, 24]), np.array([1.5, -1.5])
    assert not ours.product(*cancelling).any()
    assert not ours.product(*cancelling, np.arange(3)).any()
    assert not ours.product_in_double(*cancelling, np.arange(3)).any()
