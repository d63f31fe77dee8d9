"""What a file says of rows that were left out must be such that sets and intervals can be made of it."""

import numpy as np
import pytest

import mercer
from mercer import SVC, SVR, KernelRidge, ModelFileError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
LABELS, VALUES = (X[:, 0] > 0).astype(int), X[:, 0]


def of_classes():
    return SVC(conformal="cross").fit(X, LABELS)


def of_quantities():
    return KernelRidge(conformal="leave_one_out").fit(X, VALUES)


def at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


FORGERIES = {
    "a machine that is not there": (of_classes, "columns", at(0, 10), "must have a machine for each of its scores"),
    "a function that is not there": (of_quantities, "columns", at(0, 40), "must have a machine for each of its scores"),
    "a class that is not there": (of_classes, "codes", at(3, 2), "must have scores of 2 classes"),
    "a class below the unknown one": (of_classes, "codes", at(3, -2), "must not be below -1"),
    "a score that is no number": (of_classes, "scores", at(0, np.nan), "must have scores that are numbers"),
    "fewer scores": (of_classes, "scores", lambda scores: scores[1:], "one for each score"),
    "a score of another kind": (of_classes, "score", lambda _: "absolute", "must have scores of classes where it has"),
    "scores of classes for quantities": (of_quantities, "score", lambda _: "lac", "must have scores of classes where"),
    "probabilities that it has not": (of_classes, "score", lambda _: "aps", "must have probabilities for its scores"),
    "a score that nobody knows": (of_classes, "score", lambda _: "best", "must have a score that is known"),
    "machines of another kind": (
        of_classes, "models", lambda models: [SVR().fit(X, VALUES), *models[1:]], "must have machines of its own kind",
    ),
    "machines of other classes": (
        of_classes, "models", lambda models: [SVC().fit(X, LABELS + 1), *models[1:]], "must have the same classes",
    ),
    "machines of other columns": (
        of_classes, "models", lambda models: [SVC().fit(X[:, :1], LABELS), *models[1:]], "must have the same features",
    ),
    "machines that have learnt nothing": (
        of_classes, "models", lambda models: [SVC(), *models[1:]], "must have machines of its own kind",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_not_written_and_so_not_read(name, tmp_path):
    # A file is read back before it takes its place: what must not be read cannot be written either.
    make, attribute, change, told = FORGERIES[name]
    model = make()
    setattr(model._conformity, attribute, change(getattr(model._conformity, attribute)))
    with pytest.raises((ModelFileError, mercer.ParameterError), match=told):
        mercer.save(model, tmp_path / "m.mercer")
    assert not (tmp_path / "m.mercer").exists()
