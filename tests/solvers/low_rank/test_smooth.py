"""Smooth losses over landmarks: what there is when no time is left."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.kernel_methods.multinomial import Multinomial
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS
from mercer.solvers.limits import Limits
from mercer.solvers.low_rank.smooth import Spanned, solve
from mercer.solvers.result import Status


def problem_of(k, bias, n=30):
    codes = np.arange(n) % k
    if k == 2:
        return KernelRisk(np.where(codes > 0, 1.0, -1.0), np.ones(n), LOSSES_OF_MARGINS["logistic"], bias)
    return Multinomial(codes, np.ones(n), k, bias)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_solution_is_that_of_the_kernel_matrix_of_its_coordinates(k, bias, rng):
    problem, Z = problem_of(k, bias), rng.normal(size=(30, 4))
    found = solve(problem, Z, tol=1e-8, gap_tol=None, limits=Limits())
    assert found.status is Status.OPTIMAL
    assert np.shape(found.bias) == (() if k == 2 else (3,))
    K = Z @ Z.T
    intercept = problem.intercept(found.beta, found.bias)
    assert problem.certificate(found.beta, K @ found.beta, intercept).is_optimal(1e-7)
    assert found.iterations == len(found.trace)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_many_coordinates_of_all_classes_need_no_factor_of_their_hessian(monkeypatch, tol, bias, rng):
    def refuse(*_):
        raise AssertionError("the Hessian of all classes was formed")

    monkeypatch.setattr("mercer.solvers.smooth.feature_newton._Hessian.__init__", refuse)
    n, k, r = 300, 12, 60
    Z = rng.normal(size=(n, r)) * 0.9 ** np.arange(r)
    problem = Multinomial(np.argmax(Z[:, :k] + rng.normal(size=(n, k)), axis=1), rng.uniform(0.5, 20.0, n), k, bias)
    found = solve(problem, Z, tol=tol, gap_tol=None, limits=Limits())
    assert found.status is Status.OPTIMAL
    intercept = problem.intercept(found.beta, found.bias)
    assert problem.certificate(found.beta, Z @ (Z.T @ found.beta), intercept).is_optimal(2 * tol)


@pytest.mark.parametrize("k", [2, 3])
def test_without_time_there_is_nothing(k, rng):
    found = solve(
        problem_of(k, "free"), rng.normal(size=(30, 4)), tol=1e-8, gap_tol=None, limits=Limits(time_limit=0.0)
    )
    assert found.status is Status.TIME_LIMIT
    assert np.isfinite(found.beta).all()
    assert np.shape(found.bias) == (() if k == 2 else (3,))


def test_products_and_bounds_of_a_matrix_that_is_not_there(rng):
    Z, B = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    np.testing.assert_allclose(Spanned(Z) @ B, Z @ Z.T @ B)
    assert (abs(Spanned(Z)) @ np.ones((6, 1)) >= np.abs(Z @ Z.T).sum(axis=1, keepdims=True)).all()
