"""The tableau of a symmetric matrix: linear equations in which given and unknown quantities are exchanged.

In e = r - A x, the x_i of F are unknown and their e_i given; for all other indices it is the reverse. With
T_FF = -A_FF^-1, T_RF = A_RF A_FF^-1 and T_RR = A_RR - A_RF A_FF^-1 A_FR, a change of r by c changes x_F by
-T_FF c_F, and e_R by c_R - T_RF c_F.

Method: sweeping an index (Goodnight 1979) moves it into F, or out of it. Apart from its own row and column, a sweep
changes T by a matrix of rank one. Sweeps are therefore deferred: up to a few dozen vectors are pending, and added
whenever a column is read, until a single matrix product applies them all.

Cost: m k multiplications to read a column with k pending sweeps; m^2 / 2 for each sweep when applied.
Needs: the upper triangle of T in memory.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg.blas import dsymv, dsyrk

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels.evaluation.row_cache import weighted_rows

# Most pending sweeps: beyond this, reading columns costs more than deferring saves. A small matrix reaches that sooner.
ROOM, SMALL_ROOM = 96, 32
SMALL = 512


class Tableau(NamedTuple):
    """T, but for the sweeps that wait.

    Attributes
    ----------
    matrix : ndarray (m, m)
        Its upper triangle, m padded to whole vectors.
    waiting : ndarray (room, m)
        Columns of T at the time of their sweeps.
    pivots : ndarray (room,)
        Their diagonal entries.
    swept : ndarray of int (room,)
        Which index was swept.
    n_waiting : ndarray of int (1,)
        How many wait.
    column : ndarray (m,)
        The column that was read last.
    """

    matrix: np.ndarray
    waiting: np.ndarray
    pivots: np.ndarray
    swept: np.ndarray
    n_waiting: np.ndarray
    column: np.ndarray

    @classmethod
    def of(cls, values: FloatArray, n: int, shift: float, has_border: bool) -> Self:
        """The unswept tableau of K + shift 11', bordered by ones with a zero corner if there is an equality."""
        size = -(-(n + has_border) // 8) * 8
        matrix = np.empty((size, size))
        np.add(values[:, :n], shift, out=matrix[:n, :n])
        matrix[:, n:] = matrix[n:] = 0.0
        if has_border:
            matrix[:n, n] = 1.0
        return cls(matrix, *_nothing_waits(size))

    def branch(self) -> Self:
        """A copy that applies nothing in place."""
        return self._replace(**dict(zip(self._fields[1:], _nothing_waits(len(self.column)), strict=True)))

    def times(self, vector: FloatArray) -> FloatArray:
        """T times a vector; no sweep may be pending."""
        return dsymv(1.0, self.matrix.T, vector, lower=1)


def _nothing_waits(size: int) -> tuple[Array, Array, Array, Array, Array]:
    room = SMALL_ROOM if size <= SMALL else ROOM
    return np.empty((room, size)), np.empty(room), np.empty(room, np.int64), np.zeros(1, np.int64), np.empty(size)


def carry_out(tableau: Tableau, in_place: bool = True) -> Tableau:
    """The tableau with all pending sweeps applied; the same arrays if `in_place`."""
    count = int(tableau.n_waiting[0])
    if count == 0:
        return tableau
    matrix = tableau.matrix if in_place else tableau.matrix.copy()
    _set_to_zero(matrix, tableau.swept[:count])
    pivots = tableau.pivots[:count]
    scaled = tableau.waiting[:count] / np.sqrt(np.abs(pivots))[:, None]
    for sign in (1.0, -1.0):
        part = scaled[np.sign(pivots) == sign]
        if len(part):
            dsyrk(-sign, part.T, beta=1.0, c=matrix.T, lower=1, overwrite_c=1)
    tableau.n_waiting[0] = 0
    return tableau._replace(matrix=matrix)


@jit
def _set_to_zero(matrix: FloatArray, indices: IndexArray) -> None:
    """Rows and columns, of the upper triangle."""
    for i in range(matrix.shape[0]):
        for index in indices:
            if index > i:
                matrix[i, index] = 0.0
    for index in indices:
        for k in range(matrix.shape[0]):
            matrix[index, k] = 0.0


@jit
def has_room(tableau: Tableau, sweeps: int) -> bool:
    """Whether `more` further sweeps may be pending."""
    return tableau.n_waiting[0] + sweeps <= tableau.waiting.shape[0]


@jit
def read_column(tableau: Tableau, index: int) -> float:
    """Write the column of T at an index, pending sweeps included; its diagonal entry."""
    vector_loop()
    matrix, waiting, pivots, column = tableau.matrix, tableau.waiting, tableau.pivots, tableau.column
    count, is_stored = tableau.n_waiting[0], True
    for b in range(count):
        is_stored &= tableau.swept[b] != index
    if is_stored:
        for k in range(index):
            column[k] = matrix[k, index]
        target, source = column[index:], matrix[index, index:]
        for k in range(target.shape[0]):
            target[k] = source[k]
        for b in range(count):
            column[tableau.swept[b]] = 0.0
    else:
        for k in range(column.shape[0]):
            column[k] = 0.0
    shares = -waiting[:count, index] / pivots[:count]
    weighted_rows(waiting, np.arange(count), shares, column, 0, column.shape[0])
    return column[index]


@jit
def sweep(tableau: Tableau, index: int, is_taken_in: bool) -> None:
    """Sweep an index in or out; its column must be the last one read."""
    vector_loop()
    count, column, waiting = tableau.n_waiting[0], tableau.column, tableau.waiting
    for b in range(count):
        waiting[b, index] = 0.0
    target = waiting[count]
    for k in range(column.shape[0]):
        target[k] = column[k]
    target[index] = -1.0 if is_taken_in else 1.0
    tableau.pivots[count], tableau.swept[count] = column[index], index
    tableau.n_waiting[0] = count + 1


@jit
def take_in_order(tableau: Tableau, indices: IndexArray) -> None:
    """Sweep indices in, one after the other."""
    for k in range(indices.shape[0]):
        read_column(tableau, indices[k])
        sweep(tableau, indices[k], True)
