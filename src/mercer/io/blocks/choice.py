"""A random subset of the rows of blocks, drawn by row number alone, so that every reader draws the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer._jit.splitmix import GOLDEN, stirred
from mercer._types import Array, BoolArray, IndexArray


def folds_of_rows(first: int, n: int, n_folds: int, seed: int = 0) -> IndexArray:
    """The fold of each of n rows from row number `first` on: a function of number and seed alone."""
    numbers = np.arange(first, first + n, dtype=np.uint64)
    with np.errstate(over="ignore"):
        bits = stirred(stirred(np.full(1, seed + 1, np.uint64) * GOLDEN) + numbers * GOLDEN)
    return (bits >> np.uint64(33)).astype(np.int64) % n_folds


@dataclass(frozen=True)
class RowChoice:
    """A random share of all rows, or the complement.

    Attributes
    ----------
    share : float
        Above 0 and below 1, to the nearest thousandth.
    seed : int
    is_drawn : bool
        Whether to take the rows drawn, or the others.
    """

    share: float
    seed: int = 0
    is_drawn: bool = True

    def mask(self, first: int, n: int) -> BoolArray:
        """The mask of n rows from row number `first` on."""
        is_drawn = folds_of_rows(first, n, 1000, self.seed) < round(1000 * self.share)
        return is_drawn if self.is_drawn else ~is_drawn


class ChosenRows:
    """A reader of a subset of another's rows; blocks without any are dropped."""

    def __init__(self, reader: Any, choice: RowChoice) -> None:
        self._reader, self._choice = reader, choice
        self._first = np.cumsum([0, *reader.sizes]).tolist()
        counts = [int(self._mask(i).sum()) for i in range(len(reader.sizes))]
        self._places = [i for i, count in enumerate(counts) if count]
        self.sizes = [counts[i] for i in self._places]
        self.n_bytes = reader.n_bytes

    def _mask(self, block: int) -> BoolArray:
        return self._choice.mask(self._first[block], self._reader.sizes[block])

    def __getattr__(self, name: str) -> Any:
        # The same for a subset as for all rows: names, kinds, width.
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._reader, name)
        return (lambda i, column: found(self._places[i], column)) if name == "find_fault" else found

    def place(self, i: int, row: int | None = None) -> str:
        block = self._places[i]
        return str(self._reader.place(block, None if row is None else int(np.flatnonzero(self._mask(block))[row])))


class ChosenTable(ChosenRows):
    """The same for a table."""

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        block = self._places[i]
        mask = self._mask(block)
        return ((name, values[mask]) for name, values in self._reader.columns(block, names))

    def words(self, i: int, name: str) -> tuple[list[str], Array] | None:
        """The distinct texts of a column, some of which may be in other rows, and the place of each row's."""
        block, read = self._places[i], getattr(self._reader, "words", None)
        found = None if read is None else read(block, name)
        return None if found is None else (found[0], found[1][self._mask(block)])

    def with_text(self, text: tuple[str, ...]) -> "ChosenTable":
        """The same with columns as text, if the reader decides on that."""
        return ChosenTable(self._reader.with_text(text), self._choice) if hasattr(self._reader, "with_text") else self


class ChosenMatrix(ChosenRows):
    """The same for rows of numbers."""

    def matrix(self, i: int) -> Any:
        block = self._places[i]
        rows = self._reader.matrix(block)
        mask = self._mask(block)
        return rows[np.flatnonzero(mask)] if sparse.issparse(rows) else rows[mask]

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        block = self._places[i]
        mask = self._mask(block)
        y, weights = self._reader.targets(block)
        return (None if y is None else y[mask]), (None if weights is None else weights[mask])
