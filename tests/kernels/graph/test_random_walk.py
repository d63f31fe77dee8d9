"""Random walks against the inverse of a dense product matrix."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mercer import Graph
from mercer._errors import DataError, ParameterError
from mercer.kernels import RBF, LabelPath, Linear, RandomWalk
from tests.kernels.graph.drawn import arcs_of, graphs


def product_matrix(first, second, labelled, edge_labels, weighted):
    pairs = [
        (u, v)
        for u in range(first.n_nodes)
        for v in range(second.n_nodes)
        if not labelled or first.node_labels[u] == second.node_labels[v]
    ]
    place = {pair: number for number, pair in enumerate(pairs)}
    A = np.zeros((len(pairs), len(pairs)))
    for u, s, label, weight in arcs_of(first):
        for v, t, other, other_weight in arcs_of(second):
            if (u, v) in place and (s, t) in place and (label == other or not edge_labels):
                A[place[u, v], place[s, t]] += weight * other_weight if weighted else 1.0
    return A


def largest(A):
    return np.abs(np.linalg.eigvals(A)).max() if len(A) else 0.0


OPTIONS = st.tuples(st.booleans(), st.booleans(), st.booleans())


@settings(max_examples=100, deadline=None)
@given(graphs(most=5), graphs(most=5), OPTIONS, st.floats(0.05, 0.9))
def test_values_are_those_of_the_inverse(first, second, options, share):
    both = [first, second]
    # Without cycles any decay will do, and the bound of the directed case is a square.
    bound = max(1.0, *[largest(product_matrix(g, g, False, False, options[2])) for g in both])
    kernel = RandomWalk(share / bound, *options)
    expected = np.empty((2, 2))
    for i, a in enumerate(both):
        for j, b in enumerate(both):
            A = product_matrix(a, b, *options)
            expected[i, j] = np.linalg.inv(np.eye(len(A)) - kernel.decay * A).sum()
    np.testing.assert_allclose(kernel(both), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel(both[1:], both), expected[1:], rtol=1e-9)
    np.testing.assert_allclose(kernel.diag(both), np.diag(expected), rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(graphs(least=2, directed=False), OPTIONS)
def test_the_largest_decay_is_the_inverse_of_the_largest_eigenvalue(graph, options):
    bound = largest(product_matrix(graph, graph, *options))
    assume(bound > 0.5)
    RandomWalk(0.999 / bound, *options)([graph])
    with pytest.raises(ParameterError, match="decay must be below") as caught:
        RandomWalk(1.001 / bound, *options)([graph])
    allowed = float(str(caught.value).split("below ")[1].split(" ")[0])
    assert allowed == pytest.approx(1 / bound, rel=1e-4)


def attributed(graph, seed):
    numbers = np.random.default_rng(seed).normal(size=(graph.n_edges, 2))
    # With their labels, since parallel edges stay apart by them.
    return Graph(
        graph.ends,
        graph.n_nodes,
        node_labels=graph.node_labels,
        edge_labels=graph.edge_labels,
        edge_attributes=numbers,
        directed=graph.directed,
    )


@settings(max_examples=60, deadline=None)
@given(graphs(most=5), graphs(most=5), st.booleans(), st.floats(0.05, 0.9))
def test_edges_compared_by_their_attributes(first, second, labelled, share):
    both = [attributed(first, 0), attributed(second, 1)]
    bound = max(1.0, *[largest(product_matrix(g, g, False, False, False)) for g in both])
    kernel, edges = RandomWalk(share / bound, labelled, edge_attributes=RBF(0.5)), RBF(0.5)
    expected = np.empty((2, 2))
    for i, a in enumerate(both):
        for j, b in enumerate(both):
            pairs = [
                (u, v)
                for u in range(a.n_nodes)
                for v in range(b.n_nodes)
                if not labelled or a.node_labels[u] == b.node_labels[v]
            ]
            place, A = {pair: number for number, pair in enumerate(pairs)}, np.zeros((len(pairs), len(pairs)))
            for u, s, e in zip(*a.arcs(), strict=True):
                for v, t, f in zip(*b.arcs(), strict=True):
                    if (u, v) in place and (s, t) in place:
                        like = edges(a.edge_attributes[[e]], b.edge_attributes[[f]])[0, 0]
                        A[place[u, v], place[s, t]] += like
            expected[i, j] = np.linalg.inv(np.eye(len(A)) - kernel.decay * A).sum()
    np.testing.assert_allclose(kernel(both), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel(both[1:], both), expected[1:], rtol=1e-9)


def test_attributes_of_edges_that_cannot_be_compared():
    pair = Graph([(0, 1)], edge_attributes=[[1.0]])
    with pytest.raises(DataError, match="item 1 of X has no edge attributes, which RandomWalk compares"):
        RandomWalk(0.1, labeled=False, edge_attributes=RBF(1.0))([pair, Graph([(0, 1)])])
    with pytest.raises(ParameterError, match="edge_attributes must be a kernel without negative values, got -2"):
        RandomWalk(0.1, labeled=False, edge_attributes=Linear())([pair, Graph([(0, 1)], edge_attributes=[[-2.0]])])
    with pytest.raises(ParameterError, match="edge_attributes must be a kernel of vectors"):
        RandomWalk(edge_attributes=LabelPath())
    bound = RandomWalk(0.1, labeled=False, edge_attributes=RBF()).bind([pair, Graph([(0, 1)], edge_attributes=[3.0])])
    assert bound.is_bound
    assert bound.is_psd


def test_directed_graphs_without_cycles_always_converge():
    n = 30
    chain = Graph([(i, i + 1) for i in range(n - 1)], directed=True)
    kernel = RandomWalk(5.0, labeled=False)
    assert kernel([chain])[0, 0] == pytest.approx(sum((n - k) ** 2 * 5.0**k for k in range(n)))


def test_directed_and_undirected_graphs_meet():
    square = Graph([(0, 1), (1, 2), (2, 3), (3, 0)])
    both_ways = Graph([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)], directed=True)
    kernel = RandomWalk(0.1, labeled=False)
    np.testing.assert_allclose(kernel([square, both_ways]), np.full((2, 2), kernel([square])[0, 0]))
    np.testing.assert_allclose(kernel([square], [both_ways]), kernel([square]))


def test_it_is_the_limit_of_walks_that_are_listed():
    first = Graph([(0, 1), (1, 2)], node_labels="aba")
    second = Graph([(0, 1)], node_labels="ab")
    walks = LabelPath(length=18, decay=np.sqrt(0.1), walks=True)
    assert RandomWalk(0.1)([first], [second])[0, 0] == pytest.approx(walks([first], [second])[0, 0], rel=1e-6)


def test_no_feature_map():
    with pytest.raises(ParameterError, match=r"RandomWalk has no finite feature map; LabelPath\(walks=True\) has one"):
        RandomWalk().feature_map([Graph([(0, 1)], node_labels="ab")])
