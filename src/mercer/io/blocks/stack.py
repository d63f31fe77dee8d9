"""Columns, as read from a file, assembled into rows."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray

# Columns copied into rows at a time are this many bytes of a row together: a cache line. Twice as many columns of
# doubles take three times as long.
_TOGETHER = 64


# (name, shape, dtype) -> an array with arbitrary contents. First-touched memory is slow, so each thread that reads
# block after block has a room, in which an array is valid until the same name is requested again.
Room: TypeAlias = Callable[[str, tuple[int, ...], DTypeLike], Array]


def fresh(_name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """A newly allocated array."""
    return np.empty(shape, dtype)


@jit
def put_columns(columns: FloatArray, at: IndexArray, rows: FloatArray) -> None:
    """Write columns, given as rows of an array, into the columns `at` of another."""
    n, count = columns.shape[1], at.shape[0]
    for i in range(n):
        for k in range(count):
            rows[i, at[k]] = columns[k, i]


class Stack:
    """An array of n rows filled column by column; unfilled entries are 0, unless all will be filled.

    Filling one column at a time would touch every row's memory once per column.
    """

    def __init__(
        self, n: int, width: int, dtype: DTypeLike, room: "Room | None" = None, is_filled: bool = False
    ) -> None:
        taken = room or fresh
        together = min(_TOGETHER // np.dtype(dtype).itemsize, width)
        self._rows, self._columns = taken("rows", (n, width), dtype), taken("columns", (together, n), dtype)
        if not is_filled:
            self._rows[:] = 0
        self._at: list[int] = []

    def column(self, at: int) -> Array:
        """The destination of a column's values, valid until the next one is requested."""
        if len(self._at) == len(self._columns):
            self._flush()
        self._at.append(at)
        return self._columns[len(self._at) - 1]

    def put(self, rows: IndexArray, at: IndexArray | int, values: FloatArray) -> None:
        """Single values, in columns not written otherwise."""
        self._rows[rows, at] = values

    def _flush(self) -> None:
        if self._at:
            put_columns(self._columns, np.array(self._at, np.int64), self._rows)
            self._at.clear()

    def finished(self) -> Array:
        """The array."""
        self._flush()
        return self._rows
