"""Arrow tables as tables of Mercer's own type, which does not depend on what is installed.

A column contains numbers, dates or texts. Truth values become the texts "true" and "false", so that a
model trained on one format accepts rows of another.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import Array
from mercer.kernels.table.column_frame import TRUTH, ColumnFrame

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, DataType
    from pyarrow import Table as ArrowTable

    from mercer.io.source import Source

_MICROSECONDS = 86_400e6
# Memory of a value in one of Mercer's arrays, and of a text besides its characters.
_PLACE, _WORD = 8, 60


def has_arrow() -> bool:
    """Whether pyarrow can be imported."""
    try:
        return find_spec("pyarrow") is not None
    except (ImportError, ValueError):  # its use has been disabled
        return False


def is_text(kind: "DataType") -> bool:
    """Whether an Arrow type is text, including dictionary-encoded text."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def of_arrow(table: "ArrowTable", source: "Source") -> ColumnFrame:
    """An Arrow table, column by column; a DataError of the `Source` if its texts take too much as objects."""
    size, arrays = table.nbytes, {}
    for name, came in zip(table.column_names, table.columns, strict=True):
        column = _encoded(came) if is_text(came.type) else came
        size += _PLACE * len(column) + (_WORD * len(column.dictionary) if hasattr(column, "dictionary") else 0)
        source.require_room(size)
        arrays[name] = column_array(column)
    return ColumnFrame(arrays)


def column_array(column: "ArrowArray | ChunkedArray") -> Array:
    """An Arrow column as a numpy array: numbers, dates, or objects."""
    import pyarrow as pa
    from pyarrow import compute

    types, kind = pa.types, column.type
    if types.is_float64(kind) and not column.null_count:
        return values_of(column)
    if is_text(kind):
        return _texts(_encoded(column))
    if types.is_dictionary(kind):
        return column_array(compute.cast(column, kind.value_type))
    if types.is_boolean(kind):
        return _texts(_encoded(compute.if_else(column, TRUTH[True], TRUTH[False])))
    if types.is_integer(kind) and not column.null_count:
        values = values_of(column)
        return values if values.dtype == np.uint64 and values.max(initial=0) >= 2**63 else values.astype(np.int64)
    if types.is_floating(kind) or types.is_decimal(kind):
        return _filled(compute.cast(column, pa.float64()), np.nan)
    if types.is_duration(kind):
        days = compute.cast(column, pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
        return _filled(days, np.nan) / _MICROSECONDS
    if types.is_date(kind):
        return _times(compute.cast(column, pa.date32()).cast(pa.int32()), "datetime64[D]")
    if types.is_timestamp(kind):
        return _times(compute.cast(column, pa.timestamp("us"), safe=False), "datetime64[us]")
    found = np.empty(len(column), dtype=object)
    found[:] = column.to_pylist()
    return found


def values_of(column: "ArrowArray | ChunkedArray") -> Array:
    """The numbers of a column; arbitrary where one is missing. pyarrow's own way would import pandas."""
    chunks, kind = column.chunks if hasattr(column, "chunks") else [column], np.dtype(column.type.to_pandas_dtype())
    found = [
        np.frombuffer(each.buffers()[1], kind, len(each), each.offset * kind.itemsize) for each in chunks if len(each)
    ]
    if not found:
        return np.empty(0, kind)
    return found[0] if len(found) == 1 else np.concatenate(found)


def _filled(column: "ArrowArray | ChunkedArray", value: float) -> Array:
    """The numbers of a column, with `value` where one is missing."""
    import pyarrow as pa

    if not column.null_count:
        return values_of(column)
    values = values_of(column).copy()
    values[values_of(column.is_null().cast(pa.uint8())) == 1] = value
    return values


def _times(column: "ArrowArray | ChunkedArray", kind: str) -> Array:
    """Dates as numpy's, from the integers that both use."""
    import pyarrow as pa

    return _filled(column.cast(pa.int64()), np.iinfo(np.int64).min).view(kind)


def _encoded(column: "ArrowArray | ChunkedArray") -> "ArrowArray":
    """Texts as a list of the distinct ones, and the position of each in it."""
    import pyarrow as pa

    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    found = column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return found if not isinstance(found, pa.ChunkedArray) else pa.concat_arrays(found.chunks)


def words_and_places(column: "ArrowArray | ChunkedArray") -> tuple[list[str], Array] | None:
    """The distinct texts of a column, and the place of each row's among them; None if it is no text, or has gaps."""
    if not is_text(column.type) or column.null_count:
        return None
    encoded = _encoded(column)
    return encoded.dictionary.to_pylist(), values_of(encoded.indices)


def _texts(encoded: "ArrowArray") -> Array:
    """Texts as objects, each distinct one created once."""
    words = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    return words[_filled(encoded.indices, len(words) - 1)]
