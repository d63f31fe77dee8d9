import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS
from mercer.solvers.result import Status
from mercer.solvers.smooth.solve import solve


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_problem_is_solved_without_limits(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    found = solve(KernelRisk(signs, np.ones(30), LOSSES_OF_MARGINS[loss]), StoredMatrix.of(X @ X.T))
    assert found.status is Status.OPTIMAL
