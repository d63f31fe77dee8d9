"""Columns that never vary change no distance, and no machine; rows are in memory no more often than they must be."""

import numpy as np
import pytest

from mercer import SVC
from mercer.estimators.fitting import training
from mercer.kernels import RBF


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


def test_the_vectors_of_a_model_are_in_memory_once(rng):
    X = rng.normal(size=(60, 3))
    model = SVC().fit(X, X[:, 0] > 0)
    assert np.shares_memory(model.support_vectors_, model.expansion_.vectors)


def test_a_squared_norm_is_added_up_from_parts(rng, monkeypatch):
    X, coefficients = rng.normal(size=(50, 3)), rng.normal(size=50)
    data = training.TrainingData(RBF(0.3), X)
    exact = coefficients @ RBF(0.3)(X) @ coefficients
    monkeypatch.setattr(training, "FEW_AT_ONCE", 20)
    assert data.squared_norm(np.arange(50), coefficients, 1) == pytest.approx(exact, rel=1e-12)
