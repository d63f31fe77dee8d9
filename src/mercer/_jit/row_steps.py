"""What a method that visits rows at random needs beside `row_views`."""

from typing import TYPE_CHECKING

import numpy as np
from numba.core import types
from numba.extending import overload

from mercer._jit.compile import FAST
from mercer._jit.prefetch import LINE, prefetch
from mercer._jit.row_views import DenseRows
from mercer._types import FloatArray

if TYPE_CHECKING:
    from mercer._jit.row_views import Place, RowView

_OPTIONS = {"fastmath": set(FAST)}
# Rows ahead of the one being visited for which memory is asked.
AHEAD = 8
# Rows that take fewer bytes than this stay in the cache by themselves.
WORTH_ASKING = 2**18


def rows_ahead(rows: "RowView") -> int:
    """How many rows ahead to ask for memory; 0 where all of it stays in the cache."""
    values = rows.values if isinstance(rows, DenseRows) else rows.data
    return AHEAD if values.nbytes > WORTH_ASKING else 0


def row_ask(rows: "RowView", i: int) -> None:
    """Ask for the beginning of row i; the processor sees by itself where a long one goes on."""


@overload(row_ask, inline="always")
def _row_ask(rows, i):
    if isinstance(rows, types.BaseNamedTuple) and rows.instance_class is DenseRows:

        def dense(rows, i):
            row = rows.values[i]
            prefetch(row, 0)
            prefetch(row, LINE // 4)

        return dense

    def sparse(rows, i):
        begin = rows.indptr[i]
        prefetch(rows.data, begin)
        prefetch(rows.data, begin + LINE // 8)
        prefetch(rows.indices, begin)

    return sparse


def row_add_both(rows: "RowView", i: "Place", step: float, w: FloatArray, other_step: float, v: FloatArray) -> None:
    """w += step x_i and v += other_step x_i, in one pass."""


@overload(row_add_both, inline="always", jit_options=_OPTIONS)
def _row_add_both(rows, i, step, w, other_step, v):
    if isinstance(rows, types.BaseNamedTuple) and rows.instance_class is DenseRows:

        def dense(rows, i, step, w, other_step, v):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * row[j]
                v[j] += other_step * row[j]

        return dense

    # An index without a sign: compiled code need not ask whether to count from the end.
    unsigned = np.uint32 if rows.types[1].dtype == types.int32 else np.uint64

    def sparse(rows, i, step, w, other_step, v):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            j, value = unsigned(rows.indices[k]), rows.data[k]
            w[j] += step * value
            v[j] += other_step * value

    return sparse
