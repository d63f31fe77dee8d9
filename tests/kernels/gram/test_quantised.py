import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.estimators.fitting.training import TrainingData
from mercer.kernels import RBF, Polynomial, Sigmoid
from mercer.kernels.evaluation.symmetric_product import symmetric_product, triangle_products
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.packed_triangle import Triangle
from mercer.kernels.gram.quantised import RoundedMatrix


def evaluated(kernel, n, dtype=np.float32, seed=0):
    data = TrainingData(kernel, np.random.default_rng(seed).normal(size=(n, 4)))
    return EvaluatedMatrix(data.kernel, data.prepare, dtype)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Polynomial(degree=3, gamma=0.5, coef0=1.0)])
@pytest.mark.parametrize("n", [1, 511, 512, 1301])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_products_err_by_the_noise_it_states(kernel, n, k):
    matrix = evaluated(kernel, n, np.float64)
    K, columns = matrix.rows(np.arange(n)), np.random.default_rng(1).normal(size=(n, k))
    rounded = RoundedMatrix.of(matrix)
    errors = np.linalg.norm(rounded.products(columns) - K @ columns, axis=0)
    assert (errors <= 3.0 * rounded.noise * np.linalg.norm(columns, axis=0)).all()
    assert rounded.noise > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_symmetric_products_are_those_of_the_matrix(dtype, k, size):
    matrix = evaluated(RBF(gamma=0.3), 1301, dtype)
    K = matrix.rows(np.arange(1301)).astype(np.float64)
    columns = size * np.random.default_rng(1).normal(size=(1301, k))
    np.testing.assert_allclose(
        symmetric_product(matrix.kernel, matrix.items, columns, matrix.n_jobs),
        K @ columns,
        atol=size * (2e-4 if dtype == np.float32 else 1e-10),
    )


def test_rows_are_those_of_the_matrix():
    matrix = evaluated(RBF(gamma=0.3), 1301)
    rounded = RoundedMatrix.of(matrix)
    chosen = np.array([0, 7, 511, 512, 900, 1023, 1024, 1300])
    np.testing.assert_allclose(rounded.rows(chosen), matrix.rows(chosen), atol=0.51 * rounded.unit)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.float32, np.float64])
def test_a_triangle_of_any_kind_of_number_times_columns(dtype):
    rng = np.random.default_rng(0)
    whole = rng.integers(-100, 100, size=(700, 700))
    whole = np.tril(whole) + np.tril(whole, -1).T
    columns = rng.normal(size=(700, 5))
    found = triangle_products(Triangle.of(whole, dtype), columns)
    np.testing.assert_allclose(found, whole @ columns, atol=1e-9)


def test_the_number_of_threads_changes_nothing():
    matrix = evaluated(RBF(gamma=0.3), 2000)
    columns = np.random.default_rng(1).normal(size=(2000, 2))
    found = []
    for n_jobs in (1, 2):
        matrix.n_jobs = n_jobs
        found.append(symmetric_product(matrix.kernel, matrix.items, columns, matrix.n_jobs))
    np.testing.assert_array_equal(*found)


def test_entries_beyond_the_diagonal_are_not_rounded():
    assert RoundedMatrix.of(evaluated(Sigmoid(gamma=0.001, coef0=-1.0), 50)) is None


def test_it_stops_when_asked():
    matrix = evaluated(RBF(gamma=0.3), 1301)
    with pytest.raises(Stopped):
        RoundedMatrix.of(matrix, stop=lambda *_: True)
    with pytest.raises(Stopped):
        RoundedMatrix.of(matrix).products(np.ones((1301, 1)), stop=lambda: True)
