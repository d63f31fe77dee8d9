"""Conjugate gradients against NumPy's solution, and each way in which they end."""

import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.solvers.limits import Limits
from mercer.solvers.linalg import conjugate_gradient
from mercer.solvers.result import Status


def positive(n, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, n))
    return rows @ rows.T / n + np.eye(n)


def solved(A, right, precondition=lambda R: R, tol=1e-12, limits=None, **options):
    return conjugate_gradient.solve(lambda V: A @ V, right, precondition, tol, limits or Limits(), **options)


@pytest.mark.parametrize("is_preconditioned", [True, False])
def test_every_column_is_solved_to_the_tolerance(is_preconditioned):
    A, right = positive(30), np.random.default_rng(1).normal(size=(30, 3)) * [1.0, 1e6, 1e-6]
    scale = 1.0 / A.diagonal()[:, None]
    found = solved(A, right, (lambda R: scale * R) if is_preconditioned else (lambda R: R))
    assert found.status == Status.OPTIMAL
    left = np.linalg.norm(right - A @ found.X, axis=0) / np.linalg.norm(right, axis=0)
    assert (left <= 1e-11).all()
    np.testing.assert_allclose(found.residual, left, atol=1e-13)
    np.testing.assert_allclose(found.X, np.linalg.solve(A, right), rtol=1e-9)


def test_as_many_iterations_as_there_are_eigenvalues():
    """Hestenes & Stiefel: in exact arithmetic one for each value that differs."""
    Q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(20, 20)))
    found = solved((Q * np.repeat([1.0, 2.0, 5.0], [10, 5, 5])) @ Q.T, np.ones((20, 1)), tol=1e-10)
    assert found.iterations == 3
    assert [point.iterations for point in found.trace] == [1, 2, 3]
    assert found.trace[-1].violation == found.residual.max() <= 1e-10


def test_a_column_of_zeros_is_solved_by_zeros():
    A = positive(10)
    found = solved(A, np.column_stack([np.zeros(10), np.ones(10)]))
    assert found.status == Status.OPTIMAL
    assert (found.X[:, 0] == 0).all()
    np.testing.assert_allclose(A @ found.X[:, 1], 1.0, rtol=1e-9)


def test_nothing_to_do_takes_no_iteration():
    found = solved(positive(5), np.zeros((5, 2)), limits=Limits(max_iter=0))
    assert (found.status, found.iterations) == (Status.OPTIMAL, 0)


def test_an_iteration_limit_leaves_the_best_there_is():
    A, right = positive(40), np.ones((40, 1))
    found = solved(A, right, limits=Limits(max_iter=4))
    assert (found.status, found.iterations) == (Status.ITERATION_LIMIT, 4)
    left = np.linalg.norm(right - A @ found.X) / np.linalg.norm(right)
    assert 1e-12 < left < 1.0
    assert found.residual == pytest.approx(left)


def test_a_callback_ends_it_after_its_first_iteration():
    found = solved(positive(40), np.ones((40, 1)), limits=Limits(callbacks=[lambda _: True]))
    assert (found.status, found.iterations) == (Status.INTERRUPTED, 1)


def test_time_that_is_over_still_allows_one_iteration():
    found = solved(positive(40), np.ones((40, 1)), limits=Limits(time_limit=0.0))
    assert (found.status, found.iterations) == (Status.TIME_LIMIT, 1)


def test_a_product_that_stops_ends_it_with_what_there_is():
    A, calls = positive(40), []

    def apply(V):
        calls.append(V)
        if len(calls) == 3:
            raise Stopped
        return A @ V

    found = conjugate_gradient.solve(apply, np.ones((40, 1)), lambda R: R, 1e-12, Limits())
    assert (found.status, found.iterations) == (Status.INTERRUPTED, 2)
    assert found.X.any()


def test_without_a_smaller_residual_it_is_given_up_after_some_patience():
    """A right-hand side outside the range of a singular matrix; the best of all that were met is kept."""
    found = solved(np.diag(np.r_[0.0, np.linspace(1.0, 3.0, 19)]), np.ones((20, 1)), patience=5)
    assert found.status == Status.STALLED
    shares = [1.0, *(point.violation for point in found.trace)]
    assert found.iterations - int(np.argmin(shares)) == 5
    assert found.residual == min(shares)


def test_a_matrix_that_is_not_positive_definite_has_no_steps_to_offer():
    found = solved(-np.eye(5), np.ones((5, 1)))
    assert found.status == Status.STALLED
    assert found.iterations <= 1
    assert (found.X == 0).all()
