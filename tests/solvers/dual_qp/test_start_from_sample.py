import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp import decomposition, start_from_sample
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits


def matrix_of(X, dtype=np.float32):
    kernel = RBF(0.3)

    def prepare(dtype, indices=None):
        return kernel.prepare(X if indices is None else X[indices], dtype)

    return EvaluatedMatrix(kernel, prepare, dtype)


def share(n, nu):
    return DualProblem(np.zeros(n), np.zeros(n), np.ones(n), total=nu * n)


def test_most_points_begin_where_they_end(rng):
    X = rng.normal(size=(6000, 3))
    problem, matrix = share(6000, 0.1), matrix_of(X)
    start = start_from_sample.sampled_start(problem, matrix, Limits(), solve_dual, {"tol": 1e-3, "convex": True})
    assert start.sum() == pytest.approx(600)
    end = solve_dual(problem, matrix, tol=1e-3, limits=Limits(), convex=True).beta
    assert ((start > 0.5) != (end > 0.5)).mean() < 0.04


def test_same_answer_as_from_anywhere(rng):
    X = rng.normal(size=(3000, 2))
    problem, matrix = share(3000, 0.2), matrix_of(X)
    found = solve_dual(problem, matrix, tol=1e-4, limits=Limits(), convex=True)
    plain = decomposition.solve(problem, matrix, tol=1e-4)
    assert problem.objective(found.beta, found.gradient) == pytest.approx(
        problem.objective(plain.beta, plain.gradient), rel=1e-6
    )
    assert found.iterations < plain.iterations


def test_the_box_of_a_sample_reaches_as_far_as_that_of_the_whole(rng):
    upper = rng.uniform(0.5, 2.0, size=5000)
    problem = DualProblem(np.zeros(5000), np.zeros(5000), upper, total=300.0)
    sample = start_from_sample._draw(problem, rng)
    part = start_from_sample.scaled_part(problem, sample)
    assert len(sample) == 625
    assert part.upper.sum() == pytest.approx(upper.sum())
    np.testing.assert_allclose(part.upper / upper[sample], part.upper[0] / upper[sample[0]])


def test_small_problems_begin_with_the_first(rng):
    K = StoredMatrix.of(RBF(0.3)(rng.normal(size=(30, 2))))
    problem = share(30, 0.25)
    assert start_from_sample.sampled_start(problem, K, Limits(), solve_dual, {}) is None
    np.testing.assert_array_equal(problem.beginning(), np.repeat([1.0, 0.5, 0.0], [7, 1, 22]))


def test_the_box_of_a_part_reaches_as_far_as_the_whole():
    problem = DualProblem(np.arange(4.0), -np.ones(4), np.array([1.0, 2.0, 3.0, 6.0]), ridge=np.arange(4.0))
    part = start_from_sample.scaled_part(problem, np.array([1, 3]))
    assert part.upper.tolist() == [3.0, 9.0]
    assert part.lower.tolist() == [-2.0, -2.0]
    assert part.linear.tolist() == [1.0, 3.0]
    assert part.ridge.tolist() == [1.0, 3.0]
