"""Pair steps on near entries take the steps of `pair_steps` on a matrix whose other entries are zero."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.gram.near_rows import near_rows
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.part_of_dual import widened
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import decomposition, warm_sequence
from mercer.solvers.dual_qp.near_pair_steps import near_pair_steps
from mercer.solvers.dual_qp.warm_sequence import WarmState
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


def sample(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def problems(X, y):
    n = len(y)
    return {
        "classes": SoftMargin(y, np.full(n, 10.0), "hinge", "free"),
        "targets": EpsilonRegression(X[:, 0] + 0.1 * y, np.full(n, 10.0), 0.1),
    }


@pytest.mark.parametrize("kind", ["classes", "targets"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_solution_is_that_of_whole_rows(kind, dtype):
    X, y = sample()
    K = RBF(20.0)(X)
    K = np.where(K > 1e-5, K, 0.0).astype(dtype)
    dual, matrix = problems(X, y)[kind].dual(), StoredMatrix.of(K)
    found = []
    for near in (near_rows(K), None):
        working = WorkingSet(dual, matrix, np.arange(400), np.zeros(400), dual.linear, near=near)
        steps = working.run(1e-3, Limits(), 0)
        assert working.violation <= 1e-3
        assert dual.violation(working.beta, dual.linear - K @ working.beta) <= 1.1e-3
        found.append((steps, dual.objective(working.beta, dual.linear - K @ working.beta)))
    (few, value), (many, expected) = found
    assert value == pytest.approx(expected, rel=1e-5)
    assert abs(few - many) <= 0.1 * many


def test_steps_stop_where_they_are_told_to():
    X, y = sample()
    matrix = StoredMatrix.of(RBF(20.0)(X))
    dual = problems(X, y)["classes"].dual()
    working = WorkingSet(
        dual, matrix, np.arange(400), np.zeros(400), dual.linear, near=near_rows(matrix.values[:, :400])
    )
    assert working.run(1e-3, Limits(max_iter=7), 0) == 7
    assert working.beta.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["classes", "targets"])
def test_a_series_over_a_narrow_kernel_ends_in_the_true_solution(kind, monkeypatch):
    taken = []

    def counted(*arguments):
        taken.append(1)
        return near_pair_steps(*arguments)

    monkeypatch.setattr("mercer.solvers.dual_qp.working_set.near_pair_steps", counted)
    X, y = sample(600)
    matrix, rows = StoredMatrix.of(RBF(12.0)(X).astype(np.float32)), np.arange(100, 600)
    problem = problems(X[rows], y[rows])[kind]
    dual = widened(problem.dual(), rows, 600)
    found = warm_sequence.solve(dual, matrix, state=WarmState.zero(600), tol=1e-4, limits=Limits())
    alone = decomposition.solve(problem.dual(), matrix.view(rows), tol=1e-4)
    assert taken
    assert found.status == Status.OPTIMAL
    gradient = dual.linear - matrix.values[:, :600].astype(float) @ found.beta
    assert dual.violation(found.beta, gradient) <= 1.01e-4
    assert not found.beta[:100].any()
    assert dual.objective(found.beta, gradient) == pytest.approx(
        problem.dual().objective(alone.beta, alone.gradient), rel=1e-5
    )


def test_whole_rows_are_read_where_what_is_left_out_matters(monkeypatch):
    """Many entries just below the limit, all of one sign, are no nothing together with large coefficients."""
    n, rng = 600, np.random.default_rng(0)
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    V = np.where(y > 0, 1.0, -1.0)[:, None] * np.sqrt(9e-6)
    K = V @ V.T + np.diag(np.full(n, 1e-3))
    matrix = StoredMatrix.of(K / K.diagonal().mean())
    monkeypatch.setattr("mercer.kernels.gram.near_rows.NEARLY_ZERO", 0.5)
    problem = SoftMargin(y, np.full(n, 100.0), "hinge", "free")
    dual = problem.dual()
    found = warm_sequence.solve(dual, matrix, state=WarmState.zero(n), tol=1e-4, limits=Limits())
    assert found.status == Status.OPTIMAL
    assert dual.violation(found.beta, dual.linear - matrix.values[:, :n] @ found.beta) <= 1.01e-4
