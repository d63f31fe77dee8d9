"""A corral of points known only by their inner products, kept as a Cholesky factorisation.

See `qr_corral` for what a corral is. With E_ig = 1 where point i is in group g and
G = M + c E E', M the inner products of the members, the weights at the point of smallest norm are
G^-1 E l, where l makes the weights of each group sum to one.

Cost of a step: s^2 for s members, and n s for the scores of all points.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._types import FloatArray, IndexArray
from mercer.solvers.linalg.compiled_cholesky import forward, substitute
from mercer.solvers.linalg.definiteness import INDEFINITE, refuse_indefinite

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix

EPSILON = float(np.finfo(np.float64).eps)
# A pivot below this share of its diagonal is rounding.
DEPENDENT = 64.0 * EPSILON
# Error of a score, in units in the last place.
SCORE_ERROR = 2.0
FIRST_CAPACITY = 64


@jit
def _delete(factor: FloatArray, s: int, place: int) -> None:
    """The factor of the matrix without one row and column."""
    for i in range(place, s - 1):
        for k in range(i + 2):
            factor[i, k] = factor[i + 1, k]
    # Givens rotations of columns remove the entries just above the diagonal.
    for i in range(place, s - 1):
        a, b = factor[i, i], factor[i, i + 1]
        length = np.hypot(a, b)
        cosine, sine = a / length, b / length
        for row in range(i, s - 1):
            first, second = factor[row, i], factor[row, i + 1]
            factor[row, i] = cosine * first + sine * second
            factor[row, i + 1] = cosine * second - sine * first


class KernelCorral:
    """Points of a kernel matrix.

    Parameters
    ----------
    matrix : KernelMatrix
        In double precision.
    signs : ndarray (n,)
        z_i = y_i psi(x_i).
    groups : ndarray of int (n,)
        Which weights sum to one together.
    shift : float
        Added to every kernel value.
    memory : int
        Bytes of kernel rows that may be kept; one more raises MemoryError.
    """

    members: list[int]
    _row_of: list[int]
    _factor: FloatArray
    _gram: FloatArray
    _rows: FloatArray

    # No coordinates with a kernel.
    nearest = None

    def __init__(
        self, matrix: "KernelMatrix", signs: FloatArray, groups: IndexArray, shift: float = 0.0, memory: int = 2**40
    ) -> None:
        self.matrix, self.signs, self.groups, self.shift = matrix, signs, groups, shift
        self.n, self.n_groups = len(signs), int(groups.max()) + 1
        self.squares = matrix.diag + shift
        self.radius = float(np.sqrt(max(0.0, self.squares.max(initial=0.0))))
        self._weight = self.radius**2 if self.radius > 0.0 else 1.0
        self.members = []
        self._largest = max(2, memory // (8 * max(1, self.n)))
        self._factor = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))
        self._gram = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))
        # Kernel rows keep their slots when another is removed; the last fills the gap.
        self._rows, self._row_of = np.empty((FIRST_CAPACITY, self.n)), []

    def noise(self, _square: float) -> float:
        """Approximate error of a score z_i.z."""
        return SCORE_ERROR * EPSILON * self.radius**2

    def start(self, members: list[int]) -> None:
        """Start with one point of each group."""
        for j in members:
            self.add(j)

    def add(self, j: int) -> bool:
        """Add a point; False where it lies in the affine hull of the members."""
        s = len(self.members)
        self._make_room(s + 1)
        row = self.signs[j] * self.signs * (self.matrix.rows(np.array([j]))[0] + self.shift)
        column = row[self.members] + self._weight * (self.groups[self.members] == self.groups[j])
        forward(self._factor, s, column)
        own = row[j] + self._weight
        pivot = own - column @ column
        if pivot < INDEFINITE * abs(own):
            refuse_indefinite(self.matrix, [*self.members, j])
        if not pivot > DEPENDENT * own:
            return False
        self._factor[s, :s], self._factor[s, s] = column, np.sqrt(pivot)
        self._rows[s] = row
        self._row_of.append(s)
        self.members.append(j)
        self._gram[s, : s + 1] = self._gram[: s + 1, s] = row[self.members]
        return True

    def remove(self, place: int) -> None:
        """Remove the member at a position."""
        s = len(self.members)
        _delete(self._factor, s, place)
        self._gram[place : s - 1, :s] = self._gram[place + 1 : s, :s]
        self._gram[: s - 1, place : s - 1] = self._gram[: s - 1, place + 1 : s]
        hole = self._row_of[place]
        self._rows[hole] = self._rows[s - 1]
        self._row_of[self._row_of.index(s - 1)] = hole
        del self._row_of[place], self.members[place]

    def minimiser(self) -> FloatArray:
        """Weights of the members at the minimum-norm point of their affine hull."""
        s = len(self.members)
        indicators = (self.groups[self.members] == np.arange(self.n_groups)[:, None]).astype(np.float64)
        solved = np.stack([self._solve(indicator) for indicator in indicators])
        sums = solved @ indicators.T
        weights = np.linalg.solve(sums, np.ones(self.n_groups)) @ solved
        # Iterative refinement: the scores of a group must be equal.
        step = self._solve(-(self._gram[:s, :s] @ weights))
        step -= np.linalg.solve(sums, indicators @ step) @ solved
        return weights + step

    def _solve(self, values: FloatArray) -> FloatArray:
        values = values.copy()
        substitute(self._factor, len(self.members), values)
        return values

    def scores(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """(z_i.z for every point, |z|^2)."""
        by_row = np.empty(len(weights))
        by_row[self._row_of] = weights
        found = by_row @ self._rows[: len(weights)]
        return found, float(weights @ found[self.members])

    def _make_room(self, s: int) -> None:
        capacity = len(self._factor)
        if s > self._largest:
            raise MemoryError
        if s <= capacity:
            return
        self._factor = _doubled(self._factor, 2 * capacity)
        self._gram = _doubled(self._gram, 2 * capacity)
        self._rows = _doubled(self._rows, self.n)


def _doubled(array: FloatArray, columns: int) -> FloatArray:
    """The same array with twice as many rows, and more columns."""
    larger = np.zeros((2 * len(array), columns))
    larger[: len(array), : array.shape[1]] = array
    return larger
