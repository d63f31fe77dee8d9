"""Dense and sparse rows answer the same questions with the same numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from mercer.kernels import RBF, Laplacian, Linear
from mercer.kernels.items.rows import Rows
from mercer.kernels.items.sparse_rows import MOST_LINES, SparseRows, is_mostly_zeros, panel_width

PANEL = panel_width(np.dtype(np.float32))


def pair(n, m, d=9, dtype=np.float64, density=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = (rng.normal(size=(k, d)) * (rng.random((k, d)) < density) for k in (n, m))
    return X.astype(dtype), Y.astype(dtype)


@pytest.mark.parametrize("left", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sizes", [(1, 1), (7, 3), (40, PANEL), (5, PANEL + 1), (30, 2 * PANEL + 17)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inner_products(left, right, sizes, dtype):
    X, Y = pair(*sizes, dtype=dtype)
    tile = Rows(left(X)).dots(Rows(right(Y)))
    assert tile.dtype == dtype
    assert tile.flags.c_contiguous
    np.testing.assert_allclose(tile, X.astype(np.float64) @ Y.T.astype(np.float64), atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("d", [1, 64, 65, 300, MOST_LINES, MOST_LINES + 1, 5000])
def test_any_number_of_features(d):
    X, Y = pair(6, 11, d)
    for layout in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(Rows(layout(X)).dots(Rows(layout(Y))), X @ Y.T, atol=1e-12)


@pytest.mark.parametrize("nonzeros", range(11))
def test_rows_of_any_length_are_summed_in_full(nonzeros):
    X = np.zeros((3, 12))
    X[1, :nonzeros] = np.arange(1, nonzeros + 1)
    Y = np.ones((2, 12))
    found = Rows(sparse.csr_array(X)).dots(Rows(sparse.csr_array(Y)))
    np.testing.assert_array_equal(found, X @ Y.T)


@given(
    arrays.arrays(np.float64, (5, 4), elements=st.sampled_from([0.0, 0.0, 1.0, -2.5])),
    arrays.arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 0.0, 1.0, -2.5])),
)
def test_empty_rows_and_features_that_one_side_lacks(X, Y):
    found = Rows(sparse.csr_array(X)).dots(Rows(sparse.csr_array(Y)))
    np.testing.assert_array_equal(found, X @ Y.T)


@pytest.mark.parametrize("d", [9, MOST_LINES + 1])
def test_features_beyond_the_last_of_the_right_hand_side_count_for_nothing(d):
    """Texts have substrings that no training text has; they are all numbered alike, after the last."""
    X, Y = pair(6, 11, d)
    wider = sparse.csr_array(np.hstack([X, np.ones((6, 1))]))
    np.testing.assert_allclose(Rows(wider).dots(Rows(sparse.csr_array(Y))), X @ Y.T, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.01), Linear()])
def test_rows_that_are_mostly_zeros_are_compared_without_them(kernel, dtype):
    X, Y = pair(900, 7, 100, dtype, density=0.1)
    rows = kernel.prepare(X, dtype)
    assert rows.is_sparse
    np.testing.assert_array_equal(rows.dense(), X)
    origin = np.zeros(100)  # moved rows keep their zeros
    expected = kernel(X.astype(np.float64)[:20], Y.astype(np.float64))
    np.testing.assert_allclose(
        kernel(X, Y)[:20], expected, rtol=20 * np.finfo(dtype).eps, atol=50 * np.finfo(dtype).eps
    )
    assert kernel.prepare(X, dtype, origin=origin).is_sparse


@pytest.mark.parametrize(("n", "d", "density"), [(900, 100, 0.4), (900, 64, 0.1), (30, 100, 0.1), (0, 100, 0.1)])
def test_few_zeros_few_columns_or_few_numbers_stay_as_they_are(n, d, density):
    X, _ = pair(n, 1, d, density=density)
    assert not is_mostly_zeros(X)
    assert not Linear().prepare(X).is_sparse


def test_kernels_that_are_no_function_of_inner_products_see_zeros():
    X, _ = pair(900, 1, 100, density=0.1)
    assert not Laplacian(gamma=0.1).prepare(X).is_sparse


def test_zeros_far_from_the_mean_are_moved_like_all_numbers():
    """Nine columns in ten are zero, and the others a thousand away: distances would lose three digits."""
    X, _ = pair(900, 1, 100, density=0.1)
    X[:, ::10] = 1000.0 + np.random.default_rng(0).normal(size=(900, 10))
    assert is_mostly_zeros(X)
    kernel = RBF(gamma=0.1)
    assert kernel._origin(X, None) is not None
    assert kernel._origin(np.where(X > 900, X - 1000, X), None) is None


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_are_accumulated_in_double(layout, dtype):
    X = np.full((2, 100_000), 0.1, dtype)
    X[1, ::2] = 0.0
    norms = Rows(layout(X)).norms
    assert norms.dtype == dtype
    expected = (X.astype(np.float64) ** 2).sum(axis=1)
    np.testing.assert_allclose(norms, expected, rtol=1e-7 if dtype is np.float32 else 1e-11)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_slices_and_subsets_are_rows(layout):
    X, Y = pair(20, 6)
    rows, right = Rows(layout(X)), Rows(layout(Y))
    assert len(rows) == 20
    assert rows.n_features == 9
    chosen = np.array([19, 0, 0, 7])
    for part, own in [
        (rows.slice(3, 9), X[3:9]),
        (rows.slice(3, 9).slice(1, 4), X[4:7]),
        (rows.take(chosen), X[chosen]),
        (rows.slice(3, 9).take(np.array([5, 1])), X[[8, 4]]),
        (rows.take(chosen).slice(1, 3), X[[0, 0]]),
        (rows.slice(4, 4), X[:0]),
        (rows.take(np.empty(0, np.int64)), X[:0]),
    ]:
        assert len(part) == len(own)
        np.testing.assert_array_equal(part.dense(), own)
        np.testing.assert_allclose(part.norms, (own**2).sum(axis=1), atol=1e-13)
        np.testing.assert_allclose(part.dots(right), own @ Y.T, atol=1e-13)
        np.testing.assert_allclose(right.dots(part), Y @ own.T, atol=1e-13)


def test_slicing_copies_nothing():
    X, _ = pair(20, 6)
    assert np.shares_memory(Rows(X).slice(3, 9).values, X)
    csr = sparse.csr_array(X)
    assert Rows(csr).slice(3, 9).values.data is csr.data


def test_subsets_are_copies():
    X, _ = pair(20, 6)
    rows = Rows(X)
    rows.take(np.array([1])).values[:] = 99.0
    assert rows.values.max() < 99.0


def test_sparse_rows_come_back_as_they_went_in():
    X, _ = pair(20, 6)
    rows = SparseRows.from_scipy(sparse.csr_matrix(X))
    np.testing.assert_array_equal(rows.to_scipy().toarray(), X)
    np.testing.assert_array_equal(rows.slice(5, 8).to_scipy().toarray(), X[5:8])


def test_dense_rows_lose_their_zeros_and_nothing_else():
    X, _ = pair(20, 6)
    X[3] = 0.0
    rows = SparseRows.from_dense(X)
    assert (rows.data != 0).all()
    np.testing.assert_array_equal(rows.to_scipy().toarray(), X)


def test_64_bit_indices_are_read():
    X, Y = pair(8, 5)
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    np.testing.assert_allclose(Rows(csr).dots(Rows(sparse.csr_array(Y))), X @ Y.T, atol=1e-13)
    np.testing.assert_array_equal(Rows(csr).take(np.array([7, 1])).dense(), X[[7, 1]])
