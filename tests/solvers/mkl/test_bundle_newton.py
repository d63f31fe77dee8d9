"""Second derivatives by kernel weights, and how searches end."""

import numpy as np
import pytest

from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.mkl.weighted_kernels import Judged, WeightSet
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.mkl import bundle_newton as mkl_newton
from mercer.solvers.mkl import lp_norm as mkl_norm
from mercer.solvers.mkl.bundle_newton import _bounded, curvature_of
from mercer.solvers.mkl.search import MOST_UNSOLVED, WeightSearch
from mercer.solvers.result import Solution, Status


@pytest.mark.parametrize("kind", ["hinge", "squared_hinge", "penalized", "none", "regression"])
def test_curvature_is_the_derivative_of_the_gradient(kind, rng):
    X = rng.normal(size=(30, 2))
    signs, C = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0), np.full(30, 1.0)
    problem = {
        "hinge": SoftMargin(signs, C),
        "squared_hinge": SoftMargin(signs, C, "squared_hinge"),
        "penalized": SoftMargin(signs, C, bias="penalized"),
        "none": SoftMargin(signs, C, bias="none"),
        "regression": EpsilonRegression(np.sin(X[:, 0]), C, 0.05),
    }[kind]
    grams = [Linear()(X), RBF(gamma=1.0)(X), RBF(gamma=0.2)(X)]

    def solve(mu):
        K = sum(w * G for w, G in zip(mu, grams, strict=True))
        found = solve_dual(problem.dual(), StoredMatrix.of(K), tol=1e-12, limits=Limits(), convex=True)
        return found.beta, np.array([-0.5 * found.beta @ G @ found.beta for G in grams]), K

    mu = np.array([0.3, 0.5, 0.4])
    beta, _, K = solve(mu)
    free = np.flatnonzero(problem.dual().is_free(beta))
    products = np.stack([(G @ beta)[free] for G in grams], axis=1)
    H = curvature_of(problem.dual(), beta, K[np.ix_(free, free)].copy(), products)
    step = 1e-5
    for m in range(3):
        ends = [solve(mu + sign * step * np.eye(3)[m])[1] for sign in (1.0, -1.0)]
        np.testing.assert_allclose(H[:, m], (ends[0] - ends[1]) / (2.0 * step), rtol=1e-3, atol=1e-4)


def test_a_curvature_of_zero_is_below_any_majorant():
    H = np.diag([0.0, 4.0, 1e-310])
    assert np.array_equal(_bounded(H, np.array([1e10, 1.0, 1e300])), np.diag([0.0, 1.0, 1e-310]))


class _Unsolvable:
    """Machines that rounding leaves with a gap of their own, which is another one each time."""

    def __init__(self, gap):
        self.gap, self.rng = gap, np.random.default_rng(3)

    def solve(self, weights, _start):
        own = 1.0 + self.gap * self.rng.random()
        q = 1e-3 * self.rng.random(len(weights))
        return Judged(weights, [Solution.empty(2, Status.STALLED)], own, 1.0 - self.gap, q)

    def judge(self, weights, _betas):
        return self.solve(weights, None)

    def curvature(self, judged):
        return np.zeros((len(judged.weights), len(judged.weights)))

    def tighten(self):
        return False


@pytest.mark.parametrize(("gap", "status"), [(0.5, Status.STALLED), (4e-3, Status.OPTIMAL_INACCURATE)])
@pytest.mark.parametrize(("solver", "p"), [(mkl_newton, 1.0), (mkl_norm, 2.0)])
def test_no_weights_are_sought_for_machines_that_cannot_be_solved(solver, p, gap, status):
    search = WeightSearch(WeightSet(p), _Unsolvable(gap), 1e-3, Limits().with_max_iter(50))
    assert solver.minimise(search, 3) == status
    assert search.unsolved == MOST_UNSOLVED
