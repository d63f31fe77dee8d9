"""Parquet and Arrow files as whole tables; what they declare is checked before memory is taken."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError, MissingExtraError
from mercer.io.tables import is_text, of_arrow

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow import Table as ArrowTable

    from mercer.io.source import Source
    from mercer.kernels.table.column_frame import ColumnFrame

# What a value takes, in the table and as part of a row of numbers.
_BYTES = 16
# Rows that a byte of a file may stand for; equal values are packed tightly, but who learns from so many?
_ROWS_A_BYTE = 1000


def read_parquet(source: "Source") -> "ColumnFrame":
    """The table of a Parquet file."""
    pa = _pyarrow()
    from pyarrow import parquet

    return _read(pa, source, lambda file: _parquet(parquet, file, source))


def read_arrow(source: "Source") -> "ColumnFrame":
    """The table of an Arrow (Feather, IPC) file."""
    pa = _pyarrow()
    return _read(pa, source, lambda file: _ipc(pa, file, source))


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("Arrow and Parquet files need pyarrow; pip install 'mercer[arrow]'") from error
    return pa


def _read(pa: Any, source: "Source", read: "Callable[[NativeFile], ArrowTable]") -> "ColumnFrame":
    try:
        if source.plain_path is not None:
            with pa.memory_map(str(source.plain_path)) as file:
                return of_arrow(_with_rows(read(file), source), source)
        return of_arrow(_with_rows(read(pa.BufferReader(source.read())), source), source)
    except (pa.ArrowException, OSError, EOFError, OverflowError) as error:
        raise DataError(f"{source.name}: cannot be read: {error}") from error


def _parquet(parquet: Any, file: "NativeFile", source: "Source") -> "ArrowTable":
    import pyarrow as pa

    with parquet.ParquetFile(file) as opened:
        _require_room(opened.metadata.num_rows, opened.metadata.num_columns, source)
        texts = [field.name for field in opened.schema_arrow if is_text(field.type)]
    # By codes: the same long text in many rows is there once.
    with parquet.ParquetFile(file, read_dictionary=texts) as opened:
        parts = (opened.read_row_group(k) for k in range(opened.num_row_groups))
        return pa.concat_tables(_within(parts, source)) if opened.num_row_groups else opened.read()


def _ipc(pa: Any, file: "NativeFile", source: "Source") -> "ArrowTable":
    with pa.ipc.open_file(file) as opened:
        batches = _within((opened.get_batch(k) for k in range(opened.num_record_batches)), source)
        _require_room(sum(batch.num_rows for batch in batches), len(opened.schema), source)
        table = pa.Table.from_batches(batches, opened.schema)
        table.validate(full=True)
        return table


def _within(parts: Iterable[Any], source: "Source") -> list[Any]:
    """The parts of a table as a list, as long as there is memory for them."""
    found, size = [], 0
    for part in parts:
        size += part.nbytes
        source.require_room(size)
        found.append(part)
    return found


def _require_room(rows: int, columns: int, source: "Source") -> None:
    needed = max(rows, 0) * max(columns, 1) * _BYTES
    if rows < 0 or rows > _ROWS_A_BYTE * source.size:
        raise DataError(f"{source.name}: declares {rows:,} rows in {source.size:,} bytes, which is not believable")
    if needed > source.most:
        raise DataError(
            f"{source.name}: declares {rows:,} rows of {columns} columns, which take {needed:,} bytes of memory; "
            f"there are {source.most:,}. Choose rows first, or learn from blocks (mercer.io.Blocks)"
        )


def _with_rows(table: "ArrowTable", source: "Source") -> "ArrowTable":
    if not table.num_rows:
        raise DataError(f"{source.name}: there are no rows")
    twice = next((name for k, name in enumerate(table.column_names) if name in table.column_names[:k]), None)
    if twice is not None:
        raise DataError(f"{source.name}: the column {twice!r} is there twice; rename one")
    return table
