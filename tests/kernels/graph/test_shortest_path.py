"""Shortest paths against Floyd's algorithm and sums over all pairs of pairs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Graph
from mercer._errors import DataError, ParameterError
from mercer.kernels import RBF, LabelPath, Linear, ShortestPath, mercer_check
from tests.kernels.graph.drawn import arcs_of, graphs, products


def distances(graph, weighted):
    far = np.full((graph.n_nodes, graph.n_nodes), np.inf)
    np.fill_diagonal(far, 0.0)
    for tail, head, _, weight in arcs_of(graph):
        far[tail, head] = min(far[tail, head], weight if weighted else 1.0)
    for via in range(graph.n_nodes):
        far = np.minimum(far, far[:, via : via + 1] + far[via])
    return far


def connected_pairs(graph, weighted):
    far = distances(graph, weighted)
    return [(u, v, far[u, v]) for u in range(len(far)) for v in range(len(far)) if u != v and far[u, v] < np.inf]


@settings(max_examples=80, deadline=None)
@given(graphs(), graphs(), st.booleans(), st.booleans())
def test_values_are_those_of_floyd(first, second, labelled, weighted):
    kernel = ShortestPath(labeled=labelled, weighted=weighted)
    counts = [
        Counter(
            (graph.node_labels[u], graph.node_labels[v], d) if labelled else d
            for u, v, d in connected_pairs(graph, weighted)
        )
        for graph in (first, second)
    ]
    np.testing.assert_array_equal(kernel([first, second]), [[products(a, b) for b in counts] for a in counts])
    names = kernel.feature_names([first, second])
    assert len(set(names)) == len(names) == len(counts[0] | counts[1])


def by_all_pairs(first, second, kernel, labelled, weighted):
    if not (first.n_nodes and second.n_nodes):
        return 0.0
    M = kernel(first.node_attributes, second.node_attributes)
    total = 0.0
    for u, v, d in connected_pairs(first, weighted):
        for s, t, other in connected_pairs(second, weighted):
            like = (first.node_labels[u], first.node_labels[v]) == (second.node_labels[s], second.node_labels[t])
            if d == other and (like or not labelled):
                total += M[u, s] * M[v, t]
    return total


@settings(max_examples=60, deadline=None)
@given(graphs(most=5), graphs(most=5), st.booleans(), st.booleans(), st.sampled_from([RBF(0.7), Linear() + 1.0]))
def test_attributes_go_through_a_kernel_of_vectors(first, second, labelled, weighted, attributes):
    kernel = ShortestPath(labeled=labelled, weighted=weighted, attributes=attributes)
    both = [first, second]
    expected = [[by_all_pairs(a, b, attributes, labelled, weighted) for b in both] for a in both]
    np.testing.assert_allclose(kernel(both), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel([first], both), expected[:1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(both), np.diag(expected), rtol=1e-10, atol=1e-12)


def test_sums_of_weights_in_another_order_are_the_same_length():
    first = Graph([(0, 1), (1, 2), (2, 3)], weights=[0.1, 0.2, 0.3])
    second = Graph([(0, 1), (1, 2), (2, 3)], weights=[0.3, 0.2, 0.1])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert ShortestPath(labeled=False, weighted=True)([first], [second])[0, 0] == 32.0  # 0.3 is there twice


def test_a_width_from_the_nodes_of_the_training_graphs():
    both = [Graph([(0, 1)], node_attributes=[[0.0], [1.0]]), Graph([(0, 1)], node_attributes=[[2.0], [5.0]])]
    kernel = ShortestPath(labeled=False, attributes=RBF(gamma="scale"))
    assert not kernel.is_bound
    gamma = RBF(gamma="scale").bind(np.array([[0.0], [1.0], [2.0], [5.0]])).gamma
    assert kernel.bind(both).attributes.gamma == gamma
    np.testing.assert_allclose(kernel(both), kernel.replace(attributes=RBF(gamma))(both))


def test_verdicts_and_features():
    assert mercer_check(ShortestPath()).kind == "by_construction"
    assert ShortestPath(attributes=RBF()).is_psd
    with pytest.raises(ParameterError, match="ShortestPath has no finite feature map; attributes=None has one"):
        ShortestPath(attributes=RBF()).feature_map([Graph([(0, 1)])])
    with pytest.raises(ParameterError, match="attributes must be a kernel of vectors"):
        ShortestPath(attributes=LabelPath())
    with pytest.raises(ParameterError, match="attributes must be a Kernel"):
        ShortestPath(attributes="rbf")


def test_graphs_without_attributes():
    with pytest.raises(DataError, match="item 1 of X has no node attributes, which ShortestPath compares"):
        ShortestPath(labeled=False, attributes=RBF())([Graph([(0, 1)], node_attributes=[1, 2]), Graph([(0, 1)])])
    with pytest.raises(DataError, match="must have equally many attributes, got 1 and 2"):
        ShortestPath(labeled=False, attributes=RBF())(
            [Graph(nodes=1, node_attributes=[[1.0]]), Graph(nodes=1, node_attributes=[[1.0, 2.0]])]
        )
