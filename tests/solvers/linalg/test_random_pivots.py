"""Pivots drawn at random: their law, and what they describe."""

import numpy as np

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.linalg.pivoted_cholesky import random_pivots


def left_of(K, pivots):
    """The trace of what is left of K beside its columns at the pivots."""
    columns = K[:, pivots]
    return float(np.trace(K - columns @ np.linalg.pinv(K[np.ix_(pivots, pivots)], hermitian=True) @ columns.T))


def test_no_item_is_drawn_twice_and_there_are_as_many_as_asked_for():
    K = RBF(gamma=0.5)(np.random.default_rng(0).normal(size=(300, 3)))
    pivots = random_pivots(StoredMatrix.of(K), 120, np.random.default_rng(1))
    assert len(pivots) == len(set(pivots.tolist())) == 120


def test_a_matrix_of_low_rank_has_no_more_pivots_than_dimensions():
    rows = np.random.default_rng(0).normal(size=(200, 4))
    pivots = random_pivots(StoredMatrix.of(rows @ rows.T), 50, np.random.default_rng(1))
    assert len(pivots) == 4
    assert left_of(rows @ rows.T, pivots) < 1e-9


def test_the_first_two_are_drawn_by_the_law_of_one_after_the_other():
    # Three items: the chance of a pair follows from the diagonal, and from what the first leaves of the others.
    K = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 2.0]])
    first = K.diagonal() / K.trace()
    expected = np.zeros((3, 3))
    for i in range(3):
        left = K.diagonal() - K[:, i] ** 2 / K[i, i]
        left[i] = 0.0
        expected[i] = first[i] * left / left.sum()
    counts, rng = np.zeros((3, 3)), np.random.default_rng(0)
    n = 4000
    for _ in range(n):
        i, j = random_pivots(StoredMatrix.of(K), 2, rng)
        counts[i, j] += 1
    deviation = np.sqrt(n * expected * (1 - expected)) + 1e-9
    assert (np.abs(counts - n * expected) <= 4.5 * deviation).all()


def test_clusters_that_a_uniform_draw_misses_are_met():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(1900, 2)) * 0.05, rng.normal(size=(100, 2)) * 0.05 + 50 * rng.normal(size=(100, 2))]
    )
    K = RBF(gamma=1.0)(X)
    pivots = random_pivots(StoredMatrix.of(K), 60, np.random.default_rng(1))
    uniform = np.random.default_rng(1).choice(2000, 60, replace=False)
    assert left_of(K, pivots) < 0.6 * left_of(K, uniform)


def test_pivots_end_where_they_are_told_to():
    K = RBF(gamma=0.5)(np.random.default_rng(0).normal(size=(300, 3)))
    assert len(random_pivots(StoredMatrix.of(K), 120, np.random.default_rng(1), stop=lambda: True)) == 0
