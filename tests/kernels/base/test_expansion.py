import pickle

import numpy as np
import pytest
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels import RBF, Linear, Matern, Polynomial, Precomputed
from mercer.kernels.base.expansion import Expansion, Group
from mercer.kernels.given.precomputed import MatrixItems
from tests.kernels.formulas import squared


@pytest.fixture
def vectors(rng):
    return rng.normal(size=(700, 3))


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


@pytest.mark.parametrize("functions", [1, 4])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_values_are_sums_of_kernels_and_an_intercept(functions, layout, vectors, X, rng):
    weights, intercepts = rng.normal(size=(700, functions)), rng.normal(size=functions)
    expansion = Expansion.single(RBF(0.4), layout(vectors), weights, intercepts)
    assert expansion.n_functions == functions
    expected = np.exp(-0.4 * squared(X, vectors)) @ weights + intercepts
    np.testing.assert_allclose(expansion.values(layout(X)), expected, atol=1e-10)
    np.testing.assert_allclose(expansion.values(layout(X.astype(np.float32)), 1e-3), expected, atol=1e-3)


def test_an_origin_moves_vectors_and_rows_alike(vectors, X, rng):
    weights = rng.normal(size=(700, 1))
    far = 1e6
    expansion = Expansion.single(RBF(0.4), far + vectors, weights, [0.0], origin=np.full(3, far))
    expected = np.exp(-0.4 * squared(X, vectors)) @ weights
    np.testing.assert_allclose(expansion.values(far + X), expected, atol=1e-6)


def test_a_vector_serves_only_the_functions_of_its_group(vectors, X, rng):
    """One-vs-one with three classes: each vector has a coefficient in two of three functions."""
    edges = [0, 100, 650, 700]
    outputs = [np.array([0, 1]), np.array([0, 2]), np.array([1, 2])]
    groups = [
        Group(begin, end, rng.normal(size=(end - begin, 2)), columns)
        for begin, end, columns in zip(edges[:-1], edges[1:], outputs, strict=True)
    ]
    dense = np.zeros((700, 3))
    for group in groups:
        dense[group.begin : group.end, group.outputs] = group.coefficients
    found = Expansion(RBF(0.4), vectors, groups, np.zeros(3)).values(X)
    np.testing.assert_allclose(found, np.exp(-0.4 * squared(X, vectors)) @ dense, atol=1e-10)


def test_without_vectors_only_the_intercept_is_left(X):
    expansion = Expansion.single(RBF(0.4), np.empty((0, 3)), np.empty((0, 2)), [1.5, -2.0])
    np.testing.assert_array_equal(expansion.values(X), np.tile([1.5, -2.0], (40, 1)))


def test_without_rows_there_are_no_values(vectors):
    assert Expansion.single(RBF(0.4), vectors, np.ones((700, 2)), [0.0, 0.0]).values(np.empty((0, 3))).shape == (0, 2)


@pytest.mark.parametrize("kernel", [RBF(0.4), 3.0 * RBF(0.4), RBF(0.4) + Matern(2.5, 1.0)])
def test_neighbours_that_no_sample_meets_are_told_apart(kernel, rng):
    """Rows far from each other, of which a few have a vector next to them: single precision calls the two the same."""
    vectors = np.sort(rng.uniform(-3e8, 3e8, size=(300, 1))).astype(np.float32)
    at = (101, 173, 222)  # not among those that are looked at
    vectors[at, 0] = np.array([3.0, -5.0, 7.0], np.float32)
    rows = vectors.copy()
    rows[at, 0] += 1.0
    expansion = Expansion.single(kernel, vectors, np.full((300, 1), 2.0), [0.0])
    expected = kernel(rows.astype(float), vectors.astype(float)).sum(axis=1, keepdims=True) * 2.0
    np.testing.assert_allclose(expansion.values(rows, 1e-3), expected, atol=1e-3)


@pytest.mark.parametrize("kernel", [RBF(0.4), RBF(0.4) + Linear(), Polynomial(3, 0.1), Matern(2.5, 2.0)])
def test_rows_of_usual_sizes_stay_in_single_precision(kernel, vectors, rng):
    rows = rng.normal(size=(500, 3)).astype(np.float32)
    expansion = Expansion.single(kernel, vectors.astype(np.float32), rng.uniform(-1, 1, size=(700, 1)), [0.0])
    single = np.dtype(np.float32)
    assert expansion._single_items(rows, 1e-3).dtype == single
    expected = kernel(rows.astype(float), vectors.astype(single).astype(float)) @ expansion.groups[0].coefficients
    np.testing.assert_allclose(expansion.values(rows, 1e-3), expected, atol=1e-3)


def test_a_precomputed_kernel_needs_only_the_indices_of_its_vectors(rng):
    K = rng.normal(size=(5, 9))
    index = np.array([2, 8])
    weights = rng.normal(size=(2, 1))
    expansion = Expansion.single(Precomputed(), MatrixItems(None, index, np.float64), weights, [0.5])
    np.testing.assert_allclose(expansion.values(K), K[:, index] @ weights + 0.5)


def test_vectors_are_prepared_once_for_each_precision(vectors, X):
    expansion = Expansion.single(RBF(0.4), vectors, np.ones((700, 1)), [0.0])
    expansion.values(X)
    prepared = expansion.prepared(np.dtype(np.float64))
    expansion.values(X)
    assert expansion.prepared(np.dtype(np.float64)) is prepared
    assert expansion.prepared(np.dtype(np.float32)).dtype == np.float32


def test_a_pickle_leaves_out_what_can_be_prepared_again(vectors, X):
    expansion = Expansion.single(RBF(0.4), vectors, np.ones((700, 1)), [0.0])
    expected = expansion.values(X)
    text = pickle.dumps(expansion)
    assert len(text) < 1.5 * (vectors.nbytes + 700 * 8)
    np.testing.assert_array_equal(pickle.loads(text).values(X), expected)  # noqa: S301 - its own pickle


def test_values_that_overflow_are_an_error(vectors):
    expansion = Expansion.single(Polynomial(3, 1.0), vectors, np.ones((700, 1)), [0.0])
    with pytest.raises(
        DataError, match="the decision function overflows on X; scale X as the training data were scaled"
    ):
        expansion.values(np.full((1, 3), 1e150))
