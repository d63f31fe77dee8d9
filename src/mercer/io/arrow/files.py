"""Parquet and Arrow files as whole tables; their declared sizes are checked before memory is allocated."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mercer._errors import DataError, MissingExtraError
from mercer.io.source import Source
from mercer.io.tables import is_text, of_arrow

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow import Table as ArrowTable

    from mercer.kernels.table.column_frame import ColumnFrame

# Memory that a value takes, in the table and in a row of numbers.
_BYTES = 16
# Rows that a byte of a file may stand for; equal values compress well, but no real data have more.
_ROWS_A_BYTE = 1000


def read_parquet(source: "Source") -> "ColumnFrame":
    """The table of a Parquet file, or of a folder of such files with the same columns."""
    pa = _pyarrow()
    if source.is_folder:
        return _joined(pa, source)
    with _opened(pa, source) as file:
        return of_arrow(_with_rows(_parquet(file, source), source), source)


def read_arrow(source: "Source") -> "ColumnFrame":
    """The table of an Arrow (Feather, IPC) file."""
    pa = _pyarrow()
    with _opened(pa, source) as file:
        return of_arrow(_with_rows(_ipc(pa, file, source), source), source)


def _joined(pa: Any, source: "Source") -> "ColumnFrame":
    """The rows of all files of a folder, with the columns of the first, in types that hold the values of all."""
    paths = sorted(each for each in cast(Path, source.path).iterdir() if not each.name.startswith((".", "_")))
    tables: list[Any] = []
    for path in paths:
        part = Source(path, max(0, source.most - sum(table.nbytes for table in tables)))
        with _opened(pa, part) as file:
            tables.append(_parquet(file, part))
        _require_same(tables[0].column_names, tables[-1].column_names, path, paths[0])
    schema = tables[0].schema
    for path, table in zip(paths, tables, strict=True):
        try:
            schema = pa.unify_schemas([schema, table.schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise DataError(f"{path}: its types differ from those of {paths[0].name}: {error}; use the same") from error
    whole = pa.concat_tables([table.select(schema.names).cast(schema) for table in tables])
    return of_arrow(_with_rows(whole, source), source)


def _require_same(first: list[str], names: list[str], path: Path, other: Path) -> None:
    """Refuse a file whose columns differ from the first."""
    gone = [name for name in first if name not in names]
    new = [name for name in names if name not in first]
    if gone or new:
        what = f"has no column {gone[0]!r}" if gone else f"has the column {new[0]!r}"
        raise DataError(
            f"{path}: the file {what}, unlike {other.name}; all files of a folder must have the same columns: write it "
            "again, or leave the file out"
        )


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("Arrow and Parquet files need pyarrow; pip install 'mercer[arrow]'") from error
    return pa


@contextmanager
def _opened(pa: Any, source: "Source") -> "Iterator[NativeFile]":
    """The file; anything wrong with it is a DataError."""
    try:
        if source.plain_path is not None:
            with pa.memory_map(str(source.plain_path)) as file:
                yield file
        else:
            yield pa.BufferReader(source.read())
    except (pa.ArrowException, OSError, EOFError, OverflowError, UnicodeDecodeError) as error:
        raise DataError(f"{source.name}: cannot be read: {error}") from error


def _parquet(file: "NativeFile", source: "Source") -> "ArrowTable":
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        _require_room(opened.metadata.num_rows, opened.metadata.num_columns, source)
        texts = [field.name for field in opened.schema_arrow if is_text(field.type)]
    # By codes, so that a long text repeated in many rows is stored once.
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
        raise DataError(f"{source.name}: declares {rows:,} rows in {source.size:,} bytes, which is implausible")
    if needed > source.most:
        raise DataError(
            f"{source.name}: declares {rows:,} rows of {columns} columns, which take {needed:,} bytes of memory, but "
            f"only {source.most:,} are available; choose some rows first, or learn from blocks (mercer.io.Blocks)"
        )


def _with_rows(table: "ArrowTable", source: "Source") -> "ArrowTable":
    if not table.num_rows:
        raise DataError(f"{source.name}: there are no rows")
    twice = next((name for k, name in enumerate(table.column_names) if name in table.column_names[:k]), None)
    if twice is not None:
        raise DataError(f"{source.name}: the column {twice!r} occurs twice; rename one")
    return table
