"""The penalty that leaves the least error, against fitting every row's absence and every penalty anew."""

import numpy as np
import pytest

from mercer.kernels.gram.symmetric_operator import GivenOperator
from mercer.problems.kernel_methods.ridge import Ridge
from mercer.solvers.limits import Limits
from mercer.solvers.linalg.ridge_gcv import choose_penalty, memory
from mercer.solvers.result import Status

PENALTIES = [1e-3, 0.1, 1.0, 30.0]


@pytest.fixture
def case(rng):
    X = np.sort(rng.uniform(-3, 3, 15))
    K = np.exp(-((X[:, None] - X) ** 2))
    targets = np.column_stack([np.sin(X), np.cos(2 * X)]) + 0.3 * rng.normal(size=(15, 2))
    return K, Ridge(targets, np.ones(2), np.sqrt(rng.integers(1, 4, 15)))


def left_out_error(K, problem, penalty):
    """The mean squared error, by weight, of models that never saw the row."""
    weights, total = problem.scale**2, 0.0
    for i in range(len(K)):
        rest = np.arange(len(K)) != i
        A = K[np.ix_(rest, rest)] + penalty * np.diag(1.0 / weights[rest])
        predicted = K[i, rest] @ np.linalg.solve(A, problem.targets[rest])
        total += weights[i] * ((problem.targets[i] - predicted) ** 2).sum()
    return total / (2.0 * weights.sum())


def chosen(K, problem, criterion, limits=None, penalties=PENALTIES):
    operator = GivenOperator(problem.scale[:, None] * K * problem.scale)
    return choose_penalty(operator, problem, penalties, criterion, limits or Limits())


def test_leave_one_out_errors_are_those_of_leaving_rows_out(case):
    K, problem = case
    found = chosen(K, problem, "loo")
    np.testing.assert_allclose(found.errors, [left_out_error(K, problem, each) for each in PENALTIES], rtol=1e-8)
    assert (found.problem.penalties == PENALTIES[int(found.errors.argmin())]).all()
    assert (found.problem.targets == problem.targets).all()


def test_generalised_cross_validation_is_golub_heath_and_wahbas(case):
    """n |(I - A) y|^2 / tr(I - A)^2 with the hat matrix A, for equal weights."""
    K, problem = case
    problem = Ridge(problem.targets, problem.penalties, np.ones(15))
    expected = []
    for penalty in PENALTIES:
        residual = np.eye(15) - K @ np.linalg.inv(K + penalty * np.eye(15))
        expected.append(15 * ((residual @ problem.targets) ** 2).sum() / np.trace(residual) ** 2 / 2)
    np.testing.assert_allclose(chosen(K, problem, "gcv").errors, expected, rtol=1e-8)


def test_what_is_not_reached_in_time_is_not_chosen(case):
    K, problem = case
    found = chosen(K, problem, "loo", Limits(time_limit=0.0), PENALTIES[::-1])
    assert np.isfinite(found.errors[0])
    assert (found.errors[1:] == np.inf).all()
    assert (found.problem.penalties == 30.0).all()


def test_eigenvalues_below_zero_are_rounding(case):
    """Penalties beside which a negative eigenvalue is not small still give errors as of zero."""
    _, problem = case
    problem = Ridge(problem.targets, problem.penalties, np.ones(15))
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(15, 15)))
    values = np.r_[-1e-9, np.arange(1.0, 15.0)]
    found = [
        chosen((Q * each) @ Q.T, problem, "gcv", penalties=[1e-8]).errors for each in (values, np.maximum(values, 0))
    ]
    np.testing.assert_allclose(*found, rtol=1e-4)


def test_memory_is_that_of_three_square_matrices():
    assert memory(100) == 3 * np.empty((100, 100)).nbytes


def test_nothing_is_computed_once_time_is_up(case, monkeypatch):
    K, problem = case
    limits, asked = Limits(), []
    monkeypatch.setattr(limits, "reached", lambda: asked.append(1) or (Status.TIME_LIMIT if len(asked) == 2 else None))
    found = chosen(K, problem, "loo", limits)
    assert np.isfinite(found.errors).tolist() == [True, True, False, False]
