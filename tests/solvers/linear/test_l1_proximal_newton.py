"""Steps for the L1 penalty: a pass of the lasso against each coordinate's best value, and few rounds to a solution."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Status
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.problems.linear.l1 import SparseMargin
from mercer.solvers.limits import Limits
from mercer.solvers.linear import l1_proximal_newton
from mercer.solvers.linear.l1_proximal_newton import _lasso_pass, columns_of, solve
from mercer.solvers.linear_result import LinearSolution


def rows(n=40, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.2, 1.0, -1.0)


def products_of(X):
    return RowProducts(view_rows(X), X.shape[1])


@pytest.mark.parametrize(("scale", "weight", "sign"), [(0.0, 0.0, 1.0), (0.7, 1.0, -1.0), (0.7, 1.0, 1.0)])
def test_a_pass_of_the_lasso_takes_each_weight_to_its_best_value(scale, weight, sign):
    """The model: |w|_1 + weight |b| + sum of slope_i (r_i / slope_i - what the move adds)^2 / 2."""
    X, _ = rows(n=10, d=3)
    rng = np.random.default_rng(2)
    slope, target = rng.uniform(0.5, 2.0, 10), sign * (rng.normal(size=10) + 0.8)
    working, goal = np.array([0, 2]), sign * np.array([0.3, 0.0, -0.2, 0.1])
    Z = np.column_stack([X, np.full(10, scale)])
    prices = np.array([1.0, 1.0, 1.0, weight])

    def model(point):
        return prices @ np.abs(point) + 0.5 * slope @ (target - Z @ point) ** 2

    before, expected, steps = goal.copy(), goal.copy(), {}
    for j in [0, 2, *([3] if scale else [])]:
        grid = np.append(np.linspace(-3.0, 3.0, 60001), 0.0)
        points = np.tile(expected, (len(grid), 1))
        points[:, j] = grid
        values = np.abs(points) @ prices + 0.5 * ((target - points @ Z.T) ** 2) @ slope
        steps[j] = grid[values.argmin()] - expected[j]
        expected[j] = grid[values.argmin()]
    residual = slope * (target - Z @ goal)
    curvature = slope @ X**2
    largest = _lasso_pass(
        view_rows(np.ascontiguousarray(X.T)), working, curvature, slope, residual, goal, scale, weight, slope.sum()
    )
    np.testing.assert_allclose(goal, expected, atol=1e-4)
    np.testing.assert_allclose(residual, slope * (target - Z @ goal), atol=1e-12)
    assert model(goal) < model(before)
    bends = slope @ Z**2
    assert largest == pytest.approx(max(bends[j] * step**2 for j, step in steps.items()), rel=1e-2)


def test_a_column_without_curvature_is_passed_over():
    goal, residual = np.zeros(3), np.ones(2)
    columns = view_rows(np.array([[0.0, 0.0], [3.0, 1.0]]))
    _lasso_pass(columns, np.arange(2), np.array([0.0, 10.0]), np.ones(2), residual, goal, 0.0, 0.0, 2.0)
    np.testing.assert_allclose(goal, [0.0, 0.3, 0.0])


def solved(X, y, bias, C=2.0, scale=0.5, **options):
    problem = SparseMargin(y, np.full(len(y), C), bias, scale)
    options = {"gap_tol": 1e-9, "limits": Limits(max_iter=60), **options}
    return problem, solve(products_of(X), columns_of(X), problem, **options)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("C", [0.01, 0.3, 20.0])
def test_few_rounds_reach_a_solution_that_a_feasible_dual_point_proves(form, bias, C):
    """Newton's method: some ten rounds, where first-order steps on such rows would take thousands."""
    X, y = rows()
    problem, found = solved(form(X), y, bias, C)
    assert found.status == Status.OPTIMAL
    certificate = problem.certificate(products_of(X), found.w, found.bias, found.beta)
    assert certificate.primal - certificate.dual <= 1e-9 * certificate.primal
    assert certificate.box_violation <= 1e-12
    assert certificate.equality_residual <= 1e-9
    assert found.trace[-1].gap <= 1e-9


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_solution_is_where_a_second_run_ends_at_once(bias):
    X, y = rows(seed=3)
    _, first = solved(X, y, bias)
    assert first.iterations > 1
    start = LinearSolution(first.w, first.bias, first.beta, first.status, 0, [])
    _, again = solved(X, y, bias, start=start)
    assert again.iterations == 0
    np.testing.assert_allclose(again.w, first.w)
    assert again.bias == first.bias


