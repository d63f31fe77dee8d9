import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.doubled import RepeatedMatrix
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.problems.svm.epsilon_regression import NuRegression
from mercer.problems.svm.nu import NuMargin
from mercer.solvers.dual_qp import decomposition, start_from_least_squares
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits


def matrix_of(X, kernel=None, dtype=np.float32):
    kernel = kernel or RBF(0.5)

    def prepare(dtype, indices=None):
        return kernel.prepare(X if indices is None else X[indices], dtype)

    return EvaluatedMatrix(kernel, prepare, dtype)


def noisy_classes(rng, n):
    X = rng.normal(size=(n, 3))
    signs = np.where(X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1]) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, signs


def value(problem, matrix, beta):
    return problem.objective(beta, problem.gradient(matrix, beta))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_begins_nearer_than_the_first_points_do(rng, dtype):
    X, signs = noisy_classes(rng, 5000)
    problem = NuMargin(signs, np.ones(5000), 0.4, np.ones(5000)).dual()
    matrix = matrix_of(X, dtype=dtype)
    start = start_from_least_squares.start(problem, matrix)
    np.testing.assert_allclose(problem.excess(start), 0.0, atol=1e-9)
    found = decomposition.solve(problem, matrix, tol=1e-3)
    best = problem.objective(found.beta, found.gradient)
    assert value(problem, matrix, start) - best > 0.2 * (value(problem, matrix, problem.beginning()) - best)
    assert ((np.abs(start) > 0.5) != (np.abs(found.beta) > 0.5)).mean() < 0.1


def test_same_answer_as_from_anywhere(rng):
    X, signs = noisy_classes(rng, 3000)
    weights = rng.uniform(0.5, 2.0, size=3000)
    problem = NuMargin(signs, weights, 0.3, np.ones(3000)).dual()
    found = solve_dual(problem, matrix_of(X), tol=1e-4, limits=Limits(), convex=True)
    plain = decomposition.solve(problem, matrix_of(X), tol=1e-4)
    assert value(problem, matrix_of(X), found.beta) == pytest.approx(value(problem, matrix_of(X), plain.beta), rel=1e-5)


def test_copies_of_a_regression_begin_on_their_side_of_the_function(rng):
    X = rng.normal(size=(2500, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=2500)
    regression = NuRegression(y, np.full(2500, 1.0), 0.4)
    start = start_from_least_squares.start(regression.dual(), RepeatedMatrix(matrix_of(X)))
    noise = y - np.sin(2.0 * X[:, 0])
    folded = regression.folded(start)
    assert start[:2500].sum() == pytest.approx(500.0)
    assert start[2500:].sum() == pytest.approx(-500.0)
    assert (np.sign(folded) == np.sign(noise))[folded != 0].mean() > 0.95


def test_where_least_squares_finds_nothing_it_begins_with_the_first(rng):
    class Nothing:
        """A matrix that is negative definite: its normal equations have no Cholesky factor."""

        n, diag = 600, np.full(600, 1e9)

        def view(self, indices):
            return self

        def rows(self, indices):
            return -1e9 * np.eye(600)[indices]

    signs = np.where(np.arange(600) % 2 == 0, 1.0, -1.0)
    problem = NuMargin(signs, np.ones(600), 0.5, np.ones(600)).dual()
    np.testing.assert_array_equal(start_from_least_squares.start(problem, Nothing()), problem.beginning())
