"""(K + lambda I) X = B by each method, and what is said where it has no such solution."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.kernels.gram.symmetric_operator import GivenOperator
from mercer.solvers.limits import Limits
from mercer.solvers.linalg import shifted_system as regularised
from mercer.solvers.linalg.shifted_system import Request
from mercer.solvers.result import Status


def request(method="auto", **options):
    return Request(**{"tol": 1e-10, "limits": Limits(), "memory": 1e9, "method": method, **options})


def spread(values, seed=0):
    """A matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("rng", [None, 0])
@pytest.mark.parametrize("method", ["cholesky", "cg"])
@pytest.mark.parametrize("shift", [1e-3, 10.0])
def test_the_solution_is_numpys(method, shift, rng):
    K, right = spread(0.5 ** np.arange(40.0)), np.random.default_rng(1).normal(size=(40, 2))
    asked = request(method, rank=8, rng=None if rng is None else np.random.default_rng(rng))
    found = regularised.solve(GivenOperator(K), right, shift, asked)
    assert (found.status, found.method, found.jitter) == (Status.OPTIMAL, method, 0.0)
    np.testing.assert_allclose(found.X, np.linalg.solve(K + shift * np.eye(40), right), rtol=1e-6)
    left = right - K @ found.X - shift * found.X
    assert (np.linalg.norm(left, axis=0) <= 1e-9 * np.linalg.norm(right, axis=0)).all()
    assert (found.residual <= 1e-10).all()
    assert found.iterations == len(found.trace) > 0


def test_a_triangle_that_does_not_fit_is_not_factorised():
    asked = request(memory=40 * 40 * 2)
    assert asked.chosen(40) == "cholesky"
    assert asked.chosen(41) == "cg"
    assert request(memory=40 * 40 * 2, with_inverse=True).chosen(40) == "cg"
    assert request("cholesky", memory=0).chosen(40) == "cholesky"


@pytest.mark.parametrize(("memory", "rank"), [(1e9, 500), (16 * 1000 * 40, 40), (10.0, 1)])
def test_the_preconditioner_has_no_more_columns_than_fit(memory, rank):
    assert regularised.Request(1e-8, Limits(), memory).rank_for(1000) == rank


def test_the_diagonal_of_the_inverse():
    K = spread(np.arange(1.0, 31.0))
    found = regularised.solve(GivenOperator(K), np.ones((30, 1)), 0.5, request("cholesky", with_inverse=True))
    np.testing.assert_allclose(found.inverse_diagonal, np.linalg.inv(K + 0.5 * np.eye(30)).diagonal(), rtol=1e-9)


def test_a_singular_matrix_is_solved_with_a_jitter_that_is_reported():
    K = np.ones((20, 20))
    found = regularised.solve(GivenOperator(K), np.ones((20, 1)), 0.0, request("cholesky"))
    assert found.status == Status.OPTIMAL_INACCURATE
    assert 0 < found.jitter <= 1e7 * 20 * np.finfo(float).eps
    np.testing.assert_allclose(K @ found.X, 1.0, rtol=1e-4)


def test_iterations_without_a_penalty_say_what_they_added():
    K = spread(np.linspace(1.0, 2.0, 20))
    found = regularised.solve(GivenOperator(K), np.ones((20, 1)), 0.0, request("cg", rank=4))
    assert found.status == Status.OPTIMAL_INACCURATE
    assert found.jitter == pytest.approx(20 * np.finfo(float).eps * K.diagonal().max(), rel=1e-9, abs=0.0)
    np.testing.assert_allclose(K @ found.X, 1.0, rtol=1e-8)


def test_an_indefinite_matrix_is_solved_by_its_eigenvalues():
    values = np.r_[-3.0, np.arange(1.0, 10.0)]
    K, right = spread(values), np.random.default_rng(1).normal(size=(10, 2))
    found = regularised.solve(GivenOperator(K), right, 0.5, request("cholesky", with_inverse=True))
    assert (found.status, found.method) == (Status.NOT_CONVEX, "eigenvalues")
    inverse = np.linalg.inv(K + 0.5 * np.eye(10))
    np.testing.assert_allclose(found.X, inverse @ right, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.inverse_diagonal, inverse.diagonal(), rtol=1e-9)


def test_an_indefinite_and_singular_matrix_has_the_solution_of_least_norm():
    K, right = spread(np.r_[-3.0, 0.0, np.arange(1.0, 9.0)]), np.ones((10, 1))
    found = regularised.solve(GivenOperator(K), right, 0.0, request("cholesky"))
    np.testing.assert_allclose(found.X, np.linalg.pinv(K, rcond=1e-10) @ right, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("right", "status"), [(0.0, Status.OPTIMAL), (1.0, Status.OPTIMAL_INACCURATE)])
def test_nothing_at_all_is_solved_by_nothing(right, status):
    asked = request("cholesky", with_inverse=True)
    found = regularised.solve(GivenOperator(np.zeros((4, 4))), np.full((4, 1), right), 0.0, asked)
    assert found.status == status
    assert (found.X == 0).all()
    assert (found.inverse_diagonal == 0).all()


def test_a_diagonal_of_zeros_is_not_nothing():
    found = regularised.solve(GivenOperator(np.eye(2)[::-1].copy()), np.ones((2, 1)), 0.0, request("cholesky"))
    assert found.status == Status.NOT_CONVEX
    np.testing.assert_allclose(found.X, 1.0)


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_a_limit_ends_it(method):
    asked = request(method, limits=Limits(time_limit=0.0))
    found = regularised.solve(GivenOperator(spread(np.arange(1.0, 21.0))), np.ones((20, 1)), 1.0, asked)
    assert found.status == Status.TIME_LIMIT


@pytest.mark.parametrize(
    ("found", "jitter", "dtype", "status"),
    [
        (Status.OPTIMAL, 0.0, np.float64, Status.OPTIMAL),
        (Status.OPTIMAL, 0.0, np.float32, Status.OPTIMAL),
        (Status.OPTIMAL, 1e-9, np.float64, Status.OPTIMAL_INACCURATE),
        (Status.STALLED, 0.0, np.float64, Status.OPTIMAL_INACCURATE),
        (Status.STALLED, 0.0, np.float32, Status.STALLED),
        (Status.TIME_LIMIT, 0.0, np.float32, Status.TIME_LIMIT),
        (Status.INTERRUPTED, 1e-9, np.float64, Status.INTERRUPTED),
    ],
)
def test_a_factor_is_judged_by_what_its_refinement_found(found, jitter, dtype, status):
    assert regularised._judged(SimpleNamespace(status=found), jitter, dtype) is status
