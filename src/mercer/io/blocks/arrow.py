"""Parquet row groups, batches of Arrow files, and tables and datasets of pyarrow as blocks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mercer._errors import DataError, MissingExtraError
from mercer._types import Array
from mercer.io.blocks.reader import joined, rows_of_block
from mercer.io.tables import column_array, is_text, words_and_places

if TYPE_CHECKING:
    from pyarrow import ChunkedArray, DataType, Schema


def pyarrow() -> Any:
    """The module, or an error that names the extra."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("Arrow and Parquet data need pyarrow; pip install 'mercer[arrow]'") from error
    return pa


class ArrowFiles:
    """Blocks of Parquet or Arrow (IPC) files with the same columns: row groups or batches, small ones joined.

    A row group is never split, since a part of it cannot be read without the rest; its size decides the memory of a
    block.
    """

    def __init__(self, paths: Sequence[Path], block_rows: int | None) -> None:
        self.paths = [Path(path) for path in paths]
        self._parts: list[tuple[int, int, int]] = []  # (file, first part, part after the last) of each block
        self.sizes: list[int] = []
        self._rows_before: list[int] = []
        self.n_bytes = sum(path.stat().st_size for path in self.paths)
        found = [_guarded(path, _parts_of) for path in self.paths]
        # What writes a folder in parts leaves some without rows, whose types may be anything.
        filled = [k for k, (_, rows) in enumerate(found) if sum(rows)]
        self._first = filled[0] if filled else 0
        self._columns = Columns(found[self._first][0], self.paths[self._first])
        self.names, self.kinds = self._columns.names, self._columns.kinds
        for k in filled:
            schema, rows = found[k]
            self._require_same(Columns(schema, self.paths[k]), self.paths[k])
            before = list(accumulate(rows, initial=0))
            for begin, end in joined(rows, rows_of_block(block_rows, len(self.names))):
                if before[end] > before[begin]:
                    self._parts.append((k, begin, end))
                    self.sizes.append(before[end] - before[begin])
                    self._rows_before.append(before[begin])

    def _require_same(self, here: "Columns", path: Path) -> None:
        first, block = self.paths[self._first], len(self.sizes)
        gone = [name for name in self.names if name not in here.names]
        new = [name for name in here.names if name not in self.names]
        if gone or new:
            what = f"has no column {gone[0]!r}" if gone else f"has the column {new[0]!r}"
            raise DataError(
                f"block {block}, {path}: the file {what}, unlike {first}; all files must have the same columns: "
                "write it again, or leave the file out"
            )
        for name, kind in here.kinds.items():
            if kind != self.kinds[name]:
                raise DataError(
                    f"block {block}, {path}, column {name!r}: {self._columns.types[name]} was expected, as in {first}, "
                    f"got {here.types[name]}; write it with one type"
                )

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        with self._opened(i, names) as read:
            yield from self._columns.arrays(names, read)

    def words(self, i: int, name: str) -> tuple[list[str], Array] | None:
        """The distinct texts of a column of block i, and the place of each row's; None if not all are texts."""
        if self.kinds[name] != "text" or self._columns.is_in_list(name):
            return None
        with self._opened(i, [name]) as read:
            return words_and_places(read(name))

    @contextmanager
    def _opened(self, i: int, names: Sequence[str]) -> Iterator[Callable[[str], Any]]:
        """What reads a column of block i by its name; an error names the block."""
        k, begin, end = self._parts[i]
        opened = _open_parquet if _is_parquet(self.paths[k]) else _open_ipc
        try:
            with opened(self.paths[k], [name for name in names if self.kinds[name] == "text"]) as read:
                yield lambda name: read(name, begin, end)
        except (pyarrow().ArrowException, OSError, EOFError, IndexError, UnicodeDecodeError) as error:
            raise DataError(f"{self.place(i)}: cannot be read: {error}; was the file cut short?") from error

    def place(self, i: int, row: int | None = None) -> str:
        k, begin, end = self._parts[i]
        what = "row groups" if _is_parquet(self.paths[k]) else "batches"
        if row is not None:
            return f"block {i}, {self.paths[k]}, row {self._rows_before[i] + row}"
        return f"block {i}, {self.paths[k]}, {what} {begin} to {end - 1}"


