"""Links in common, and kernels of what is at the nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mercer import SVC, Graph
from mercer._errors import DataError, ParameterError
from mercer.kernels import RBF, AtNodes, CoCitation, Diffusion, Linear, mercer_check

WEB = Graph([("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"), ("z", "b"), ("a", "z")], directed=True)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(["in", "out", "both"]), st.booleans(), st.booleans())
def test_products_of_the_adjacency_matrix(data, links, self_links, directed):
    n = data.draw(st.integers(1, 8))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = data.draw(st.lists(pairs, max_size=20, unique_by=lambda pair: tuple(sorted(pair))))
    weights = [1.0 + number for number in range(len(edges))]
    graph = Graph(edges, n, weights=weights, directed=directed)
    A = graph.adjacency().toarray() + self_links * np.eye(n)
    expected = {"in": A.T @ A, "out": A @ A.T, "both": A.T @ A + A @ A.T}[links]
    kernel = CoCitation(graph, links=links, self_links=self_links)
    np.testing.assert_allclose(kernel(list(range(n))), expected)
    features = kernel.feature_map([0] * 2).toarray()
    np.testing.assert_allclose(features @ features.T, np.full((2, 2), expected[0, 0]))
    assert len(kernel.feature_names([0])) == features.shape[1]


def test_names_of_features():
    assert CoCitation(WEB).feature_names(["a"])[:2] == ["link from x", "link from a"]
    assert mercer_check(CoCitation(WEB)).kind == "by_construction"


def test_values_at_nodes_by_order_by_name_and_with_links():
    rows = np.arange(10.0).reshape(5, 2)
    by_name = dict(zip(WEB.nodes, rows, strict=True))
    expected = Linear()(rows[[0, 2]])
    for values in (rows, by_name, rows.tolist()):
        np.testing.assert_allclose(AtNodes(WEB, values, Linear())([WEB.nodes[0], WEB.nodes[2]]), expected)
    both = Diffusion(WEB) + AtNodes(WEB, rows, Linear())
    names = list(WEB.nodes)
    np.testing.assert_allclose(both(names), Diffusion(WEB)(names) + Linear()(rows))
    assert both.takes_items is True


def test_a_column_of_names_is_taken():
    column = np.array([["a"], ["b"]])
    np.testing.assert_array_equal(CoCitation(WEB)(column), CoCitation(WEB)(["a", "b"]))


def test_a_width_from_the_training_nodes():
    rows = np.arange(10.0).reshape(5, 2)
    kernel = AtNodes(WEB, rows, RBF(gamma="scale"))
    names = list(WEB.nodes)
    np.testing.assert_allclose(kernel(names), RBF(gamma="scale")(rows))


def test_a_grid_reaches_both_parts():
    graph = Graph([(i, i + 1) for i in range(11)])
    texts = [[float(i % 2)] for i in range(12)]
    y = [i // 6 for i in range(12)]
    model = SVC(kernel=Diffusion(graph) + AtNodes(graph, texts, RBF()))
    grid = {"kernel__k1__beta": [1e-9, 3.0], "kernel__k2__kernel__gamma": [0.1, 1.0]}
    search = GridSearchCV(clone(model), grid, cv=3).fit(list(range(12)), y)
    assert search.best_params_["kernel__k1__beta"] == 3.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CoCitation(WEB, links="up"), ParameterError, 'links must be "in", "out" or "both"'),
        (
            lambda: AtNodes(WEB, ["one"], Linear()),
            ParameterError,
            "values must be as many as the graph has nodes, 5, got 1",
        ),
        (lambda: AtNodes(WEB, {"a": [1.0]}, Linear())(["b"]), DataError, "has none for 'b'"),
        (lambda: AtNodes(WEB, "abcde", Linear()), ParameterError, "values must be a sequence"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
