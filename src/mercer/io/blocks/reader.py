"""The protocols of formats that can be read in blocks: rows and location of each, and its columns or matrix."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from mercer._types import Array, IndexArray

# Default numbers of rows and entries of a block: a few tens of megabytes, some tens of milliseconds of work.
MOST_ROWS, LEAST_ROWS, MOST_NUMBERS = 131_072, 1024, 2**23


def rows_of_block(asked: int | None, n_columns: int) -> int:
    """Rows of a block: as many as requested, or as suit the number of columns."""
    return asked or int(np.clip(MOST_NUMBERS // max(1, n_columns), LEAST_ROWS, MOST_ROWS))


class TableReader(Protocol):
    """Blocks of named columns. `kinds` holds "number", "date" or "text" by name, if the format declares it."""

    sizes: list[int]
    names: list[str]
    kinds: dict[str, str]
    n_bytes: int

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """(name, values) of these columns of block i, as in `ColumnFrame`, one after the other."""
        ...

    def place(self, i: int, row: int | None = None) -> str:
        """The location of block i, or of one of its rows, for messages."""
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
        """The location of block i, or of one of its rows, for messages."""
        ...


def joined(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Ranges of consecutive parts with at most `most` rows together, or of one larger part."""
    found, begin, rows = [], 0, 0
    for k, size in enumerate(sizes):
        if rows and rows + size > most:
            found.append((begin, k))
            begin, rows = k, 0
        rows += size
    return [*found, (begin, len(sizes))] if len(sizes) > begin else found


def sorted_words(words: Sequence[str], places: IndexArray) -> tuple[Array, IndexArray]:
    """(the words that occur, sorted and each once, and the place of each row's among them), from any order."""
    used = np.flatnonzero(np.bincount(places, minlength=len(words)))
    labels, found = np.unique(np.array(words)[used], return_inverse=True)
    of_word = np.zeros(len(words), np.intp)
    of_word[used] = found
    return labels, of_word[places]
