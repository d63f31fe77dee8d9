"""Paths of a few points, every piece of which meets the conditions of optimality.

So few that code which is not compiled follows them at once.
"""

import numpy as np
import pytest

from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.paths.exact_path import follow_path
from mercer.solvers.paths.leave_one_out import ExactSolution
from mercer.solvers.paths.parametric_steps import symmetric_products
from mercer.solvers.result import Status

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
CASES = {
    "mixed": (np.random.default_rng(0).normal(size=(7, 2)), np.array([1, -1, 1, -1, -1, 1, -1])),
    "one class heavier": (np.random.default_rng(1).normal(size=(7, 2)), np.array([1, 1, 1, 1, 1, -1, -1])),
    "a line in order": (LINE, np.array([-1, -1, -1, 1, 1, 1])),
    "a line in turns": (LINE, np.array([-1, 1, -1, 1, -1, 1])),
    "every row twice": (np.repeat(LINE[:3], 2, axis=0), np.array([-1, -1, 1, 1, -1, -1])),
    "contradictions": (np.repeat(LINE[:3], 2, axis=0), np.array([-1, 1, 1, 1, -1, 1])),
}


def assert_optimal(K, signs, bounds, beta, bias, is_free):
    alpha, margins, size = signs * beta, signs * (K @ beta + bias), bounds.max()
    assert alpha.min() >= -1e-9 * size
    assert (alpha - bounds).max() <= 1e-9 * size
    if is_free:
        assert abs(beta.sum()) <= 1e-8 * size
    low, high = alpha <= 1e-8 * bounds, alpha >= bounds * (1.0 - 1e-8)
    assert margins[~high].min(initial=1.0) >= 1.0 - 1e-6
    assert margins[~low].max(initial=1.0) <= 1.0 + 1e-6


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("name", CASES)
def test_every_piece_of_a_path_is_optimal(name, kernel, bias):
    X, signs = CASES[name]
    signs = signs.astype(float)
    K, weights = kernel(X), np.linspace(0.5, 1.5, len(signs)) if name == "mixed" else np.ones(len(signs))
    path = follow_path(StoredMatrix.of(K), signs, weights, bias, 60.0, None)
    assert path.status == Status.OPTIMAL
    ends = np.append(path.breakpoints, 60.0)
    middles = 0.5 * (ends[1:] + ends[:-1])
    for C in np.unique(np.concatenate([middles, ends[1:]])):
        if C > 0.0:
            assert_optimal(K, signs, C * weights, *path.at(C), bias == "free")


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("name", CASES)
def test_a_row_that_is_led_back_to_zero_is_as_if_it_had_never_been_there(name, bias):
    X, signs = CASES[name]
    signs, K = signs.astype(float), RBF(0.5)(X)
    for C in (0.5, 5.0):
        whole = ExactSolution(SoftMargin(signs, np.full(len(signs), C), bias=bias), StoredMatrix.of(K), Limits())
        assert_optimal(K, signs, np.full(len(signs), C), whole.beta, whole.homotopy.bias, bias == "free")
        for point in np.flatnonzero(whole.beta):
            part = whole.homotopy.copy()
            part.take_back(int(point))
            beta, rest = part.beta, np.delete(np.arange(len(signs)), point)
            assert beta[point] == 0.0
            some = K[np.ix_(rest, rest)]
            assert_optimal(some, signs[rest], np.full(len(rest), C), beta[rest], part.bias, bias == "free")
            np.testing.assert_allclose(part.gradient, signs - K @ beta, atol=1e-8)


def test_products_of_a_symmetric_matrix_with_two_vectors_at_once(rng):
    A = rng.normal(size=(5, 5))
    A += A.T
    first, second = rng.normal(size=(2, 5))
    out, other = np.ones(5), np.zeros(5)
    symmetric_products(np.triu(A), first, second, out, other)
    np.testing.assert_allclose(out, 1.0 + A @ first)
    np.testing.assert_allclose(other, A @ second)
