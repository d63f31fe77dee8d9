"""Pairs of classes along C: each is the solution of its own problem."""

from itertools import pairwise

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.class_pairs import pairs_along_path
from mercer.solvers.class_pairs.pairs_along_path import MOST_STEPS, solve_pair_paths


def three_classes(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 3, n))
    return rng.normal(size=(n, 2)) + 1.5 * np.stack([np.cos(2 * y), np.sin(2 * y)], axis=1), y


def solved(X, y, Cs, dtype, places, ridge=0.0, ratios=None):
    K = StoredMatrix.of(RBF(0.5)(X).astype(dtype)).values
    edges = np.searchsorted(y[places], np.arange(4))
    boxes = np.repeat(np.array(Cs)[:, None], len(places), axis=1)
    ridges = np.full_like(boxes, ridge)
    ratios = np.array([0.0, *(b / a for a, b in pairwise(Cs))]) if ratios is None else ratios
    tables, report = np.zeros((len(Cs), 2, len(places))), np.zeros((len(Cs), 3, 3))
    pairs = np.column_stack(np.triu_indices(3, 1))
    solve_pair_paths(K, places, edges, pairs, boxes, ridges, ratios, 1e-4, MOST_STEPS, (0, 3), tables, report)
    return tables, report


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Cs", [[0.1, 1.0, 10.0, 1000.0], [10.0, 0.5, 2.0]])
def test_each_pair_is_solved_for_every_C(dtype, Cs):
    X, y = three_classes()
    places = np.flatnonzero(np.arange(240) % 5 > 0)
    tables, report = solved(X, y, Cs, dtype, places)
    assert (report[:, :, pairs_along_path.ENDING] == pairs_along_path.SOLVED).all()
    for c, C in enumerate(Cs):
        alone = SVC(C=C, kernel=RBF(0.5), tol=1e-6).fit(X[places], y[places])
        np.testing.assert_allclose(report[c, :, pairs_along_path.BIAS], alone.intercept_, atol=2e-3)
        table = np.zeros((2, len(places)))
        table[:, alone.support_] = alone.dual_coef_
        assert np.abs(tables[c]).max() <= C
        np.testing.assert_allclose(tables[c], table, atol=0.02 * C)


def test_a_box_without_end_and_a_ridge():
    X, y = three_classes()
    places = np.arange(240)
    tables, report = solved(X, y, [1.0], np.float64, places, ridge=0.5)
    boxless, told = solved(X, y, [np.inf, np.inf], np.float64, places, ridge=0.5, ratios=np.zeros(2))
    alone = SVC(C=1.0, loss="squared_hinge", kernel=RBF(0.5), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(told[0, :, pairs_along_path.BIAS], alone.intercept_, atol=1e-3)
    assert told[1, :, pairs_along_path.STEPS].sum() == 0  # the same box again: nothing left to do
    np.testing.assert_array_equal(boxless[0], boxless[1])
    assert np.abs(tables).max() <= 1.0
    assert (report[:, :, pairs_along_path.ENDING] == pairs_along_path.SOLVED).all()


def test_what_takes_too_long_is_left():
    X, y = three_classes()
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(120, 2)), 2, axis=0)  # every point twice, with labels that may contradict
    _, report = solved(1e-3 * X, y, [1e9], np.float64, np.arange(240))
    assert set(np.unique(report[:, :, pairs_along_path.ENDING])) <= {pairs_along_path.SOLVED, pairs_along_path.LEFT}
    assert np.isfinite(report).all()
