import numpy as np
import pytest

from mercer.kernels.gram.symmetric_operator import CenteredOperator, GivenOperator
from mercer.solvers.limits import Limits
from mercer.solvers.linalg import lanczos
from mercer.solvers.result import Status


def with_values(values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return GivenOperator((Q * values) @ Q.T)


@pytest.mark.parametrize(
    "values",
    [
        np.r_[50.0, 20.0, 10.0, 0.5 ** np.arange(297)],
        np.r_[np.full(30, 3.0), np.full(270, 1.0)],  # more copies than a block has columns
        np.r_[5.0, 4.0, np.zeros(298)],  # of rank two
    ],
)
def test_largest_values_with_all_their_copies(values):
    found = lanczos.krylov(with_values(values), 12, 0.0, np.random.default_rng(0), Limits())
    assert found.status == Status.OPTIMAL
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:12], atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(12), atol=1e-10)


def test_all_values_of_a_small_matrix():
    values = np.arange(20.0)
    found = lanczos.krylov(with_values(values), 20, 0.0, np.random.default_rng(0), Limits())
    np.testing.assert_allclose(found.values, values[::-1], atol=1e-9)


def test_a_limit_leaves_what_there_is():
    values = 1.0 / np.arange(1.0, 401.0)
    found = lanczos.krylov(with_values(values), 10, 0.0, np.random.default_rng(0), Limits(max_iter=2))
    assert found.status == Status.ITERATION_LIMIT
    assert found.iterations == 2
    assert found.residuals.max() > 1e-10


def test_more_power_is_more_accurate():
    operator = with_values(1.0 / np.arange(1.0, 301.0))
    errors = [
        np.abs(
            lanczos.randomised(operator, 5, power, np.random.default_rng(0)).values - 1.0 / np.arange(1.0, 6.0)
        ).max()
        for power in (0, 2, 8)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_too_close_together_for_iterations():
    operator = with_values(-((np.arange(300.0) / 300.0) ** 2))
    found = lanczos.krylov(operator, 2, 0.0, np.random.default_rng(0), Limits())
    assert found.status == Status.STALLED
    np.testing.assert_allclose(lanczos.dense(operator, 2).values, [0.0, -1e-4 / 9], atol=1e-12)


@pytest.mark.parametrize("method", ["dense", "krylov", "randomised"])
def test_the_least_quotient_seen_shows_a_negative_eigenvalue(method):
    operator, generator = with_values(np.r_[3.0, np.linspace(0.0, 1.0, 198), -2.0]), np.random.default_rng(0)
    if method == "dense":
        found = lanczos.dense(operator, 2, margin=1e-8)
    elif method == "krylov":
        found = lanczos.krylov(operator, 2, 0.0, generator, Limits())
    else:
        found = lanczos.randomised(operator, 2, 5, generator)
    assert -2.0 - 1e-9 < found.least < -1.9
    assert len(found.values) == 2


def test_some_of_many_equal_values_are_all_found():
    found = lanczos.dense(CenteredOperator(GivenOperator(-np.eye(700))), 2)
    np.testing.assert_allclose(found.values, [0.0, -1.0], atol=1e-12)
    assert found.vectors.shape == (700, 2)


def test_of_lapack_values_are_known_to_rounding_of_the_largest():
    found = lanczos.dense(with_values(np.r_[-8.0, np.linspace(0.0, 4.0, 9)]), 3)
    np.testing.assert_allclose(found.residuals, 10 * np.finfo(float).eps * 4.0)
    np.testing.assert_allclose(found.values, [4.0, 3.5, 3.0])
    np.testing.assert_allclose(found.least, 3.0)
    every = lanczos.dense(with_values(np.r_[-8.0, np.linspace(0.0, 4.0, 9)]), 3, margin=1e-6)
    np.testing.assert_allclose(every.least, -8.0)
    np.testing.assert_allclose(every.values, [4.0, 3.5, 3.0])
    np.testing.assert_allclose(every.residuals, 10 * np.finfo(float).eps * 8.0)
