"""Contributions of nodes add up to the decision value, and are those of what begins at them."""

import numpy as np
import pytest

from mercer import SVC, Graph, Tree, explain
from mercer.kernels import PartialTree, SubsetTree, WeisfeilerLehman

TREES = ["(S (A a) (B b))", "(S (A a) (B (C c) (A a)))", "(S (C a) (B b))", "(T (S (C c) (B b)) (A a))", "(A a)", ""]
SIGNS = [0, 0, 1, 1, 0, 1]
GRAPHS = [
    Graph([(0, 1), (1, 2)], node_labels="CCO"),
    Graph([(0, 1), (1, 2)], node_labels="COC"),
    Graph([(0, 1), (1, 2), (2, 3)], node_labels="CCCO"),
    Graph([(0, 1), (1, 2), (2, 3)], 5, node_labels="CCOCN"),
]


def check(model, x):
    found = explain(model, x)
    np.testing.assert_allclose(found.by_node.values.sum(axis=1) + found.intercept, model.decision_function([x]))
    return found.by_node


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("leaves", ["lexical", "ignored", "fragments"])
@pytest.mark.parametrize("tree", TREES[:5])
def test_fragments_that_begin_at_the_nodes_of_a_tree(tree, leaves, normalise):
    kernel = SubsetTree(leaves=leaves)
    model = SVC(kernel=2.0 * (kernel.normalized() if normalise else kernel), C=10.0).fit(TREES, SIGNS)
    assert len(check(model, tree).names) == len(Tree.parse(tree).labels)


def test_partial_trees_too():
    model = SVC(kernel=PartialTree().normalized(), C=10.0).fit(TREES, SIGNS)
    check(model, TREES[3])


def test_a_node_is_worth_the_fragments_that_begin_there():
    model = SVC(kernel=SubsetTree(decay=1.0), C=10.0).fit(TREES[:4], SIGNS[:4])
    x = TREES[1]
    # What stands below A is the same in both, so A's fragments are worth the same.
    node = check(model, x).as_dict()
    alone = explain(model, "(A a)")
    assert node["1: (A a)"] == pytest.approx(alone.decision[0] - alone.intercept[0])


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("graph", GRAPHS)
def test_neighbourhoods_of_the_nodes_of_a_graph(graph, normalise):
    kernel = WeisfeilerLehman(2)
    model = SVC(kernel=kernel.normalized() if normalise else kernel, C=10.0).fit(GRAPHS, [0, 1, 0, 1])
    found = check(model, graph)
    assert len(found.names) == graph.n_nodes
    # The oxygen is what tells them apart, or its neighbours are: the two ends of an ether are alike.
    if graph is GRAPHS[1]:
        assert found.values[0, 0] == pytest.approx(found.values[0, 2])
