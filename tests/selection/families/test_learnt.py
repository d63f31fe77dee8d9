import numpy as np
import pytest

from mercer.estimators.auto.table_kernel import table_kernel
from mercer.kernels import RBF, Linear
from mercer.selection.families.learnt import Aligned, Recipe, learnt_kernel
from mercer.selection.families.learnt_table import LearntTable, with_width


def test_rows_of_numbers_and_tables_learn_relevances_in_one_way(rng):
    X = rng.normal(size=(80, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    recipe = LearntTable("gaussian", width=2.0)
    assert isinstance(recipe, Recipe)
    kernel = learnt_kernel(recipe, X, y, None, True, {})
    expected = table_kernel(X, y, shape="gaussian").kernel.bind(X)
    assert kernel == with_width(expected, 2.0) != expected


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
