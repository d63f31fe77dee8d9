"""From several classes to pairs and back."""

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from mercer import DataError
from mercer.estimators.fitting import tasks as multiclass

CODES = np.array([2, 0, 1, 1, 0, 2, 2])


def test_pairs_are_in_the_order_of_scikit_learn():
    assert multiclass.pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_a_pair_holds_the_points_of_its_classes_and_the_first_is_positive():
    first_and_third = multiclass.two_class_tasks(CODES, 3, "ovo")[1]
    assert first_and_third.label == (0, 2)
    np.testing.assert_array_equal(first_and_third.indices, [1, 4, 0, 5, 6])
    np.testing.assert_array_equal(first_and_third.signs, [1, 1, -1, -1, -1])


def test_one_against_the_rest_holds_every_point():
    tasks = multiclass.two_class_tasks(CODES, 3, "ovr")
    assert len(tasks) == 3
    np.testing.assert_array_equal(tasks[2].indices, np.arange(7))
    np.testing.assert_array_equal(tasks[2].signs > 0, CODES == 2)


def test_points_of_no_weight_are_left_out():
    weights = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    assert [list(task.indices) for task in multiclass.two_class_tasks(CODES, 3, "ovo", weights)] == [
        [4, 2, 3],
        [4, 0, 6],
        [2, 3, 0, 6],
    ]


def test_two_classes_are_one_problem_in_which_the_second_is_positive():
    (task,) = multiclass.two_class_tasks(np.array([0, 1, 1]), 2, "ovr")
    np.testing.assert_array_equal(task.signs, [-1, 1, 1])


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_problems_are_counted_without_being_made(n_classes, multi_class):
    made = multiclass.two_class_tasks(np.arange(n_classes), n_classes, multi_class)
    assert multiclass.problem_count(n_classes, multi_class) == len(made)


def test_more_pairs_than_can_be_solved_are_refused():
    with pytest.raises(DataError, match="2000 classes make 1999000 two-class problems, more than 1000000"):
        multiclass.require_few(2000, "ovo")
    multiclass.require_few(2000, "ovr")


def test_scores_of_classes_are_those_of_scikit_learn(rng):
    decisions = rng.normal(size=(50, 10))
    decisions[::5, 3] = 0.0
    expected = _ovr_decision_function(decisions < 0, -decisions, 5)
    np.testing.assert_allclose(multiclass.ovr_from_ovo(decisions, 5), expected)


def test_a_zero_is_a_vote_for_the_second_as_in_libsvm():
    np.testing.assert_array_equal(multiclass.votes(np.array([[0.0, 1.0, -1.0]]), 3), [[1, 1, 1]])
