"""Columns that never vary change no distance, and no machine."""

import numpy as np
import pytest

from mercer import SVC


@pytest.fixture
def pictures():
    """Rows with a border that never varies."""
    X = np.random.default_rng(0).normal(size=(1500, 100)).astype(np.float32)
    X[:, :20] = 7.0
    return X, X[:, 30] + X[:, 40] > 0


def test_the_machine_is_that_of_all_columns(pictures):
    X, y = pictures
    whole = SVC(gamma=0.01, tol=1e-4).fit(X, y)
    others = SVC(gamma=0.01, tol=1e-4).fit(X[:, 20:], y)
    assert whole.n_features_in_ == 100
    np.testing.assert_allclose(whole.decision_function(X), others.decision_function(X[:, 20:]), atol=1e-4)
    # A new row may well differ there, and then it is far away.
    away = X[:5].copy()
    away[:, 0] = 1000.0
    np.testing.assert_allclose(whole.decision_function(away), whole.intercept_[0], rtol=1e-6)
