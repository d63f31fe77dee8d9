"""Sums of many numbers side by side that stay in vector registers.

Vector registers of 128, 256 and 512 bits all divide the 256 bytes of a line, so LLVM makes of a line as many registers
as the processor needs. A loop over arrays would load and store the sums with every term.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE_BYTES = 256


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


def _wide(builder: Any, number: Any, index: Any) -> Any:
    return number if number.type == index else builder.sext(number, index)


def _line_at(builder: Any, data: Any, first: Any, line: Any) -> Any:
    return builder.bitcast(builder.gep(data, [first]), line.as_pointer())


def _everywhere(builder: Any, number: Any, line: Any) -> Any:
    """A line of copies of one number."""
    undefined, position = ir.Constant(line, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(undefined, number, ir.Constant(position, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(position, line.count), [0] * line.count))
