"""A graph drawn so that distances on paper resemble those along its edges, with nodes coloured by value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from mercer.kernels.graph.graph import Graph
from mercer.plot.drawing.palette import INK
from mercer.plot.drawing.shades import AGAINST_DASHES, shade, speaks_against

ROUNDS = 300


def positions(graph: Graph) -> NDArray[np.float64]:
    """Positions of the nodes in the plane, shape (n, 2), by majorising the stress.

    Kamada & Kawai's (1989) criterion, sum over pairs of (|x_i - x_j| - d_ij)² / d_ij², decreased by the
    steps of Gansner, Koren & North (2004) from the classical scaling of the distances.
    """
    n = graph.n_nodes
    if n == 1:
        return np.zeros((1, 2))
    hops = csgraph.shortest_path(graph.adjacency() != 0, directed=False, unweighted=True)
    apart = np.isinf(hops)
    hops[apart] = 1.5 + hops[~apart].max()
    return _majorised(_scaled(hops), hops)


def _scaled(distances: NDArray[Any]) -> NDArray[Any]:
    """Classical scaling: the two leading directions of the centred squared distances."""
    squared = distances**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    vectors = vectors[:, [-1, -2]] if len(values) > 1 else vectors
    # The sign of an eigenvector is arbitrary; make the largest entry positive. Twins in a ring are separated.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), range(vectors.shape[1])])
    places = vectors * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    angle = 2.0 * np.pi * np.arange(len(distances)) / len(distances)
    return places + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])


def _majorised(places: NDArray[Any], distances: NDArray[Any]) -> NDArray[Any]:
    n = len(places)
    weights = np.where(np.eye(n, dtype=bool), 0.0, 1.0 / np.maximum(distances, 1e-9) ** 2)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(ROUNDS):
        between = np.linalg.norm(places[:, None] - places, axis=2)
        ratio = np.where(between > 1e-9, weights * distances / np.maximum(between, 1e-9), 0.0)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return places - places.mean(axis=0)


def draw_graph(ax: Any, graph: Graph, names: list[str], values: NDArray[Any]) -> list[Any]:
    """Draw edges and nodes, shaded by value; returns the nodes in order.

    Nodes with negative values are squares with dashed borders, the others are circles.
    """
    places = positions(graph)
    largest = abs(values).max(initial=0.0) or 1.0
    for tail, head in graph.ends:
        _edge(ax, places[tail], places[head], graph.directed)
    size = 420 if graph.n_nodes <= 40 else 120
    nodes = []
    for place, name, value in zip(places, names, values.tolist(), strict=True):
        against = speaks_against(value / largest)
        style = {"marker": "s" if against else "o", "facecolors": shade(value / largest), "edgecolors": INK, "s": size}
        style |= {"linewidths": 0.9, "linestyle": AGAINST_DASHES if against else "solid", "zorder": 2}
        nodes.append(ax.scatter(*place[:, None], **style))
        ax.text(*place, name, ha="center", va="center", fontsize=9 if size > 200 else 6, color=INK, zorder=3)
    ax.margins(0.12)
    ax.set_aspect("equal")
    return nodes


def _edge(ax: Any, begin: NDArray[Any], end: NDArray[Any], is_directed: bool) -> None:
    if is_directed:
        arrow = {"arrowstyle": "-|>", "color": "0.5", "shrinkA": 11, "shrinkB": 11}
        ax.annotate("", xy=end, xytext=begin, arrowprops=arrow, zorder=0)
    else:
        ax.plot([begin[0], end[0]], [begin[1], end[1]], color="0.5", linewidth=1.4, zorder=0)
