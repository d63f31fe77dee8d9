"""Graphlets against all subsets of nodes, and draws against their expectation."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Graph
from mercer._errors import DataError, ParameterError
from mercer.kernels import Graphlet
from tests.kernels.graph.drawn import graphs, products


def shape_of(A):
    """The same for isomorphic graphs, by trying all orders."""
    return min(tuple(A[np.ix_(order, order)].ravel()) for order in map(list, permutations(range(len(A)))))


def by_subsets(graph, size, connected):
    A = (graph.adjacency().toarray() > 0).astype(int)
    A |= A.T
    np.fill_diagonal(A, 0)
    counts = Counter()
    for subset in combinations(range(graph.n_nodes), size):
        part = A[np.ix_(subset, subset)]
        reached = np.linalg.matrix_power(part + np.eye(size, dtype=int), size)
        if not connected or (reached > 0).all():
            counts[shape_of(part)] += 1
    return counts


@settings(max_examples=40, deadline=None)
@given(graphs(most=6), graphs(most=6), st.sampled_from([3, 4, 5]), st.booleans())
def test_values_are_those_of_all_subsets(first, second, size, connected):
    kernel = Graphlet(size=size, connected=connected)
    counts = [by_subsets(graph, size, connected) for graph in (first, second)]
    np.testing.assert_array_equal(kernel([first, second]), [[products(a, b) for b in counts] for a in counts])
    assert len(kernel.feature_names([first, second])) == len(counts[0] | counts[1])


def whole_random_graph(n, share, seed):
    drawn = np.random.default_rng(seed).random((n, n)) < share
    return Graph(np.argwhere(np.triu(drawn, 1)), n)


def test_number_of_shapes():
    graph = [whole_random_graph(22, 0.45, seed=1)]
    counts = {
        (size, connected): Graphlet(size, connected).feature_map(graph).shape[1]
        for size in (3, 4, 5)
        for connected in (True, False)
    }
    assert counts == {(3, True): 2, (3, False): 4, (4, True): 6, (4, False): 11, (5, True): 21, (5, False): 34}


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5])
def test_draws_are_right_on_average(size, connected):
    graph = [whole_random_graph(14, 0.3, seed=2)]
    exact = Graphlet(size, connected)
    drawn = Graphlet(size, connected, samples=40_000)
    expected = dict(zip(exact.feature_names(graph), exact.feature_map(graph).toarray()[0], strict=True))
    estimated = dict(zip(drawn.feature_names(graph), drawn.feature_map(graph).toarray()[0], strict=True))
    total = sum(expected.values())
    for name, count in expected.items():
        assert estimated.get(name, 0.0) == pytest.approx(count, abs=0.02 * total), name


def test_draws_depend_on_the_graph_and_the_seed_and_on_nothing_else():
    first, second = whole_random_graph(12, 0.3, seed=3), whole_random_graph(12, 0.3, seed=4)
    kernel = Graphlet(4, samples=50, random_state=7)
    together = kernel([first, second, first])
    np.testing.assert_array_equal(together[0], together[2])
    np.testing.assert_array_equal(kernel([second, first])[1, 1], together[0, 0])
    assert (kernel.replace(random_state=8)([first]) != kernel([first])).any()


def test_too_many_subsets_are_refused():
    large = Graph([(0, 1)], 3000)
    with pytest.raises(DataError, match=r"item 0 of X has 3000 nodes and 2.0e\+15 subsets of 5; pass connected=True"):
        Graphlet(5, connected=False)([large])
    assert Graphlet(5, connected=True)([large])[0, 0] == 0.0
    assert Graphlet(5, connected=False, samples=10)([large]).shape == (1, 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 6}, "size must be 3, 4 or 5, got 6"),
        ({"samples": 0}, "samples must be 1 or more"),
        ({"samples": 2.5}, "samples must be a whole number"),
        ({"connected": 1}, "connected must be True or False, got 1"),
        ({"random_state": -1}, "random_state must be a whole number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Graphlet(**parameters)
