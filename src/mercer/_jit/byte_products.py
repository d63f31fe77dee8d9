"""Inner products of rows of bytes, four multiplications for each one of single precision.

Processors with the "vector neural network instructions" multiply 64 pairs of bytes and add them up by fours in one
instruction. No BLAS for Python offers it, so the innermost block is written here in the compiler's own
language: HEIGHT rows on the left beside WIDTH packed ones on the right, whose sums stay in registers. One factor of the
instruction has a sign and the other has none: what that takes away, the caller knows beforehand and passes as the
sums to begin with. Sums are whole numbers of 32 bits, and exact.

Other processors take a few instructions for that one, and have the same sums. They are slower so than in single
precision, and `has_byte_products` says not to ask them; but what bytes lead to can be compared with what numbers lead
to on any of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray

HEIGHT, LANES, VECTORS = 12, 16, 2
WIDTH = LANES * VECTORS
# Bytes of a row that one instruction takes in.
QUAD = 4
_INSTRUCTION = "llvm.x86.avx512.vpdpbusd.512"
_WORD, _LONG = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


def has_byte_products() -> bool:
    """Whether bytes are worth it: this processor has the instruction, and Numba has not been told to do without."""
    if numba_config.CPU_NAME is not None or numba_config.CPU_FEATURES is not None:
        return "+avx512vnni" in (numba_config.CPU_FEATURES or "")
    return bool(binding.get_host_cpu_features().get("avx512vnni", False))


@intrinsic
def _multiply_block(
    _context: Any, left: Any, first: Any, last: Any, panel: Any, sums: Any, block: Any
) -> tuple[Any, Callable[..., Any]]:
    """block[r, c] = sums[c] + the product of row first + r on the left with row c of a packed panel.

    Rows after `last` are read as `last`, so that a block of fewer than HEIGHT rows reads nothing that is not there.
    """
    signature = types.void(left, first, last, panel, sums, block)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, panel, sums, block = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 3, 4, 5)
        )
        length = builder.extract_value(left.shape, 1)
        first, last = (context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2))
        rows = _row_addresses(builder, left.data, length, first, last)
        begin = [builder.load(_vector_at(builder, sums.data, w * LANES), align=4) for w in range(VECTORS)]
        ends = _accumulate(builder, rows, panel.data, builder.udiv(length, _LONG(QUAD)), begin)
        for k, end in enumerate(ends):
            builder.store(end, _vector_at(builder, block.data, k * LANES), align=4)
        return context.get_dummy_value()

    return signature, codegen


def _row_addresses(builder: Any, data: Any, length: Any, first: Any, last: Any) -> list[Any]:
    """Where each of HEIGHT rows begins."""
    addresses = []
    for r in range(HEIGHT):
        row = builder.add(first, _LONG(r))
        row = builder.select(builder.icmp_signed("<", row, last), row, last)
        addresses.append(builder.gep(data, [builder.mul(row, length)]))
    return addresses


def _vector_at(builder: Any, data: Any, offset: int) -> Any:
    """The address of the vector that begins `offset` numbers after `data`."""
    return builder.bitcast(builder.gep(data, [_LONG(offset)]), _VECTOR.as_pointer())


def _accumulate(builder: Any, rows: list[Any], panel: Any, steps: Any, begin: list[Any]) -> list[Any]:
    """The loop over the quads of all rows: VECTORS sums for each row, row after row."""
    multiply_add = _multiply_add if has_byte_products() else _multiply_add_anywhere
    before = builder.block
    loop, after = builder.append_basic_block("quads"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    step = _carried(builder, _LONG, _LONG(0), before)
    totals = [_carried(builder, _VECTOR, begin[w], before) for _ in rows for w in range(VECTORS)]
    columns = [_panel_vector(builder, panel, step, w) for w in range(VECTORS)]
    sums = []
    for r, row in enumerate(rows):
        spread = _spread_quad(builder, row, step)
        sums += [multiply_add(builder, totals[r * VECTORS + w], columns[w], spread) for w in range(VECTORS)]
    following = builder.add(step, _LONG(1))
    for carried, value in zip([step, *totals], [following, *sums], strict=True):
        carried.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", following, steps), loop, after)
    builder.position_at_end(after)
    return sums


def _multiply_add(builder: Any, total: Any, unsigned: Any, signed: Any) -> Any:
    """The total of each lane and the products of its four bytes."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    instruction = cgutils.get_or_insert_function(builder.module, kind, _INSTRUCTION)
    return builder.call(instruction, [total, unsigned, signed])


