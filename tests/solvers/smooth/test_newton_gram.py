import numpy as np
import pytest

from mercer import KernelLogisticRegression
from mercer.solvers.smooth.newton_gram import NewtonMatrix


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(2000, 4))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2000) > 0, "up", "down")


def count(monkeypatch, name):
    calls, original = [], getattr(NewtonMatrix, name)

    def spy(self, *arguments):
        if self.rounded is not None:
            calls.append(name)
        return original(self, *arguments)

    monkeypatch.setattr(NewtonMatrix, name, spy)
    return calls


def test_what_rounding_does_is_looked_at_on_some_points(monkeypatch, classes):
    X, y = classes
    looks, products = count(monkeypatch, "checked"), count(monkeypatch, "products_in_double")
    model = KernelLogisticRegression().fit(X, y)
    assert looks
    assert not products
    assert model.certificate_.is_optimal(1e-3)


def test_where_rounding_shows_all_values_are_computed_from_the_items(monkeypatch, classes):
    X, y = classes
    plain = KernelLogisticRegression().fit(X, y)
    products = count(monkeypatch, "products_in_double")
    monkeypatch.setattr(NewtonMatrix, "checked", lambda self, beta, image: image + 1.0)
    model = KernelLogisticRegression().fit(X, y)
    assert products
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-3)


def test_checked_values_are_those_of_the_items(monkeypatch, classes):
    X, y = classes
    seen = []
    original = NewtonMatrix.checked

    def spy(self, beta, image):
        found = original(self, beta, image)
        seen.append((found, image, self.products_in_double(beta)))
        return found

    monkeypatch.setattr(NewtonMatrix, "checked", spy)
    KernelLogisticRegression(bias="penalized").fit(X, y)
    found, image, exact = seen[-1]
    rows = np.flatnonzero((found != image).any(axis=1))
    assert 200 < len(rows) <= 256
    np.testing.assert_allclose(found[rows], exact[rows], atol=1e-5)
