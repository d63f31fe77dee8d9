import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.smooth.solve import _projections, solve


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_problem_is_solved_without_limits(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    found = solve(KernelRisk(signs, np.ones(30), LOSSES_OF_MARGINS[loss]), StoredMatrix.of(X @ X.T))
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_values_follow_from_the_gradient(loss, bias, rng):
    X = rng.normal(size=(20, 2))
    problem = KernelRisk(np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(20), LOSSES_OF_MARGINS[loss], bias)
    program, beta = problem.quadratic(), rng.normal(size=20)
    image = X @ X.T @ beta
    own = 0.0 if program.ridge is None else program.ridge * beta
    gradient = program.linear - image - program.shift * beta.sum() - own
    np.testing.assert_allclose(_projections(program, beta, gradient), image, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_gap_ends_the_steps_where_it_is_asked_for(loss, rng):
    X = rng.normal(size=(200, 2))
    problem = KernelRisk(np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0), np.ones(200), LOSSES_OF_MARGINS[loss])
    found = solve(problem, StoredMatrix.of(X @ X.T), tol=1e-12, gap_tol=0.3, limits=Limits())
    assert found.status is Status.OPTIMAL
    projections = X @ X.T @ found.beta
    gap = problem.gap(found.beta, projections, problem.intercept(found.beta, found.bias))
    assert gap <= 0.3


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_every_newton_step_is_counted_once_and_few_are_enough(bias, rng):
    X = rng.normal(size=(60, 3))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    problem, seen = KernelRisk(signs, np.full(60, 3.0), LOSSES_OF_MARGINS["logistic"], bias), []
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    limits = Limits(max_iter=30, callbacks=[seen.append])
    found = solve(problem, StoredMatrix.of(K), tol=1e-8, limits=limits)
    assert found.status is Status.OPTIMAL
    assert seen == found.trace
    assert set(np.diff([point.iterations for point in seen])) <= {0, 1}
    assert seen[-1].iterations == found.iterations
