"""Kernel weights learnt over landmarks: exact where all rows are landmarks, bounded elsewhere."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, LowRank, MKLClassifier, MKLRegressor, load, save
from mercer._errors import DataError
from mercer.estimators.mkl import over_landmarks
from mercer.kernels import RBF, Linear, On
from mercer.solvers.result import Status

KERNELS = [RBF(gamma=0.3), RBF(gamma=2.0), Linear(), On([0, 1], RBF(gamma=1.0))]


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n) > X[:, 1], 1, -1)


@pytest.mark.parametrize("method", MKLClassifier._methods)
def test_all_rows_as_landmarks_are_the_exact_machine(method):
    X, y = made(150)
    exact = MKLClassifier(KERNELS, method=method).fit(X, y)
    model = MKLClassifier(KERNELS, method=method, approximation=LowRank(150)).fit(X, y)
    assert model.status_ == Status.OPTIMAL
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-6)
    np.testing.assert_allclose(model.scales_, exact.scales_, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-5)
    assert model.distance_.relative < 1e-9
    assert model.weights_certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("normalize", ["variance", "trace", None])
def test_all_rows_as_landmarks_of_other_machines(normalize):
    X, _ = made(120)
    several, target = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1]), np.sin(2 * X[:, 0])
    shared = {"normalize": normalize, "approximation": LowRank(120)}
    for kind, y in ((MKLClassifier, several), (MKLRegressor, target)):
        exact = kind(KERNELS, normalize=normalize).fit(X, y)
        model = kind(KERNELS, **shared).fit(X, y)
        np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-5)
        np.testing.assert_array_equal(model.predict(X) > 0, exact.predict(X) > 0)


def test_the_distance_bounds_the_exact_machine_with_the_same_weights():
    X, y = made(600)
    model = MKLClassifier(KERNELS, approximation=LowRank(60)).fit(X, y)
    exact = SVC(kernel=model.kernel_).fit(X, y)
    excess = model.certificate_.primal - exact.certificate_.primal
    assert 0.0 < excess <= model.certificate_.gap + model.distance_.value
    # Coordinates of each kernel by itself span more than those of the sum.
    assert model.weights_certificate_.primal <= model.certificate_.primal
    assert model.weights_certificate_.relative_gap <= model.gap_tol
    assert model.support_vectors_.shape == (60, 4)
    assert model.approximation_.count == 60


def test_exact_weights_are_no_better_than_said():
    """The best of all weights and functions over landmarks is above the best without them."""
    X, y = made(400, seed=3)
    exact = MKLClassifier(KERNELS, gap_tol=1e-6).fit(X, y)
    model = MKLClassifier(KERNELS, normalize="variance", approximation=LowRank(80), gap_tol=1e-6).fit(X, y)
    assert model.certificate_.primal > exact.certificate_.dual * (model.scales_ / exact.scales_).min()


def test_many_rows_are_solved_over_blocks(monkeypatch):
    X, y = made(900)
    for kind, target in ((MKLClassifier, y), (MKLRegressor, X[:, 0] * X[:, 1])):
        few = kind(KERNELS, approximation=LowRank(50), memory_limit="64MiB").fit(X, target)
        with monkeypatch.context() as patch:
            patch.setattr(over_landmarks, "FEW_ROWS", 100)
            patch.setattr(over_landmarks.SeveralCoordinates, "bytes_needed", property(lambda _: 2**62))
            many = kind(KERNELS, approximation=LowRank(50)).fit(X, target)
        assert many.status_ == Status.OPTIMAL
        np.testing.assert_allclose(many.weights_, few.weights_, atol=5e-2)
        assert many.weights_certificate_.primal == pytest.approx(few.weights_certificate_.primal, rel=2e-3)


def test_landmarks_of_ones_own_and_columns_of_a_table():
    pandas = pytest.importorskip("pandas")
    X, y = made(200)
    model = MKLClassifier(KERNELS, approximation=LowRank(rows=X[:40])).fit(X, y)
    assert (model.approximation_.choice, model.approximation_.count) == ("given", 40)
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": np.where(X[:, 2] > 0, "Ulm", "Bonn")})
    model = MKLClassifier("columns", approximation=LowRank(50)).fit(table, y)
    assert model.kernel_names_ == ["a", "b", "town"]
    assert model.score(table, y) > 0.8


def test_it_is_saved_and_read(tmp_path):
    X, y = made(200)
    model = MKLClassifier(KERNELS, approximation=LowRank(40)).fit(X, y)
    save(model, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.distance_ == model.distance_


def test_more_landmarks_than_rows_are_refused_and_limits_hold():
    X, y = made(60)
    with pytest.raises(DataError, match="at most the number of training rows"):
        MKLClassifier(KERNELS, approximation=LowRank(100)).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        model = MKLClassifier(KERNELS, approximation=LowRank(30), time_limit=1e-9).fit(X, y)
    assert model.status_ == Status.TIME_LIMIT
    exact = model.set_params(approximation=None, time_limit=None).fit(X, y)
    assert not hasattr(exact, "weights_certificate_")
