import numpy as np
import pytest

from mercer import Graph
from mercer.plot.drawing.graph_layout import positions


def stress(places, hops):
    between = np.linalg.norm(places[:, None] - places, axis=2)
    upper = np.triu_indices(len(hops), 1)
    return np.sum(((between - hops) ** 2 / np.maximum(hops, 1) ** 2)[upper])


def test_a_path_is_a_straight_line_with_equal_steps():
    places = positions(Graph([(k, k + 1) for k in range(4)]))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    np.testing.assert_allclose(steps, 1.0, rtol=1e-3)
    assert np.linalg.norm(places[0] - places[-1]) == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize("n", [3, 6, 9])
def test_a_ring_is_a_regular_polygon(n):
    places = positions(Graph([(k, (k + 1) % n) for k in range(n)]))
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), np.linalg.norm(places[0]), rtol=0.02)
    sides = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, sides[0], rtol=0.05)


def test_the_stress_is_less_than_at_other_places(rng):
    from scipy.sparse.csgraph import shortest_path

    graph = Graph([(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (4, 6)])
    hops = shortest_path(graph.adjacency() != 0, directed=False, unweighted=True)
    places = positions(graph)
    for _ in range(20):
        assert stress(places, hops) < stress(places + 0.1 * rng.normal(size=places.shape), hops)


def test_parts_that_are_not_connected_stand_apart():
    places = positions(Graph([(0, 1), (2, 3)], 5))
    assert np.isfinite(places).all()
    between = np.linalg.norm(places[:, None] - places, axis=2)
    assert between[0, 2] > 1.5 * between[0, 1]


def test_one_node_stands_in_the_middle():
    np.testing.assert_array_equal(positions(Graph([], 1)), [[0.0, 0.0]])


def test_the_same_graph_is_drawn_the_same_way():
    graph = Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    np.testing.assert_array_equal(positions(graph), positions(graph))
