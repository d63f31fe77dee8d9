"""The subset tree kernel as one writes it down: a compiled recursion over all pairs of nodes.

The opponent of `benchmarks.trees`. It compares every node of one tree with every node of the
other, and calls itself for their children; productions are compared as integers.
"""

import numba
import numpy as np

from mercer.kernels import SubsetTree


@numba.njit(nogil=True)
def _delta(a, b, x_codes, x_children, x_size, y_codes, y_size, decay):
    if x_codes[a] < 0 or x_codes[a] != y_codes[b]:
        return 0.0
    value = decay
    p, q = a - 1, b - 1
    for _ in range(x_children[a]):
        value *= 1.0 + _delta(p, q, x_codes, x_children, x_size, y_codes, y_size, decay)
        p -= x_size[p]
        q -= y_size[q]
    return value


@numba.njit(nogil=True)
def _gram(codes, children, size, offsets, decay, out):
    for i in range(out.shape[0]):
        a, b = offsets[i], offsets[i + 1]
        for j in range(i + 1):
            c, d = offsets[j], offsets[j + 1]
            total = 0.0
            for p in range(b - a):
                for q in range(d - c):
                    total += _delta(p, q, codes[a:b], children[a:b], size[a:b], codes[c:d], size[c:d], decay)
            out[i, j] = out[j, i] = total


def recursive_gram(trees, decay):
    """The Gram matrix, on one core."""
    packed = SubsetTree(decay=decay).packed(trees)
    out = np.empty((len(trees), len(trees)))
    _gram(packed.codes, packed.n_children, packed.size, packed.offsets, decay, out)
    return out
