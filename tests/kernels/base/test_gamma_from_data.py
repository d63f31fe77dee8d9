"""gamma="median": what half of the pairs are nearer than."""

import numpy as np
import pytest
from scipy import sparse

from mercer import DataError
from mercer.kernels import RBF, Laplacian
from mercer.kernels.base.gamma_from_data import MOST_ROWS, median_distance


def test_half_of_all_pairs_are_nearer():
    X = np.random.default_rng(0).normal(size=(60, 3))
    squares = ((X[:, None] - X[None, :]) ** 2).sum(axis=2)[np.triu_indices(60, 1)]
    assert median_distance(X) == pytest.approx(np.sort(squares)[len(squares) // 2 - 1 :][:2].mean(), rel=0.02)
    gamma = RBF(gamma="median").bind(X).gamma
    assert np.mean(np.exp(-gamma * squares) > np.exp(-1.0)) == pytest.approx(0.5, abs=0.01)


def test_sparse_and_dense_agree():
    X = np.random.default_rng(1).normal(size=(40, 5)) * (np.random.default_rng(2).random((40, 5)) < 0.4)
    assert RBF("median").bind(sparse.csr_array(X)).gamma == pytest.approx(RBF("median").bind(X).gamma)


def test_the_laplacian_measures_its_own_distance():
    X = np.random.default_rng(3).normal(size=(41, 2))
    table = np.abs(X[:, None] - X[None, :]).sum(axis=2)[np.triu_indices(41, 1)]
    assert Laplacian("median").bind(X).gamma == pytest.approx(1.0 / np.median(table), rel=0.02)


def test_a_weight_of_two_is_a_copy_and_of_zero_no_row():
    X = np.random.default_rng(4).normal(size=(30, 2))
    weights = np.arange(30) % 3.0
    copies = np.repeat(np.arange(30), weights.astype(int))
    assert median_distance(X, weights) == median_distance(X[copies])


def test_rows_that_are_all_the_same_have_no_scale():
    assert RBF("median").bind(np.ones((5, 2))).gamma == 1.0
    assert RBF("median").bind(np.ones((1, 2))).gamma == 1.0


def test_many_rows_are_sampled_alike_every_time():
    X = np.random.default_rng(5).normal(size=(3 * MOST_ROWS, 2))
    assert median_distance(X) == median_distance(X.copy())
    assert median_distance(X) == pytest.approx(median_distance(X[:MOST_ROWS]), rel=0.1)


def test_distances_that_overflow_are_refused():
    with pytest.raises(DataError, match="scale X"):
        median_distance(np.array([[1e200], [-1e200]]))
