"""What a method that visits rows at random needs beside `row_views`.

It waits for memory at each row, unless it asks for the rows to come before it needs them: a
hint to the processor, which changes no result. And it adds a row to two vectors in one pass.
"""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from mercer._jit.compile import FAST
from mercer._jit.row_views import DenseRows

_OPTIONS = {"fastmath": set(FAST)}
# Rows ahead of the one being visited; bytes that come with one request.
AHEAD = 4
LINE = 64
# Rows that take fewer bytes than this stay in the cache by themselves.
WORTH_ASKING = 2**20


def rows_ahead(rows):
    """How many rows ahead to ask for memory; 0 where all of it stays in the cache."""
    values = rows.values if isinstance(rows, DenseRows) else rows.data
    return AHEAD if values.nbytes > WORTH_ASKING else 0


def _is_dense(rows):
    return isinstance(rows, types.BaseNamedTuple) and rows.instance_class is DenseRows


@intrinsic
def _prefetch(_context, array, index):
    """Bring the line of memory that holds array[index] closer; the array is contiguous."""

    def codegen(context, builder, signature, args):
        entries = context.make_array(signature.args[0])(context, builder, args[0])
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        place = builder.bitcast(builder.gep(entries.data, [args[1]]), address)
        builder.call(hint, [place, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.none(array, index), codegen


def row_prefetch(rows, i):
    """Ask for row i."""


def row_add_both(rows, i, step, w, other_step, v):
    """w += step x_i and v += other_step x_i."""


@overload(row_prefetch, inline="always")
def _row_prefetch(rows, i):
    if _is_dense(rows):

        def dense(rows, i):
            entries, width = rows.values.reshape(-1), rows.values.shape[1]
            for k in range(i * width, (i + 1) * width, LINE // rows.values.itemsize):
                _prefetch(entries, k)

        return dense

    def sparse(rows, i):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        for k in range(begin, end, LINE // rows.data.itemsize):
            _prefetch(rows.data, k)
        for k in range(begin, end, LINE // rows.indices.itemsize):
            _prefetch(rows.indices, k)

    return sparse


@overload(row_add_both, inline="always", jit_options=_OPTIONS)
def _row_add_both(rows, i, step, w, other_step, v):
    if _is_dense(rows):

        def dense(rows, i, step, w, other_step, v):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * row[j]
                v[j] += other_step * row[j]

        return dense

    def sparse(rows, i, step, w, other_step, v):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            j, value = rows.indices[k], rows.data[k]
            w[j] += step * value
            v[j] += other_step * value

    return sparse
