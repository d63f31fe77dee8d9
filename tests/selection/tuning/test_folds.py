"""The folds of a search, where classes are rarer than folds."""

import warnings

import numpy as np
import pytest

from mercer.selection.tuning.folds import folds_of

CLASSES = np.repeat([0, 1, 2], [20, 18, 2])


def test_a_rare_class_is_no_news_to_who_has_not_chosen_the_folds():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = folds_of(None, CLASSES[:, None], CLASSES, None, classifies=True)
    assert sorted(np.concatenate([held for _, held in found]).tolist()) == list(range(40))


def test_a_rare_class_is_told_of_to_who_has_chosen_them():
    with pytest.warns(UserWarning, match="least populated class"):
        folds_of(4, CLASSES[:, None], CLASSES, None, classifies=True)
