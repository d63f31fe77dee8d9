"""The value class: names, labels, weights, repeated edges, other people's graphs."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from mercer import Graph
from mercer._errors import DataError
from mercer.kernels import WeisfeilerLehman


def test_names_come_from_nodes_labels_or_edges():
    assert Graph([("b", "a")]).nodes == ("b", "a")
    assert list(Graph([(0, 1)], node_labels="xyz").nodes) == [0, 1, 2]
    assert Graph([("u", "v")], node_labels={"v": 1, "u": 2, "w": 3}).node_labels == (1, 2, 3)
    assert Graph(nodes=["lonely"]).n_nodes == 1
    assert Graph().n_nodes == 0
    assert Graph([(5, 7)]).places([7, 5]).tolist() == [1, 0]


def test_an_edge_counts_once():
    assert Graph([(0, 1), (1, 0), (0, 1)]).n_edges == 1
    assert Graph([(0, 1), (1, 0), (0, 1)], directed=True).n_edges == 2
    bonds = Graph([(0, 1), (1, 0), (0, 1)], edge_labels=["single", "double", "single"])
    assert bonds.edge_labels == ("single", "double")
    assert Graph([(0, 1), (1, 0)], weights=[2.0, 2.0]).adjacency().toarray().tolist() == [[0, 2], [2, 0]]


def test_self_loops_lead_to_their_node_once():
    loop = Graph([(0, 0), (0, 1)])
    assert loop.adjacency().toarray().tolist() == [[1, 1], [1, 0]]
    assert loop.labeled("degree").node_labels == (2, 1)


def test_labels_of_edges_by_pair():
    graph = Graph([("a", "b"), ("c", "b")], edge_labels={("b", "a"): 1, ("c", "b"): 2})
    assert graph.edge_labels == (1, 2)
    with pytest.raises(DataError, match=r"edge_labels must have a value for each edge, but has none for \('a', 'b'\)"):
        Graph([("a", "b")], edge_labels={("b", "a"): 1}, directed=True)


def test_values_are_equal_hashable_and_copied_without_a_copy():
    first = Graph([(0, 1)], node_labels="ab", weights=[2.0])
    second = Graph([(1, 0)], node_labels="ab", weights=[2.0])
    assert first == second
    assert hash(first) == hash(second)
    assert first != Graph([(0, 1)], node_labels="ab")
    assert first != "graph"
    assert copy.deepcopy(first) is first
    assert copy.copy(first) is first
    sent = pickle.loads(pickle.dumps(first))  # noqa: S301 - our own
    assert sent == first
    assert WeisfeilerLehman()([sent])[0, 0] == WeisfeilerLehman()([first])[0, 0]


def test_adjacency_there_and_back():
    matrix = sparse.random_array((7, 7), density=0.3, rng=np.random.default_rng(0), format="csr")
    np.testing.assert_allclose(Graph.from_adjacency(matrix).adjacency().toarray(), matrix.toarray())
    symmetric = matrix + matrix.T
    graph = Graph.from_adjacency(symmetric)
    assert not graph.directed
    np.testing.assert_allclose(graph.adjacency().toarray(), symmetric.toarray())
    assert Graph.from_adjacency(np.ones((2, 2)) - np.eye(2)).weights is None


class Stand:
    """The part of networkx's interface that is used."""

    def __init__(self, nodes, edges, directed=False):
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def nodes(self, data=False):
        return self._nodes

    def edges(self, data=False):
        return self._edges

    def is_directed(self):
        return self._directed


