"""Arrays as blocks: in memory, mapped from a file, or a sequence of blocks of the caller's own."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array
from mercer.io.blocks.reader import rows_of_block


class ArrayRows:
    """Blocks of consecutive rows of a matrix: dense, CSR, `np.memmap`, a file of `np.save`, or a chunked array.

    Data mapped from a file stay there: a copy for another process holds the path, not the numbers.
    """

    def __init__(self, X: Any, y: Any, weight: Any, block_rows: int | None) -> None:
        self._X = _Stored(X)
        self._y, self._weight = (None if each is None else _Stored(each) for each in (y, weight))
        rows = self._X.array
        if rows.ndim != 2:
            raise DataError(f"X must be a matrix, one row for each row of the data, got shape {rows.shape}")
        n = rows.shape[0]
        for name, each in (("target", self._y), ("weight", self._weight)):
            if each is not None and each.array.shape != (n,):
                raise DataError(f"{name} must have one value for each of {n} rows, got shape {each.array.shape}")
        self.n_features, self.is_sparse = rows.shape[1], sparse.issparse(rows)
        self.has_targets = y is not None
        self.block_rows = rows_of_block(block_rows, 1 if self.is_sparse else self.n_features)
        if is_chunked(rows) and rows.chunks and block_rows is None:
            # A chunk is read as a whole.
            self.block_rows = max(1, self.block_rows // rows.chunks[0]) * rows.chunks[0]
        self.sizes = [min(self.block_rows, n - k) for k in range(0, n, self.block_rows)]
        self.n_bytes = int(rows.data.nbytes if self.is_sparse else rows.nbytes)

    def matrix(self, i: int) -> Any:
        rows = self._X.array[self._slice(i)]
        return rows if self.is_sparse else np.asarray(rows)

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        found = (None if each is None else np.asarray(each.array[self._slice(i)]) for each in (self._y, self._weight))
        y, weight = found
        return y, weight

    def _slice(self, i: int) -> slice:
        return slice(i * self.block_rows, i * self.block_rows + self.sizes[i])

    def place(self, i: int, row: int | None = None) -> str:
        where = "" if self._X.path is None else f", {self._X.path}"
        first = i * self.block_rows
        return f"block {i}{where}, " + (f"row {first + row}" if row is not None else f"rows from {first}")


class _Stored:
    """An array, or its location in a file."""

    def __init__(self, given: Any) -> None:
        self.path: Path | None = None
        self._open: tuple[Any, ...] = ()
        if isinstance(given, str | os.PathLike):
            self.path = Path(given)
            self.array = _mapped(self.path)
        elif isinstance(given, np.memmap) and given.filename is not None and _is_whole(given):
            self.path, self._open = Path(given.filename), (given.dtype.str, given.offset, given.shape)
            self.array = given
        elif is_chunked(given):
            self.array = given
        else:
            self.array = given.tocsr() if sparse.issparse(given) else np.asarray(given)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        if self.path is not None:
            del state["array"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.path is not None:
            kind = dict(zip(("dtype", "offset", "shape"), self._open, strict=False))
            self.array = np.memmap(self.path, mode="r", **kind) if kind else _mapped(self.path)


def is_chunked(given: Any) -> bool:
    """Whether an array lives in a store and is read on demand, usually by chunks, as in zarr and h5py."""
    chunks = getattr(given, "chunks", ())
    is_whole = chunks is None or (isinstance(chunks, tuple) and bool(chunks) and isinstance(chunks[0], int))
    return is_whole and hasattr(given, "nbytes") and hasattr(given, "ndim")


def _is_whole(mapped: Any) -> bool:
    """Whether a mapped array is the whole mapping rather than a slice, whose offset in the file is unknown."""
    return not isinstance(mapped.base, np.memmap) and mapped.flags.c_contiguous


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: cannot be read as an array of np.save: {error}; was the file cut short?") from error


class GivenBlocks:
    """Blocks held or made by the caller: a sequence of (X, y) or (X, y, weight), read by position."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts, self._places = parts, [k for k in range(len(parts)) if _rows_of(parts[k], k)]
        self.sizes = [_rows_of(parts[k], k) for k in self._places]
        firsts = [(k, parts[k][0]) for k in self._places]
        self.n_features = firsts[0][1].shape[1] if firsts else 0
        self.is_sparse = any(sparse.issparse(X) for _, X in firsts)
        self.has_targets = True
        self.n_bytes = sum(self.sizes) * self.n_features * 8
        for k, X in firsts:
            if X.shape[1] != self.n_features:
                raise DataError(
                    f"block {k}: {self.n_features} columns were expected, as in block {self._places[0]}, "
                    f"got {X.shape[1]}"
                )

    def matrix(self, i: int) -> Any:
        X = self.parts[self._places[i]][0]
        return X.tocsr() if sparse.issparse(X) else np.asarray(X)

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        _, y, *weight = self.parts[self._places[i]]
        return np.asarray(y), np.asarray(weight[0]) if weight and weight[0] is not None else None

    def place(self, i: int, row: int | None = None) -> str:
        return f"block {self._places[i]}" + ("" if row is None else f", row {row}")


def _rows_of(part: Any, k: int) -> int:
    if not isinstance(part, tuple | list) or len(part) not in (2, 3) or getattr(part[0], "ndim", 0) != 2:
        raise ParameterError(
            f"block {k} must be (X, y) or (X, y, sample_weight) with a matrix X, got {type(part).__name__}"
        )
    n, lengths = part[0].shape[0], [np.shape(each) for each in part[1:] if each is not None]
    if any(shape != (n,) for shape in lengths):
        raise DataError(f"block {k}: X has {n} rows, and y or sample_weight has shape {lengths[0]}")
    return int(n)
