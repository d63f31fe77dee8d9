"""Products by inverted lists are those of SciPy's sparse matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_index import numbered
from mercer.kernels.items.inverted_index import Inverted
from mercer.kernels.items.sparse_rows import SparseRows


def drawn(rng, n, d, density):
    matrix = sparse.random_array((n, d), density=density, rng=rng, format="csr")
    # One feature that all have, as most texts have an "e".
    return sparse.csr_array(sparse.hstack([matrix, np.ones((n, 1))]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 90), st.floats(0, 0.6), st.integers(0, 2**32 - 1))
def test_products_are_those_of_scipy(n, m, density, seed):
    rng = np.random.default_rng(seed)
    left, right = drawn(rng, n, 30, density), drawn(rng, m, 30, density)
    out = np.full((n, m), np.nan)
    Inverted(SparseRows.from_scipy(right)).products(SparseRows.from_scipy(left), out)
    np.testing.assert_allclose(out, (left @ right.T).toarray(), atol=1e-12)


def test_a_slice_of_rows_is_multiplied_as_such():
    matrix = drawn(np.random.default_rng(0), 50, 40, 0.2)
    rows = SparseRows.from_scipy(matrix)
    out = np.empty((7, 20))
    Inverted(rows.slice(30, 50)).products(rows.slice(3, 10), out)
    np.testing.assert_allclose(out, (matrix[3:10] @ matrix[30:50].T).toarray(), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60))
def test_keys_are_numbered_in_order(keys):
    keys = np.array(keys, np.uint64)
    found, number = numbered(keys)
    expected, inverse = np.unique(keys, return_inverse=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(number, inverse)


def test_many_keys_make_the_table_grow():
    keys = np.random.default_rng(0).integers(0, 40_000, 100_000).astype(np.uint64) << np.uint64(40)
    found, number = numbered(keys)
    np.testing.assert_array_equal(found[number], keys)
    assert (np.diff(found.astype(float)) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_occurrences_of_one_feature_are_added_up(dtype):
    rng = np.random.default_rng(1)
    item, key = rng.integers(0, 6, 300), rng.integers(0, 50, 300).astype(np.uint64)
    weight = rng.random(300)
    counts = Counts.from_occurrences(item, key, weight, 7, dtype)
    dense = np.zeros((7, 50))
    np.add.at(dense, (item, key.astype(int)), weight)
    matrix = counts.to_scipy()
    assert matrix.dtype == dtype
    assert matrix.has_sorted_indices
    np.testing.assert_allclose(matrix.toarray(), dense[:, counts.vocabulary.keys.astype(int)], rtol=1e-5)
    np.testing.assert_allclose(counts.dots(counts), dense @ dense.T, rtol=1e-4)
