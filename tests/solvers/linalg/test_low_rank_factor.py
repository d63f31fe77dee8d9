"""The preconditioner of Newton's method is as large as its own cost allows."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.problems.kernel_methods.multinomial import Multinomial
from mercer.solvers.limits import Limits
from mercer.solvers.linalg.low_rank_factor import RANK_OF_ALL, low_rank_factor
from mercer.solvers.smooth.newton_gram import NewtonMatrix


def matrix_of(n, k, rng, memory=2**30):
    X, kernel = rng.normal(size=(n, 5)), RBF(gamma=0.3)
    problem = Multinomial(np.arange(n) % k, np.ones(n), k, "none")
    matrix = EvaluatedMatrix(kernel, lambda dtype, indices=None: kernel.prepare(X, dtype), np.float32)
    found = NewtonMatrix(problem, matrix, Limits(), memory)
    found.keep()
    return found, problem.root(np.zeros((n, k)))


@pytest.mark.parametrize("n", [900, 1600])
@pytest.mark.parametrize("k", [4, 6])
def test_a_hessian_costs_no_more_than_a_product(n, k, rng):
    K, root = matrix_of(n, k, rng)
    assert (K.rounded is not None) == (n == 1600)
    rank = low_rank_factor(K, root).shape[1]
    assert rank > 8
    assert n * (rank * k) ** 2 / 2 <= n**2 * k
    assert n * ((rank + 1) * k) ** 2 / 2 > n**2 * k


def test_products_that_compute_their_values_are_worth_more(rng):
    K, root = matrix_of(900, 6, rng, memory=0)
    assert low_rank_factor(K, root).shape[1] == RANK_OF_ALL // 6
