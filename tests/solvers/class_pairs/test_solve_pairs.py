"""Few points of three classes: every pair, alone, along C and without a fold, against its own dual problem."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.class_pairs import pairs_along_path
from mercer.solvers.class_pairs.out_of_fold_pairs import Goal, left_out_class_pairs
from mercer.solvers.class_pairs.pairs_along_path import solve_pair_paths
from mercer.solvers.class_pairs.solve_pairs import (
    BIAS,
    DUAL,
    ENDING,
    STEPS,
    VIOLATION,
    largest_pair,
    solve_class_pairs,
)
from mercer.solvers.dual_qp.block_steps import OPTIMAL
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits

PAIRS = np.array([[0, 1], [0, 2], [1, 2]])
EDGES = np.array([0, 5, 12, 18])


def points(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], np.diff(EDGES))
    X = rng.normal(size=(18, 2)) + 0.8 * np.stack([np.cos(2 * y), np.sin(2 * y)], axis=1)
    return RBF(0.5)(X), rng.uniform(0.5, 2.0, 18), rng.uniform(0.0, 0.3, 18)


def of_pair(p):
    i, j = PAIRS[p]
    return np.r_[EDGES[i] : EDGES[i + 1], EDGES[j] : EDGES[j + 1]], EDGES[i + 1] - EDGES[i]


def alone(K, rows, own, box, ridge):
    """The solution of one pair, by the solver of single problems."""
    signs = np.where(np.arange(len(rows)) < own, 1.0, -1.0)
    ends = signs * box[rows]
    problem = DualProblem(signs, np.minimum(ends, 0.0), np.maximum(ends, 0.0), ridge=ridge[rows])
    found = solve_dual(problem, StoredMatrix.of(K[np.ix_(rows, rows)]), tol=1e-10, limits=Limits(), convex=True)
    return found.beta, found.bias, problem.objective(found.beta, found.gradient)


def coefficients(table, p):
    rows, own = of_pair(p)
    i, j = PAIRS[p]
    return np.r_[table[j - 1, rows[:own]], table[i, rows[own:]]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_pair_is_the_solution_of_its_own_problem(dtype):
    K, box, ridge = points()
    table, report = np.zeros((2, 18)), np.zeros((3, 5))
    for begin, end in ((0, 2), (2, 3)):
        solve_class_pairs(K.astype(dtype), EDGES, PAIRS, box, ridge, True, 1e-4, -1, begin, end, table, report)
    for p in range(3):
        beta, bias, dual = alone(K, *of_pair(p), box, ridge)
        np.testing.assert_allclose(coefficients(table, p), beta, atol=2e-3)
        assert report[p, BIAS] == pytest.approx(bias, abs=1e-3)
        assert report[p, DUAL] == pytest.approx(dual, rel=1e-4)
        assert report[p, ENDING] == OPTIMAL
        assert report[p, VIOLATION] <= 1e-4
        assert report[p, STEPS] > 0


def test_more_points_than_any_pair_has():
    assert largest_pair(EDGES) == 14
    assert largest_pair(np.array([0, 4])) == 8


@pytest.mark.parametrize("boxes", [[0.2, 1.0, 30.0], [5.0, 0.3, 0.6]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_pair_is_solved_for_every_box(dtype, boxes):
    K, box, ridge = points()
    places = np.random.default_rng(1).permutation(25)[:18]
    whole = np.zeros((25, 25), dtype)
    whole[np.ix_(places, places)] = K
    scaled = np.outer(boxes, box)
    ratios = np.array([0.0, *(np.array(boxes[1:]) / boxes[:-1])])
    tables, report = np.zeros((3, 2, 18)), np.zeros((3, 3, 3))
    for span in ((0, 1), (1, 3)):
        solve_pair_paths(
            whole, places, EDGES, PAIRS, scaled, np.tile(ridge, (3, 1)), ratios, 1e-5, 200, span, tables, report
        )
    assert (report[:, :, pairs_along_path.ENDING] == pairs_along_path.SOLVED).all()
    for c in range(3):
        for p in range(3):
            beta, bias, _ = alone(K, *of_pair(p), scaled[c], ridge)
            np.testing.assert_allclose(coefficients(tables[c], p), beta, atol=2e-3 * boxes[c])
            assert report[c, p, pairs_along_path.BIAS] == pytest.approx(bias, abs=2e-3)


def test_a_pair_that_takes_too_many_steps_is_left():
    K, box, ridge = points()
    tables, report = np.zeros((1, 2, 18)), np.zeros((1, 3, 3))
    solve_pair_paths(
        K, np.arange(18), EDGES, PAIRS, 100.0 * box[None], ridge[None], np.zeros(1), 1e-12, 0, (0, 3), tables, report
    )
    assert (report[0, :, pairs_along_path.ENDING] == pairs_along_path.LEFT).all()
    assert not report[0, :, pairs_along_path.STEPS].any()
    assert not tables.any()


@pytest.mark.parametrize("seed", range(2))
def test_values_without_a_fold_are_those_of_a_pair_solved_without_it(seed):
    K, box, ridge = points(seed)
    table, report, scores = np.zeros((2, 18)), np.zeros((3, 5)), np.full((18, 3), np.nan)
    solve_class_pairs(K, EDGES, PAIRS, box, ridge, True, 1e-6, -1, 0, 3, table, report)
    folds = np.arange(18) % 3
    folds[[4, 11]] = -1  # these take part in every fold, and are judged by the whole pair
    left_out_class_pairs((K, EDGES, PAIRS, box, ridge), folds, 3, Goal(True, 1e-6, -1), 0, 3, table, report, scores)
    assert (report[:, ENDING] == OPTIMAL).all()
    for p in range(3):
        rows, own = of_pair(p)
        for fold in range(-1, 3):
            kept = np.flatnonzero((folds[rows] != fold) | (fold < 0))
            beta, bias, _ = alone(K, rows[kept], int((kept < own).sum()), box, ridge)
            held = rows[folds[rows] == fold]
            # Those that were there are judged with their own ridge, as a gradient has it; others have none.
            own_part = ridge[held] * np.array([beta[list(rows[kept]).index(h)] if fold < 0 else 0.0 for h in held])
            expected = K[np.ix_(held, rows[kept])] @ beta + own_part + bias
            np.testing.assert_allclose(scores[held, p], expected, atol=1e-4)
        assert np.isnan(np.delete(scores[:, p], rows)).all()


def test_what_was_far_from_the_margin_counts_where_a_fold_takes_the_rest_away():
    """Without the inner rows, one that is near the margin is alone with its class, and a distant one must come in."""
    x = np.array([-1.0, -1.2, 1.0, 5.0])
    K, edges, pairs = np.outer(x, x), np.array([0, 2, 4]), np.array([[0, 1]])
    box, ridge, folds = np.full(4, 100.0), np.zeros(4), np.array([0, -1, 0, -1])
    table, report, scores = np.zeros((1, 4)), np.zeros((1, 5)), np.zeros((4, 1))
    solve_class_pairs(K, edges, pairs, box, ridge, True, 1e-8, -1, 0, 1, table, report)
    left_out_class_pairs((K, edges, pairs, box, ridge), folds, 1, Goal(True, 1e-8, -1), 0, 1, table, report, scores)
    assert report[0, ENDING] == OPTIMAL
    np.testing.assert_allclose(scores[[0, 2], 0], (1.9 - x[[0, 2]]) / 3.1, atol=1e-6)
    np.testing.assert_allclose(scores[[1, 3], 0], -x[[1, 3]], atol=1e-6)
