import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels import RBF, Linear, Matern, Polynomial, Precomputed, RationalQuadratic
from mercer.kernels.base.expansion import Expansion, Group
from mercer.kernels.base.single_precision import SinglePrecision
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
    rule = expansion._single_precision(rows, 1e-3)
    assert len(rule.near_rows(rows, expansion.prepare(rows, np.float32))) == len(rows)
    expected = kernel(rows.astype(float), vectors.astype(np.float32).astype(float)) @ expansion.groups[0].coefficients
    np.testing.assert_allclose(expansion.values(rows, 1e-3), expected, atol=1e-3)


@pytest.mark.parametrize("farther", [1e3, 1e4, 1e6])
@pytest.mark.parametrize("kernel", [RBF(0.4), 2.0 * RBF(0.4) + Matern(2.5, 1.0), RBF(0.4) * Matern(1.5, 2.0)])
def test_a_few_distant_rows_and_vectors_are_as_exact_as_the_others(kernel, farther, vectors, rng):
    """They have neighbours next to them, which single precision would call the same; the others stay in it."""
    vectors[[5, 77, 400]] *= farther
    vectors[123] = vectors[77] + 0.5
    vectors = vectors.astype(np.float32)
    rows = rng.normal(size=(500, 3)).astype(np.float32)
    rows[[3, 99]] = vectors[[5, 400]] + np.float32(0.25)
    coefficients = rng.uniform(-1, 1, size=(700, 1))
    expansion = Expansion.single(kernel, vectors, coefficients, [0.0])
    rule = expansion._single_precision(rows, 1e-3)
    near = rule.near_rows(rows, expansion.prepare(rows, np.float32))
    np.testing.assert_array_equal(np.delete(np.arange(500), near), [3, 99])
    distances = squared(rows.astype(float), vectors.astype(float))
    np.testing.assert_allclose(expansion.values(rows, 1e-3), _of_squares(kernel, distances) @ coefficients, atol=1e-3)


@pytest.mark.parametrize("kernel", [RBF(0.4), RBF(4.0), 2.0 * RBF(0.4) + Matern(2.5, 1.0), RationalQuadratic(0.5, 1.0)])
def test_entries_beside_longer_vectors_err_less_than_estimated(kernel, rng):
    """Vectors in the direction of a row, so that no longer one is closer to it."""
    directions = rng.normal(size=(200, 5))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for length, factor in itertools.product((1.0, 5.0, 30.0), (1.001, 1.01, 1.1, 2.0, 100.0)):
        rows, vectors = ((r * directions).astype(np.float32) for r in (length, factor * length))
        rule = SinglePrecision(Expansion.single(kernel, vectors, np.ones((200, 1)), [0.0]), 1e-3)
        single = np.diag(rule._entries(kernel.prepare(rows, np.float32), kernel.prepare(vectors, np.float32)))
        double = np.diag(_of_squares(kernel, squared(rows.astype(float), vectors.astype(float))))
        norms = (vectors.astype(float) ** 2).sum(axis=1)
        estimated = rule._error_beside(float((rows.astype(float) ** 2).sum(axis=1).max()), norms)
        assert np.abs(single - double).max() <= estimated
        assert estimated <= 1.1 * kernel.entry_error(float(norms.max()), np.float32)


def test_vectors_longer_than_near_rows_need_no_double_precision(vectors, rng):
    """Rows and vectors of all lengths up to some, of which a share is too long beside rows of its own length."""
    vectors = (60.0 * vectors).astype(np.float32)
    rows = (60.0 * rng.normal(size=(3000, 3))).astype(np.float32)
    coefficients = rng.choice([-1.0, 1.0], size=(700, 1))
    expansion = Expansion.single(RBF(0.4), vectors, coefficients, [0.0])
    rule = expansion._single_precision(rows, 1e-2)
    assert 0 < np.mean((vectors.astype(float) ** 2).sum(axis=1) > rule.reach) < 0.25
    rows[:200] = vectors[:200] * np.float32(0.99)
    near = rule.near_rows(rows, expansion.prepare(rows, np.float32))
    assert 2250 < len(near) < 3000
    expected = np.exp(-0.4 * squared(rows.astype(float), vectors.astype(float))) @ coefficients
    np.testing.assert_allclose(expansion.values(rows, 1e-2), expected, atol=1e-2)


def _of_squares(kernel, squares):
    """The kernel from exact squared distances: of points at that distance from the origin, on a line."""
    return kernel(np.sqrt(squares).reshape(-1, 1), np.zeros((1, 1))).reshape(squares.shape)


def test_the_functions_of_distant_vectors_keep_their_coefficients(rng):
    """Several groups, with near and far vectors in two of them and far ones alone in the third."""
    vectors = rng.normal(size=(600, 4)).astype(np.float32)
    vectors[[10, 250, 251]] *= 1e4
    vectors[590:] += np.float32(3e4)
    edges, outputs = [0, 250, 590, 600], [np.array([0, 1]), np.array([0, 2]), np.array([1, 2])]
    groups = [
        Group(begin, end, rng.uniform(-1, 1, size=(end - begin, 2)), columns)
        for begin, end, columns in zip(edges[:-1], edges[1:], outputs, strict=True)
    ]
    rows = np.concatenate([rng.normal(size=(300, 4)), vectors[[10, 251, 595]] + 0.25]).astype(np.float32)
    expansion = Expansion(RBF(0.4), vectors, groups, np.array([0.5, -1.0, 0.0]))
    assert expansion._single_precision(rows, 1e-3) is not None
    dense = np.zeros((600, 3))
    for group in groups:
        dense[group.begin : group.end, group.outputs] = group.coefficients
    expected = np.exp(-0.4 * squared(rows.astype(float), vectors.astype(float))) @ dense + expansion.intercepts
    np.testing.assert_allclose(expansion.values(rows, 1e-3), expected, atol=1e-3)
    np.testing.assert_allclose(expansion.values(rows.astype(float)), expected, atol=1e-10)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("largest", [1e3, 1e6, 1e19, 3e38])
def test_squared_lengths_may_exceed_single_precision(layout, largest, vectors, rng):
    rows, vectors = rng.normal(size=(200, 3)).astype(np.float32), vectors.astype(np.float32)
    rows[7] = largest
    weights = rng.uniform(-1, 1, size=(700, 1))
    for distant in ([], [20, 21]):
        vectors[distant] = largest
        expansion = Expansion.single(RBF(0.4), layout(vectors), weights, [0.0])
        expected = np.exp(-0.4 * squared(rows.astype(float), vectors.astype(float))) @ weights
        np.testing.assert_allclose(expansion.values(layout(rows), 1e-3), expected, atol=1e-3)


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
