"""Buffers that a thread uses again and again.

Memory touched for the first time is slow (pages must be found and cleared), so tiles and
working-set matrices live in buffers that each thread keeps. A buffer is kept only up to
KEEP bytes; what is larger is given back when its user is done.
"""

import threading

import numpy as np

KEEP = 64 * 2**20

_local = threading.local()


def scratch(name, shape, dtype):
    """An array with arbitrary contents, valid until this thread asks for `name` again."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    if size > KEEP:
        return np.empty(shape, dtype)
    buffers = _local.__dict__
    kept = buffers.get(name)
    if kept is None or kept.nbytes < size:
        kept = buffers[name] = np.empty(size, np.uint8)
    return kept[:size].view(dtype).reshape(shape)
