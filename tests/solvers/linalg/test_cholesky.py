import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.kernels.gram.packed_triangle import Triangle
from mercer.solvers.linalg.cholesky import NotPositiveDefinite, factorise


def positive(n, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, n))
    return rows @ rows.T / n + np.eye(n)


@pytest.mark.parametrize("n", [1, 5, 511, 512, 513, 1300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factor_solves_and_inverts(n, dtype):
    A = positive(n)
    factor = factorise(Triangle.of(A, dtype))
    right = np.random.default_rng(1).normal(size=(n, 3))
    tolerance = 1e-9 if dtype == np.float64 else 2e-3
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(A, right), atol=tolerance)
    np.testing.assert_allclose(factor.inverse_diagonal(), np.linalg.inv(A).diagonal(), rtol=tolerance)


def test_the_minor_that_is_not_positive_is_named():
    A = np.eye(700)
    A[600, 600] = -1.0
    with pytest.raises(NotPositiveDefinite) as caught:
        factorise(Triangle.of(A))
    assert caught.value.order == 601


def test_it_stops_when_asked():
    with pytest.raises(Stopped):
        factorise(Triangle.of(positive(600)), stop=lambda: True)


def test_threads_do_not_change_a_bit():
    A = positive(1300)
    one, two = (factorise(Triangle.of(A), n_jobs=jobs).solve(np.ones((1300, 1))) for jobs in (1, 2))
    assert (one == two).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_half_a_solution_is_in_the_precision_of_the_factor(dtype):
    A = positive(20)
    half = factorise(Triangle.of(A, dtype)).half_solve(np.eye(20))
    assert half.dtype == dtype
    np.testing.assert_allclose(half.T @ half, np.linalg.inv(A), atol=1e-5)
