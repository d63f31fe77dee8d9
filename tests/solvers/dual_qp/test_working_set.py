"""Pair steps and single steps on a small matrix, before the judge of tests/oracles."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.pair_steps import MASK
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits
from tests.oracles.kkt import judge


@pytest.fixture
def data(rng):
    X = rng.normal(size=(90, 3))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=90) > 0, 1.0, -1.0)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return K, signs


def working_set(problem, K, indices, beta=None, dtype=np.float64):
    dual, matrix = problem.dual(), StoredMatrix.of(K.astype(dtype))
    beta = np.zeros(len(K)) if beta is None else beta
    return WorkingSet(dual, matrix, indices, beta, dual.gradient(matrix, beta))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_working_set_of_everything_solves_the_problem(loss, bias, dtype, data):
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 3.0), loss, bias)
    working = working_set(problem, K, np.arange(90), dtype=dtype)
    steps = working.run(1e-3, Limits(), 0)
    assert steps > 20
    assert working.violation <= 1e-3
    assert not working.is_stalled
    # With the gradient of the working set's own end, the bias lies between its extremes.
    b = 0.5 * float(working.highest + working.lowest) if bias == "free" else problem.intercept(working.beta, 0.0)
    verdict = judge(K, signs, problem.C, working.beta, b, loss, bias)
    assert verdict.complementarity <= 1.1e-3
    assert verdict.box == 0.0
    assert verdict.bias <= 1e-12


def test_coordinates_outside_are_held_fixed(data):
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 3.0), bias="none")
    beta = np.zeros(90)
    beta[80:] = signs[80:]
    indices = np.arange(0, 80, 2)
    working = working_set(problem, K, indices, beta)
    working.run(1e-6, Limits(), 0)
    moved, change = working.change()
    assert set(moved) <= set(indices)
    after = beta.copy()
    after[moved] += change
    gradient = problem.dual().gradient(StoredMatrix.of(K), after)
    inside = problem.dual().violation(after, np.where(np.isin(np.arange(90), indices), gradient, 0.0))
    assert inside <= 1e-6


def test_a_bound_that_is_reached_is_reached_exactly(data):
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 0.1))
    working = working_set(problem, K, np.arange(90))
    working.run(1e-6, Limits(), 0)
    alpha = signs * working.beta
    bounded = alpha > 0.0999999
    assert bounded.sum() > 20
    assert (alpha[bounded] == 0.1).all()


@pytest.mark.parametrize("bias", ["free", "none"])
def test_steps_are_counted_exactly(bias, data):
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 3.0), bias=bias)
    for most in (1, 2, 7):
        working = working_set(problem, K, np.arange(90))
        assert working.run(1e-9, Limits(max_iter=most), 0) == most
    working = working_set(problem, K, np.arange(90))
    assert working.run(1e-9, Limits(max_iter=10), 8) == 2
    assert working.run(1e-9, Limits(max_iter=10), 10) == 0


@pytest.mark.parametrize("bias", ["free", "none"])
def test_every_step_raises_the_dual(bias, data):
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 3.0), bias=bias)
    dual, matrix = problem.dual(), StoredMatrix.of(K)
    working = working_set(problem, K, np.arange(90))
    before = 0.0
    for done in range(40):
        assert working.run(1e-9, Limits(max_iter=done + 1), done) == 1
        value = dual.objective(working.beta, dual.gradient(matrix, working.beta))
        assert value > before
        before = value


def test_an_interruption_ends_the_run_between_slices(data):
    K, signs = data
    limits = Limits(callbacks=[lambda _: True])
    limits.report(None)
    working = working_set(SoftMargin(signs, np.full(90, 1e3)), K, np.arange(90))
    working.run(1e-300, limits, 0)
    # Without the interruption it would go on until it stalled.
    assert not working.is_stalled


def test_negative_curvature_is_noticed(data):
    K, signs = data
    working = working_set(SoftMargin(signs, np.ones(90)), K - 2.0 * np.eye(90), np.arange(90))
    working.run(1e-3, Limits(), 0)
    assert working.curvature < -0.1
    convex = working_set(SoftMargin(signs, np.ones(90)), K, np.arange(90))
    convex.run(1e-3, Limits(), 0)
    assert convex.curvature > -1e-6


def test_the_users_matrix_is_not_written_to(data):
    K, signs = data
    for loss, bias in [("hinge", "free"), ("squared_hinge", "penalized")]:
        matrix = StoredMatrix.of(K)
        dual = SoftMargin(signs, np.ones(90), loss, bias).dual()
        working = WorkingSet(dual, matrix, np.arange(90), np.zeros(90), dual.linear.copy())
        working.run(1e-3, Limits(), 0)
        np.testing.assert_array_equal(matrix.values[:, :90], K)
        assert not matrix.values[:, 90:].any()


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_its_own_entries_say_what_the_change_takes_off_its_gradient(loss, bias, data):
    K, signs = data
    problem, indices = SoftMargin(signs, np.full(90, 2.0), loss, bias), np.arange(0, 90, 2)
    working = working_set(problem, K, indices)
    working.run(1e-3, Limits(), 0)
    moved, change = working.change()
    assert len(moved) > 5
    expected = problem.dual().quadratic_product(StoredMatrix.of(K), moved, change, indices)
    np.testing.assert_allclose(working.own_product(n_jobs=2), expected, atol=1e-12)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_sum_that_rounding_took_away_is_put_right(bias, data, monkeypatch):
    """Coefficients of 1e15 that come back to their usual size have lost their sum on the way."""
    K, signs = data
    problem = SoftMargin(signs, np.full(90, 3.0), "squared_hinge", bias)
    working, calm = (working_set(problem, K, np.arange(90)) for _ in range(2))
    steps = WorkingSet._run

    def drifting(self, *arguments):
        taken = steps(self, *arguments)
        self.beta += np.where(self.beta > 0, 0.25, 0.0)
        self.gradient[:90] -= K @ np.where(self.beta > 0, 0.25, 0.0) + np.where(self.beta > 0, 0.25, 0.0) / 6.0
        return taken

    calm.run(1e-3, Limits(), 0)
    monkeypatch.setattr(WorkingSet, "_run", drifting)
    working.run(1e-3, Limits(), 0)
    if bias == "none":  # there is no sum to keep
        assert working.beta.sum() > calm.beta.sum() + 1.0
        return
    assert abs(working.beta.sum()) <= 1e-12 * np.abs(working.beta).sum()
    assert (working.lower <= working.beta).all()
    np.testing.assert_allclose(
        working.gradient[:90], problem.dual().gradient(StoredMatrix.of(K), working.beta), atol=1e-9
    )
    assert working.violation > 1e-3  # and says so


def test_a_group_in_which_nothing_may_move_keeps_its_bias():
    extremes = np.array([[1.0, 3.0], [-MASK, MASK]])
    working = SimpleNamespace(split=1, _extremes=extremes, bias=np.array([0.5, 0.7]))
    np.testing.assert_array_equal(WorkingSet.middle.fget(working), [2.5, 0.7])
