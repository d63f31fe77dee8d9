"""A part of a stored kernel matrix, of which each row is copied when a step first needs it.

Steps on few coordinates run in the processor's cache if their part of the matrix is one piece. Most of a round's time
would go into copying it, though: after a good start, a few hundred steps need only a part of its rows.
"""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from mercer._jit.compile import jit
from mercer._types import Array, IndexArray


class CopiedRows(NamedTuple):
    """The rows and columns of `source` at `places`.

    Attributes
    ----------
    values : ndarray (m, whole vectors)
        Receives the rows, padded with zeros.
    is_known : ndarray of bool (m,)
        Which of them are there.
    source : ndarray
    places : ndarray of int (m,)
    diag : ndarray, at least (m,)
        The diagonal of `values`, which may have a ridge.
    """

    values: np.ndarray
    is_known: np.ndarray
    source: np.ndarray
    places: np.ndarray
    diag: np.ndarray


@jit
def _copy_row(values: Array, is_known: Array, source: Array, places: IndexArray, diag: Array, i: int) -> None:
    there, here = source[places[i]], values[i]
    m = places.shape[0]
    for k in range(m):
        here[k] = there[places[k]]
    for k in range(m, here.shape[0]):
        here[k] = 0.0
    here[i] = diag[i]
    is_known[i] = True


def row_of(matrix: Array | CopiedRows, i: int) -> Array:
    """Row i of a matrix in memory, or of copied rows."""
    if isinstance(matrix, CopiedRows):
        if not matrix.is_known[i]:
            _copy_row(*matrix, i)
        return matrix.values[i]
    return matrix[i]


@overload(row_of, inline="always")
def _row_of(matrix, i):  # noqa: ARG001
    if not isinstance(matrix, types.BaseNamedTuple):
        return lambda matrix, i: matrix[i]

    def copied(matrix, i):
        if not matrix.is_known[i]:
            _copy_row(matrix.values, matrix.is_known, matrix.source, matrix.places, matrix.diag, i)
        return matrix.values[i]

    return copied


@jit
def copy_all(values: Array, is_known: Array, source: Array, places: IndexArray, diag: Array) -> None:
    """Copy the rows that are not there yet."""
    for i in range(places.shape[0]):
        if not is_known[i]:
            _copy_row(values, is_known, source, places, diag, i)
