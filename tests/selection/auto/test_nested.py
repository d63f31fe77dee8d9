import numpy as np
import pytest

from mercer.selection.auto.nested import halved, nested_score
from mercer.selection.tuning.search import Task


def test_halves_know_nothing_of_the_rows_of_their_fold(rng):
    y = np.arange(40) % 2
    order = rng.permutation(40)
    folds = [(np.sort(np.setdiff1d(order, part)), np.sort(part)) for part in np.split(order, 4)]
    found = halved(Task(np.zeros((40, 1)), y, None, folds), True).folds
    assert len(found) == 8
    for k, (train, test) in enumerate(folds):
        for one, other in found[2 * k : 2 * k + 2]:
            assert not np.intersect1d(np.concatenate([one, other]), test).size
            assert np.array_equal(np.union1d(one, other), train)
            assert abs(np.mean(y[one]) - np.mean(y[other])) < 0.15


def test_a_class_of_one_row_can_be_halved():
    y = np.array([0, 0, 0, 0, 0, 1])
    (one, other), *_ = halved(Task(np.zeros((6, 1)), y, None, [(np.arange(6), np.arange(0))]), True).folds
    assert sorted([*one, *other]) == list(range(6))


def test_settings_that_do_equally_well_on_the_halves_count_alike():
    scores, halves = np.array([[0.4, 0.8], [0.6, 0.8]]), np.full((2, 4), 0.7)
    assert nested_score(scores, halves)[0] == pytest.approx(0.65)


def test_settings_without_a_score_are_left_aside_and_nothing_gives_nothing():
    scores = np.array([[0.9, np.nan], [0.5, 0.6]])
    halves = np.array([[1.0] * 4, [0.1] * 4])
    assert nested_score(scores, halves)[0] == pytest.approx(0.55)
    assert np.isnan(nested_score(np.full((1, 2), np.nan), np.ones((1, 4)))).all()
