r"""Rows of a database with their linked rows, as arrays; and the kernel between them, bottom-up.

A `Branch` holds the distinct rows of one table that are reached along one path: rows
with equal columns and equal links are merged. With A the sparse matrix that says which of the
child's rows each row is linked to (divided by their number for "mean"), the kernel of the sets
is

.. math:: S = A\, K_{child}\, A'^\top,

so that the matrix of the child's rows is computed once and shared by all sets it occurs in.
"""

import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._types import FloatArray, IndexArray
from mercer.kernels._types import Prepared, Sparse
from mercer.kernels.algebra.feature_maps import product_names, row_kronecker

if TYPE_CHECKING:
    from mercer.kernels.relational.link import Link, Node
    from mercer.kernels.table.frame import Frame

# Up to this many entries, the whole matrix between the rows of two branches is kept.
WHOLE = 8_000_000
# Otherwise it is computed in blocks of this many rows.
CHUNK = 1024


class Branch:
    """The distinct rows reached along one path.

    Parameters
    ----------
    frame : Frame
        Their columns.
    part : prepared items
        In the form that the kernel of the columns prepares.
    sets : list of LinkedSets
        One for each link onwards.
    """

    def __init__(self, frame: "Frame", part: Prepared, sets: "Sequence[LinkedSets]") -> None:
        self.frame, self.part, self.sets = frame, part, sets
        self._known = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.part)

    def whole(self, node: "Node", other: "Branch") -> FloatArray:
        """The matrix of all rows here with all rows of `other`, computed once."""
        with self._lock:
            if other not in self._known:
                rows, columns = np.arange(len(self)), np.arange(len(other))
                self._known[other] = block(node, self, rows, other, columns)
            return self._known[other]


class LinkedSets:
    """For each row of a branch, which rows of the next branch it is linked to."""

    def __init__(self, child: Branch, incidence: Sparse, link: "Link") -> None:
        counts = np.asarray(incidence.sum(axis=1)).ravel()
        self.child, self.counts = child, counts
        if link.how == "mean":
            incidence = sparse.diags_array(_inverse(counts)) @ incidence
        self.incidence = sparse.csr_array(incidence)
        if link.how == "cosine":
            scale = _inverse(np.sqrt(np.maximum(self.diagonal(link), 0.0)))
            self.incidence = sparse.csr_array(sparse.diags_array(scale) @ self.incidence)

    def diagonal(self, link: "Link") -> FloatArray:
        """The kernel of each set with itself."""
        A, child = self.incidence, self.child
        if len(child) ** 2 <= WHOLE:
            return np.asarray(A.multiply(A @ child.whole(link, child)).sum(axis=1)).ravel()
        return np.array([self._with_itself(link, row) for row in range(A.shape[0])])

    def _with_itself(self, link: "Link", row: int) -> float:
        span = slice(self.incidence.indptr[row], self.incidence.indptr[row + 1])
        places, weights = self.incidence.indices[span], self.incidence.data[span]
        return weights @ block(link, self.child, places, self.child, places) @ weights


def _inverse(values: FloatArray) -> FloatArray:
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def block(node: "Node", left: Branch, rows: IndexArray, right: Branch, columns: IndexArray) -> FloatArray:
    """The kernel of a node between rows of two branches."""
    out = np.empty((len(rows), len(columns)))
    if not out.size:
        return out
    node.rows_kernel.tile(left.part.take(rows), right.part.take(columns), out, 0, 0)
    linked = np.zeros_like(out)
    for link, ours, theirs in zip(node.onwards, left.sets, right.sets, strict=True):
        linked += link.weight * _between_sets(link, ours, rows, theirs, columns)
    return out + linked if node.combine == "sum" else out * (1.0 + linked)


def _between_sets(
    link: "Link", ours: LinkedSets, rows: IndexArray, theirs: LinkedSets, columns: IndexArray
) -> FloatArray:
    A, B = ours.incidence[rows], theirs.incidence[columns]
    if len(ours.child) * len(theirs.child) <= WHOLE:
        return (B @ (A @ ours.child.whole(link, theirs.child)).T).T
    own, other = np.unique(A.indices), np.unique(B.indices)
    total = np.zeros((len(rows), len(columns)))
    for start in range(0, len(own), CHUNK):
        some = own[start : start + CHUNK]
        for begin in range(0, len(other), CHUNK):
            few = other[begin : begin + CHUNK]
            values = block(link, ours.child, some, theirs.child, few)
            total += (B[:, few] @ (A[:, some] @ values).T).T
    return total


def diagonal(node: "Node", branch: Branch) -> FloatArray:
    """The kernel of each row of a branch with itself."""
    own, linked = node.rows_kernel.diag_of(branch.part), np.zeros(len(branch))
    for link, sets in zip(node.onwards, branch.sets, strict=True):
        linked += link.weight * sets.diagonal(link)
    return own + linked if node.combine == "sum" else own * (1.0 + linked)


def features(node: "Node", branch: Branch) -> tuple[Sparse, list[str]]:
    """Explicit features of the rows of a branch, CSR, and their names."""
    kernel = node.rows_kernel
    own = sparse.csr_array(kernel.feature_map(branch.frame)), kernel.feature_names(branch.frame)
    parts = [own] if node.combine == "sum" else [(sparse.csr_array(np.ones((len(branch), 1))), ["alone"])]
    for label, link, sets in zip(node.labels, node.onwards, branch.sets, strict=True):
        inner, names = features(link, sets.child)
        parts.append((np.sqrt(link.weight) * (sets.incidence @ inner), [f"{label}: {name}" for name in names]))
    together = sparse.hstack([matrix for matrix, _ in parts], "csr")
    names = [name for _, some in parts for name in some]
    if node.combine == "sum":
        return together, names
    return row_kronecker(own[0], together), product_names([own[1], names])


class Records:
    """Items of a `Record` kernel: positions in a branch that all share; slicing copies nothing else."""

    def __init__(self, branch: Branch, index: IndexArray, dtype: DTypeLike, longest_tile: int | None = None) -> None:
        self.branch, self.index, self.dtype = branch, index, np.dtype(dtype)
        self.longest_tile = longest_tile

    def __len__(self) -> int:
        return len(self.index)

    def take(self, indices: IndexArray) -> "Records":
        """The items at `indices`."""
        return Records(self.branch, self.index[indices], self.dtype, self.longest_tile)

    def slice(self, start: int, stop: int) -> "Records":
        """Items start..stop."""
        return Records(self.branch, self.index[start:stop], self.dtype, self.longest_tile)


def pairs_an_entry(node: "Node", branch: Branch) -> float:
    """About how many pairs of rows one entry of a record's matrix compares or looks up."""
    total = 1.0
    for link, sets in zip(node.onwards, branch.sets, strict=True):
        mean = sets.counts.mean() if len(sets.counts) else 0.0
        # If the child's matrix is kept, an entry only adds up some of its entries.
        is_kept = len(sets.child) ** 2 <= WHOLE
        total += mean if is_kept else mean**2 * pairs_an_entry(link, sets.child)
    return total
