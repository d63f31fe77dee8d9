"""Several kernels on the same items: kept matrices and tiles give the same answers."""

import numpy as np
import pytest

from mercer._errors import DataError, ParameterError
from mercer._jit.threads import Stopped
from mercer.kernels import RBF, GivenMatrix, Laplacian, Linear, Spectrum
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.kernels.gram.kernel_family import SeveralKernels


def several(rng, n=600):
    """Three kernels that share their rows, one of pairs of rows; more than two tiles of items."""
    X = rng.normal(size=(n, 3))
    kernels = [Linear(), RBF(gamma=0.3), Linear() + 1.0, Laplacian(gamma=0.2)]
    shared = Linear().prepare(X)
    return SeveralKernels(kernels, [shared, shared, shared, kernels[3].prepare(X)]), [k(X) for k in kernels]


@pytest.mark.parametrize("is_kept", [True, False])
def test_every_question_is_answered_as_by_whole_matrices(rng, is_kept):
    kernels, grams = several(rng)
    if is_kept:
        kernels.keep()
    weights, columns = rng.uniform(size=600), rng.normal(size=(600, 2))
    np.testing.assert_allclose(kernels.products(columns), [K @ columns for K in grams], atol=1e-9)
    some = np.flatnonzero(weights < 0.3)
    expected = [K[np.ix_(some, some)] @ columns[some] for K in grams]
    np.testing.assert_allclose(kernels.products(columns[some], some), expected, atol=1e-9)
    forms = [np.einsum("it,ij,jt->", columns[some], K[np.ix_(some, some)], columns[some]) for K in grams]
    np.testing.assert_allclose(kernels.quadratic_forms(columns[some], some), forms, rtol=1e-9)
    inner = [[np.einsum("i,j,ij,ij->", weights, weights, K, L, optimize=True) for L in grams] for K in grams]
    np.testing.assert_allclose(kernels.inner_products(weights), inner, rtol=1e-10)
    means, variances = kernels.spreads(weights)
    share = weights / weights.sum()
    np.testing.assert_allclose(means, [share @ K.diagonal() for K in grams])
    np.testing.assert_allclose(variances, [share @ K.diagonal() - share @ K @ share for K in grams], atol=1e-10)


def test_weighted_sums_of_kept_matrices(rng):
    kernels, grams = several(rng, 300)
    kernels.keep()
    for K, kept in zip(grams, kernels.matrices, strict=True):
        np.testing.assert_allclose(kept, K, atol=1e-12)
        np.testing.assert_array_equal(kept, kept.T)
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    total = kernels.scaled([1.0, 2.0, 3.0, 4.0]).weighted(weights)
    expected = 0.5 * grams[0] + 6.0 * grams[2] + 4.0 * grams[3]
    np.testing.assert_allclose(total.values[:, :300], expected, atol=1e-9)
    assert not total.values[:, 300:].any()
    np.testing.assert_array_equal(total.values[:, :300], total.values[:, :300].T)
    assert not kernels.weighted(np.zeros(4)).values.any()


def test_scaled_kernels_and_their_source_do_not_write_over_each_other(rng):
    kernels, grams = several(rng)
    kernels.keep()
    kernels.total, whole = sum(grams), sum(grams)
    other = kernels.scaled([3.0] * 4)
    np.testing.assert_allclose(other.weighted(np.ones(4)).values[:, : len(whole)], 3.0 * whole, atol=1e-9)
    np.testing.assert_allclose(kernels.weighted(np.ones(4)).values[:, : len(whole)], whole, atol=1e-9)


def test_scaled_kernels_without_matrices(rng):
    kernels, grams = several(rng, 100)
    columns = rng.normal(size=(100, 1))
    scaled = kernels.scaled([1.0, 2.0, 3.0, 4.0]).products(columns)
    np.testing.assert_allclose(scaled, [f * K @ columns for f, K in zip([1, 2, 3, 4], grams, strict=True)], atol=1e-9)


def test_given_matrices_are_not_copied(rng):
    X = rng.normal(size=(50, 2))
    grams = [Linear()(X), RBF()(X)]
    given = GivenMatrices.of(grams)
    kernels = SeveralKernels([GivenMatrix(0), GivenMatrix(1)], [GivenMatrix(m).prepare(given) for m in range(2)])
    kernels.keep()
    assert all(kept is gram for kept, gram in zip(kernels.matrices, grams, strict=True))
    single = GivenMatrices.of([gram.astype(np.float32) for gram in grams])
    other = SeveralKernels(kernels.kernels, [GivenMatrix(m).prepare(single) for m in range(2)])
    other.keep()
    np.testing.assert_allclose(other.matrices[1], grams[1], atol=1e-6)


def test_texts_have_their_own_form():
    texts = ["abab", "baba", "aab", "bbb"]
    kernel = Spectrum(2)
    kernels = SeveralKernels([kernel], [kernel.prepare(texts)])
    kernels.keep()
    np.testing.assert_allclose(kernels.matrices[0], kernel(texts))


@pytest.mark.parametrize("ask", ["keep", "products", "inner_products"])
def test_a_stop_is_heard_between_tiles(rng, ask):
    kernels, _ = several(rng)
    arguments = {"keep": (), "products": (np.ones((600, 1)),), "inner_products": (np.ones(600),)}[ask]
    with pytest.raises(Stopped):
        getattr(kernels, ask)(*arguments, stop=lambda: True)
    assert kernels.matrices is None


def test_rows_of_given_matrices(rng):
    grams = rng.normal(size=(3, 4, 4))
    given = GivenMatrices.of(grams)
    assert (len(given), given.shape) == (4, (4, 4))
    part = given[np.array([2, 0])]
    np.testing.assert_array_equal(GivenMatrix(1).prepare(part).index, [2, 0])
    assert GivenMatrices.of(given) is given
    total = (GivenMatrix(0) + 2.0 * GivenMatrix(2))([g + g.T for g in grams])
    np.testing.assert_allclose(total, grams[0] + grams[0].T + 2.0 * (grams[2] + grams[2].T))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(3), r"must be a list of kernel matrices, or an array of shape .* of shape \(3, 3\)"),
        ([], "must be a list of kernel matrices"),
        ([np.eye(2), np.eye(3)], r"X\[1\] must have the shape of X\[0\], \(2, 2\), got \(3, 3\)"),
        ([np.eye(2), np.full((2, 2), np.nan)], r"X\[1\] must be finite"),
        ([[["a"]]], r"X\[0\] must be a matrix of real numbers"),
        ([np.ones(3)], r"X\[0\] must be a matrix of real numbers, got shape \(3,\)"),
    ],
)
def test_what_is_no_set_of_matrices_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        GivenMatrices.of(X)


def test_a_matrix_that_is_not_there():
    with pytest.raises(DataError, match=r"there is no matrix X\[2\]: X holds 1"):
        GivenMatrix(2)([np.eye(2)])
    with pytest.raises(ParameterError, match="takes the matrices themselves and no Y"):
        GivenMatrix(0)([np.eye(2)], [np.eye(2)])
    with pytest.raises(DataError, match="known only for a square precomputed matrix"):
        (GivenMatrix(0) + GivenMatrix(0))([np.ones((2, 3))])
