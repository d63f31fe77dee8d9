"""Blocks as a solver goes through them: features made when they are read, and some kept."""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.scratch import Buffers
from mercer.estimators.out_of_core.memory import Plan, plan
from mercer.estimators.out_of_core.progress import Progress
from mercer.io.blocks.blocks import Blocks
from mercer.io.blocks.stack import fresh
from mercer.solvers.blocks.source import LocalBlocks
from mercer.solvers.limits import Limits


class Passes(LocalBlocks):
    """The features of `Blocks`, for the solvers of `mercer.solvers.blocks`.

    Parameters
    ----------
    blocks : Blocks
        Of rows of numbers, or mapped to such.
    limits : Limits
        Polled before every block; receives the number of rows done.
    room : Plan
        How many blocks are worked on at a time, and how many bytes of features are kept for the next pass.

    Attributes
    ----------
    passes, rows_read : int
        How often all blocks were gone through, and how many rows were read from their source for it.
    """

    def __init__(self, blocks: Blocks, limits: Limits, room: Plan) -> None:
        self._told = Progress(limits, sum(blocks.sizes))
        super().__init__(self._features, blocks.sizes, blocks.n_columns, room.n_jobs, self._told.stop)
        self._blocks = blocks
        self._kept: dict[int, Any] = {}
        self._seen: set[int] = set()  # blocks that are kept, or not worth keeping
        self._own = threading.local()
        self._left, self._lock = room.kept_bytes, threading.Lock()
        self.passes = self.rows_read = 0

    def map(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: DTypeLike
    ) -> Iterator[Any]:
        self._begin_pass()
        for size, answer in zip(self.sizes, super().map(work, shared, own, dtype), strict=True):
            self._told.done += size
            yield answer

    def total(
        self, work: Callable[..., tuple[Any, Any]], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]],
        dtype: DTypeLike,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        if self._elsewhere() is not None:  # else by `map`
            self._begin_pass()
        return super().total(work, shared, own, dtype)

    def _begin_pass(self) -> None:
        self.passes += 1
        self._told.begin(self.passes)

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        return partial(_read, self._blocks)

    def _features(self, i: int, dtype: DTypeLike) -> Any:
        kept = self._kept.get(i)
        if kept is not None and kept.dtype == dtype:
            return kept
        is_kept = self._take_room(i, dtype)
        found = self._blocks.matrix(i, dtype, fresh if is_kept else self._room().get)
        if is_kept and not _is_view(found):
            self._kept[i] = found
        return found

    def _take_room(self, i: int, dtype: DTypeLike) -> bool:
        """Whether a block fits into memory for the next pass."""
        size = self.sizes[i] * self.n_features * np.dtype(dtype).itemsize
        with self._lock:
            self.rows_read += self.sizes[i]
            if i in self._seen or size > self._left:
                return False
            self._seen.add(i)
            self._left -= size
            return True

    def _room(self) -> Buffers:
        """Buffers of the present thread for the next block."""
        if not hasattr(self._own, "room"):
            self._own.room = Buffers()
        return self._own.room


def _read(blocks: Blocks, i: int, dtype: DTypeLike) -> Any:
    """The features of a block in fresh memory, for a worker of a cluster."""
    return blocks.matrix(i, dtype, fresh)


def feature_blocks(
    blocks: Blocks, limits: Limits, n_machines: int, n_jobs: int | None = None, memory_limit: int | str | None = None
) -> Passes:
    """`Blocks` as features for a solver, within a limit of memory.

    `blocks` are numeric rows, or ``blocks.mapped(feature_map)`` with anything that turns a block into features
    (`mercer.io.blocks.mapped.FeatureMap`): columns of a table, kernel values with landmarks.
    """
    return Passes(blocks, limits, plan(blocks.sizes, blocks.n_columns, n_machines, n_jobs, memory_limit))


def _is_view(features: Any) -> bool:
    """Whether the numbers are already held elsewhere, in memory or mapped."""
    return not sparse.issparse(features) and features.base is not None
