"""Sums of matrices in fours, and what one look at given matrices sees."""

import numpy as np
import pytest

from mercer.kernels import RBF, GivenMatrix
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.kernels.gram.kernel_family import SeveralKernels
from mercer.kernels.gram.weighted_gram_sum import UnroundedSum, look_and_sum, weighted_sum


def grams(rng, count, n):
    X = rng.normal(size=(n, 3))
    return [RBF(gamma=gamma)(X) for gamma in np.linspace(0.1, 1.0, count)]


@pytest.mark.parametrize("count", [1, 3, 4, 9])
@pytest.mark.parametrize(("n", "workers"), [(1, 1), (63, 1), (150, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_those_of_whole_matrices(rng, count, n, workers, dtype):
    matrices, weights = grams(rng, count, n), rng.uniform(size=count)
    expected = sum(w * K for w, K in zip(weights, matrices, strict=True))
    found = weighted_sum(matrices, weights, dtype, workers)
    assert found.dtype == dtype
    np.testing.assert_allclose(found[:, :n], expected, rtol=1e-6 if dtype == np.float32 else 1e-14)
    assert not found[:, n:].any()


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize(("n", "workers"), [(10, 1), (301, 1), (301, 2)])
def test_a_look_sees_what_is_not_symmetric_and_sums(rng, count, n, workers):
    matrices, spread = grams(rng, count, n), rng.uniform(-1.0, 1.0, n)
    matrices[1][2, 7] += 0.5
    residuals, total = look_and_sum(matrices, spread, np.float64, workers)
    np.testing.assert_allclose(residuals, [K @ spread - K.T @ spread for K in matrices], atol=1e-12)
    assert np.abs(residuals[1]).max() > 1e-3
    # Above the panels on the diagonal, what is below counts.
    np.testing.assert_allclose(np.tril(total[:, :n]), np.tril(sum(matrices)), rtol=1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_look_shows_what_is_not_finite(rng, value):
    matrices = grams(rng, 3, 70)
    matrices[2][40, 3] = matrices[2][3, 40] = value
    residuals, _ = look_and_sum(matrices, rng.uniform(-1.0, 1.0, 70), np.float32, 1)
    assert np.isfinite(residuals[:2]).all()
    assert not np.isfinite(residuals[2]).all()


def test_a_rounded_sum_knows_its_entries_in_double(rng):
    matrices, ridge = grams(rng, 3, 90), rng.uniform(size=90)
    X = GivenMatrices.of(matrices)
    kernels = [GivenMatrix(place) for place in range(3)]
    several = SeveralKernels(kernels, [kernel.prepare(X) for kernel in kernels])
    several.keep()
    weights = np.array([0.2, 0.0, 3.0])
    expected = 0.2 * matrices[0] + 3.0 * matrices[2] + np.diag(ridge)
    rounded = several.weighted(weights, np.float32, ridge)
    some, columns = np.array([3, 50, 7]), np.array([7, 80, 3, 11])
    coefficients = rng.normal(size=4)
    for matrix, chosen in ((rounded, np.arange(90)), (rounded.view(np.arange(10, 90)[::-1]), np.arange(10, 90)[::-1])):
        part = expected[np.ix_(chosen, chosen)]
        some_here, columns_here = some % len(chosen), columns % len(chosen)
        product = matrix.product_in_double(columns_here, coefficients, some_here)
        np.testing.assert_allclose(product, part[np.ix_(some_here, columns_here)] @ coefficients, rtol=1e-13)
        np.testing.assert_allclose(matrix.rows_in_double(some_here), part[some_here], rtol=1e-13)
        np.testing.assert_allclose(matrix.in_double().values[:, : len(chosen)], part, rtol=1e-13)
    assert len(UnroundedSum(several, weights).rough_rows()) == 0


def test_a_sum_that_is_known_is_taken_once(rng):
    matrices = grams(rng, 2, 40)
    X = GivenMatrices.of(matrices)
    kernels = [GivenMatrix(place) for place in range(2)]
    several = SeveralKernels(kernels, [kernel.prepare(X) for kernel in kernels])
    several.keep()
    several.total = weighted_sum(matrices, np.ones(2), np.float64, 1)
    known = several.total
    half = several.weighted(np.array([0.5, 0.5]))
    assert np.shares_memory(half.values, known)
    np.testing.assert_allclose(half.values[:, :40], 0.5 * (matrices[0] + matrices[1]))
    assert several.total is None
    np.testing.assert_allclose(several.weighted(np.ones(2)).values[:, :40], matrices[0] + matrices[1])
