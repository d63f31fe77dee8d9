"""Large arrays whose memory serves the next one too, unless the system wants it back.

Memory touched for the first time is slow: pages must be found and cleared, and on a virtual
machine the host must find them as well. A grid search that fits a hundred models would pay
that a hundred times. So the memory of a large array, once nobody refers to it, is kept for the
next, but marked as free to take (MADV_FREE): under pressure the system reclaims it without
asking, and until then it can be written again at once.
"""

import math
import mmap
import weakref

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array

# As many mappings wait at most; what is smaller than this is not worth the trouble.
MOST_WAITING = 4
SMALLEST = 16 * 2**20

# Changed by single operations of a list only: no lock that a child, forked meanwhile, would miss.
_waiting = []
_CAN_KEEP = all(hasattr(mmap, name) for name in ("MAP_PRIVATE", "MAP_ANONYMOUS", "MADV_FREE"))


def lasting_empty(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """As `np.empty`, in memory that large arrays before have used already where there is some."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not _CAN_KEEP or size < SMALLEST:
        return np.empty(shape, dtype)
    mapping = _take(size) or _map(size)
    array = np.frombuffer(mapping, np.uint8, size)
    # Views refer to this array, so that it goes last of all.
    weakref.finalize(array, _keep, mapping).atexit = False
    return array.view(dtype).reshape(shape)


def _map(size: int) -> mmap.mmap:
    try:
        # Address space costs nothing; with some to spare, arrays a little larger find room too.
        mapping = mmap.mmap(-1, size + size // 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for {size:,} bytes") from error
    _advise(mapping, "MADV_HUGEPAGE")
    return mapping


def _advise(mapping: mmap.mmap, name: str) -> bool:
    """Advice is taken or not; a system without it works as before."""
    if hasattr(mmap, name):
        try:
            mapping.madvise(getattr(mmap, name))
        except OSError:
            return False
        return True
    return False


def _take(size: int) -> mmap.mmap | None:
    """The smallest mapping that is large enough, or None."""
    for mapping in sorted(_waiting, key=len):
        if len(mapping) >= size and _removed(mapping):
            return mapping
    return None


def _keep(mapping: mmap.mmap) -> None:
    """Called when the last array in the mapping is gone."""
    if _advise(mapping, "MADV_FREE"):
        _waiting.append(mapping)
        for smallest in sorted(_waiting, key=len)[:-MOST_WAITING]:
            _removed(smallest)


def _removed(mapping: mmap.mmap) -> bool:
    """Take a mapping out; False if another thread was faster."""
    try:
        _waiting.remove(mapping)
    except ValueError:
        return False
    return True
