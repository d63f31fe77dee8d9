"""The quick ways to the usual scores give what scikit-learn's scorers give."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from mercer import SVR
from mercer.selection.tuning.scores import SINGLE, RegressorAnswers, Scores


def score(y, predicted, weights=None):
    rows = object()
    machine = RegressorAnswers(SVR(), rows, predicted[:, None])
    return Scores(None, "r2").of(machine, rows, y, weights)[SINGLE]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_share_explained_is_that_of_scikit_learn(is_weighted):
    rng = np.random.default_rng(0)
    y = 1e3 + rng.normal(size=50)
    predicted, weights = y + rng.normal(size=50), rng.uniform(size=50) if is_weighted else None
    assert score(y, predicted, weights) == pytest.approx(r2_score(y, predicted, sample_weight=weights), rel=1e-12)


def test_equal_targets_are_left_to_scikit_learn():
    same = np.full(5, 2.0)
    assert score(same, same) == 1.0
    assert score(same, same + 1.0) == 0.0
    with pytest.warns(UserWarning, match="R\\^2"):
        assert np.isnan(score(same[:1], same[:1]))


def test_predictions_that_are_no_numbers_are_refused():
    y = np.arange(5.0)
    with pytest.raises(ValueError, match="NaN"):
        score(y, np.array([0.0, 1.0, np.nan, 3.0, 4.0]))
