"""Subsequence features written out, for alphabets and lengths that have few of them.

Four letters have 256 sequences of length 4, twenty amino acids 8000 of length 3. A text's
weights of all of them take one pass over it, and kernel values are then inner products of dense
rows: far fewer operations than comparing two texts symbol by symbol.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, IndexArray

# Sums that are not decayed one by one are brought back to size before they could overflow.
SMALLEST_SCALE = 1e-30


@jit
def write_features(
    codes: IndexArray,
    offsets: IndexArray,
    index: IndexArray,
    places: IndexArray,
    size: int,
    lengths: tuple[int, int],
    decay: float,
    first: float,
    out: Array,
) -> None:
    """out[k] = the weights of all sequences of `shortest` to `longest` symbols in text index[k].

    `places` translates codes; a place of `size` or more is a symbol that no sequence has.
    sums[p - 1] holds, for each sequence of p symbols, the sum over its occurrences so far of
    decay^(how far its first symbol lies back), divided by `scale`. A sequence u followed by c
    has number c * size^|u| + number of u.
    """
    vector_loop()
    shortest, longest = lengths
    counts = size ** np.arange(longest + 1)
    begins = np.zeros(longest + 1, np.int64)
    for p in range(1, longest):
        begins[p + 1] = begins[p] + counts[p]
    sums = np.zeros(begins[longest], np.float64)
    out[:] = 0
    for k in range(index.shape[0]):
        target = out[k]
        sums[:] = 0.0
        scale = 1.0
        for place in range(offsets[index[k]], offsets[index[k] + 1]):
            scale *= decay
            if scale < SMALLEST_SCALE:
                sums *= scale
                scale = 1.0
            c = places[codes[place]]
            if c >= size:
                continue
            for p in range(longest, 0, -1):
                column = 0
                for q in range(shortest, p):
                    column += counts[q]
                one = 1.0 / scale
                for u in range(counts[p - 1]):
                    ending = sums[begins[p - 1] + u] if p > 1 else one
                    if p < longest:
                        sums[begins[p] + c * counts[p - 1] + u] += ending
                    if p >= shortest:
                        target[column + c * counts[p - 1] + u] += first * scale * ending