def test_what_callbacks_see_of_a_run():
    X, y = rows()
    seen = []
    _, found = solved(X, y, "free", limits=Limits(callbacks=(seen.append,)))
    assert seen == found.trace
    assert [point.iterations for point in seen] == list(range(len(seen)))
    gaps = [point.gap for point in seen]
    assert gaps == sorted(gaps, reverse=True)
    # A feature whose weight is not zero is always looked at; and no more than there are.
    assert all(np.count_nonzero(found.w) <= point.working_set <= X.shape[1] for point in seen[-1:])


@pytest.mark.parametrize("most", [0, 1, 3])
def test_rounds_are_limited(most):
    X, y = rows()
    _, found = solved(X, y, "penalized", limits=Limits(max_iter=most), gap_tol=1e-15)
    assert found.status == Status.ITERATION_LIMIT
    assert found.iterations == most


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_polished_solution_has_no_slope_left(bias):
    X, y = rows(seed=5)
    problem, found = solved(X, y, bias, gap_tol=1e-3, polish=True)
    assert found.status == Status.OPTIMAL
    values = X @ found.w + found.bias
    violation = problem._violation(found.w, found.bias, X.T @ problem.response(values), values)
    assert violation <= 1e-7


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_categories_as_columns_of_zeros_and_ones_end(form, bias):
    """Columns of a category add up to the constant feature: coordinate descent alone ended as STALLED, too high."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, size=(3000, 8))
    X = (codes[:, :, None] == np.arange(6)).reshape(3000, 48).astype(float)
    y = np.where(X @ rng.normal(size=48) + 2.0 * rng.normal(size=3000) > 0.0, 1.0, -1.0)
    problem, found = solved(form(X), y, bias, C=1.0, scale=1.0, gap_tol=1e-6)
    assert found.status is Status.OPTIMAL
    assert found.iterations <= 20
    certificate = problem.certificate(products_of(form(X)), found.w, found.bias, found.beta)
    assert certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_matrix_of_second_derivatives_and_passes_through_the_columns_lead_to_the_same_machine(form, monkeypatch):
    X, y = rows(n=200, d=9)
    _, first = solved(form(X), y, "penalized", gap_tol=1e-6)
    monkeypatch.setattr(l1_proximal_newton, "MOST_UNKNOWNS", 0)
    _, second = solved(form(X), y, "penalized", limits=Limits(max_iter=2000), gap_tol=1e-6)
    assert first.status is second.status is Status.OPTIMAL
    np.testing.assert_allclose(first.w, second.w, rtol=1e-3, atol=1e-4)


def test_a_large_c_ends_where_nearly_all_rows_are_beyond_the_margin():
    """Whole steps lead far astray there, and halved ones made no headway: such fits ended STALLED."""
    rng = np.random.default_rng(4)
    X = rng.poisson(0.4, size=(400, 100)) * (rng.random((400, 100)) < 0.3).astype(float)
    y = np.where(X @ rng.normal(size=100) + 0.1 * rng.normal(size=400) > 0.0, 1.0, -1.0)
    problem, found = solved(X, y, "none", C=1e4, gap_tol=1e-4, limits=Limits(max_iter=1000))
    assert found.status is Status.OPTIMAL
    assert problem.certificate(products_of(X), found.w, found.bias, found.beta).relative_gap <= 1e-4
