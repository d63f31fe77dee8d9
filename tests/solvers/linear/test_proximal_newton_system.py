"""(diag(1, ..., 1, r) + Z' S Z) s = g, formed or by products, for dense and sparse rows."""

import numpy as np
import pytest
from scipy import sparse

from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.solvers.linear import proximal_newton_system as newton_system
from mercer.solvers.linear.proximal_newton_system import NewtonSystem


def case(d, kind=np.asarray, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, d)) * (rng.random((50, d)) < 0.6)
    slope = np.where(rng.random(50) < 0.5, rng.uniform(0.1, 2.0, 50), 0.0)
    return X, RowProducts(view_rows(kind(X)), d), slope, rng.normal(size=d + 1)


def formed(X, slope, scale, weight):
    Z = np.column_stack([X, np.full(len(X), scale)])
    return np.diag(np.r_[np.ones(X.shape[1]), weight if scale else 1.0]) + Z.T @ (slope[:, None] * Z)


@pytest.mark.parametrize(("scale", "weight"), [(0.0, 0.0), (1.0, 0.0), (3.0, 1.0)])
@pytest.mark.parametrize("d", [4, 30])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_formed_system_is_solved(d, kind, scale, weight):
    X, products, slope, g = case(d, kind)
    found = NewtonSystem(products, scale, weight).solve(slope, g)
    np.testing.assert_allclose(formed(X, slope, scale, weight) @ found, g, atol=1e-9)


@pytest.mark.parametrize(("scale", "weight"), [(0.0, 0.0), (1.0, 0.0), (3.0, 1.0)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_one_that_is_not_formed_is_solved_to_a_twentieth(kind, scale, weight, monkeypatch):
    """In the norm of the preconditioner, in which the residual is looked at; and further where that is asked for."""
    X, products, slope, g = case(6, kind)
    monkeypatch.setattr(newton_system, "DIRECT", 0)
    A = formed(X, slope, scale, weight)
    for share in (0.05, 1e-10):
        monkeypatch.setattr(newton_system, "CG_TOL", share)
        left = g - A @ NewtonSystem(products, scale, weight).solve(slope, g)
        assert left @ (left / A.diagonal()) <= 1.0001 * share**2 * (g @ (g / A.diagonal()))


def test_a_free_bias_that_no_row_holds_is_not_divided_by():
    _, products, _, g = case(4)
    found = NewtonSystem(products, 1.0, 0.0).solve(np.zeros(50), g)
    np.testing.assert_allclose(found, g)
