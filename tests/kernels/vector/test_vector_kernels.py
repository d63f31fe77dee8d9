import numpy as np
import pytest
from scipy import sparse

from mercer.kernels import RBF, Delta, Laplacian, Matern, RationalQuadratic, Sigmoid
from mercer.kernels.evaluation.tiles import TILE
from tests.kernels.formulas import FORMULAS

KERNELS = pytest.mark.parametrize("name", FORMULAS)
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
LAYOUTS = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.csc_array])


@pytest.fixture(scope="module")
def rows():
    """Non-negative and half empty, so that every kernel and layout can take them."""
    rng = np.random.default_rng(7)
    X = rng.exponential(size=(23, 6)) * (rng.random((23, 6)) < 0.5)
    X[5] = X[2]
    X[9] = 0.0
    # Exact in single precision, so that both precisions see the same rows.
    return X.astype(np.float32).astype(np.float64)


def tolerance(kernel, X, dtype):
    return max(kernel.entry_error((X**2).sum(axis=1).max(), dtype), 8 * np.finfo(dtype).eps)


@KERNELS
@DTYPES
@LAYOUTS
def test_a_rectangle_is_the_formula(name, dtype, layout, rows):
    kernel, formula = FORMULAS[name]
    X, Y = rows[:14], rows[4:]
    K = kernel(layout(X.astype(dtype)), layout(Y.astype(dtype)))
    assert K.dtype == dtype
    assert K.shape == (14, 19)
    np.testing.assert_allclose(K, formula(X, Y), rtol=0, atol=tolerance(kernel, rows, dtype))


@KERNELS
@DTYPES
@LAYOUTS
def test_a_gram_matrix_is_the_formula_and_exactly_symmetric(name, dtype, layout, rows):
    kernel, formula = FORMULAS[name]
    G = kernel(layout(rows.astype(dtype)))
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, formula(rows, rows), rtol=0, atol=tolerance(kernel, rows, dtype))


@KERNELS
@LAYOUTS
def test_the_diagonal_is_that_of_the_gram_matrix(name, layout, rows):
    kernel, formula = FORMULAS[name]
    diagonal = kernel.diag(layout(rows))
    np.testing.assert_allclose(diagonal, np.diag(formula(rows, rows)), rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(diagonal, np.diag(kernel(layout(rows))))


@KERNELS
def test_valid_by_construction_means_no_negative_eigenvalue(name, rows):
    kernel, formula = FORMULAS[name]
    eigenvalues = np.linalg.eigvalsh(formula(rows, rows))
    if kernel.is_psd:
        assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]
    else:
        assert eigenvalues[0] < -1e-6, "an indefinite kernel should be seen to be one on these rows"


@KERNELS
def test_translation_invariant_kernels_do_not_notice_a_shift(name, rows):
    kernel, formula = FORMULAS[name]
    shifted = np.allclose(formula(rows, rows), formula(rows + 3.0, rows + 3.0), atol=1e-10)
    if name == "delta":
        # True of the formula, but not of rounded rows: see the file.
        assert shifted
        assert not kernel.is_translation_invariant
    elif name == "polynomial-0":
        assert shifted
    else:
        assert shifted == kernel.is_translation_invariant


@KERNELS
def test_an_entry_is_bounded(name, rows):
    kernel, formula = FORMULAS[name]
    assert np.abs(formula(rows, rows)).max() <= kernel.entry_bound((rows**2).sum(axis=1).max()) * (1 + 1e-12)


@pytest.mark.parametrize("name", ["rbf", "polynomial", "laplacian", "matern-1.5"])
@DTYPES
def test_more_rows_than_a_tile(name, dtype):
    kernel, formula = FORMULAS[name]
    X = np.random.default_rng(0).random((TILE + 37, 3)).astype(dtype)
    Y = X[: TILE + 5] * dtype(0.5)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(kernel(X), formula(exact, exact), rtol=0, atol=tolerance(kernel, exact, dtype))
    rectangle = formula(exact, Y.astype(np.float64))
    np.testing.assert_allclose(kernel(X, Y), rectangle, rtol=0, atol=tolerance(kernel, exact, dtype))


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), Matern(1.5), RationalQuadratic(0.6)])
def test_rows_far_from_the_origin_keep_their_distances(kernel):
    X = np.random.default_rng(1).normal(size=(40, 4))
    far = (X + 1000.0).astype(np.float32)
    near = far.astype(np.float64) - 1000.0
    np.testing.assert_allclose(kernel(far), kernel(near), atol=2e-6)
    np.testing.assert_allclose(kernel(far[:9], far[9:]), kernel(near[:9], near[9:]), atol=2e-6)


@pytest.mark.parametrize("kernel", [RBF(0.5), Matern(0.5), Matern(2.5), Matern(0.7), RationalQuadratic(3.0)])
@DTYPES
def test_rows_very_far_apart_are_not_alike(kernel, dtype):
    K = kernel(np.array([[0.0], [1e9]], dtype=dtype))
    np.testing.assert_allclose(K, np.eye(2), atol=1e-12)


@DTYPES
def test_the_sigmoid_saturates_without_overflow(dtype):
    kernel, _ = FORMULAS["sigmoid"]
    K = kernel(np.array([[1e6]], dtype=dtype), np.array([[1e6], [-1e6]], dtype=dtype))
    np.testing.assert_array_equal(K, [[1.0, -1.0]])


def test_the_sigmoid_of_a_small_argument_has_all_its_digits():
    t = np.concatenate([np.logspace(-300, 1, 400), [0.0199, 0.02, 0.0201]])
    found = Sigmoid(1.0)(np.concatenate([t, -t])[:, None], np.ones((1, 1)))[:, 0]
    np.testing.assert_allclose(found, np.tanh(np.concatenate([t, -t])), rtol=3e-14)


def test_delta_tells_apart_the_nearest_numbers():
    X = np.array([[1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)]]) + 0.0
    np.testing.assert_array_equal(Delta()(X), np.eye(2))


def test_matern_tends_to_the_gaussian():
    X = np.linspace(-2, 2, 9)[:, None]
    gaussian = Matern(np.inf)(X)
    errors = [np.abs(Matern(nu)(X) - gaussian).max() for nu in (2.5, 5.5, 20.0, 50.0)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01


def test_the_rational_quadratic_tends_to_the_gaussian():
    X = np.linspace(-2, 2, 9)[:, None]
    np.testing.assert_allclose(RationalQuadratic(1e6)(X), RBF(0.5)(X), atol=1e-5)
