import numpy as np
import pytest

from mercer import DataError
from mercer.io import Dataset
from mercer.workflow.target import MOST_CLASSES, describe_target, require_learnable, target_words


def labelled(target, name="y"):
    return Dataset(np.zeros((len(target), 1)), np.asarray(target), "vectors", "svmlight", "file", name)


def test_more_classes_than_anybody_means_are_refused_unless_asked_for():
    many = labelled([f"c{k}" for k in range(MOST_CLASSES + 1)])
    with pytest.raises(DataError, match=r"'y' has 101 different values.*5,050 fits.*--task classification"):
        require_learnable(many)
    require_learnable(many, "classification")
    require_learnable(labelled([f"c{k}" for k in range(MOST_CLASSES)]))


def test_many_quantities_are_no_classes():
    require_learnable(labelled(np.arange(5000)))


@pytest.mark.parametrize("task", [None, "classification"])
def test_one_class_is_refused(task):
    with pytest.raises(DataError, match="'y' has the same value 'x' in all 3 rows"):
        require_learnable(labelled(["x"] * 3), task)


def test_classes_are_told_by_frequency_and_quantities_by_their_range():
    found = describe_target(labelled(["b", "a", "b"]))
    assert list(found["classes"].items()) == [("b", 2), ("a", 1)]
    assert target_words(found) == "y: 2 classes (b: 67%, a: 33%)"
    assert target_words(describe_target(labelled([0.5, 1.5, 4.0]))) == "y: quantities from 0.5 to 4, 2 on average"
    assert describe_target(Dataset([], None, "texts", "texts", "file")) is None
