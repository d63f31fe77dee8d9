"""Decision values of rows left out, against a fit without each."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.paths import leave_one_out
from mercer.solvers.paths.parametric_events import Cycling


def rows(n=18, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return RBF(0.4)(X), np.where(X[:, 0] + 0.6 * rng.normal(size=n) > 0, 1.0, -1.0)


def anew(K, signs, C, loss, bias):
    """The value at each row of a machine that never saw it."""
    out = np.empty(len(signs))
    for i in range(len(signs)):
        rest = np.delete(np.arange(len(signs)), i)
        problem = SoftMargin(signs[rest], C[rest], loss, bias)
        found = solve_dual(
            problem.dual(), StoredMatrix.of(K[np.ix_(rest, rest)]), tol=1e-11, limits=Limits(), convex=True
        )
        out[i] = K[i, rest] @ found.beta + problem.intercept(found.beta, found.bias)
    return out


@pytest.mark.parametrize("way", ["along a path", "by solving again"])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_values_are_those_of_fits_without_each_row(loss, bias, way, monkeypatch):
    K, signs = rows()
    C = np.linspace(0.5, 3.0, len(signs))
    if way == "by solving again":

        def stuck(*_):
            raise Cycling

        monkeypatch.setattr(leave_one_out.Homotopy, "take_back", stuck)
    fit = leave_one_out.ExactSolution(SoftMargin(signs, C, loss, bias), StoredMatrix.of(K), Limits())
    np.testing.assert_allclose(fit.values_left_out(Limits()), anew(K, signs, C, loss, bias), atol=1e-6)


def test_the_only_row_of_a_class_is_taken_for_the_other():
    K, _ = rows(n=8)
    signs = np.array([1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0])
    fit = leave_one_out.ExactSolution(SoftMargin(signs, np.ones(8)), StoredMatrix.of(K), Limits())
    found = fit.values_left_out(Limits())
    assert found[0] == -1.0
    # Every other row leaves both classes there.
    np.testing.assert_allclose(found[1:], anew(K, signs, np.ones(8), "hinge", "free")[1:], atol=1e-6)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_matrix_that_was_given_stays_as_it_is(loss, bias):
    K, signs = rows(n=8)
    matrix = StoredMatrix.of(K)
    before = matrix.values.copy()
    leave_one_out.ExactSolution(SoftMargin(signs, np.ones(8), loss, bias), matrix, Limits())
    np.testing.assert_array_equal(matrix.values, before)
