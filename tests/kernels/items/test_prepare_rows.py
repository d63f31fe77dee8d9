import numpy as np
import pytest
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels import RBF, ChiSquared, Linear, Polynomial
from mercer.kernels.items.prepare_rows import common_dtype, prepare_rows

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


@pytest.mark.parametrize(
    "given",
    [
        X,
        np.asfortranarray(X),
        X.astype(np.float32),
        X.astype(np.float16),
        X.astype(np.int8),
        X.astype(object),
        X.tolist(),
        X[:, ::-1][:, ::-1],
        sparse.csr_matrix(X),
        sparse.csr_array(X),
        sparse.csc_array(X),
        sparse.coo_array(X),
        sparse.lil_array(X),
    ],
    ids=lambda given: type(given).__name__ + str(getattr(given, "dtype", "")),
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout_becomes_the_same_rows(given, dtype):
    rows = prepare_rows(given, dtype)
    assert rows.is_sparse == sparse.issparse(given)
    assert rows.dtype == dtype
    assert len(rows) == 2
    assert rows.dense().flags.c_contiguous
    np.testing.assert_array_equal(rows.dense(), X)
    np.testing.assert_array_equal(rows.norms, [5.0, 9.0])


def test_booleans_are_numbers():
    np.testing.assert_array_equal(prepare_rows([[True, False]], np.float64).dense(), [[1.0, 0.0]])


def messy_csr():
    """Unsorted and repeated columns, with 64-bit indices."""
    data = np.array([1.0, 2.0, 3.0, 4.0])
    indices = np.array([2, 0, 2, 1], dtype=np.int64)
    indptr = np.array([0, 3, 4], dtype=np.int64)
    matrix = sparse.csr_array((2, 3))
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def test_sparse_rows_are_sorted_and_summed_without_touching_the_users():
    given = messy_csr()
    rows = prepare_rows(given, np.float64)
    np.testing.assert_array_equal(rows.dense(), [[2.0, 0.0, 4.0], [0.0, 4.0, 0.0]])
    np.testing.assert_array_equal(rows.values.indices, [0, 2, 1])
    assert rows.values.indices.dtype == np.int32
    assert rows.values.indptr.dtype == np.int32
    np.testing.assert_array_equal(given.indices, [2, 0, 2, 1])


def test_an_array_in_the_right_form_is_not_copied():
    assert np.shares_memory(prepare_rows(X, np.float64).values, X)


def test_the_origin_is_subtracted_in_double_precision():
    big = np.array([[1e8 + 1.0], [1e8 + 3.0]])
    rows = prepare_rows(big, np.float32, origin=np.array([1e8 + 2.0]))
    np.testing.assert_array_equal(rows.dense(), [[-1.0], [1.0]])


def test_sparse_rows_are_spread_out_when_there_is_an_origin():
    rows = prepare_rows(sparse.csr_array(X), np.float64, origin=np.array([1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(rows.dense(), X - 1.0)


def test_only_an_invariant_kernel_moves_its_rows():
    origin = np.ones(3)
    np.testing.assert_array_equal(RBF().prepare(X, np.float64, origin=origin).dense(), X - 1.0)
    np.testing.assert_array_equal(Linear().prepare(X, np.float64, origin=origin).dense(), X)


def test_dense_and_sparse_meet_in_one_matrix():
    for kernel in (RBF(0.3), Polynomial(2), ChiSquared(0.3)):
        np.testing.assert_allclose(kernel(X, sparse.csr_array(X)), kernel(X, X), atol=1e-14)
        np.testing.assert_allclose(kernel(sparse.csr_array(X), X), kernel(X, X), atol=1e-14)


def test_the_dtype_of_the_result():
    single = X.astype(np.float32)
    assert common_dtype(single, None) == np.float32
    assert common_dtype(single, X) == np.float64
    assert common_dtype(X.astype(np.int32)) == np.float64
    assert Linear()(single, X).dtype == np.float64
    assert Linear()(X, dtype=np.float32).dtype == np.float32
    assert Linear()(X.astype(np.int64)).dtype == np.float64


def test_no_rows_make_an_empty_matrix():
    empty = np.empty((0, 3))
    for kernel in (RBF(), Linear(), ChiSquared()):
        assert kernel(empty).shape == (0, 0)
        assert kernel(X, empty).shape == (2, 0)
        assert kernel(empty, X).shape == (0, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], r"X must have two dimensions \(rows, features\), got shape \(2,\); X.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        ([[1.0, np.nan]], "X must be finite, but it contains NaN"),
        ([[1.0, np.inf], [-np.inf, 1.0]], "X must be finite, but it contains infinity"),
        (sparse.csr_array([[1.0, np.nan]]), "X must be finite, but it contains NaN"),
        ([["a", "b"]], "X must be a matrix of numbers: could not convert string"),
        ([[1.0], [1.0, 2.0]], "X must be a matrix of numbers"),
        ([[1j]], "X must be a matrix of numbers: complex"),
        (sparse.csr_array([[1j]]), "X must hold real numbers, got dtype complex128"),
    ],
)
@pytest.mark.parametrize("kernel", [Linear(), RBF()])
def test_data_that_cannot_be_used_are_refused(kernel, given, message):
    with pytest.raises(DataError, match=message):
        kernel(given)


def test_values_too_large_for_single_precision_are_refused():
    for given in ([[1e300]], sparse.csr_array([[1e300]])):
        with pytest.raises(DataError, match="X has values too large for float32; scale its columns"):
            Linear()(given, dtype=np.float32)


def test_the_check_can_be_skipped():
    assert np.isnan(prepare_rows([[np.nan]], np.float64, check=False).dense()).all()


def test_different_numbers_of_features_are_refused():
    with pytest.raises(DataError, match="X and Y must have the same number of features, got 3 and 2"):
        Linear()(X, X[:, :2])
    with pytest.raises(DataError, match="X must have 3 features, got 2"):
        RBF()(X, X[:, :2])


def test_histograms_are_not_negative():
    for given in (-X, sparse.csr_array(-X)):
        with pytest.raises(DataError, match="X must not be negative for ChiSquared, which compares histograms, got -3"):
            ChiSquared()(given)


def test_parts_of_prepared_rows():
    rows = prepare_rows(np.arange(12.0).reshape(6, 2), np.float64)
    np.testing.assert_array_equal(rows.take([4, 1]).dense(), [[8.0, 9.0], [2.0, 3.0]])
    np.testing.assert_array_equal(rows.slice(1, 3).norms, [13.0, 41.0])
