"""Diffusion and regularised Laplacian against dense matrix functions, and rows on demand."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse

from mercer import SVC, Graph
from mercer._errors import DataError, ParameterError
from mercer.kernels import Diffusion, RegularizedLaplacian, mercer_check
from mercer.kernels.node import node_gram_cache

LAPLACIANS = st.sampled_from(["combinatorial", "normalized"])


@st.composite
def graphs(draw, most=9):
    n = draw(st.integers(1, most))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw(st.lists(pairs, max_size=3 * n, unique_by=lambda pair: tuple(sorted(pair))))
    weights = draw(st.lists(st.floats(0.1, 5.0), min_size=len(edges), max_size=len(edges)))
    return Graph(edges, n, weights=weights, directed=draw(st.booleans()))


def dense_laplacian(graph, kind):
    A = graph.adjacency().toarray()
    A = 0.5 * (A + A.T)
    degrees = A.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(degrees) - A
    scale = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    return np.diag((degrees > 0).astype(float)) - scale[:, None] * A * scale


@settings(max_examples=60, deadline=None)
@given(graphs(), st.floats(0.0, 30.0), LAPLACIANS)
def test_diffusion_is_the_exponential(graph, beta, kind):
    expected = linalg.expm(-beta * dense_laplacian(graph, kind))
    kernel = Diffusion(graph, beta=beta, laplacian=kind)
    np.testing.assert_allclose(kernel(list(graph.nodes)), expected, atol=2e-13)
    np.testing.assert_allclose(kernel.diag(list(graph.nodes)), np.diag(expected), atol=2e-13)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.floats(0.0, 30.0), LAPLACIANS)
def test_regularised_laplacian_is_the_inverse(graph, sigma, kind):
    expected = linalg.inv(np.eye(graph.n_nodes) + sigma**2 * dense_laplacian(graph, kind))
    kernel = RegularizedLaplacian(graph, sigma=sigma, laplacian=kind)
    np.testing.assert_allclose(kernel(list(graph.nodes)), expected, atol=1e-12)


def ring(n):
    return Graph([(i, (i + 1) % n) for i in range(n)], n)


@pytest.mark.parametrize("kernel", [Diffusion, RegularizedLaplacian])
def test_rows_are_the_same_bits_whatever_was_asked_before(kernel):
    n, some = 300, [5, 77, 5, 250]
    whole = kernel(ring(n))(list(range(n)))
    np.testing.assert_array_equal(kernel(ring(n))(some, list(range(n))), kernel(ring(n))(list(range(n)), some).T)
    graph = ring(n)
    kernel(graph)([3, 4], list(range(n)))
    np.testing.assert_array_equal(kernel(graph)(list(range(n))), whole)
    np.testing.assert_allclose(whole, whole.T, atol=1e-15)


def test_memory_stays_bounded(monkeypatch):
    n = 400
    expected = Diffusion(ring(n))(list(range(n)))
    monkeypatch.setattr(node_gram_cache, "MOST_BYTES", 50 * n * 8)
    graph = ring(n)
    np.testing.assert_array_equal(Diffusion(graph)(list(range(n))), expected)
    (matrix,) = graph.__dict__["_matrices"].values()
    assert len(matrix._rows) <= 256


def test_a_grid_of_parameters_does_not_fill_the_memory():
    graph = ring(20)
    for beta in (0.1, 0.2, 0.3, 0.4):
        Diffusion(graph, beta=beta)([0, 1])
    assert len(graph.__dict__["_matrices"]) <= node_gram_cache.MOST_MATRICES


def test_graphs_of_other_kinds():
    matrix = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    np.testing.assert_allclose(RegularizedLaplacian(matrix)([0, 1]), [[0.6, 0.4], [0.4, 0.6]])


def test_by_construction_and_algebra():
    kernel = Diffusion(ring(5)) + 2.0 * RegularizedLaplacian(ring(5))
    assert mercer_check(kernel).kind == "by_construction"
    assert np.linalg.eigvalsh(kernel([0, 1, 2]))[0] > 0


def test_transductive_use():
    # Two rings joined by one edge; one labelled node in each is enough.
    n = 20
    edges = [(i, (i + 1) % n) for i in range(n)] + [(n + i, n + (i + 1) % n) for i in range(n)] + [(0, n)]
    graph = Graph(edges)
    model = SVC(kernel=Diffusion(graph, beta=5.0), C=10.0).fit([10, n + 10], ["left", "right"])
    assert (model.predict(list(range(n))) == "left").all()
    assert (model.predict(np.arange(n, 2 * n)) == "right").all()
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.decision_function([3, 33]), model.decision_function([3, 33]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Diffusion(ring(3), beta=-1.0), "beta must not be negative, got -1.0"),
        (lambda: Diffusion(ring(3), beta=1e30), "beta must be smaller for this graph"),
        (lambda: RegularizedLaplacian(ring(3), sigma=float("nan")), "sigma must be a finite number"),
        (lambda: RegularizedLaplacian(ring(3), sigma=1e8), "sigma must be smaller for this graph"),
        (lambda: Diffusion(ring(3), laplacian="random"), 'laplacian must be "combinatorial" or "normalized"'),
        (lambda: Diffusion("abc"), "graph must be a graph: a graph was expected, got str"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ParameterError, match=message):
        make()([0, 1])


def test_a_name_that_is_no_node():
    with pytest.raises(
        DataError, match="item 1 of X must be the name of a node, got 'x'; the graph has 3 nodes: 0, 1, 2"
    ):
        Diffusion(ring(3))([0, "x"])
    with pytest.raises(DataError, match="item 0 of X must be the name of a node"):
        Diffusion(ring(3))([[0, 1]])


def test_rows_that_are_forgotten_while_others_are_asked_for_are_computed_again(monkeypatch):
    n = 300
    expected = Diffusion(ring(n))(list(range(n)))
    # Nothing is ever kept for long: one row more than there is room for.
    monkeypatch.setattr(node_gram_cache, "MOST_BYTES", 1)
    nodes = list(range(0, n, 2))
    np.testing.assert_array_equal(Diffusion(ring(n))(nodes, nodes), expected[np.ix_(nodes, nodes)])
