"""Rows of a kernel matrix over the nodes of one graph, computed on demand and kept for a while."""

import os
import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.memory import available_bytes
from mercer._types import FloatArray, IndexArray
from mercer.kernels._types import T

if TYPE_CHECKING:
    from mercer.kernels.graph.graph import Graph

# How much of one matrix may be kept: this much, but no more than this fraction of the free memory.
MOST_BYTES, MOST_SHARE = 2**30, 0.25
# Matrices of one graph kept at a time: a grid search uses many.
MOST_MATRICES = 2

_lock = threading.RLock()


def _begin_anew_in_child() -> None:
    global _lock  # noqa: PLW0603 - a lock held by a thread that is gone cannot be released
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)


def matrix_of(graph: "Graph", name: Hashable, make: Callable[[], T]) -> T:
    """The `NodeMatrix` called `name` of a graph, created at first use and then shared."""
    with _lock:
        known = graph.__dict__.setdefault("_matrices", {})
        if name not in known:
            while len(known) >= MOST_MATRICES:
                known.pop(next(iter(known)))
            known[name] = make()
        return known[name]


class NodeMatrix:
    """A symmetric matrix whose rows can be computed a few at a time.

    Parameters
    ----------
    compute : callable
        ``compute(nodes)`` gives the rows of these nodes, shape (len(nodes), n).
    n : int
    width : int
        How many rows to compute together, in at most a tenth of a second.
    """

    def __init__(self, compute: Callable[[IndexArray], FloatArray], n: int, width: int) -> None:
        self.compute, self.n, self.width = compute, n, width
        self.most_rows = int(min(MOST_BYTES, MOST_SHARE * available_bytes()) / (8 * max(1, n)))
        self._forget()

    def _forget(self) -> None:
        self._place = np.full(self.n, -1, np.int64)
        self._rows, self._used = np.empty((0, self.n)), 0

    def block(self, left: IndexArray, right: IndexArray) -> FloatArray:
        """K[left, right]. Which of the two gives the rows depends only on their lengths, so
        the answer has the same bits whatever was computed before."""
        if len(left) < len(right):
            return self._entries(left, left[:, None], right)
        return self._entries(right, right[:, None], left).T

    def diagonal(self, nodes: IndexArray) -> FloatArray:
        """K[i, i]."""
        parts = [nodes[begin : begin + self.width] for begin in range(0, len(nodes), self.width)]
        return np.concatenate([np.empty(0), *[self._entries(part, part, part) for part in parts]])

    def _entries(self, nodes: IndexArray, rows: IndexArray, columns: IndexArray) -> FloatArray:
        """K[rows, columns], where the rows are among `nodes`."""
        with _lock:
            missing = np.unique(nodes[self._place[nodes] < 0])
        parts = [missing[begin : begin + self.width] for begin in range(0, len(missing), self.width)]
        # Not under the lock: several threads compute at a time.
        computed = [self.compute(part) for part in parts]
        with _lock:
            for part, values in zip(parts, computed, strict=True):
                self._keep(part, values)
            if (self._place[nodes] >= 0).all():
                return self._rows[self._place[rows], columns]
        # Some may have been dropped in the meantime.
        return self._computed_anew(nodes)[np.searchsorted(np.unique(nodes), rows), columns]

    def _computed_anew(self, nodes: IndexArray) -> FloatArray:
        """The rows of the distinct nodes among these, in order."""
        nodes = np.unique(nodes)
        parts = [nodes[begin : begin + self.width] for begin in range(0, len(nodes), self.width)]
        return np.concatenate([self.compute(part) for part in parts])

    def _keep(self, nodes: IndexArray, rows: FloatArray) -> None:
        new = self._place[nodes] < 0
        nodes, rows = nodes[new], rows[new]
        needed = self._used + len(nodes)
        if needed > self.most_rows and self._used:
            self._forget()
            needed = len(nodes)
        if needed > len(self._rows):
            longer = np.empty((min(self.n, max(needed, 2 * len(self._rows))), self.n))
            longer[: self._used] = self._rows[: self._used]
            self._rows = longer
        self._rows[self._used : needed] = rows
        self._place[nodes] = np.arange(self._used, needed)
        self._used = needed
