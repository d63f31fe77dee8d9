"""Buffers that a thread uses again and again.

Memory touched for the first time is slow (pages must be found and cleared), so tiles and
working-set matrices live in buffers that each thread keeps. A buffer is kept only up to
KEEP bytes; what is larger is given back when its user is done.
"""

import math
import threading

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.lasting import SMALLEST, lasting_empty
from mercer._types import Array

KEEP = 64 * 2**20

_local = threading.local()


class Buffers:
    """Arrays by name, whose memory is used again as long as it is large enough.

    Parameters
    ----------
    reserve : int
        Bytes that a large array may grow to: so much address space is asked for at once, which costs nothing,
        and what grows finds its first pages again.
    """

    def __init__(self, reserve: int = 0) -> None:
        self._kept, self._reserve = {}, reserve
        # The last array of each name: to make one takes as long as all else of a small tile.
        self._last: dict[str, Array] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._kept

    def get(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """An array with arbitrary contents, valid until `name` is asked for again."""
        last = self._last.get(name)
        if last is not None and last.shape == shape and last.dtype == dtype:
            return last
        size = math.prod(shape) * np.dtype(dtype).itemsize
        kept = self._kept.get(name)
        if kept is None or kept.nbytes < size:
            self.forget(name)  # given back before a larger one is asked for
            kept = self._kept[name] = self._room(size)
        last = self._last[name] = kept[:size].view(dtype).reshape(shape)
        return last

    def forget(self, name: str) -> None:
        """Leave the memory of a name to those who hold arrays in it."""
        self._kept.pop(name, None)
        self._last.pop(name, None)

    def _room(self, size: int) -> Array:
        if size >= SMALLEST and self._reserve > size:
            try:
                return lasting_empty((self._reserve,), np.uint8)
            except MemoryError:  # address space may be limited
                pass
        return lasting_empty((size,), np.uint8)


def borrow(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """An array that is the borrower's alone until it is handed to `give_back`."""
    mine = _mine()
    array = mine.get(name, shape, dtype)
    mine.forget(name)
    return array


def give_back(name: str, array: Array) -> None:
    """Return a borrowed array; its memory serves the next borrower in this thread."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base.nbytes <= KEEP and base.flags.c_contiguous:
        mine = _mine()
        mine.forget(name)
        mine._kept[name] = base.reshape(-1).view(np.uint8)


def _mine() -> Buffers:
    if not hasattr(_local, "buffers"):
        _local.buffers = Buffers()
    return _local.buffers


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike, large: Buffers | None = None) -> Array:
    """As `Buffers.get`, from the buffers of this thread; from `large` what they do not keep, and all after it."""
    is_large = math.prod(shape) * np.dtype(dtype).itemsize > KEEP
    if large is not None and (is_large or name in large):
        return large.get(name, shape, dtype)
    return lasting_empty(shape, dtype) if is_large else _mine().get(name, shape, dtype)
