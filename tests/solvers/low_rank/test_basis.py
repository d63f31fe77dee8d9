"""Coordinates from landmarks: what they are, and what no jitter mends."""

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError
from mercer.kernels import RBF, Linear, Polynomial, Sigmoid
from mercer.solvers.low_rank.basis import Basis, coordinate_weights, jittered_factor, left_of_trace
from mercer.solvers.low_rank.kernel_blocks import KernelBlocks, RowsInMemory

X = np.random.default_rng(0).normal(size=(700, 3))
MARKS = np.arange(0, 700, 10)


def basis_of(kernel, dtype=np.float64):
    return Basis(kernel, lambda kind: kernel.prepare(X[MARKS], kind), dtype)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.5), Linear(), Polynomial(degree=2, gamma=1.0, coef0=1.0)])
def test_coordinates_give_the_kernel_where_landmarks_do(kernel):
    basis = basis_of(kernel)
    coordinates = basis.coordinates(kernel.prepare(X))
    K, across = kernel(X[MARKS]), kernel(X, X[MARKS])
    spanned = across @ np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ across.T
    np.testing.assert_allclose(coordinates @ coordinates.T, spanned, atol=1e-5 * np.abs(K).max())


def test_what_is_left_is_positive_semidefinite_jitter_included():
    kernel = RBF(gamma=0.5)
    for dtype in (np.float32, np.float64):
        coordinates = basis_of(kernel, dtype).coordinates(kernel.prepare(X))
        left = np.linalg.eigvalsh(kernel(X) - coordinates @ coordinates.T)
        assert left.min() > -1e-10


def test_a_function_of_coordinates_is_a_sum_of_kernels_of_no_greater_norm():
    kernel = RBF(gamma=0.5)
    basis, w = basis_of(kernel, np.float32), np.random.default_rng(1).normal(size=len(MARKS))
    coefficients = basis.coefficients(w)
    np.testing.assert_allclose(kernel(X, X[MARKS]) @ coefficients, basis.coordinates(kernel.prepare(X)) @ w, atol=1e-8)
    assert coefficients @ kernel(X[MARKS]) @ coefficients <= w @ w


def test_weights_of_dual_coefficients_are_sums_of_coordinates():
    kernel = RBF(gamma=0.5)
    basis, beta = basis_of(kernel), np.random.default_rng(2).normal(size=(700, 2))
    coordinates = basis.coordinates(kernel.prepare(X))
    np.testing.assert_allclose(basis.weights(kernel.prepare(X), beta), coordinates.T @ beta, atol=1e-9)


def test_the_jitter_is_a_few_units_of_rounding_where_that_is_enough():
    gram = RBF(gamma=5.0)(X[MARKS])
    factor, jitter = jittered_factor(gram)
    assert jitter <= len(MARKS) * np.finfo(np.float64).eps
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-13)
    assert jittered_factor(gram, np.float32)[1] == pytest.approx(8 * np.finfo(np.float32).eps)


def test_equal_landmarks_have_a_factor():
    factor, jitter = jittered_factor(np.ones((50, 50)))
    assert np.isfinite(factor).all()
    assert jitter < 1e-10


def test_an_indefinite_kernel_is_refused_with_a_witness():
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    gram = kernel(X[MARKS])
    assert np.linalg.eigvalsh(gram).min() < -1e-3
    with pytest.raises(NotPositiveSemidefiniteError, match="positive semidefinite on the landmarks") as error:
        basis_of(kernel)
    assert error.value.witness @ gram @ error.value.witness < 0


def test_weights_from_groups_are_those_of_their_rows():
    from mercer.kernels.base.expansion import Group

    coordinates, indices = np.random.default_rng(3).normal(size=(20, 4)), np.array([3, 7, 11])
    groups = [
        Group(0, 2, np.array([[1.0], [2.0]]), np.array([1])),
        Group(2, 3, np.array([[5.0, 7.0]]), np.array([0, 1])),
    ]
    found = coordinate_weights(coordinates, indices, groups, 2)
    np.testing.assert_allclose(found[:, 0], 5.0 * coordinates[11])
    np.testing.assert_allclose(found[:, 1], coordinates[3] + 2.0 * coordinates[7] + 7.0 * coordinates[11])


