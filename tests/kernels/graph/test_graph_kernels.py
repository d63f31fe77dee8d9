"""What all kernels of graphs have in common: laws, estimators, empty graphs, bad lists."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, Graph
from mercer._errors import DataError
from mercer._jit.threads import Stopped
from mercer.kernels import RBF, Graphlet, LabelPath, RandomWalk, ShortestPath, WeisfeilerLehman, mercer_check
from mercer.kernels.evaluation import tiles
from tests.kernels.graph.drawn import graphs

KERNELS = [
    WeisfeilerLehman(3),
    WeisfeilerLehman(2, edge_labels=True),
    LabelPath(2),
    LabelPath(2, decay=0.5, edge_labels=True, walks=True),
    ShortestPath(),
    ShortestPath(weighted=True, attributes=RBF(0.5)),
    RandomWalk(1e-3),
    RandomWalk(1e-3, labeled=False),
    Graphlet(3),
    Graphlet(4, connected=False),
    Graphlet(3, samples=20),
]
LABELLED = [kernel for kernel in KERNELS if not isinstance(kernel, Graphlet) and getattr(kernel, "labeled", True)]


def molecule(n, seed):
    """A ring with a tail; those of odd n have a nitrogen."""
    rng = np.random.default_rng(seed)
    edges = [(i, (i + 1) % n) for i in range(n)] + [(0, n), (n, n + 1)]
    labels = ["C"] * (n + 1) + ["N" if n % 2 else "O"]
    bonds = rng.integers(1, 3, len(edges)).tolist()
    return Graph(edges, node_labels=labels, edge_labels=bonds, node_attributes=rng.normal(size=(n + 2, 2)))


MOLECULES = [molecule(n, n) for n in (3, 4, 5, 6, 7, 8) * 3]
KINDS = [graph.node_labels[-1] for graph in MOLECULES]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gram_is_symmetric_and_positive_semidefinite(kernel):
    gram = kernel(MOLECULES)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram)[0] >= -1e-9 * np.trace(gram)
    np.testing.assert_allclose(kernel.diag(MOLECULES), np.diag(gram))
    np.testing.assert_allclose(kernel(MOLECULES[:4], MOLECULES), gram[:4])
    assert mercer_check(kernel).kind == "by_construction"
    single = kernel(MOLECULES, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, gram, rtol=1e-5)
    normalised = kernel.normalized()(MOLECULES)
    np.testing.assert_allclose(np.diag(normalised), 1.0)


@settings(max_examples=15, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kernel", [k for k in KERNELS if not getattr(k, "samples", None)], ids=repr)
def test_the_order_of_nodes_does_not_matter(kernel, data):
    graph = data.draw(graphs(least=1, most=5))
    order = data.draw(st.permutations(range(graph.n_nodes)))
    moved = Graph(
        [(order[u], order[v]) for u, v in graph.ends.tolist()],
        graph.n_nodes,
        node_labels=[graph.node_labels[order.index(place)] for place in range(graph.n_nodes)],
        edge_labels=graph.edge_labels,
        weights=graph.weights,
        node_attributes=graph.node_attributes[[order.index(place) for place in range(graph.n_nodes)]],
        directed=graph.directed,
    )
    np.testing.assert_allclose(kernel([graph, moved]), np.full((2, 2), kernel.diag([graph])[0]), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_graphs_without_nodes_and_with_one(kernel):
    empty, one = Graph(), Graph(nodes=1, node_labels="C", node_attributes=[[0.0, 0.0]])
    gram = kernel([empty, one, MOLECULES[0]])
    np.testing.assert_array_equal(gram[0], 0.0)
    no_pairs = isinstance(kernel, (ShortestPath, Graphlet))
    assert (gram[1, 1] == 0.0) == no_pairs
    assert np.isfinite(gram).all()
    np.testing.assert_array_equal(kernel([empty]), [[0.0]])
    assert kernel([]).shape == (0, 0)
    np.testing.assert_array_equal(kernel.normalized()([empty, MOLECULES[0]])[0], 0.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_estimators_take_graphs(kernel):
    model = SVC(kernel=kernel.normalized(), C=100.0)
    fitted = clone(model).fit(MOLECULES, KINDS)
    reference = SVC(kernel="precomputed", C=100.0).fit(kernel.normalized()(MOLECULES), KINDS)
    unseen = [molecule(9, 1), molecule(10, 1)]
    between = kernel.normalized()(unseen, MOLECULES)
    np.testing.assert_allclose(fitted.decision_function(unseen), reference.decision_function(between), atol=1e-4)
    assert cross_val_score(model, MOLECULES, KINDS, cv=3).shape == (3,)


def test_labelled_kernels_learn_the_nitrogen():
    for kernel in (WeisfeilerLehman(2), LabelPath(3), ShortestPath(), RandomWalk(0.05)):
        assert cross_val_score(SVC(kernel=kernel.normalized(), C=100.0), MOLECULES, KINDS, cv=3).mean() == 1.0


def test_grid_search_reaches_parameters():
    grid = {"kernel__iterations": [0, 2], "C": [1.0]}
    search = GridSearchCV(SVC(kernel=WeisfeilerLehman()), grid, cv=3).fit(MOLECULES, KINDS)
    assert set(search.cv_results_["param_kernel__iterations"]) == {0, 2}
    inner = GridSearchCV(SVC(kernel=ShortestPath(attributes=RBF())), {"kernel__attributes__gamma": [0.1, 1.0]}, cv=2)
    assert inner.fit(MOLECULES, KINDS).best_params_["kernel__attributes__gamma"] in (0.1, 1.0)


@pytest.mark.parametrize("kernel", LABELLED, ids=repr)
def test_graphs_without_labels_are_refused_by_name(kernel):
    with pytest.raises(DataError, match=f"item 1 of X has no node labels, which {type(kernel).__name__} compares"):
        kernel([MOLECULES[0], Graph([(0, 1)], edge_labels=[1], node_attributes=[[0, 0], [0, 0]])])


def test_graphs_without_edge_labels_are_refused_by_name():
    with pytest.raises(DataError, match="item 0 of X has no edge labels, which WeisfeilerLehman compares"):
        WeisfeilerLehman(edge_labels=True)([Graph([(0, 1)], node_labels="ab")])


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([MOLECULES[0], "CCO"], "item 1 of X: a graph was expected, got str"),
        ([MOLECULES[0], None], "item 1 of X: a graph was expected, got NoneType"),
        (MOLECULES[0], r"X must be a sequence of graphs, got one Graph; pass \[graph\]"),
        ([np.ones((2, 3))], "item 0 of X: an adjacency matrix must be square"),
        (np.zeros((3, 2)), "item 0 of X: a graph was expected, got ndarray"),
    ],
)
@pytest.mark.parametrize("kernel", [WeisfeilerLehman(), RandomWalk(), Graphlet()], ids=repr)
def test_lists_with_something_else_are_refused(kernel, items, message):
    with pytest.raises(DataError, match=message):
        kernel(items)


@pytest.mark.parametrize("kernel", [RandomWalk(1e-3), ShortestPath(attributes=RBF())], ids=repr)
def test_a_stop_is_heard_between_tiles(kernel):
    prepared = kernel.prepare(MOLECULES)
    prepared.longest_tile, asked = 2, []

    def stop(_share=None):
        asked.append(threading.get_ident())
        return len(asked) > 3

    with pytest.raises(Stopped):
        tiles.gram(kernel, prepared, np.empty((len(MOLECULES), len(MOLECULES))), stop=stop)
    assert len(asked) < 8


def test_features_of_normalised_counts_have_length_one():
    features = WeisfeilerLehman(1).normalized().feature_map([*MOLECULES[:2], Graph()])
    np.testing.assert_allclose(np.sqrt(features.power(2).sum(axis=1)).ravel(), [[1.0, 1.0, 0.0]])


def test_many_graphs_are_counted_by_both_cores_alike():
    many = MOLECULES * 60
    np.testing.assert_array_equal(WeisfeilerLehman(2)(many)[:18, :18], WeisfeilerLehman(2)(MOLECULES))


def test_many_normalised_graphs_have_a_gram_matrix():
    kernel = (WeisfeilerLehman(1) + LabelPath(1)).normalized()
    np.testing.assert_allclose(kernel(MOLECULES * 12)[:18, :18], kernel(MOLECULES))
