"""A tree drawn downwards, its nodes coloured by value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.plot.drawing.palette import INK
from mercer.plot.drawing.shades import AGAINST_DASHES, shade, speaks_against


def width_of(tree: Any) -> float:
    """How much room the leaves take side by side."""
    return float(sum(_rooms(tree)))


def _rooms(tree: Any) -> list[float]:
    """The width of each leaf, or of the widest node above it with no other child."""
    rooms, above = [], 0.0
    for label, count in zip(tree.labels, tree.counts, strict=True):
        above = max(above, _room(label)) if count <= 1 else 0.0
        if count == 0:
            rooms.append(above)
            above = 0.0
    return rooms


def positions(tree: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """(x, depth) of each node in preorder: leaves side by side, parents above the middle; and their parents."""
    n = len(tree)
    parents, depth = np.full(n, -1, np.intp), np.zeros(n)
    waiting: list[list[int]] = []
    for node, count in enumerate(tree.counts):
        if waiting:
            parents[node] = waiting[-1][0]
            depth[node] = depth[parents[node]] + 1
            waiting[-1][1] -= 1
        waiting.append([node, count])
        while waiting and waiting[-1][1] == 0:
            waiting.pop()
    x, place = np.zeros(n), 0.0
    leaves = (node for node, count in enumerate(tree.counts) if count == 0)
    for node, room in zip(leaves, _rooms(tree), strict=True):
        x[node], place = place + room / 2, place + room
    for node in range(n - 1, -1, -1):
        children = np.flatnonzero(parents == node)
        if len(children):
            x[node] = x[children[[0, -1]]].mean()
    return np.column_stack([x, depth]), parents


def draw_tree(ax: Any, tree: Any, names: list[str], values: NDArray[Any]) -> list[Any]:
    """Draw the nodes as boxes shaded by value; returns them in preorder.

    Boxes with negative values are square and dashed, the others are round.
    """
    places, parents = positions(tree)
    largest = abs(values).max(initial=0.0) or 1.0
    for node, parent in enumerate(parents):
        if parent >= 0:
            ax.plot(*places[[parent, node]].T, color="0.6", linewidth=1.0, zorder=0)
    boxes = []
    for (x, y), name, value in zip(places, names, values.tolist(), strict=True):
        against = speaks_against(value / largest)
        box = {"boxstyle": "square,pad=0.3" if against else "round,pad=0.3", "facecolor": shade(value / largest)}
        box |= {"edgecolor": INK, "linewidth": 0.8, "linestyle": AGAINST_DASHES if against else "solid"}
        boxes.append(ax.text(x, y, name, ha="center", va="center", fontsize=9, color=INK, bbox=box, zorder=2))
    ax.set(xlim=(-0.2, width_of(tree) + 0.2), ylim=(places[:, 1].max() + 0.5, -0.5))
    return boxes


def _room(label: str) -> float:
    """Width of a box, in units that fit about two characters."""
    return 0.7 + 0.22 * len(label)
