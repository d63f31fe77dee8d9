"""Conjugate gradients: the solution where there is one, a status where the matrix is not definite."""

import numpy as np
import pytest

from mercer.solvers.limits import Limits
from mercer.solvers.linalg import conjugate_gradient
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion, in_all
from mercer.solvers.result import Status


def definite(rng, n=30):
    X = rng.normal(size=(n, n))
    return X @ X.T + np.eye(n)


def test_every_right_hand_side_is_solved_and_zero_stays_zero(rng):
    A, B = definite(rng), rng.normal(size=(30, 3))
    B[:, 1] = 0.0
    found = conjugate_gradient.solve(lambda V: A @ V, B, lambda R: R / A.diagonal()[:, None], 1e-10, Limits())
    assert found.status is Status.OPTIMAL
    np.testing.assert_allclose(found.X, np.linalg.solve(A, B), atol=1e-8)
    assert not found.X[:, 1].any()


def test_a_direction_of_negative_curvature_ends_them_with_the_best_so_far(rng):
    A, B = np.diag([1.0, -1.0]), np.array([[1.0], [2.0]])
    found = conjugate_gradient.solve(lambda V: A @ V, B, lambda R: R, 1e-10, Limits())
    assert found.status is Status.STALLED
    np.testing.assert_array_equal(found.X, 0.0)


def test_all_columns_may_be_one_unknown(rng):
    A, B = definite(rng), rng.normal(size=(15, 2))
    recursion, X = Recursion(B, lambda R: R, in_all), np.zeros((15, 2))
    for _ in range(60):
        if recursion.turn() <= 1e-24:
            break
        p = recursion.direction
        X += recursion.advance((A @ p.ravel()).reshape(p.shape)) * p
    np.testing.assert_allclose(X.ravel(), np.linalg.solve(A, B.ravel()), atol=1e-8)


@pytest.mark.parametrize("curvature", [-1.0, 0.0, np.nan])
def test_the_recursion_refuses_what_is_not_definite(curvature):
    recursion = Recursion(np.array([1.0]), lambda r: r, np.dot)
    recursion.turn()
    with pytest.raises(NotPositiveDefinite):
        recursion.advance(np.array([curvature]))
