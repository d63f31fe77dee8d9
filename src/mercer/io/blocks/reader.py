"""What a format must offer to be read in blocks: how many rows each has, where it is, and its columns or its matrix."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from mercer._types import Array

# Rows and numbers of a block unless told: a few tens of megabytes, some tens of milliseconds of work.
MOST_ROWS, LEAST_ROWS, MOST_NUMBERS = 131_072, 1024, 2**23


def rows_of_block(asked: int | None, n_columns: int) -> int:
    """Rows of a block: as many as asked for, or as suit the number of columns."""
    return asked or int(np.clip(MOST_NUMBERS // max(1, n_columns), LEAST_ROWS, MOST_ROWS))


class TableReader(Protocol):
    """Blocks of named columns. `kinds` holds "number", "date" or "text" by name, where the format declares it."""

    sizes: list[int]
    names: list[str]
    kinds: dict[str, str]
    n_bytes: int

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """(name, values) of these columns of block i, as `ColumnFrame` has them, one after the other."""
        ...

    def place(self, i: int, row: int | None = None) -> str:
        """Where block i is, or a row of it, for messages."""
        ...


class MatrixReader(Protocol):
    """Blocks of rows of numbers, dense or CSR, and their targets."""

    sizes: list[int]
    n_features: int
    is_sparse: bool
    has_targets: bool
    n_bytes: int

    def matrix(self, i: int) -> Any:
        """The rows of block i."""
        ...

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        """(targets or None, weights or None) of block i."""
        ...

    def place(self, i: int, row: int | None = None) -> str:
        """Where block i is, or a row of it, for messages."""
        ...


def joined(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Ranges of consecutive parts with at most `most` rows together, or of one part that is larger by itself."""
    found, begin, rows = [], 0, 0
    for k, size in enumerate(sizes):
        if rows and rows + size > most:
            found.append((begin, k))
            begin, rows = k, 0
        rows += size
    return [*found, (begin, len(sizes))] if len(sizes) > begin else found
