"""Relevances by rows left out: the error and its gradient by hand, and what is found."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mercer.solvers.relevance import SHAPES, _Best, _LeftOut, learn_relevances

RNG = np.random.default_rng(1)
Z = RNG.normal(size=(40, 4))
GROUPS = np.array([0, 0, 1, 2])
Y = RNG.normal(size=(40, 2))
B = RNG.normal(size=(40, 5))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_is_that_of_the_error(shape):
    error = _LeftOut(Z, GROUPS, Y, [B @ B.T], shape, 1.5)
    theta = RNG.normal(size=6) * 0.3 - 1.0
    expected = approx_fprime(theta, lambda at: error(at)[0], 1e-7)
    np.testing.assert_allclose(error(theta)[1], expected, atol=1e-5)


def test_the_error_is_that_of_fits_without_each_row():
    error = _LeftOut(Z, GROUPS, Y, [], "gaussian", 0.0)
    theta = np.log([0.3, 0.2, 0.1, 0.5, 0.05])
    W = Z * np.sqrt(np.array([0.3, 0.3, 0.2, 0.1]))
    K = np.exp(-((W[:, None] - W[None]) ** 2).sum(axis=2)) + 0.05 * W @ W.T + 1.0
    total = 0.0
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        alpha = np.linalg.solve(K[np.ix_(rest, rest)] + 0.5 * np.eye(39), Y[rest])
        total += ((Y[row] - K[row, rest] @ alpha) ** 2).sum()
    assert error(theta)[0] == pytest.approx(0.5 * np.log(0.5 * total / 40))


def test_noise_counts_for_little_and_stopping_keeps_the_best():
    x = RNG.normal(size=(150, 5))
    target = (x[:, 0] * x[:, 1])[:, None]
    found = learn_relevances(x, np.arange(5), target)
    assert found.relevance[:2].min() > 3 * found.relevance[2:].max()
    assert found.explained > 0.5
    none = learn_relevances(x, np.arange(5), target, stop=lambda: True)
    np.testing.assert_allclose(none.relevance, 0.2)
    assert none.explained == 0.0


def test_the_best_value_is_kept_with_and_without_its_prior():
    error = _LeftOut(Z, GROUPS, Y, [], "gaussian", 3.0)
    without = _LeftOut(Z, GROUPS, Y, [], "gaussian", 0.0)
    best, theta = _Best(error, lambda: False), np.log([0.9, 0.2, 0.1, 0.5, 0.05])
    value, gradient = best(theta)
    assert value == error(theta)[0]
    np.testing.assert_array_equal(gradient, error(theta)[1])
    assert best.value == value
    assert best.plain == pytest.approx(without(theta)[0])
    # A worse point leaves the best as it is.
    best(theta + np.array([3.0, -3.0, 0.0, 0.0, 0.0]))
    assert best.value == value
    np.testing.assert_array_equal(best.theta, theta)
