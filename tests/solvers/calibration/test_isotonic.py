"""The best nondecreasing function, beside scikit-learn's and by its law."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from mercer.solvers.calibration.isotonic import fit_isotonic


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, 30).astype(float)
    targets, weights = scores / 10.0 + rng.normal(size=30), rng.uniform(0.1, 3.0, 30)
    knots, levels = fit_isotonic(scores, targets, weights)
    expected = IsotonicRegression().fit(scores, targets, sample_weight=weights)
    assert knots.tolist() == sorted(set(scores))
    np.testing.assert_allclose(levels, expected.predict(knots), atol=1e-12)
    assert (np.diff(levels) >= 0.0).all()
    # What is pooled keeps its mean.
    place = np.searchsorted(knots, scores)
    assert weights @ levels[place] == pytest.approx(weights @ targets)


def test_what_falls_everywhere_is_one_mean_and_what_rises_is_kept():
    assert fit_isotonic(np.arange(4.0), np.array([4.0, 3.0, 2.0, 1.0]), np.ones(4))[1].tolist() == [2.5] * 4
    assert fit_isotonic(np.arange(3.0), np.array([1.0, 2.0, 4.0]), np.ones(3))[1].tolist() == [1.0, 2.0, 4.0]
