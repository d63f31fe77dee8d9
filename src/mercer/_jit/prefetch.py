"""Ask the processor for memory before it is needed.

A solver that visits rows in random order waits for each of them, unless the next ones are on
their way while it works on this one.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE = 64  # bytes of a cache line


@intrinsic
def prefetch(_context: Any, array: Any, index: Any) -> tuple[Any, Callable[..., Any]]:
    """Bring the cache line of array[index] (one dimension, contiguous) nearer; changes nothing."""
    signature = types.void(array, index)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        held = context.make_array(kind)(context, builder, args[0])
        place = builder.gep(held.data, [context.cast(builder, args[1], signature.args[1], types.intp)])
        line = builder.bitcast(place, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [line.type, word, word, word]),
            "llvm.prefetch.p0i8" if not getattr(ir, "OpaquePointerType", None) else "llvm.prefetch.p0",
        )
        builder.call(function, [line, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return signature, codegen
