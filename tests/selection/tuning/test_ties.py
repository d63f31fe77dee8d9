"""Scores that differ by rounding alone are equal."""

import numpy as np

from mercer.selection.auto.lattice import Judged
from mercer.selection.tuning.results import ranks
from mercer.selection.tuning.ties import comparable, first_best


def test_the_first_of_scores_that_differ_by_rounding_wins():
    score = 0.1 + 0.2  # one digit above 0.3
    assert first_best([0.3, score]) == first_best([score, 0.3]) == 0
    assert first_best([np.nan, 0.3, 0.3 + 1e-8]) == 2
    assert first_best([-1e12, -1e12 * (1 - 1e-15), -2e12]) == 0


def test_the_winner_has_the_first_rank():
    means = np.array([0.3, 0.1 + 0.2, np.nan, 0.1])
    np.testing.assert_array_equal(ranks(means), [1, 1, 4, 3])
    assert ranks(means)[first_best(means)] == 1


def test_a_search_takes_the_smallest_of_equally_good_values_of_C():
    folds = {1.0: np.array([0.1, 0.2, 0.3]), 10.0: np.array([0.3, 0.2, 0.1]), 0.1: np.array([0.0, 0.0, 0.0])}
    assert np.mean(folds[1.0]) != np.mean(folds[10.0])
    assert Judged(folds).best_C == 1.0
    assert Judged(folds).score == comparable(0.2)
