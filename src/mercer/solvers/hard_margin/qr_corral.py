"""A corral of points given by their coordinates, kept as a QR factorisation.

A corral (Wolfe 1976) is an affinely independent set S of points z_i; `minimiser` is the point of
smallest norm in its affine hull, where the weights of each group sum to one. With the columns
(z_i, sqrt(c) e_g(i)), g(i) the group of i, and their factorisation QR, the weights are
R^-1 L' l, where L holds the last rows of Q and l makes both sums one. Neither squares the
coordinates, so the smallest distance is found to the precision of the points themselves: this is
the least-distance programme of Lawson & Hanson (1974, chapter 23), one column at a time.

Cost of a step: (r + 2)^2 for r coordinates, and one product with all points.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, qr_delete, qr_insert, solve_triangular

from mercer._types import FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer.kernels._types import Features

EPSILON = float(np.finfo(np.float64).eps)
# Updates after which the factorisation is recomputed.
FRESH = 50
# A column is dependent if its component outside the span of the others is smaller than this.
DEPENDENT = 8.0 * EPSILON
# Error of a score, in units in the last place.
SCORE_ERROR = 4.0


class FeatureCorral:
    """Points with explicit coordinates.

    Parameters
    ----------
    points : ndarray or CSR matrix (n, r)
        z_i = y_i psi(x_i), in double precision.
    groups : ndarray of int (n,)
        Which weights sum to one together.

    Attributes
    ----------
    nearest : ndarray (r,)
        z at the last minimiser.
    """

    members: list[int]
    nearest: FloatArray | Any
    _Q: FloatArray
    _R: FloatArray
    _updates: int

    def __init__(self, points: "Features", groups: IndexArray) -> None:
        self.points, self.groups = points, groups
        self.n, self.r = points.shape
        self.n_groups = int(groups.max()) + 1
        self.squares = _squares(points)
        self.radius = float(np.sqrt(self.squares.max(initial=0.0)))
        self._weight = self.radius if self.radius > 0.0 else 1.0
        self.members = []
        self.nearest = None

    def noise(self, square: float) -> float:
        """Approximate error of a score z_i.z where |z|^2 is `square`."""
        return SCORE_ERROR * EPSILON * self.radius * np.sqrt(square)

    def start(self, members: list[int]) -> None:
        """Start with one point of each group."""
        self.members = list(members)
        self._factor()

    def add(self, j: int) -> bool:
        """Add a point; False where it lies in the affine hull of the members."""
        if len(self.members) >= self.r + self.n_groups:
            return False
        column = self._columns([j])[:, 0]
        outside = self._Q[:, len(self.members) :].T @ column
        if np.linalg.norm(outside) <= DEPENDENT * self.r * self._weight:
            return False
        self._Q, self._R = qr_insert(self._Q, self._R, column, len(self.members), which="col")
        self.members.append(j)
        self._count_update()
        return True

    def remove(self, place: int) -> None:
        """Remove the member at a position."""
        del self.members[place]
        self._Q, self._R = qr_delete(self._Q, self._R, place, which="col")
        self._count_update()

    def minimiser(self) -> FloatArray:
        """Weights of the members at the minimum-norm point of their affine hull."""
        s = len(self.members)
        last = self._Q[self.r :, :s]
        share = np.linalg.solve(last @ last.T, np.full(self.n_groups, self._weight))
        # The component of the target outside the span of the columns, free of cancellation.
        beyond = self._Q[:, s:]
        self.nearest = -(beyond[: self.r] @ (beyond[self.r :].T @ share))
        return solve_triangular(self._R[:s], last.T @ share)

    def scores(self, _weights: FloatArray) -> tuple[FloatArray, float]:
        """(z_i.z for every point, |z|^2) at the last minimiser."""
        return self.points @ self.nearest, float(self.nearest @ self.nearest)

    def _columns(self, members: list[int]) -> FloatArray:
        chosen = self.points[members]
        columns = np.zeros((self.r + self.n_groups, len(members)))
        columns[: self.r] = (chosen.toarray() if sparse.issparse(chosen) else chosen).T
        columns[self.r + self.groups[members], np.arange(len(members))] = self._weight
        return columns

    def _factor(self) -> None:
        self._Q, self._R = qr(self._columns(self.members))
        self._updates = 0

    def _count_update(self) -> None:
        self._updates += 1
        if self._updates >= FRESH:
            self._factor()


def _squares(points: "Features") -> FloatArray:
    if sparse.issparse(points):
        return np.asarray(points.multiply(points).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", points, points)
