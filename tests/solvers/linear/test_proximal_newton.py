"""Newton's method for linear machines: few steps, in one compiled call or not, from anywhere."""

import numpy as np
import pytest

from mercer import Status
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.problems.linear.machine import LinearMargin, LinearTube
from mercer.solvers.limits import Limits
from mercer.solvers.linear import proximal_newton, small_newton


def rows(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.linspace(-1.0, 1.0, d)
    f = X @ (rng.normal(size=d) / 10.0 ** np.linspace(-1.0, 1.0, d)) + 0.5 * rng.normal(size=n) + 0.4
    return RowProducts(view_rows(X), d), f


def problem_of(kind, f, bias):
    C = np.linspace(0.5, 2.0, len(f))
    if "epsilon" in kind:
        return LinearTube(f, C, kind, bias, epsilon=0.2)
    return LinearMargin(np.where(f > 0, 1.0, -1.0), C, kind, bias)


KINDS = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]
WAYS = ["at once", "step by step", "with a system of its own"]


@pytest.fixture(params=WAYS)
def limits(request, monkeypatch):
    """Limits under which a fit takes each of the ways there are."""
    if request.param == "with a system of its own":
        monkeypatch.setattr(small_newton, "LARGEST", 0)
    if request.param == "at once":
        return Limits(max_iter=60)
    return Limits(max_iter=60, callbacks=[lambda _: None])


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_few_steps_reach_a_solution_that_a_feasible_dual_point_proves(kind, bias, limits):
    products, f = rows()
    problem = problem_of(kind, f, bias)
    found = proximal_newton.solve(products, problem.dual(), gap_tol=1e-7, limits=limits)
    assert found.status is Status.OPTIMAL
    proof = problem.certificate(products, found.w, found.bias, found.beta)
    assert proof.gap <= 1e-7 * proof.primal
    assert proof.box_violation <= 1e-12
    assert proof.equality_residual <= 1e-9
    assert found.trace[-1].gap <= 1e-7
    assert found.trace[-1].iterations == found.iterations


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_polished_solution_has_its_last_digits(kind, bias, limits):
    """The weights are the sum of rows times coefficients, and another run to the same end has the same ones."""
    products, f = rows(seed=1)
    problem = problem_of(kind, f, bias)
    found = proximal_newton.solve(products, problem.dual(), gap_tol=1e-4, limits=limits, polish=True)
    assert found.status is Status.OPTIMAL
    np.testing.assert_allclose(found.w, products.combination(found.beta), atol=1e-6 * np.abs(found.w).max())
    exact = proximal_newton.solve(products, problem.dual(), gap_tol=1e-12, limits=Limits())
    np.testing.assert_allclose(found.w, exact.w, atol=1e-5 * np.abs(exact.w).max())


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_solution_is_where_a_second_run_ends_soon(kind, bias, limits):
    products, f = rows(seed=2)
    problem = problem_of(kind, f, bias)
    first = proximal_newton.solve(products, problem.dual(), gap_tol=1e-9, limits=Limits())
    again = proximal_newton.solve(products, problem.dual(), gap_tol=1e-7, limits=limits, start=first)
    assert again.status is Status.OPTIMAL
    assert again.iterations <= first.iterations
    np.testing.assert_allclose(again.w, first.w, atol=1e-3 * np.abs(first.w).max())


@pytest.mark.parametrize("most", [0, 1, 4])
@pytest.mark.parametrize("way", WAYS)
def test_steps_are_limited_and_counted(most, way, monkeypatch):
    if way == "with a system of its own":
        monkeypatch.setattr(small_newton, "LARGEST", 0)
    products, f = rows()
    callbacks = [] if way == "at once" else [lambda _: None]
    found = proximal_newton.solve(
        products, problem_of("hinge", f, "free").dual(), gap_tol=1e-12, limits=Limits(most, callbacks=callbacks)
    )
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == most


@pytest.mark.parametrize("way", WAYS[1:])
def test_steps_go_on_while_the_primal_falls_far_above_the_dual(way, monkeypatch):
    """Nearly separable with a huge C: the primal falls by ten powers of ten before the dual is worth a share of it."""
    if way == WAYS[2]:
        monkeypatch.setattr(small_newton, "LARGEST", 0)
    rng = np.random.default_rng(1045)
    X = rng.normal(size=(1500, 40)) * 10.0 ** rng.uniform(-1.0, 1.0, 40)
    w = rng.normal(size=40) / np.linalg.norm(X.std(axis=0))
    y = np.where(X @ w > 0.0, 1.0, -1.0)
    C = 3e4 * rng.exponential(size=1500)
    products = RowProducts(view_rows(X), 40)
    problem = LinearMargin(y, C, "squared_hinge", "none")
    found = proximal_newton.solve(products, problem.dual(), gap_tol=1e-4, limits=Limits(max_iter=1000))
    assert found.status is Status.OPTIMAL
    assert problem.certificate(products, found.w, found.bias, found.beta).relative_gap <= 1e-4
