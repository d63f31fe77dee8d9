"""Pairwise probabilities are coupled as Wu, Lin & Weng's second method says."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.solvers.calibration.pairwise_coupling import couple


def disagreement(p, r):
    k = len(p)
    return sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(k) for j in range(k) if i != j)


@pytest.mark.parametrize("k", [3, 4])
def test_nothing_disagrees_less(k):
    """SciPy finds no better point of the simplex."""
    rng = np.random.default_rng(k)
    pairs = rng.uniform(0.05, 0.95, size=(5, k * (k - 1) // 2))
    for given, p in zip(pairs, couple(pairs, k), strict=True):
        r = np.zeros((k, k))
        r[np.triu_indices(k, 1)] = given
        r = r + np.tril(1.0 - r.T, -1)
        sums = {"type": "eq", "fun": lambda q: q.sum() - 1.0}
        best = minimize(disagreement, np.full(k, 1.0 / k), (r,), constraints=[sums], options={"ftol": 1e-14})
        np.testing.assert_allclose(p, best.x, atol=1e-5)
        assert p.sum() == pytest.approx(1.0)


def test_pairs_that_agree_are_kept():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    pairs = [p[i] / (p[i] + p[j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(couple(np.array([pairs]), 4)[0], p)


def test_certainties_give_finite_probabilities():
    """A beats B beats C beats A, each for certain."""
    found = couple(np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]), 3)
    np.testing.assert_allclose(found[0], 1.0 / 3.0)
    assert found[1, 0] > 0.999
