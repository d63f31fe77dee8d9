"""Which rows are visited: independent of slices, fair, and true to weights."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers.stochastic.visit_order import ARRANGED, Sampler, arranged, uniform


@pytest.mark.parametrize("sampling", ["replacement", "permutation"])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.0, 2.5, 0.5, 3.0])])
def test_draws_do_not_depend_on_how_they_are_asked_for(sampling, weights):
    sampler = Sampler(5, seed=3, sampling=sampling, weights=weights)
    whole = sampler.draw(0, 100)
    parts = np.concatenate([Sampler(5, 3, sampling, weights).draw(a, b - a) for a, b in [(0, 1), (1, 40), (40, 100)]])
    assert (whole == parts).all()


def test_draws_are_uniform():
    counts = np.bincount(Sampler(10, seed=1).draw(0, 100_000), minlength=10)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 30  # chi-squared with 9 degrees of freedom: p = 4e-4


def test_draws_of_neighbouring_visits_are_independent():
    u = uniform(5, 0, 100_000)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.015
    assert (u >= 0).all()
    assert (u < 1).all()


def test_a_permutation_visits_every_row_once_in_an_epoch():
    sampler = Sampler(50, seed=2, sampling="permutation")
    first, second = sampler.draw(0, 50), sampler.draw(50, 50)
    assert sorted(first) == sorted(second) == list(range(50))
    assert (first != second).any()


@pytest.mark.parametrize("sampling", ["replacement", "permutation"])
def test_rows_are_visited_in_proportion_to_their_weights(sampling):
    weights = np.array([1.0, 0.0, 2.5, 0.5])
    counts = np.bincount(Sampler(4, 0, sampling, weights).draw(0, 40_000), minlength=4)
    assert counts[1] == 0
    assert counts / 40_000 == pytest.approx(weights / 4.0, abs=0.01)


@pytest.mark.parametrize("sampling", ["replacement", "permutation"])
def test_a_row_of_weight_two_is_a_row_that_occurs_twice(sampling):
    weighted = Sampler(3, 4, sampling, np.array([2.0, 1.0, 3.0])).draw(0, 500)
    repeated = Sampler(6, 4, sampling).draw(0, 500)
    assert (weighted == np.array([0, 0, 1, 2, 2, 2])[repeated]).all()


def test_the_arrangement_depends_on_what_rows_hold(rng):
    X, codes = rng.normal(size=(30, 4)).round(1), rng.integers(2, size=30)
    moved = rng.permutation(30)
    assert (X[arranged(X, codes)] == X[moved][arranged(X[moved], codes[moved])]).all()
    assert (arranged(X, codes) == arranged(sparse.csr_matrix(X), codes)).all()
    single = X.astype(np.float32)
    assert (arranged(single, codes) == arranged(single.astype(np.float64), codes)).all()


def test_equal_rows_are_neighbours_unless_their_labels_differ():
    X = np.array([[1.0, 0.0], [2.0, -0.0], [1.0, -0.0], [2.0, 0.0]])
    order = arranged(X, np.array([0, 1, 0, 1]))
    assert sorted(map(tuple, (sorted(order[:2]), sorted(order[2:])))) == [(0, 2), (1, 3)]


def test_items_and_large_sets_stay_where_they_are():
    assert arranged(["a", "b"], np.array([0, 1])) is None
    assert arranged(np.zeros((ARRANGED + 1, 1)), np.zeros(ARRANGED + 1, int)) is None
