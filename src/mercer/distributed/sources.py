"""Dask arrays, data frames and delayed blocks, as blocks that are computed where they are used.

A block is its graph, not its numbers: it goes to a worker as a description, is computed there in one thread, and is
computed again if the worker dies.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._errors import DataError, MissingExtraError, ParameterError
from mercer._types import Array


class Later:
    """An array that is computed when its numbers are needed; its shape is known beforehand."""

    def __init__(self, graph: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.graph, self.shape, self.dtype, self.ndim = graph, shape, np.dtype(dtype), len(shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # In this thread: a worker that asked its own cluster would wait for itself.
        found = np.asarray(self.graph.compute(scheduler="synchronous"))
        if found.shape != self.shape:
            raise DataError(f"a block was declared with shape {self.shape}, got {found.shape}; declare its true shape")
        return found if dtype is None else found.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"Later(shape={self.shape}, dtype={self.dtype})"


def blocks(X: Any, y: Any = None, sample_weight: Any = None) -> list[tuple[Later, ...]]:
    """Dask data as a sequence of blocks for `mercer.io.Blocks`, from which machines learn.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame, or sequence of dask.delayed
        Rows of numbers, divided by rows alone; a frame of numbers; or delayed (X, y) or (X, y, sample_weight), whose
        shapes are found by computing each once.
    y, sample_weight : dask.array.Array, dask.dataframe.Series, or str
        Targets and weights, divided as X is; for a frame, the names of columns. Not for delayed blocks.

    Returns
    -------
    list of (X, y) or (X, y, sample_weight)
        Arrays that are computed when they are needed.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer import distributed
    >>> X = da.ones((1000, 3), chunks=(400, 3))
    >>> [part[0].shape for part in distributed.blocks(X, X[:, 0])]
    [(400, 3), (400, 3), (200, 3)]
    """
    try:
        import dask
    except ImportError as error:
        raise MissingExtraError("Dask's data need the package dask: pip install 'mercer[dask]'") from error
    if hasattr(X, "chunks"):
        found = [("X", X), *(named for named in (("y", y), ("sample_weight", sample_weight)) if named[1] is not None)]
        return _of_arrays(found)
    if hasattr(X, "npartitions"):
        return _of_frame(X, y, sample_weight)
    if not isinstance(X, Sequence) or not all(dask.is_dask_collection(each) for each in X):
        raise ParameterError(
            f"X must be a Dask array, a Dask data frame or a list of delayed blocks, got {type(X).__name__}; data in "
            "this process can be passed to mercer.io.Blocks directly"
        )
    if y is not None or sample_weight is not None:
        raise ParameterError("delayed blocks carry their own targets, as (X, y); omit y and sample_weight")
    return _of_delayed(list(X))


def _of_arrays(named: list[tuple[str, Any]]) -> list[tuple[Later, ...]]:
    first = named[0][1]
    if first.ndim != 2:
        raise DataError(f"X must be a matrix, got shape {first.shape}")
    if len(first.chunks[1]) != 1:
        raise DataError(
            f"X is divided into {len(first.chunks[1])} groups of columns, but a block needs all of them; use "
            "X.rechunk({1: -1})"
        )
    for name, array in named:
        if any(np.isnan(size) for size in array.chunks[0]):
            raise DataError(f"{name} has blocks of unknown size: call {name}.compute_chunk_sizes() first")
        if array.chunks[0] != first.chunks[0]:
            raise DataError(
                f"{name} is divided into blocks of {array.chunks[0][:4]} rows and X of {first.chunks[0][:4]}: "
                f"use {name}.rechunk to divide it alike"
            )
    parts = []
    for k, size in enumerate(first.chunks[0]):
        if size:
            own = [array.blocks[k] for _, array in named]
            parts.append(tuple(Later(each, tuple(int(n) for n in each.shape), each.dtype) for each in own))
    return parts


def _of_frame(frame: Any, y: Any, sample_weight: Any) -> list[tuple[Later, ...]]:
    import dask

    beside = [name for name in (y, sample_weight) if name is not None]
    for argument, name in (("y", y), ("sample_weight", sample_weight)):
        if name is not None and (not isinstance(name, str) or name not in frame.columns):
            listed = ", ".join(map(repr, list(frame.columns)[:12]))
            raise ParameterError(f"{argument} must name a column of the frame, got {name!r}; there are {listed}")
    names = [name for name in frame.columns if name not in beside]
    texts = [name for name in names if frame.dtypes[name].kind not in "iufb"]
    if texts:
        raise DataError(f"column {texts[0]!r} must hold numbers; encode it first, or have the workers read the files")
    pieces = [frame.get_partition(k) for k in range(frame.npartitions)]
    sizes = dask.compute(*(dask.delayed(len)(piece) for piece in pieces))
    parts = []
    for piece, size in zip(pieces, sizes, strict=True):
        if size:
            X = Later(_Columns(piece, names), (size, len(names)), np.float64)
            parts.append((X, *(Later(_Columns(piece, name), (size,), frame.dtypes[name]) for name in beside)))
    return parts


class _Columns:
    """Columns of a partition of a frame, as an array."""

    def __init__(self, piece: Any, names: Any) -> None:
        self.piece, self.names = piece, names

    def compute(self, scheduler: str) -> Array:
        found = self.piece.compute(scheduler=scheduler)[self.names]
        return found.to_numpy(dtype=np.float64) if isinstance(self.names, list) else found.to_numpy()


class _Place:
    """One of the arrays of a delayed block."""

    def __init__(self, whole: Any, place: int) -> None:
        self.whole, self.place = whole, place

    def compute(self, scheduler: str) -> Any:
        return self.whole.compute(scheduler=scheduler)[self.place]


def _of_delayed(parts: list[Any]) -> list[tuple[Later, ...]]:
    import dask

    shapes = dask.compute(*(dask.delayed(_shapes)(part) for part in parts))
    found = []
    for k, (part, own) in enumerate(zip(parts, shapes, strict=True)):
        if len(own) not in (2, 3) or len(own[0][0]) != 2:
            raise DataError(f"block {k} must be (X, y) or (X, y, sample_weight) with a matrix X, got shapes {own}")
        if own[0][0][0]:
            found.append(tuple(Later(_Place(part, place), *each) for place, each in enumerate(own)))
    return found


def _shapes(part: Any) -> list[tuple[tuple[int, ...], str]]:
    return [(np.shape(each), np.asarray(each).dtype.str) for each in part]