def test_numbers_on_edges():
    graph = Graph([(0, 1), (2, 1), (1, 0)], edge_attributes=[[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    assert graph == Graph([(0, 1), (1, 2)], edge_attributes={(1, 0): [1.0, 2.0], (1, 2): [3.0, 4.0]})
    assert graph != Graph([(0, 1), (1, 2)], edge_attributes=[[1.0, 2.0], [3.0, 5.0]])
    assert graph != Graph([(0, 1), (1, 2)])
    assert repr(graph) == "Graph(3 nodes, 2 edges, edge attributes)"
    assert graph.labeled("degree").edge_attributes is graph.edge_attributes
    assert pickle.loads(pickle.dumps(graph)) == graph  # noqa: S301
    source = Stand([("a", {}), ("b", {})], [("a", "b", {"length": 1.5})])
    assert Graph.from_networkx(source, edge_attributes="length").edge_attributes.tolist() == [[1.5]]


def test_networkx_graphs():
    source = Stand(
        [("a", {"label": "C", "x": [1.0, 2.0]}), ("b", {"label": "O", "x": [3.0, 4.0]})],
        [("a", "b", {"weight": 2.0, "label": "="})],
    )
    graph = Graph.from_networkx(source, attributes="x")
    expected = Graph(
        [("a", "b")],
        ["a", "b"],
        node_labels="CO",
        edge_labels=["="],
        weights=[2.0],
        node_attributes=[[1.0, 2.0], [3.0, 4.0]],
    )
    assert graph == expected
    assert Graph.of(source).node_attributes is None
    assert Graph.of(Stand([("a", {}), ("b", {})], [("b", "a", {})], directed=True)).directed
    with pytest.raises(DataError, match="node 'b' has no 'label', which other nodes have"):
        Graph.of(Stand([("a", {"label": 1}), ("b", {})], []))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Graph([(0, 1, 2)]), r"edge 0 must be a pair of nodes, got \(0, 1, 2\); weights="),
        (lambda: Graph(["ab"]), "edge 0 must be a pair of nodes, got 'ab'"),
        (lambda: Graph([0]), "edges must be pairs of node names"),
        (lambda: Graph([(0, 3)], 2), r"edge 0 is \(0, 3\), but not both of these are nodes"),
        (lambda: Graph(np.array([[0, 3]]), 2), r"edge 0 is \(0, 3\), but the nodes are 0 to 1"),
        (lambda: Graph(np.zeros((2, 3), int)), r"edges must be pairs of nodes, got an array of shape \(2, 3\)"),
        (lambda: Graph([("a", "b")], ["a", "a"]), "nodes must have different names, but 'a' occurs twice"),
        (lambda: Graph(nodes=-1), "nodes must be the number of nodes or their names, got -1"),
        (lambda: Graph(nodes="abc"), "nodes must be the number of nodes or their names, got 'abc'"),
        (lambda: Graph([(0, 1)], node_labels="a"), r"but not both of these are nodes"),
        (lambda: Graph(nodes=2, node_labels="a"), "node_labels must have a label for each node, got 1 for 2 nodes"),
        (
            lambda: Graph(nodes=2, node_labels={0: "a"}),
            "node_labels must have a label for each node, but has none for 1",
        ),
        (lambda: Graph(nodes=1, node_labels={0: "a", 5: "b"}), "node_labels has a label for 5, which is not a node"),
        (lambda: Graph([(0, 1)], edge_labels=[]), "edge_labels must have a value for each edge, got 0 for 1 edges"),
        (lambda: Graph([(0, 1)], edge_labels=[[1]]), "an edge label must be a string, a number"),
        (
            lambda: Graph([(0, 1)], weights=[-1.0]),
            r"weights must be positive and finite, got -1.0 for the edge \(0, 1\)",
        ),
        (lambda: Graph([(0, 1)], weights=[np.inf]), "weights must be positive and finite, got inf"),
        (lambda: Graph([(0, 1)], weights=[np.nan]), "weights must be positive and finite, got nan"),
        (lambda: Graph([(0, 1)], weights=[0.0]), "weights must be positive and finite, got 0.0"),
        (lambda: Graph([(0, 1)], weights=["heavy"]), "weights must be numbers"),
        (lambda: Graph([(0, 1)], weights=[1.0, 2.0]), "weights must have a number for each of 1 edges"),
        (lambda: Graph([(0, 1), (1, 0)], weights=[1.0, 2.0]), "is given with two weights, 1.0 and 2.0"),
        (
            lambda: Graph([(0, 1), (1, 0)], edge_attributes=[[1.0], [2.0]]),
            r"is given with two rows of edge_attributes, \[1.\] and \[2.\]",
        ),
        (lambda: Graph([(0, 1)], edge_attributes=[[np.nan]]), "edge_attributes must be finite"),
        (lambda: Graph([(0, 1)], edge_attributes=[]), "edge_attributes must have a row for each of 1 edges"),
        (lambda: Graph([(0, 1)], edge_attributes={(1, 2): [1.0]}), "edge_attributes must have a value for each edge"),
        (lambda: Graph(nodes=1, node_attributes=[[np.nan]]), "node_attributes must be finite"),
        (lambda: Graph(nodes=2, node_attributes=[[1.0]]), "node_attributes must have a row for each of 2 nodes"),
        (lambda: Graph(nodes=1, node_attributes=[["a"]]), "node_attributes must be numbers"),
        (
            lambda: Graph(nodes=1, node_labels=[[1]]).node_keys,
            "a node label must be a string, a number, None or a tuple",
        ),
        (lambda: Graph.from_adjacency(np.ones((2, 3))), r"an adjacency matrix must be square, got shape \(2, 3\)"),
        (lambda: Graph.from_adjacency([[0, -1], [-1, 0]]), "weights must be positive and finite, got -1.0"),
        (lambda: Graph.from_adjacency([[0, 1], [0, 0]], directed=False), "must be symmetric; pass directed=True"),
        (lambda: Graph.from_adjacency([[0, 1j], [0, 0]]), "an adjacency matrix must hold"),
        (lambda: Graph.of("CCO"), "a graph was expected, got str; pass a mercer.Graph"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(DataError, match=message):
        make()


class Preorder:
    """A tree as its labels and numbers of children."""

    labels, counts = ("S", "NP", "D", "N", "VP"), (2, 2, 0, 0, 0)


def test_trees_in_preorder():
    tree = Graph.of(Preorder())
    assert tree == Graph([(0, 1), (1, 2), (1, 3), (0, 4)], node_labels=Preorder.labels, directed=True)
    assert Graph.from_preorder([], []).n_nodes == 0
    assert Graph.from_preorder("a" * 10_000, [1] * 9_999 + [0]).n_edges == 9_999
    with pytest.raises(DataError, match="node 2 has no parent"):
        Graph.from_preorder("abc", [1, 0, 0])
    with pytest.raises(DataError, match="1 children are missing"):
        Graph.from_preorder("ab", [2, 0])
