r"""The regularisation path, nearly: exact solutions at a few C and chords between them, with a bound.

Let :math:`(w, b)` and :math:`\alpha` at :math:`C_0` have the gap :math:`G_0` and the sum of losses
:math:`L_0`, and those at :math:`C_1` the gap :math:`G_1` and the sum :math:`L_1`. On the chord, at
:math:`C = (1 - t) C_0 + t C_1`, both are feasible, and as the losses are convex and the dual is concave

.. math:: G(t) \le (1 - t) G_0 + t G_1 + t (1 - t)(C_1 - C_0)(L_0 - L_1).

So :math:`\max(G_0, G_1) + (C_1 - C_0)(L_0 - L_1) / 4` bounds the gap of every C in between (the idea of
Giesen, Jaggi & Laue 2012, with chords instead of constants), and an interval in which that is too much
is halved. Every solution starts from its neighbour's.

Cost: a fit from a warm start for each C; about 1 / sqrt(tolerance) of them a decade.
Needs: whatever the dual solver needs; the matrix need not fit into memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits

# Share of the tolerance that the solutions themselves may use up.
OWN_SHARE = 0.25
# Ratio between the first values of C.
FIRST_RATIO = 10.0
MOST_NODES = 10_000


@dataclass(frozen=True)
class Node:
    """A solution at one C: signed coefficients, bias, weighted sum of losses, primal and dual value."""

    C: float
    beta: np.ndarray
    bias: float
    loss: float
    primal: float
    dual: float
    status: Status

    @property
    def gap(self) -> float:
        """An upper bound of the distance of either value from the optimum."""
        return self.primal - self.dual


class ChordPath:
    """Coefficients as a function of C, linear between solutions.

    Attributes
    ----------
    breakpoints : ndarray
        The C that were solved for.
    bounds : ndarray
        For each interval between them, a bound on the relative gap of every C in it.
    status : Status
    """

    def __init__(self, nodes: list[Node], status: Status) -> None:
        self.nodes, self.status = nodes, status
        self.breakpoints = np.array([node.C for node in nodes])
        self.bounds = np.array([chord_bound(left, right) for left, right in pairwise(nodes)])
        self.C_end = float(self.breakpoints[-1])

    def at(self, C: float) -> tuple[FloatArray, float]:
        """(beta, bias) at C."""
        place = min(max(int(np.searchsorted(self.breakpoints, C, side="right")) - 1, 0), len(self.nodes) - 1)
        left = self.nodes[place]
        if left.C == C or len(self.nodes) == 1:
            return left.beta.copy(), left.bias
        right = self.nodes[place + 1]
        share = (C - left.C) / (right.C - left.C)
        return (1.0 - share) * left.beta + share * right.beta, (1.0 - share) * left.bias + share * right.bias


def chord_bound(left: Node, right: Node) -> float:
    """A bound on gap / primal over the interval between two solutions."""
    bend = max(0.0, (right.C - left.C) * (left.loss - right.loss) / 4.0)
    # The optimum grows with C, so the dual value on the left is below every primal value.
    return (max(left.gap, right.gap) + bend) / max(left.dual, 1e-300)


def approximate_path(
    solve: Callable[[float, FloatArray | None, float], Node],
    C_min: float,
    C_max: float,
    gap_tol: float,
    limits: "Limits",
) -> ChordPath:
    """Solutions at enough values of C that in between the gap is at most `gap_tol` of the primal everywhere.

    Parameters
    ----------
    solve : callable
        ``solve(C, start, gap_tol)`` gives a `Node` from coefficients that are feasible at C.
    C_min, C_max, gap_tol : float
    limits : Limits

    Returns
    -------
    ChordPath
    """
    count = max(2, 1 + int(np.ceil(np.log(C_max / C_min) / np.log(FIRST_RATIO))))
    nodes, status = [], Status.OPTIMAL
    for C in np.geomspace(C_min, C_max, count):
        if nodes and limits.stop():
            return ChordPath(nodes, limits.reached())
        start = None if not nodes else nodes[-1].beta * (C / nodes[-1].C)
        nodes.append(solve(float(C), start, OWN_SHARE * gap_tol))
    place = 0
    while place < len(nodes) - 1:
        left, right = nodes[place], nodes[place + 1]
        if chord_bound(left, right) <= gap_tol:
            place += 1
            continue
        if limits.stop() or len(nodes) >= MOST_NODES or right.C <= left.C * (1.0 + 1e-9):
            status = limits.reached() or Status.STALLED
            break
        C = float(np.sqrt(left.C * right.C))
        share = (C - left.C) / (right.C - left.C)
        start = (1.0 - share) * left.beta + share * right.beta
        nodes.insert(place + 1, solve(C, start, OWN_SHARE * gap_tol))
    return ChordPath(nodes, Status.worst([status, *(node.status for node in nodes)]))
