"""Sums of many numbers side by side that stay in vector registers.

Vector registers of 128, 256 and 512 bits all divide the 256 bytes of a line, so LLVM makes of a line as many registers
as the processor needs. A loop over arrays would load and store the sums with every term.

`line_sums` multiplies a matrix of any height by one of few columns, for which BLAS takes up to four times as long.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE_BYTES = 256
# Sums that are kept in registers at once: a loaded line and a number fit beside them in the 16 that AVX2 has, and the
# latency of an addition is hidden.
SUMS = 12
# With fewer rows than this, most of `line_sums` is spent on the last one, repeated.
FEWEST_ROWS = 8


@intrinsic
def weighted_lines(
    _context: Any, weights: Any, places: Any, numbers: Any, _terms: Any, lines: Any, out: Any, _corner: Any
) -> tuple[Any, Callable[..., Any]]:
    """Write the sum of ``weights[k] * lines[first + numbers[places[k]]]`` for k from begin to end to `out`, from
    out[corner] on, where `terms` is (begin, end, first).

    `numbers` may be None, and places are numbers then. All arrays are in C order; a line has 256 bytes, in `lines` and
    in `out`. Nothing is checked.
    """
    item = weights.dtype.bitwidth // 8
    width = LINE_BYTES // item

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = {
            name: context.make_array(signature.args[at])(context, builder, args[at])
            for name, at in (("weights", 0), ("places", 1), ("numbers", 2), ("lines", 4), ("out", 5))
            if isinstance(signature.args[at], types.Array)
        }
        begin, end, first = cgutils.unpack_tuple(builder, args[3])
        row, column = cgutils.unpack_tuple(builder, args[6])
        index, line = begin.type, ir.VectorType(context.get_value_type(weights.dtype), width)
        nothing = ir.Constant(line, [0.0] * width)
        before, loop, done = builder.block, builder.append_basic_block("terms"), builder.append_basic_block("summed")
        builder.cbranch(builder.icmp_signed("<", begin, end), loop, done)

        builder.position_at_end(loop)
        k, total = builder.phi(index), builder.phi(line)
        place = _wide(builder, builder.load(builder.gep(arrays["places"].data, [k])), index)
        if "numbers" in arrays:
            place = _wide(builder, builder.load(builder.gep(arrays["numbers"].data, [place])), index)
        begun = builder.mul(builder.add(first, place), ir.Constant(index, width))
        term = builder.load(_line_at(builder, arrays["lines"].data, begun, line))
        term.align = item
        weight = _everywhere(builder, builder.load(builder.gep(arrays["weights"].data, [k])), line)
        fused = ("contract",)
        more = builder.fadd(total, builder.fmul(weight, term, flags=fused), flags=fused)
        following = builder.add(k, ir.Constant(index, 1))
        for phi, initial, later in ((k, begin, following), (total, nothing, more)):
            phi.add_incoming(initial, before)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following, end), loop, done)

        builder.position_at_end(done)
        result = builder.phi(line)
        result.add_incoming(nothing, before)
        result.add_incoming(more, loop)
        across = cgutils.unpack_tuple(builder, arrays["out"].shape, 2)[1]
        target = builder.add(builder.mul(row, across), column)
        builder.store(result, _line_at(builder, arrays["out"].data, target, line)).align = item
        return context.get_dummy_value()

    terms, corner = (cast(Any, types).UniTuple(types.intp, count) for count in (3, 2))
    return types.none(weights, places, numbers, terms, lines, out, corner), codegen


@intrinsic
def line_sums(
    _context: Any, left: Any, lines: Any, first: Any, line: Any, out: Any, _column: Any
) -> tuple[Any, Callable[..., Any]]:
    """Write the products of some rows of `left` with the matrix `lines` to `out`; the number of rows is returned.

    The rows are those from `first` on; where there are no more, the last is repeated. They are written to the same
    rows of `out`, from `column` on. `line` is a tuple as long as `lines` is wide, a power of two from 8 to 32, of the
    numbers that the sums consist of. `left` may be a part of a wider array, with at least one column; the others are in
    C order. Nothing is checked.
    """
    dtype, width = lines.dtype, line.count

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, lines_array, target = (
            context.make_array(signature.args[at])(context, builder, args[at]) for at in (0, 1, 4)
        )
        lanes, rows = _shape_in_registers(context, width, dtype.bitwidth // 8)
        index, at_once = args[2].type, ir.VectorType(context.get_value_type(dtype), lanes)
        height, terms = cgutils.unpack_tuple(builder, source.shape, 2)
        last = builder.sub(height, ir.Constant(index, 1))
        places = [_smaller(builder, builder.add(args[2], ir.Constant(index, r)), last) for r in range(rows)]
        starts, ends = (
            [
                _row_start(builder, each.data, place, cgutils.unpack_tuple(builder, each.strides, 2)[0])
                for place in places
            ]
            for each in (source, target)
        )
        for offset in range(0, width, lanes):
            sums = _sums_of_rows(builder, starts, lines_array.data, (terms, width, offset), at_once)
            for total, end in zip(sums, ends, strict=True):
                at = _line_at(builder, end, builder.add(args[5], ir.Constant(index, offset)), at_once)
                builder.store(total, at).align = dtype.bitwidth // 8
        return ir.Constant(index, rows)

    return types.intp(left, lines, first, line, out, types.intp), codegen


def _shape_in_registers(context: Any, width: int, item: int) -> tuple[int, int]:
    """(numbers side by side, rows) whose sums stay in registers: of at most two registers a row."""
    _, name, features = context.codegen().magic_tuple()
    register = 64 if name == "x86-64-v4" or "+avx512f" in features else 32
    lanes = min(width, 2 * register // item)
    return lanes, SUMS // -(-lanes * item // register)


def _sums_of_rows(builder: Any, starts: Any, lines: Any, shape: Any, at_once: Any) -> list[Any]:
    """The sum of ``start[k] * lines[k * width + column :]`` over all k for each row: a loop, after which it goes on."""
    terms, width, column = shape
    index, item = terms.type, at_once.element
    before, loop = builder.block, builder.append_basic_block("terms")
    done = builder.append_basic_block("summed")
    builder.branch(loop)
    builder.position_at_end(loop)
    k, totals = builder.phi(index), [builder.phi(at_once) for _ in starts]
    begun = builder.add(builder.mul(k, ir.Constant(index, width)), ir.Constant(index, column))
    term = builder.load(_line_at(builder, lines, begun, at_once))
    term.align = 4 if item == ir.FloatType() else 8
    more, fused = [], ("contract",)
    for start, total in zip(starts, totals, strict=True):
        number = builder.load(builder.gep(start, [k]))
        number = number if number.type == item else builder.fpext(number, item)
        product = builder.fmul(_everywhere(builder, number, at_once), term, flags=fused)
        more.append(builder.fadd(total, product, flags=fused))
    following = builder.add(k, ir.Constant(index, 1))
    nothing = ir.Constant(at_once, [0.0] * at_once.count)
    phis = [
        (k, ir.Constant(index, 0), following),
        *((each, nothing, later) for each, later in zip(totals, more, strict=True)),
    ]
    for phi, initial, later in phis:
        phi.add_incoming(initial, before)
        phi.add_incoming(later, loop)
    builder.cbranch(builder.icmp_signed("<", following, terms), loop, done)
    builder.position_at_end(done)
    return more


def _row_start(builder: Any, data: Any, row: Any, across: Any) -> Any:
    """A pointer to the first number of a row, `across` bytes after that of the row before."""
    address = builder.add(builder.ptrtoint(data, row.type), builder.mul(row, across))
    return builder.inttoptr(address, data.type)


def _smaller(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", one, other), one, other)


def _wide(builder: Any, number: Any, index: Any) -> Any:
    return number if number.type == index else builder.sext(number, index)


def _line_at(builder: Any, data: Any, first: Any, line: Any) -> Any:
    return builder.bitcast(builder.gep(data, [first]), line.as_pointer())


def _everywhere(builder: Any, number: Any, line: Any) -> Any:
    """A line of copies of one number."""
    undefined, position = ir.Constant(line, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(undefined, number, ir.Constant(position, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(position, line.count), [0] * line.count))
