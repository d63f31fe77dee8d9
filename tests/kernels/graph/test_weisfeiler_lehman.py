"""Weisfeiler-Lehman labels against labels that are written out as nested tuples."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Graph
from mercer.kernels import WeisfeilerLehman
from tests.kernels.graph.drawn import arcs_of, graphs, products


def written_out(graph, iterations, edge_labels):
    """How often each label occurs after each round."""
    labels = list(graph.node_labels)
    counts = Counter((0, label) for label in labels)
    for number in range(1, iterations + 1):
        outward, inward = [[] for _ in labels], [[] for _ in labels]
        for tail, head, label, _ in arcs_of(graph):
            via = label if edge_labels else None
            outward[tail].append((repr(via), repr(labels[head])))
            inward[head].append((repr(via), repr(labels[tail])))
        labels = [
            (labels[node], tuple(sorted(outward[node])), tuple(sorted(inward[node]))) for node in range(len(labels))
        ]
        counts.update((number, label) for label in labels)
    return counts


@settings(max_examples=80, deadline=None)
@given(graphs(), graphs(), st.integers(0, 3), st.booleans())
def test_values_are_those_of_labels_written_out(first, second, iterations, edge_labels):
    kernel = WeisfeilerLehman(iterations=iterations, edge_labels=edge_labels)
    counts = [written_out(graph, iterations, edge_labels) for graph in (first, second)]
    expected = [[products(a, b) for b in counts] for a in counts]
    np.testing.assert_array_equal(kernel([first, second]), expected)
    np.testing.assert_array_equal(kernel([first], [second]), [[expected[0][1]]])
    features = kernel.feature_map([first, second])
    np.testing.assert_array_equal((features @ features.T).toarray(), expected)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.booleans())
def test_different_features_have_different_names(graph, edge_labels):
    names = WeisfeilerLehman(iterations=2, edge_labels=edge_labels).feature_names([graph])
    assert len(set(names)) == len(names)


def test_names_show_the_neighbourhood():
    arrow = Graph([("u", "v")], node_labels={"u": "C", "v": "O"}, edge_labels=["="], directed=True)
    names = WeisfeilerLehman(iterations=1, edge_labels=True).feature_names([arrow])
    assert sorted(names) == ["C", "C(to -=-O; from )", "O", "O(to ; from -=-C)"]


def test_regular_graphs_that_it_cannot_tell_apart():
    six = Graph([(i, (i + 1) % 6) for i in range(6)]).labeled("same")
    twice_three = Graph([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]).labeled("same")
    np.testing.assert_array_equal(WeisfeilerLehman(4)([six, twice_three]), np.full((2, 2), 5 * 36.0))
