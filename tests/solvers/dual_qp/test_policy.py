"""Which route is chosen, and that the trace and `verbose` name it."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import SVC, OneClassSVM
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.policy import Route
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits


def rows(n, rng):
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize(
    ("n", "route"),
    [(100, Route.EXACT), (policy.EXACT_SIZE + 50, Route.ROUNDS), (policy.STORED_SIZE + 50, Route.ROUNDS)],
)
def test_the_trace_names_the_route(n, route, rng):
    model = SVC(C=0.5).fit(*rows(n, rng))
    assert {point.route for point in model.trace_} == {route}


def test_pairs_of_small_classes_are_a_route(rng):
    X, y = load_digits(return_X_y=True)
    model = SVC(gamma=1e-3).fit(X[:300], y[:300])
    assert {point.route for trace in model.trace_ for point in trace} == {Route.CLASS_PAIRS}


def test_verbose_says_the_route(rng, capsys):
    SVC(verbose=True).fit(*rows(80, rng))
    assert "exact: working set 80 of 80" in capsys.readouterr().err


@pytest.mark.parametrize("start", [None, np.zeros(policy.EXACT_SIZE)])
def test_a_small_matrix_in_double_precision_is_exact_wherever_it_begins(start, rng):
    X, y = rows(policy.EXACT_SIZE, rng)
    dual, K = SoftMargin(y.astype(float), np.ones(len(y))).dual(), RBF(0.5)(X)
    for values, route in ((K, Route.EXACT), (K.astype(np.float32), Route.ROUNDS)):
        solution = solve_dual(dual, StoredMatrix.of(values), tol=1e-3, limits=Limits(), convex=True, start=start)
        assert {point.route for point in solution.trace} == {route}


def test_the_matrix_of_one_point_more_is_solved_in_rounds(rng):
    assert policy.is_exact(StoredMatrix.of(np.eye(policy.EXACT_SIZE)))
    assert not policy.is_exact(StoredMatrix.of(np.eye(policy.EXACT_SIZE + 1)))


def test_a_sum_that_is_not_zero_needs_no_special_solver(rng):
    model = OneClassSVM(nu=0.2).fit(rows(policy.STORED_SIZE + 50, rng)[0])
    assert {point.route for point in model.trace_} == {Route.ROUNDS}