def _rows(features):
    return features.copy(), None


@pytest.mark.parametrize("memory", [0, 2**30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_kernel_values_whether_they_are_kept_or_not(memory, dtype):
    rows = np.random.default_rng(4).normal(size=(5000, 3))
    kernel = RBF(gamma=0.5)
    blocks = KernelBlocks(basis_of(kernel), RowsInMemory(lambda kind: kernel.prepare(rows, kind), 5000), memory)
    assert blocks.n == 5000
    for _ in range(2):
        found = np.concatenate([first for first, _ in blocks.map(_rows, (), [()] * len(blocks.sizes), dtype)])
        assert found.dtype == dtype
        np.testing.assert_allclose(found, kernel(rows, X[MARKS]), atol=2e-6 if dtype == np.float32 else 1e-13)


def test_kernel_values_are_kept_in_one_precision_where_memory_allows():
    kernel, rows = RBF(gamma=0.5), np.random.default_rng(4).normal(size=(500, 3))
    size = 500 * len(X[MARKS]) * 4
    for memory, is_kept in ((size, True), (size - 1, False)):
        blocks = KernelBlocks(basis_of(kernel), RowsInMemory(lambda kind: kernel.prepare(rows, kind), 500), memory)
        for dtype in (np.float32, np.float64):
            list(blocks.map(_rows, (), [()] * len(blocks.sizes), dtype))
        kept = {dtype: values is not None for dtype, (values, _) in blocks._kept.items()}
        assert kept == {np.dtype(np.float32): is_kept, np.dtype(np.float64): False}
        assert blocks._memory == (0 if is_kept else memory)


def test_sums_over_blocks_are_products_with_the_matrix():
    rng = np.random.default_rng(5)
    rows, kernel = rng.normal(size=(5000, 3)), RBF(gamma=0.5)
    blocks = KernelBlocks(basis_of(kernel), RowsInMemory(lambda kind: kernel.prepare(rows, kind), 5000), 0)
    matrix, V, beta = kernel(rows, X[MARKS]), rng.normal(size=(blocks.n_features, 2)), rng.normal(size=(5000, 2))
    np.testing.assert_allclose(blocks.values(V), matrix @ V, atol=1e-11)
    np.testing.assert_allclose(blocks.combination(beta), matrix.T @ beta, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_jitter_is_a_share_of_the_largest_entry(dtype):
    gram = np.diag([1e-6, 1.0, 1e3])
    factor, jitter = jittered_factor(gram, dtype)
    np.testing.assert_allclose(factor @ factor.T, gram + jitter * np.eye(3), rtol=1e-12)
    assert 1e-3 <= jitter / (1e3 * np.finfo(dtype).eps) <= 1e3
    assert jittered_factor(np.zeros((2, 2)), dtype)[1] > 0.0


@pytest.mark.parametrize("n", [70, 700])
def test_what_landmarks_span_of_a_row_is_the_square_of_its_coordinates(n):
    kernel = RBF(gamma=0.5)
    basis, points = basis_of(kernel), kernel.prepare(X[:n])
    np.testing.assert_allclose(basis.captured(points), np.sum(basis.coordinates(points) ** 2, axis=1), rtol=1e-12)


def test_what_is_left_is_a_share_of_the_variance_in_feature_space(rng):
    rows = rng.normal(size=(6, 3)) + 2.0
    left, share = left_of_trace(rows, np.sum(rows**2, axis=1) + 0.5)
    assert left == pytest.approx(3.0)
    assert share == pytest.approx(3.0 / (np.sum((rows - rows.mean(axis=0)) ** 2) + 3.0))
    assert left_of_trace(1e-3 * rows, 1e-6 * (np.sum(rows**2, axis=1) + 0.5))[1] == pytest.approx(share)
    assert left_of_trace(np.zeros((3, 2)), np.zeros(3)) == (0.0, 0.0)