class ArrowTable:
    """Blocks of a pyarrow Table in memory."""

    def __init__(self, table: Any, block_rows: int | None) -> None:
        self.table, self.n_bytes = table, table.nbytes
        self._columns = Columns(table.schema, "the table")
        self.names, self.kinds = self._columns.names, self._columns.kinds
        self.block_rows = rows = rows_of_block(block_rows, len(self.names))
        self.sizes = [min(rows, table.num_rows - k) for k in range(0, table.num_rows, rows)]

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        part = self.table.slice(i * self.block_rows, self.block_rows)
        return self._columns.arrays(names, part.column)

    def place(self, i: int, row: int | None = None) -> str:
        first = i * self.block_rows
        return f"block {i}, row {first + row}" if row is not None else f"block {i}, rows from {first}"


def files_of_dataset(source: Any) -> list[Path] | None:
    """The files of a pyarrow dataset of Parquet or Arrow files; None for any other."""
    files = getattr(source, "files", None)
    if files is None or not files or any(not Path(file).is_file() for file in files):
        return None
    return [Path(file) for file in files]


def kind_of_type(kind: "DataType") -> str:
    """The kind of an Arrow column, as `mercer.io.tables` reads it."""
    types = pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    if is_text(kind) or types.is_boolean(kind):
        return "text"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_duration(kind)
    return "number" if is_number else "object"


class Columns:
    """The columns of a schema; a column of equal-length lists counts as several, named x[0], x[1], ..."""

    def __init__(self, schema: "Schema", path: object) -> None:
        twice = next((name for k, name in enumerate(schema.names) if name in schema.names[:k]), None)
        if twice is not None:
            raise DataError(f"{path}: the column {twice!r} occurs twice; rename one")
        self.names: list[str] = []
        self.kinds: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self._within: dict[str, tuple[str, int]] = {}
        for field in schema:
            is_list = pyarrow().types.is_fixed_size_list(field.type)
            names = [f"{field.name}[{k}]" for k in range(field.type.list_size)] if is_list else [field.name]
            kind = kind_of_type(field.type.value_type if is_list else field.type)
            self.names += names
            self.kinds.update(dict.fromkeys(names, kind))
            self.types.update(dict.fromkeys(names, str(field.type)))
            if is_list:
                self._within.update({name: (field.name, k) for k, name in enumerate(names)})

    def is_in_list(self, name: str) -> bool:
        """Whether a column is a place of equal-length lists."""
        return name in self._within

    def arrays(self, names: Sequence[str], read: Callable[[str], Any]) -> Iterator[tuple[str, Array]]:
        """(name, values) of some columns, each read once by `read(name)`."""
        last, lists = "", np.empty((0, 0))
        for name in names:
            if name not in self._within:
                yield name, _column(read(name))
                continue
            whole, k = self._within[name]
            if whole != last:
                found = read(whole)
                if found.null_count:
                    raise DataError(f"column {whole!r} has rows without a list; leave them out")
                from pyarrow import compute

                flat = column_array(compute.list_flatten(found))
                last, lists = whole, flat.reshape(len(found), -1)
            yield name, lists[:, k]


def _column(values: Any) -> Array:
    """A column as in `ColumnFrame`; integers with missing values become floats."""
    pa = pyarrow()
    if pa.types.is_integer(values.type) and values.null_count:
        values = values.cast(pa.float64(), safe=False)
    return column_array(values)


def _is_parquet(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _guarded(path: Path, read: Callable[[Path], Any]) -> Any:
    pa = pyarrow()
    try:
        return read(path)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}; was the file cut short? Write it again") from error


def _parts_of(path: Path) -> tuple[Any, list[int]]:
    """(schema, rows of each row group or batch) of a file."""
    if _is_parquet(path):
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            about = file.metadata
            return file.schema_arrow, [about.row_group(k).num_rows for k in range(about.num_row_groups)]
    pa = pyarrow()
    with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as file:
        return file.schema, [file.get_batch(k).num_rows for k in range(file.num_record_batches)]


# (name, first part, part after the last) -> the column, read separately, so that no block is held twice.
Read: TypeAlias = "Callable[[str, int, int], ChunkedArray]"


@contextmanager
def _open_parquet(path: Path, texts: list[str]) -> Iterator[Read]:
    from pyarrow import parquet

    # Dictionary-encoded: a long text in many rows is stored once.
    with parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        yield lambda name, begin, end: file.read_row_groups(
            range(begin, end), columns=[name], use_threads=False
        ).column(name)


@contextmanager
def _open_ipc(path: Path, _texts: list[str]) -> Iterator[Read]:
    pa = pyarrow()
    with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as file:
        yield lambda name, begin, end: pa.chunked_array([file.get_batch(k).column(name) for k in range(begin, end)])
