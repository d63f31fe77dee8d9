"""The solution of least norm is that of the pseudo-inverse."""

import numpy as np
import pytest

from mercer.kernels.gram.symmetric_operator import GivenOperator
from mercer.solvers.linalg import pseudo_inverse as least_norm


def spread(values):
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(len(values), len(values))))
    return (Q * values) @ Q.T


def test_what_is_zero_but_for_rounding_is_not_divided_by():
    K, right = spread(np.r_[np.zeros(3), 1.0, 2.0, 4.0]), np.random.default_rng(1).normal(size=(6, 2))
    found = least_norm.solve(GivenOperator(K), right)
    np.testing.assert_allclose(found.X, np.linalg.pinv(K, rcond=1e-10) @ right, atol=1e-12)
    np.testing.assert_allclose(np.sort(found.eigenvalues), [1.0, 2.0, 4.0])
    assert abs(found.smallest) < 1e-15
    assert found.cutoff == 6 * np.finfo(float).eps


def test_a_cutoff_is_a_share_of_the_largest():
    K = spread(np.array([1.0, 3.0, 4.0]))
    found = least_norm.solve(GivenOperator(K), np.eye(3), cutoff=0.5)
    np.testing.assert_allclose(np.sort(found.eigenvalues), [3.0, 4.0])
    np.testing.assert_allclose(found.X, np.linalg.pinv(K, rcond=0.5), atol=1e-12)
    assert found.smallest == 0.0
    assert found.cutoff == 0.5


def test_negative_values_count_by_their_size():
    found = least_norm.solve(GivenOperator(spread(np.array([-2.0, 1.0]))), np.eye(2))
    assert found.smallest == pytest.approx(-1.0)
    np.testing.assert_allclose(np.sort(found.eigenvalues), [-2.0, 1.0])


def test_nothing_is_kept_of_nothing():
    found = least_norm.solve(GivenOperator(np.zeros((3, 3))), np.ones((3, 1)))
    assert (found.X == 0).all()
    assert len(found.eigenvalues) == 0
    assert found.smallest == 0.0
