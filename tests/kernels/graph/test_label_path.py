"""Label paths against paths that are listed one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Graph
from mercer._errors import ParameterError
from mercer.kernels import LabelPath
from tests.kernels.graph.drawn import arcs_of, graphs, products


def listed(graph, length, decay, edge_labels, walks):
    """The weight of each label sequence."""
    counts, paths = Counter(), [((node,), (label,)) for node, label in enumerate(graph.node_labels)]
    for edges in range(length + 1):
        counts.update({})
        for _, read in paths:
            counts[read] += decay**edges
        paths = [
            ((*path, head), (*read, *([label] if edge_labels else []), graph.node_labels[head]))
            for path, read in paths
            for tail, head, label, _ in arcs_of(graph)
            if tail == path[-1] and (walks or head not in path)
        ]
    return counts


@settings(max_examples=80, deadline=None)
@given(
    graphs(most=5), graphs(most=5), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.booleans()
)
def test_values_are_those_of_a_list(first, second, length, decay, edge_labels, walks):
    kernel = LabelPath(length=length, decay=decay, edge_labels=edge_labels, walks=walks)
    counts = [listed(graph, length, decay, edge_labels, walks) for graph in (first, second)]
    np.testing.assert_allclose(kernel([first, second]), [[products(a, b) for b in counts] for a in counts], rtol=1e-12)
    names = kernel.feature_names([first, second])
    features = kernel.feature_map([first, second]).toarray()
    written = {"".join(map(str, read)): weight for read, weight in counts[0].items() if weight}
    found = {name: value for name, value in zip(names, features[0].tolist(), strict=True) if value}
    assert found == pytest.approx(written)


def test_a_tree_is_read_from_above():
    tree = Graph([("S", "NP"), ("S", "VP")], node_labels={"S": "S", "NP": "NP", "VP": "VP"}, directed=True)
    assert sorted(LabelPath(2).feature_names([tree])) == ["NP", "S", "S NP", "S VP", "VP"]


class Twig:
    """What a tree needs so that it is taken for a graph."""

    def as_graph(self):
        return Graph([(0, 1)], node_labels="ab", directed=True)


def test_what_offers_itself_as_a_graph_is_taken():
    assert LabelPath(1)([Twig()], [Graph([(0, 1)], node_labels="ab")])[0, 0] == 3.0


def test_bad_parameters():
    with pytest.raises(ParameterError, match=r"decay must be at most 1, got 1\.5"):
        LabelPath(decay=1.5)
    with pytest.raises(ParameterError, match="length must be a whole number, 0 or more, got -1"):
        LabelPath(length=-1)
    with pytest.raises(ParameterError, match="walks must be True or False, got 'yes'"):
        LabelPath(walks="yes")
