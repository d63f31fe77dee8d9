"""Equal points share their coefficients."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.polish import _shared_among_equals


def sharing(beta, K, signs, upper):
    ends = signs * upper
    problem = DualProblem(signs, np.minimum(ends, 0.0), np.maximum(ends, 0.0))
    matrix = StoredMatrix.of(K)
    gradient = problem.gradient(matrix, beta)
    return problem, _shared_among_equals(problem, matrix, beta, gradient, problem.violation(beta, gradient))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_equal_points_share_their_sum_in_proportion_to_their_bounds(size):
    X = np.sqrt(size) * np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0], [1.0, 0.0]])
    signs, upper = np.array([1.0, 1.0, -1.0, -1.0, -1.0]), np.array([1.0, 3.0, 2.0, 2.0, 1.0])
    K, beta = X @ X.T, np.array([0.8, 0.0, 0.0, -0.6, -0.2])
    problem, (shared, gradient, violation) = sharing(beta, K, signs, upper)
    # Points of the other class share nothing, wherever they are.
    np.testing.assert_allclose(shared, [0.2, 0.6, -0.3, -0.3, -0.2])
    np.testing.assert_allclose(gradient, signs - K @ shared)
    assert violation == pytest.approx(problem.violation(beta, signs - K @ beta))


def test_points_that_merely_resemble_each_other_share_nothing():
    K, beta = np.array([[1.0, 0.999], [0.999, 1.0]]), np.array([0.5, 0.1])
    _, (shared, *_) = sharing(beta, K, np.ones(2), np.ones(2))
    np.testing.assert_array_equal(shared, beta)
