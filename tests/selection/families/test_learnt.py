import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mercer.kernels import RBF, Linear, Standardised
from mercer.selection.families.learnt import Aligned, Recipe, learnt_kernel
from mercer.selection.families.relevance import Relevance, _Likelihood, relevances


def test_the_slope_of_the_likelihood_is_its_derivative(rng):
    rows, targets = rng.normal(size=(25, 3)), rng.normal(size=(25, 2))
    start = np.array([-1.0, -0.5, 0.3, 0.2, -1.0])
    likelihood = _Likelihood(rows, targets, rng.uniform(0.5, 3.0, 25), start + 0.1)
    expected = approx_fprime(start, lambda x: likelihood(x)[0], 1e-6)
    assert likelihood(start)[1] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_a_row_of_weight_two_is_a_row_that_stands_there_twice(rng):
    rows, targets = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    weights = rng.integers(1, 4, 20)
    one = _Likelihood(rows, targets, weights.astype(float), np.zeros(4))
    copied = np.repeat(np.arange(20), weights)
    other = _Likelihood(rows[copied], targets[copied], np.ones(len(copied)), np.zeros(4))
    points = rng.normal(size=(2, 4))
    # Up to a constant, which no derivative sees.
    assert one(points[0])[0] - one(points[1])[0] == pytest.approx(other(points[0])[0] - other(points[1])[0], rel=1e-5)
    assert one(points[0])[1] == pytest.approx(other(points[0])[1], rel=1e-4, abs=1e-5)


def test_columns_that_say_nothing_are_less_relevant(rng):
    rows = rng.normal(size=(200, 6))
    theta = relevances(rows, np.sign(rows[:, :1] * rows[:, 1:2]))
    assert theta[:2].min() > 10 * theta[2:].max()


def test_targets_that_do_not_vary_leave_columns_alike(rng):
    assert relevances(rng.normal(size=(9, 2)), np.ones((9, 1))).tolist() == [0.25, 0.25]


def test_relevances_become_a_kernel_of_scaled_columns(rng):
    X = rng.normal(3.0, 5.0, size=(30, 2))
    scaling = Standardised(Linear()).bind(X)
    kernel = Relevance(scaling, width=2.0).kernel(np.array([0.3, 0.7]))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    away = (Z[:, None] - Z) ** 2 @ [0.3, 0.7]
    assert kernel(X) == pytest.approx(np.exp(-away / 4.0))


def test_weights_of_kernels_are_those_of_largest_alignment(rng):
    X = rng.normal(size=(40, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=40))
    recipe = Aligned((RBF(0.1), RBF(10.0), Linear()))
    assert isinstance(recipe, Recipe)
    H = np.eye(40) - 1 / 40

    def alignment(weights):
        K = H @ sum(w * kernel(X) for w, kernel in zip(weights, recipe.kernels, strict=True)) @ H
        return np.vdot(K, np.outer(y, y)) / np.linalg.norm(K)

    found = recipe.measure(X, y[:, None], np.ones(40))
    assert found.sum() == pytest.approx(1.0)
    assert all(alignment(found) >= alignment(weights) - 1e-9 for weights in rng.dirichlet(np.ones(3), 50))


def test_what_is_measured_is_measured_once_and_weights_count_as_copies(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    recipe, known = Aligned((RBF(1.0), Linear())), {}
    learnt_kernel(recipe, X, y, None, True, known)
    known[recipe.learnt_once] = np.array([1.0, 0.0])
    assert learnt_kernel(recipe, X, y, None, True, known) == RBF(1.0)
    weights = rng.integers(0, 3, 30).astype(float)
    copied = np.repeat(np.arange(30), weights.astype(int))
    weighted = learnt_kernel(recipe, X, y, weights, True, {})
    assert weighted == learnt_kernel(recipe, X[copied], y[copied], None, True, {})
