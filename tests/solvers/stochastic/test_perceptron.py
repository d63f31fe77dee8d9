"""The rule of the perceptron, beside the same written as plainly as in the notes."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Status
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic import perceptron, perceptron_lp
from mercer.solvers.stochastic.perceptron import ItemPerceptron, RowPerceptron, Schedule, train
from mercer.solvers.stochastic.perceptron_lp import residual, solve_program
from tests.faults.own_time import Stopwatch


def by_the_book(X, y, orders, eta=1.0, with_bias=True, copies=None):
    """(w, b, averages of both, updates), one visit after the other."""
    w, b, total, total_b, visits, updates = np.zeros(X.shape[1]), 0.0, 0.0, 0.0, 0, 0
    for order in orders:
        for i in order:
            for _ in range(1 if copies is None else int(copies[i])):
                if y[i] * (X[i] @ w + b) <= 0:
                    w, b, updates = w + eta * y[i] * X[i], b + with_bias * eta * y[i], updates + 1
                total, total_b, visits = total + w, total_b + b, visits + 1
    return w, b, total / visits, total_b / visits, updates


@pytest.fixture
def data(rng):
    X = np.round(rng.normal(size=(40, 3)), 2)
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)


def plan(n, epochs, copies=None, seed=7, **parameters):
    return Schedule(np.arange(n), np.ones(n) if copies is None else copies, seed, epochs, **parameters)


def trained_rows(X, y, schedule, method, eta=1.0, with_bias=True, limits=None):
    machine = RowPerceptron(X.shape[1], method, eta, with_bias)
    return train(machine, lambda o, stop: machine.epoch(X, y, schedule.copies, o, stop), schedule, limits or Limits())


def trained_items(K, y, schedule, method, eta=1.0, shift=1.0):
    machine = ItemPerceptron(StoredMatrix.of(K), method, eta, shift)
    return train(machine, lambda o, stop: machine.epoch(y, schedule.copies, o, stop), schedule, Limits())


def first_orders(schedule, epochs):
    orders = schedule.orders()
    return [next(orders) for _ in range(epochs)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_rows_follow_the_rule(data, layout, with_bias, weighted, rng):
    X, y = data
    X = np.round(8 * X) / 8  # exact in every precision, and so is everything below
    copies = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    schedule = plan(len(y), 6, copies)
    w, b, mean, mean_b, updates = by_the_book(X, y, first_orders(schedule, 6), 0.5, with_bias, copies)
    last = trained_rows(layout(X), y, schedule, "online", 0.5, with_bias)
    np.testing.assert_array_equal(last.coefficients, w)
    assert (last.bias, last.updates, last.status) == (b, updates, Status.ITERATION_LIMIT)
    averaged = trained_rows(layout(X), y, schedule, "averaged", 0.5, with_bias)
    np.testing.assert_allclose(averaged.coefficients, mean, atol=1e-12)
    assert averaged.bias == pytest.approx(mean_b, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("method", ["online", "averaged", "batch"])
def test_items_do_as_rows_do(data, method, shift):
    X, y = data
    schedule = plan(len(y), 6)
    rows = trained_rows(X, y, schedule, method, with_bias=shift == 1.0)
    items = trained_items(X @ X.T, y, schedule, method, shift=shift)
    np.testing.assert_allclose(items.coefficients @ X, rows.coefficients, atol=1e-10)
    assert items.bias == pytest.approx(rows.bias, abs=1e-10)
    assert items.updates == rows.updates
    # Epoch by epoch: the mean loss of the points on the wrong side, and how many there were.
    told = [[(point.violation, point.working_set) for point in found.trace] for found in (items, rows)]
    np.testing.assert_allclose(*told, atol=1e-12)
    assert told[0][1][0] > 0.0


def test_a_batch_adds_the_mean_of_all_mistakes(data):
    X, y = data
    found = trained_rows(X, y, plan(len(y), 1), "batch", eta=2.0)
    np.testing.assert_allclose(found.coefficients, 2.0 * (y[:, None] * X).mean(axis=0))
    assert found.bias == pytest.approx(2.0 * y.mean())
    assert found.updates == 1


def test_a_fraction_of_a_copy_takes_a_fraction_of_a_step():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, 1.0])
    found = trained_rows(X, y, plan(2, 1, np.array([0.25, 1.0]), seed=None), "online", with_bias=False)
    assert found.coefficients == pytest.approx(0.25)  # then the second is right already
    assert found.updates == 1


def test_a_row_of_zeros_without_a_bias_is_wrong_for_ever():
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, 1.0])
    found = trained_rows(X, y, plan(2, 10), "online", with_bias=False)
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == 10


def test_slices_do_not_show(data, monkeypatch):
    X, y = data
    whole = trained_rows(X, y, plan(len(y), 4), "averaged")
    monkeypatch.setattr(perceptron, "SLICE_ENTRIES", 9)
    np.testing.assert_array_equal(trained_rows(X, y, plan(len(y), 4), "averaged").coefficients, whole.coefficients)


def test_patience_ends_what_does_not_improve(data):
    X, y = data
    found = trained_rows(X, y, plan(len(y), 10_000, tol=1e-3, patience=3), "online")
    assert found.status is Status.STALLED
    assert found.iterations < 1000


def test_callbacks_see_epochs_and_can_end_them(data):
    X, y = data
    seen = []
    limits = Limits(callbacks=[lambda point: seen.append(point) or len(seen) == 3])
    found = trained_rows(X, y, plan(len(y), 100), "online", limits=limits)
    assert found.status is Status.INTERRUPTED
    assert [point.iterations for point in seen] == [1, 2, 3]
    assert seen[0].active == len(y) >= seen[0].working_set > 0


# --- the linear program -----------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("with_bias", [True, False])
def test_both_programs_have_one_value(data, layout, with_bias, rng):
    X, y = data
    weights = rng.uniform(0.5, 2.0, len(y))
    found = solve_program(layout(X), y, weights, with_bias, Limits())
    assert found.status is Status.OPTIMAL
    slack = np.maximum(0.0, 1.0 - y * (X @ found.coefficients + found.bias))
    assert weights @ slack == pytest.approx(found.multipliers.sum(), rel=1e-9)
    assert found.multipliers.sum() > 0.5
    assert residual(layout(X), y, found.multipliers, with_bias) <= 1e-9
    assert ((found.multipliers >= 0) & (found.multipliers <= weights)).all()


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12])
def test_a_program_does_not_depend_on_units(data, scale):
    X, y = data
    plain, scaled = (solve_program(s * X, y, np.ones(len(y)), True, Limits()) for s in (1.0, scale))
    assert scaled.multipliers.sum() == pytest.approx(plain.multipliers.sum(), rel=1e-9)
    slack = np.maximum(0.0, 1.0 - y * (scale * X @ scaled.coefficients + scaled.bias))
    assert slack.sum() == pytest.approx(plain.multipliers.sum(), rel=1e-8)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_a_large_program_is_solved_elsewhere_to_the_same_end(data, layout, monkeypatch):
    X, y = data
    here = solve_program(layout(X), y, np.ones(len(y)), True, Limits())
    monkeypatch.setattr(perceptron_lp, "AT_ONCE", 0)
    elsewhere = solve_program(layout(X), y, np.ones(len(y)), True, Limits())
    assert elsewhere.status is Status.OPTIMAL
    np.testing.assert_array_equal(elsewhere.coefficients, here.coefficients)
    np.testing.assert_array_equal(elsewhere.multipliers, here.multipliers)


def test_a_program_can_be_left_alone(rng):
    X = rng.normal(size=(3000, 150))
    y = np.where(rng.normal(size=3000) > 0, 1.0, -1.0)
    limits = Limits(callbacks=[lambda _: True])
    limits.report(None)  # the callback says: enough
    watch = Stopwatch()
    found = solve_program(X, y, np.ones(3000), True, limits)
    assert found.status is Status.INTERRUPTED
    assert watch.seconds < 2.0
    assert not found.coefficients.any()


def test_a_program_keeps_to_its_time(rng):
    X = rng.normal(size=(3000, 150))
    y = np.where(rng.normal(size=3000) > 0, 1.0, -1.0)
    limits, watch = Limits(time_limit=0.05), Stopwatch()
    assert solve_program(X, y, np.ones(3000), True, limits).status is Status.TIME_LIMIT
    assert watch.seconds < 1.0


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_items_as_the_solution_of_a_dual(data, shift):
    X, y = data
    schedule = plan(len(y), 3)
    machine = ItemPerceptron(StoredMatrix.of(X @ X.T), "online", 1.0, shift)
    trained = train(machine, lambda o, stop: machine.epoch(y, schedule.copies, o, stop), schedule, Limits())
    solution = machine.solution(trained, y)
    np.testing.assert_allclose(solution.gradient, y - (X @ X.T + shift) @ solution.beta, atol=1e-12)
    assert solution.bias == pytest.approx(shift * solution.beta.sum())
    for name in ("status", "iterations", "trace", "updates", "is_fresh"):
        assert getattr(solution, name) == getattr(trained, name)
    assert solution.is_fresh
    assert solution.updates > 0


def test_an_average_after_one_visit_is_what_that_visit_left():
    X, y = np.array([[2.0, 1.0]]), np.array([1.0])
    for method in ("online", "averaged"):
        found = trained_rows(X, y, plan(1, 1), method)
        assert found.coefficients.tolist() == [2.0, 1.0]
        assert found.bias == 1.0


@pytest.mark.parametrize("method", ["online", "averaged", "batch"])
def test_before_any_visit_there_is_nothing(method):
    w, b = RowPerceptron(3, method, 1.0, True).answer()
    assert (w.tolist(), b) == ([0.0, 0.0, 0.0], 0.0)
    beta, b = ItemPerceptron(StoredMatrix.of(np.eye(2)), method, 1.0, 1.0).answer()
    assert (beta.tolist(), b) == ([0.0, 0.0], 0.0)


@pytest.mark.parametrize("eta", [0.25, 4.0])
@pytest.mark.parametrize("method", ["online", "averaged"])
def test_the_length_of_a_step_is_that_of_the_answer(data, method, eta):
    """From nothing, steps twice as long make weights twice as long, and the same mistakes."""
    X, y = data
    schedule = plan(len(y), 3, np.arange(len(y)) % 3 + 1.0)
    one, other = (trained_rows(X, y, schedule, method, eta=e) for e in (1.0, eta))
    np.testing.assert_allclose(other.coefficients, eta * one.coefficients)
    assert other.bias == pytest.approx(eta * one.bias)
    assert other.updates == one.updates
    one, other = (trained_items(X @ X.T, y, schedule, method, eta=e) for e in (1.0, eta))
    np.testing.assert_allclose(other.coefficients, eta * one.coefficients)
    assert other.bias == pytest.approx(eta * one.bias)
