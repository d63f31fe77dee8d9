"""Arrow and Parquet data of any size, read in batches."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError, MissingExtraError, ParameterError
from mercer._types import Array, FloatArray

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray
    from pyarrow import RecordBatch

ROWS = 65_536


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("Arrow and Parquet files need pyarrow; pip install 'mercer[arrow]'") from error
    return pa


class ArrowBatches:
    """Batches (X, y), or (X, y, sample_weight), of columns of Arrow data.

    Parameters
    ----------
    source : path, pyarrow Table, Dataset, RecordBatchReader, or iterable of RecordBatch
        A path ends in .parquet, or in .arrow, .feather or .ipc (IPC files). A reader can be read
        once, everything else as often as wanted.
    target : str, default="y"
        The column of labels: numbers, booleans or words.
    features : list of str, optional
        Columns of numbers, or one column of lists of equal length; every column but `target` and
        `weight`, unless told.
    weight : str, optional
        A column of sample weights.
    dtype : float32 or float64
    batch_rows : int
        Most rows of a batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mercer.io import ArrowBatches
    >>> table = pa.table({"a": [1.0, 2.0], "b": [0.5, 0.0], "y": ["no", "yes"]})
    >>> [(X, y)] = ArrowBatches(table)
    >>> X
    array([[1. , 0.5],
           [2. , 0. ]])
    >>> y
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        source: Any,
        target: str = "y",
        features: Sequence[str] | None = None,
        weight: str | None = None,
        dtype: DTypeLike = np.float64,
        batch_rows: int = ROWS,
    ) -> None:
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ParameterError(f"dtype must be float32 or float64, got {dtype!r}")
        if not isinstance(batch_rows, (int, np.integer)) or batch_rows < 1:
            raise ParameterError(f"batch_rows must be a positive integer, got {batch_rows!r}")
        self._pyarrow = _pyarrow()
        if isinstance(source, (str, Path)) and not Path(source).is_file():
            raise DataError(f"{str(source)!r} is not a file")
        self.source, self.target, self.features, self.weight = source, target, features, weight
        self.dtype, self.batch_rows = np.dtype(dtype), int(batch_rows)

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        batches = self._batches(self._wanted())
        return self._converted(batches)

    def labels(self) -> Array:
        """The labels, in order, from a reading of their column alone."""
        if isinstance(self.source, self._pyarrow.RecordBatchReader):
            raise ParameterError("classes needs batches that can be read again, got a RecordBatchReader; pass classes=")
        found, first = None, 0
        for batch in self._batches([self.target]):
            here = np.unique(self._labels(batch, first))
            found = here if found is None else np.union1d(found, here)
            first += batch.num_rows
        if found is None:
            raise DataError("the Arrow data have no rows")
        return found

    def _wanted(self) -> list[str] | None:
        """Columns to read; None reads all."""
        if self.features is None:
            return None
        return [*self.features, self.target, *([] if self.weight is None else [self.weight])]

    def _batches(self, columns: list[str] | None) -> "Iterator[RecordBatch]":
        """Record batches of at most `batch_rows` rows."""
        for batch in self._record_batches(columns):
            for begin in range(0, batch.num_rows, self.batch_rows):
                yield batch.slice(begin, self.batch_rows)

    def _record_batches(self, columns: list[str] | None) -> "Iterator[RecordBatch]":
        pa, source = self._pyarrow, self.source
        try:
            if isinstance(source, (str, Path)):
                yield from self._from_file(Path(source), columns)
            elif isinstance(source, pa.Table):
                yield from source.to_batches(max_chunksize=self.batch_rows)
            elif hasattr(source, "to_batches"):
                yield from source.to_batches(columns=columns, batch_size=self.batch_rows)
            else:
                yield from source
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"the Arrow data cannot be read: {error}") from error

    def _from_file(self, path: Path, columns: list[str] | None) -> "Iterator[RecordBatch]":
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names
                # All of them where one is missing: the error says what there is.
                known = columns if columns is None or set(columns) <= set(names) else None
                yield from file.iter_batches(batch_size=self.batch_rows, columns=known)
            return
        with self._pyarrow.memory_map(str(path)) as mapped, self._pyarrow.ipc.open_file(mapped) as file:
            for k in range(file.num_record_batches):
                yield file.get_batch(k)

    def _converted(self, batches: "Iterable[RecordBatch]") -> Iterator[tuple[Array, ...]]:
        first = 0
        for batch in batches:
            y = self._labels(batch, first)
            names = self.features or [n for n in batch.schema.names if n not in (self.target, self.weight)]
            columns = [self._numbers(batch, name, first) for name in names]
            X = np.column_stack(columns).astype(self.dtype, order="C", copy=False)
            yield (X, y) if self.weight is None else (X, y, self._numbers(batch, self.weight, first))
            first += batch.num_rows

    def _column(self, batch: "RecordBatch", name: str, first: int) -> "ArrowArray":
        if name not in batch.schema.names:
            raise DataError(f"the Arrow data have no column {name!r}; they have {', '.join(batch.schema.names)}")
        column = batch.column(name)
        if column.null_count:
            row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(f"column {name!r} has no value in row {row}")
        return column

    def _numbers(self, batch: "RecordBatch", name: str, first: int) -> FloatArray:
        """A column as numbers: (n,), or (n, k) for a column of lists."""
        column = self._column(batch, name, first)
        types = self._pyarrow.types
        if types.is_fixed_size_list(column.type):
            return self._real(column.flatten(), name).reshape(len(column), -1)
        return self._real(column, name)

    def _real(self, column: "ArrowArray", name: str) -> FloatArray:
        types = self._pyarrow.types
        if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
            raise DataError(f"column {name!r} must hold numbers, got {column.type}")
        return column.to_numpy(zero_copy_only=False).astype(np.float64)

    def _labels(self, batch: "RecordBatch", first: int) -> Array:
        column = self._column(batch, self.target, first)
        if self._pyarrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        values = column.to_numpy(zero_copy_only=False)
        return values.astype(str) if values.dtype.kind == "O" else values
