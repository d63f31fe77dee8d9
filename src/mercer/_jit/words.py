"""Words of 64 bits, as the processor sees them: for code that reads numbers from text.

Numba has no names for these instructions.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_LONG = ir.IntType(128)


@intrinsic
def full_product(_context: Any, _a: Any, _b: Any) -> tuple[Any, Callable[..., Any]]:
    """(high, low) words of the product of two words."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(*(builder.zext(each, _LONG) for each in args))
        halves = [builder.lshr(product, _LONG(64)), product]
        return context.make_tuple(
            builder, signature.return_type, [builder.trunc(each, ir.IntType(64)) for each in halves]
        )

    return cast(Any, types).UniTuple(types.uint64, 2)(types.uint64, types.uint64), codegen


@intrinsic
def leading_zeros(_context: Any, _word: Any) -> tuple[Any, Callable[..., Any]]:
    """How many of the first bits of a word that is not 0 are 0."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@intrinsic
def as_double(_context: Any, _word: Any) -> tuple[Any, Callable[..., Any]]:
    """The double with these bits."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@intrinsic
def address_of(_context: Any, array: Any) -> tuple[Any, Callable[..., Any]]:
    """Where the numbers of a contiguous array begin, for `byte_at` and `word_at`.

    Whoever passes an array to a function counts one more user of it, and one less at its end, which
    takes longer than reading a few bytes. The array must stay alive while its address is used.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.ptrtoint(held.data, ir.IntType(64))

    return types.int64(array), codegen


def _load(builder: Any, args: Any, kind: Any) -> Any:
    pointer = builder.inttoptr(args[0], kind.as_pointer())
    return builder.load(builder.gep(pointer, [args[1]]))


@intrinsic
def byte_at(_context: Any, _address: Any, _place: Any) -> tuple[Any, Callable[..., Any]]:
    """The byte at a place that is inside, as a whole number."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.zext(_load(builder, args, ir.IntType(8)), ir.IntType(64))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def word_at(_context: Any, _address: Any, _place: Any) -> tuple[Any, Callable[..., Any]]:
    """The word at a place that is inside."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return _load(builder, args, ir.IntType(64))

    return types.uint64(types.int64, types.int64), codegen