def _multiply_add_anywhere(builder: Any, total: Any, unsigned: Any, signed: Any) -> Any:
    """The same, a byte of each lane after another: moved to the top, and from there down."""
    down = ir.Constant(_VECTOR, [8 * (QUAD - 1)] * LANES)
    for byte in range(QUAD):
        up = ir.Constant(_VECTOR, [8 * byte] * LANES)
        left = builder.lshr(builder.shl(unsigned, up), down)
        right = builder.ashr(builder.shl(signed, up), down)
        total = builder.add(total, builder.mul(left, right))
    return total


def _carried(builder: Any, kind: Any, start: Any, before: Any) -> Any:
    value = builder.phi(kind)
    value.add_incoming(start, before)
    return value


def _panel_vector(builder: Any, panel: Any, step: Any, which: int) -> Any:
    quads = builder.add(builder.mul(step, _LONG(VECTORS)), _LONG(which))
    place = builder.gep(panel, [builder.mul(quads, _LONG(QUAD * LANES))])
    return builder.load(builder.bitcast(place, _VECTOR.as_pointer()), align=1)


def _spread_quad(builder: Any, row: Any, step: Any) -> Any:
    """Four bytes of a row, in every lane of a vector."""
    place = builder.bitcast(builder.gep(row, [builder.mul(step, _LONG(QUAD))]), _WORD.as_pointer())
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    alone = builder.insert_element(nothing, builder.load(place, align=1), _WORD(0))
    return builder.shuffle_vector(alone, nothing, ir.Constant(_VECTOR, [0] * LANES))


@jit
def pack(codes: Array, packed: Array, sums: Array) -> None:
    """Write signed rows as unsigned panels of WIDTH rows, quad by quad, and the sums that they begin with.

    `packed` has shape (panels, quads, WIDTH, QUAD) and zeros where there is no row; `sums` (panels, WIDTH).
    """
    for j in range(codes.shape[0]):
        panel, place = packed[j // WIDTH], j % WIDTH
        total = 0
        for q in range(panel.shape[0]):
            for k in range(QUAD):
                number = np.int32(codes[j, q * QUAD + k]) + 128
                panel[q, place, k] = number
                total += number  # type: ignore[assignment]  # compiled, it is as wide as what is added
        sums[j // WIDTH, place] = 128 * total


@jit
def byte_products(
    codes: Array,
    packed: Array,
    sums: Array,
    scale: float,
    left_terms: FloatArray,
    right_terms: FloatArray,
    block: Array,
    out: FloatArray,
) -> None:
    """out[i, j] = scale <row i, row j> + left_terms[i] + right_terms[j], in double precision until it is written.

    Rows are those of `codes` (signed, so that 0 is written -128) and of what `pack` made; their length is a
    multiple of QUAD. `block` is room for (HEIGHT, WIDTH) numbers of 32 bits.
    """
    vector_loop()
    n, m = out.shape
    for p in range(packed.shape[0]):
        width = min(WIDTH, m - p * WIDTH)
        terms = right_terms[p * WIDTH : p * WIDTH + width]
        for first in range(0, n, HEIGHT):
            _multiply_block(codes, first, n - 1, packed[p], sums[p], block)
            for r in range(min(HEIGHT, n - first)):
                source, target = block[r], out[first + r, p * WIDTH : p * WIDTH + width]
                term = left_terms[first + r]
                for c in range(width):
                    target[c] = scale * source[c] + (term + terms[c])
