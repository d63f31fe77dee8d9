"""Coordinate descent on the dual of a linear machine: what its passes report, and where they end."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from mercer._jit.row_products import RowProducts, has_duplicates
from mercer._jit.row_views import view_rows
from mercer.problems.linear.machine import LinearMargin, LinearTube
from mercer.solvers.limits import Limits
from mercer.solvers.linear import dual_cd, proximal_newton
from mercer.solvers.linear.cd_passes import Passes
from mercer.solvers.linear.cd_steps import BETA, WIDTH, schedule, sweep
from mercer.solvers.linear.loss_loops import RoundedLosses, bracketed_minimum, total_loss
from mercer.solvers.result import Status


def text_like(n, d, rng, words=12):
    """Sparse rows of length one, and a noisy rule."""
    columns = np.minimum((d * rng.random((n, words)) ** 2).astype(np.int32), d - 1)
    X = sparse.csr_matrix((rng.random(n * words), columns.ravel(), np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))
    scores = X @ rng.normal(size=d)
    return X, scores + 0.3 * scores.std() * rng.normal(size=n)


def margin(scores, loss):
    return LinearMargin(np.where(scores > 0, 1.0, -1.0), np.ones(len(scores)), loss, "penalized", 1.0)


def problem_of(kind, scores):
    if kind in ("hinge", "squared_hinge"):
        return margin(scores, kind)
    return LinearTube(scores, np.ones(len(scores)), kind, "penalized", 1.0, epsilon=0.1)


LOSSES = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]


@pytest.mark.parametrize("loss", LOSSES)
def test_what_rows_report_on_the_way_adds_up_to_the_gap(loss, rng):
    """With weights and bias held, the sum over the rows of a pass is primal minus dual.

    But for what the bias costs where it is not yet that of the coefficients, (b - sum beta)^2 / 2.
    """
    X, scores = text_like(300, 80, rng)
    problem = problem_of(loss, scores)
    products, dual = RowProducts(view_rows(X), X.shape[1]), problem.dual()
    descent = dual_cd._Descent(products, dual, None, 0, 1e-4)
    descent._descend(2, Limits())
    passes = descent.passes
    w, beta = passes.w.copy(), np.ascontiguousarray(passes.beta)
    passes.look_at(passes.all_rows())
    total = 0.0
    for i in range(300):  # one row at a time, each from the same point
        point, weights = passes.points.copy(), w.copy()
        order, equal = np.array([i], np.int32), np.ones(300, np.float32)
        total += sweep(
            products.rows, point, dual.epsilon, passes.scale, passes.price, weights, order, 0, 1, 1e300, equal, None
        )[1]
        assert set(np.flatnonzero(point != passes.points)) <= {i * WIDTH + BETA}
    bias = passes.price + passes.scale * w[-1]
    expected = problem.certificate(products, w[:-1], bias, beta).gap - 0.5 * (bias - beta.sum()) ** 2
    assert total == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_on_a_share_of_the_rows_ends_where_newton_does(loss, rng):
    X, scores = text_like(5000, 300, rng)
    problem = problem_of(loss, scores)
    products, dual = RowProducts(view_rows(X), X.shape[1]), problem.dual()
    assert products.n >= dual_cd.SAMPLE * dual_cd.FEWEST_SAMPLED
    found = dual_cd.solve(products, dual, gap_tol=1e-7, limits=Limits())
    other = proximal_newton.solve(products, dual, gap_tol=1e-9, limits=Limits())
    assert found.status is Status.OPTIMAL
    ours = problem.certificate(products, found.w, found.bias, found.beta)
    theirs = problem.certificate(products, other.w, other.bias, other.beta)
    assert ours.relative_gap <= 1.01e-7
    assert ours.primal == pytest.approx(theirs.primal, rel=2e-7)
    again = dual_cd.solve(products, dual, gap_tol=1e-7, limits=Limits())
    np.testing.assert_array_equal(found.w, again.w)


def test_a_pass_ends_the_wait_when_the_gap_seems_small(rng):
    """Not many passes more than needed: the last check before the end is far from the goal."""
    X, scores = text_like(5000, 300, rng)
    problem = margin(scores, "squared_hinge")
    products = RowProducts(view_rows(X), X.shape[1])
    found = dual_cd.solve(products, problem.dual(), gap_tol=1e-4, limits=Limits())
    fewest = next(
        passes
        for passes in range(1, found.iterations + 1)
        if dual_cd.solve(products, problem.dual(), gap_tol=1e-4, limits=Limits(passes)).trace[-1].violation <= 1e-4
    )
    assert found.iterations <= fewest + 3


@pytest.mark.parametrize("where", [0, 19_999])
@pytest.mark.parametrize("is_repeated", [False, True])
def test_an_entry_that_is_there_twice_is_found_in_either_half(where, is_repeated, rng):
    n, words = 20_000, 15
    indices = np.argsort(rng.random((n, 40)), axis=1)[:, :words].astype(np.int32)
    if is_repeated:
        indices[where, 3] = indices[where, 11]
    X = sparse.csr_matrix((np.ones(n * words), indices.ravel(), np.arange(0, n * words + 1, words)), shape=(n, 40))
    assert has_duplicates(X) == is_repeated


def test_rows_are_visited_as_often_as_their_preferences_say():
    preferences, credit = np.array([0.5, 1.0, 2.5, 9.0], np.float32), np.full(4, 0.5, np.float32)
    active, seen = np.array([2, 0, 1]), np.zeros(4)
    for _ in range(40):
        order = np.empty(6, np.int64)
        visits, mean = schedule(active, preferences, credit, order)
        assert mean == pytest.approx(4.0 / 3.0)
        np.add.at(seen, order[:visits], 1)
    assert np.abs(seen - 40 * np.array([0.375, 0.75, 1.875, 0.0])).max() <= 1.0


def test_rows_that_left_come_back_when_they_are_looked_at(rng):
    X, scores = text_like(2000, 300, rng)
    products = RowProducts(view_rows(X), X.shape[1])
    passes = Passes(products, margin(scores, "hinge").dual(), None, 0)
    for _ in range(8):
        assert passes.run(Limits())
    assert 0 < len(passes.active) < 2000
    assert (passes.preferences[passes.active] > 0).all()
    assert np.count_nonzero(passes.preferences < 0) == 2000 - len(passes.active)
    assert len(np.unique(np.abs(passes.preferences))) > 100
    passes.look_at(passes.all_rows())
    assert (passes.preferences > 0).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("at", [-0.4, 0.3])
def test_the_minimum_along_a_line_is_found_on_either_side(loss, at, rng):
    """From a point at which it lies ahead, and from one at which it lies behind."""
    X, scores = text_like(400, 60, rng)
    dual = problem_of(loss, scores).dual()
    w = rng.normal(size=60)
    direction, values = X @ w, X @ rng.normal(size=60)
    bounds = dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon
    rounded = RoundedLosses(*bounds, np.where(dual.ridge == 0.0, 1e-9, 0.0), np.zeros(400))

    def objective(t):
        return 0.7 * t + 0.5 * (w @ w) * t * t + total_loss(values + t * direction, 0.0, *bounds)

    best = minimize_scalar(objective, bounds=(-50, 50), method="bounded", options={"xatol": 1e-10})
    start = best.x - at
    found = start + bracketed_minimum(
        values + start * direction, direction, 0.7 + (w @ w) * start, w @ w, 0.01, rounded
    )
    assert np.sign(found - start) == np.sign(at)
    assert objective(found) - best.fun <= 0.02 * (objective(start) - best.fun)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_check_never_keeps_a_primal_point_worse_than_the_weights(bias, rng):
    X, scores = text_like(3000, 300, rng)
    problem = LinearMargin(np.where(scores > 0, 1.0, -1.0), np.ones(3000), "hinge", bias, 1.0)
    products = RowProducts(view_rows(X), 300)
    descent = dual_cd._Descent(products, problem.dual(), None, 0, 1e-2)
    for _ in range(6):
        descent._descend(3, Limits())
        descent._check()
        w, at, _ = descent.best
        assert descent.primal == pytest.approx(problem.primal(w, at, products.dots(w) + at), rel=1e-12)
        plain = products.dots(descent.passes.w[:-1])
        shift = descent.passes.bias
        if bias != "free":
            assert descent.primal <= problem.primal(descent.passes.w[:-1], shift, plain + shift) * (1 + 1e-12)


def test_rows_of_zeros_do_not_stop_newton_with_a_free_bias():
    """The dual is a straight line there, which has no top to go to."""
    problem = LinearMargin(np.array([1.0, -1.0, -1.0, -1.0]), np.full(4, 0.05), "hinge", "free", 1.0)
    products = RowProducts(view_rows(np.zeros((4, 1))), 1)
    found = proximal_newton.solve(products, problem.dual(), gap_tol=1e-10, limits=Limits())
    assert found.status is Status.OPTIMAL
    assert problem.certificate(products, found.w, found.bias, found.beta).primal == pytest.approx(0.1)


def test_newton_does_not_creep_where_a_free_bias_and_the_weights_hold_each_other():
    """All rows of one class end at their bound, w is zero and the others have a margin of exactly one."""
    X = np.array([1.5, 1.75, 0, 0, 1.25, 2.25, 0, 2.5])[:, None]
    signs = np.array([1.0, -1, 1, 1, 1, -1, 1, 1])
    problem = LinearMargin(signs, np.full(8, 0.05), "hinge", "free", 1.0)
    products = RowProducts(view_rows(X), 1)
    found = proximal_newton.solve(products, problem.dual(), gap_tol=1e-10, limits=Limits())
    assert found.status is Status.OPTIMAL
    assert found.iterations <= 70
    np.testing.assert_allclose([found.w[0], found.bias], [0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_a_bias_costs_hardly_more_passes_than_none(bias, loss, rng):
    """Its value is that of a whole row, or of ten: as a feature like any other it would cost twice the passes."""
    X, scores = text_like(5000, 2000, rng)
    products, passes = RowProducts(view_rows(X), X.shape[1]), {}
    for kind, scale in (("none", 1.0), (bias, 1.0), (bias, 10.0)):
        problem = replace(problem_of(loss, scores), bias=kind, scale=scale)
        found = dual_cd.solve(products, problem.dual(), gap_tol=1e-4, limits=Limits())
        assert found.status is Status.OPTIMAL
        passes[kind, scale] = found.iterations
    assert max(passes.values()) <= 1.3 * passes["none", 1.0] + 2


@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_coordinate_descent_goes_on_from_its_own_coefficients(bias, rng):
    X, scores = text_like(3000, 300, rng)
    problem = LinearMargin(np.where(scores > 0, 1.0, -1.0), np.ones(3000), "squared_hinge", bias, 1.0)
    products, dual = RowProducts(view_rows(X), X.shape[1]), problem.dual()
    found = dual_cd.solve(products, dual, gap_tol=1e-6, limits=Limits())
    again = dual_cd.solve(products, dual, gap_tol=1e-6, limits=Limits(), start=found.beta)
    assert again.iterations <= 6 < found.iterations
    assert again.bias == pytest.approx(found.bias, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["free", "penalized"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_rows_much_shorter_than_the_constant_feature_do_not_hold_the_bias_back(C, bias, loss, rng):
    """All rows may sit at their bounds before the bias has moved."""
    X, scores = text_like(4000, 300, rng)
    problem = replace(problem_of(loss, scores + 0.5), bias=bias, C=np.full(4000, C))
    products = RowProducts(view_rows(sparse.csr_matrix(1e-3 * X)), X.shape[1])
    found = dual_cd.solve(products, problem.dual(), gap_tol=1e-4, limits=Limits(200))
    assert found.status is Status.OPTIMAL


def test_passes_that_seem_to_be_left_follow_from_the_rate_at_which_the_gap_falls():
    assert dual_cd.passes_left((1.0, 0), (0.1, 10), 1e-3) == pytest.approx(20.0)
    assert dual_cd.passes_left((1.0, 5), (0.01, 10), 1e-3) == pytest.approx(2.5)
    # Without a rate: as many again, twice.
    assert dual_cd.passes_left((np.inf, 0), (0.1, 10), 1e-3) == 20.0
    assert dual_cd.passes_left((0.1, 0), (0.1, 10), 1e-3) == 20.0
    assert dual_cd.passes_left((1.0, 10), (0.1, 10), 1e-3) == 20.0


def test_the_next_check_comes_after_most_of_the_passes_that_seem_to_be_left():
    assert dual_cd.next_wait(3.0, 0) == 5
    assert dual_cd.next_wait(0.0, 0) == 1
    assert dual_cd.next_wait(1e9, 0) == 2 * dual_cd.FIRST_CHECK
    assert dual_cd.next_wait(1e9, 1000) == 500


def test_a_gap_is_expected_to_fall_as_it_has():
    assert dual_cd._expected_gap(np.inf, 3.0) == 3.0
    assert dual_cd._expected_gap(4.0, 2.0) == 1.0
    assert dual_cd._expected_gap(2.0, 4.0) == 4.0
    assert dual_cd._expected_gap(0.0, 4.0) == 0.0


class _Asked(Limits):
    """Limits that are over when they have been asked so many times."""

    def __init__(self, often):
        super().__init__()
        self.left = often

    def stop(self):
        self.left -= 1
        return self.left < 0

    def reached(self):
        return Status.TIME_LIMIT if self.left < 0 else None


def test_every_pass_asks_for_the_end_even_where_it_is_one_slice(rng):
    X, scores = text_like(200, 80, rng)
    problem = LinearMargin(np.where(scores > 0, 1.0, -1.0), np.full(200, 1e4), "hinge", "penalized", 1.0)
    products = RowProducts(view_rows(X), X.shape[1])
    found = dual_cd.solve(products, problem.dual(), gap_tol=1e-14, limits=_Asked(7))
    assert found.status is Status.TIME_LIMIT
    assert found.iterations <= 8
