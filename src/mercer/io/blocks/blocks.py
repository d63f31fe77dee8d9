"""`Blocks`: data of any size, read block by block, repeatedly."""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, IndexArray
from mercer.io.blocks.choice import ChosenMatrix, ChosenTable, RowChoice
from mercer.io.blocks.mapped import FeatureMap, MappedRows
from mercer.io.blocks.open import open_reader
from mercer.io.blocks.reader import MatrixReader, TableReader, sorted_words
from mercer.io.blocks.stack import Room, Stack, fresh
from mercer.io.csv.lines import MISSING
from mercer.io.csv.numbers import Form, value_of
from mercer.kernels.table.column_frame import ColumnFrame


class Block(NamedTuple):
    """Rows (a `ColumnFrame`, an array or a CSR matrix), their targets, and their weights, if any."""

    rows: Any
    targets: Array | None
    weights: Array | None


class Blocks:
    r"""Data as blocks of rows, each of which can be read separately and repeatedly.

    It holds a description of the data (paths, ranges of bytes or rows), not the data themselves: a copy sent to another
    process is small, and reads them there. Data already in memory (an array, an Arrow table) stay as they are.

    Parameters
    ----------
    source : path, arrays, Arrow table or dataset, or sequence of blocks
        A file of Parquet, Arrow (IPC), CSV or svmlight, or a folder of files of one of these with the same columns; a
        file of `np.save`; a matrix (also `np.memmap`, CSR, or an array of zarr or h5py), or a tuple (X, y) or (X, y,
        sample_weight); a pyarrow Table or a dataset of files; a sequence of such tuples, one per block.
    target : str, array or path, optional
        The column to predict, or the targets of a matrix. Blocks without a target can only be predicted.
    columns : list of str, optional
        The columns to learn from; by default, all but `target` and `weight`.
    weight : str, array or path, optional
        The column of sample weights, or the weights that go with a matrix.
    block_rows : int, optional
        The most rows in a block, except one that cannot be divided: a Parquet row group, a compressed file. By default
        it depends on the number of columns, and is at most 131072.
    text : list of str
        Columns to read as text or labels even if they look like numbers.
    missing : list of str
        Words in a CSV file that stand for a missing value.
    header : bool, default=True
        Whether the first line of a CSV file names the columns.
    delimiter : str, optional
        The delimiter of a CSV file; by default, found from the first line.
    decimal : {".", ","}, optional
        The decimal mark of a CSV file; by default, found from the first rows.
    encoding : str, optional
        The encoding of a CSV file; by default UTF-8, or as its byte order mark says. A file in another encoding is one
        block.
    n_features : int, optional
        The number of columns of svmlight data; by default, found by reading them once.
    zero_based : bool, default=False
        Whether the first feature of svmlight data has index 0 instead of 1.

    Attributes
    ----------
    sizes : list of int
        Rows of each block.
    n_rows : int
    names : list of str or None
        The columns to learn from, if they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.io import Blocks
    >>> X, y = np.arange(10.0).reshape(5, 2), np.array([0, 1, 0, 1, 1])
    >>> blocks = Blocks((X, y), block_rows=2)
    >>> blocks.sizes, blocks.block(1).rows.tolist(), blocks.block(1).targets.tolist()
    ([2, 2, 1], [[4.0, 5.0], [6.0, 7.0]], [0, 1])
    """

    def __init__(  # noqa: PLR0913 - what can be said of any format, by name
        self,
        source: Any,
        target: Any = None,
        columns: Sequence[str] | None = None,
        weight: Any = None,
        block_rows: int | None = None,
        *,
        text: Sequence[str] = (),
        missing: Sequence[str] = MISSING,
        header: bool = True,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        n_features: int | None = None,
        zero_based: bool = False,
    ) -> None:
        is_count = isinstance(block_rows, int | np.integer) and not isinstance(block_rows, bool)
        if block_rows is not None and (not is_count or block_rows < 1):
            raise ParameterError(f"block_rows must be a positive integer or None, got {block_rows!r}")
        texts = {
            "header": header, "delimiter": delimiter, "missing": missing, "decimal": decimal, "encoding": encoding,
        }  # fmt: skip
        vectors = {"n_features": n_features, "zero_based": zero_based}
        self._reader: Any = open_reader(source, target, weight, block_rows, texts, vectors)
        self.is_table = hasattr(self._reader, "columns")
        self._kept: dict[int, tuple[Array | None, Array | None]] = {}
        self.target: str | None = None
        self.weight: str | None = None
        self.names: list[str] | None = None
        self.text: tuple[str, ...] = ()
        if self.is_table:
            self._choose(target, columns, weight, tuple(text))
        elif columns is not None or text or isinstance(target, str) != _is_path(source, target):
            raise ParameterError("columns, text and a target by name need a table; the source has rows of numbers")
        if not self.n_rows:
            raise DataError("there are no rows: every file or block is empty")

    def _choose(self, target: Any, columns: Sequence[str] | None, weight: Any, text: tuple[str, ...]) -> None:
        for argument, value in (("target", target), ("weight", weight)):
            if value is not None and not isinstance(value, str):
                raise ParameterError(f"{argument} must be the name of a column here, got {type(value).__name__}")
        self.target, self.weight = self._known("target", target), self._known("weight", weight)
        beside = (self.target, self.weight)
        wanted = self._reader.names if columns is None else columns
        self.names = [cast(str, self._known("columns", name)) for name in wanted if name not in beside]
        if not self.names:
            raise DataError("there is no column to learn from besides the target")
        for name in self.names:
            if self._reader.kinds.get(name) == "object":
                raise DataError(f"column {name!r} must hold numbers, dates or texts; choose other columns (columns=)")
        self._set_text(tuple(cast(str, self._known("text", name)) for name in text))

    def _known(self, argument: str, name: str | None) -> str | None:
        names = self._reader.names
        if name is None or name in names:
            return name
        close = get_close_matches(str(name), names, n=1, cutoff=0.5)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        listed = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
        raise DataError(f"there is no column {name!r}{meant}, which {argument} names; the columns are {listed}")

    def _set_text(self, text: tuple[str, ...]) -> None:
        self.text = text
        if hasattr(self._reader, "with_text"):
            self._reader = self._reader.with_text(text)

    def with_text(self, names: Sequence[str]) -> Self:
        """The same blocks with these columns, if present, read as text too."""
        beside = [name for name in names if name not in self.text and name in self._reader.names]
        if not beside:
            return self
        other = copy.copy(self)
        other._set_text((*self.text, *beside))
        other._kept = {} if self.target in beside else self._kept
        return other

    def with_columns(self, names: Sequence[str]) -> Self:
        """The same blocks of a table with these columns to learn from, in this order."""
        other = copy.copy(self)
        gone = [name for name in names if name not in self._reader.names]
        if gone:
            raise DataError(f"{self.place(0)}: there is no column {gone[0]!r}, which the model was fitted to")
        other.names = list(names)
        return other

    def with_target_as_text(self) -> "Blocks | None":
        """The same blocks with the target read as text; None if it is text already, or absent."""
        inner = self._reader.blocks if isinstance(self._reader, MappedRows) else self
        if inner.target is None or inner.target in inner.text:
            return None
        return inner.with_text([inner.target])

    def chosen(self, choice: RowChoice) -> Self:
        """A subset of the rows; blocks without any are dropped."""
        other = copy.copy(self)
        other._reader = (ChosenTable if self.is_table else ChosenMatrix)(self._reader, choice)
        other._kept = {}
        if not other.n_rows:
            raise DataError(f"none of {self.n_rows:,} rows was chosen; choose a larger share")
        return other

    def mapped(self, feature_map: FeatureMap) -> Self:
        """The same blocks with features as rows: a `FeatureMap` computes those of each block when it is read."""
        other = copy.copy(self)
        other._reader, other.is_table, other.text = MappedRows(self, feature_map), False, ()
        other.names = other.target = other.weight = None
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": {}}

    def __repr__(self) -> str:
        return f"Blocks({self.n_rows:,} rows in {len(self)} blocks)"

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def sizes(self) -> list[int]:
        return list(self._reader.sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._reader.sizes)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, number of columns to learn from)."""
        return self.n_rows, self.n_columns

    @property
    def n_bytes(self) -> int:
        """Size of the source in bytes, as stored."""
        return int(self._reader.n_bytes)

    @property
    def is_sparse(self) -> bool:
        """Whether rows come as CSR matrices."""
        return not self.is_table and bool(cast(MatrixReader, self._reader).is_sparse)

    @property
    def has_targets(self) -> bool:
        """Whether there is a target."""
        return self.target is not None if self.is_table else bool(self._reader.has_targets)

    @property
    def n_columns(self) -> int:
        """Number of columns to learn from."""
        return len(self.names) if self.names is not None else int(self._reader.n_features)

    def columns(self, i: int, names: Sequence[str] | None = None) -> Iterator[tuple[str, Array]]:
        """(name, values) of columns of block i, one after the other; by default those to learn from."""
        found = cast(TableReader, self._reader).columns(i, cast(list[str], self.names) if names is None else names)
        for name, values in found:
            if name in self.text and values.dtype.kind != "O":
                yield name, ColumnFrame({name: values}).with_texts([name]).arrays[name]
            else:
                yield name, values

    def matrix(self, i: int, dtype: DTypeLike | None = None, room: Room | None = None) -> Any:
        """The rows of block i as finite numbers: an array (n, d) or a CSR matrix, of `dtype` if given.

        An array may be stored in `room` (`mercer.io.blocks.stack.Room`), and is then overwritten by the next block.
        """
        if isinstance(self._reader, MappedRows):
            return self._reader.matrix(i, dtype or np.float64, room)
        if self.is_table:
            return self._stacked(i, dtype or np.float64, room)
        X = self._numbers(i)
        return X if dtype is None else _as_rows(X, dtype, room or fresh)

    def _numbers(self, i: int) -> Any:
        X = cast(MatrixReader, self._reader).matrix(i)
        if X.dtype.kind not in "fiub":
            raise DataError(f"{self.place(i)}: rows of numbers were expected, got {X.dtype}")
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values).all():
            raise self._not_finite(i, X)
        return X

    def _stacked(self, i: int, dtype: DTypeLike, room: Room | None) -> Array:
        found = Stack(self.sizes[i], self.n_columns, dtype, room, is_filled=True)
        for j, (name, values) in enumerate(self.columns(i)):
            if values.dtype.kind not in "fiu":
                raise DataError(
                    f"{self.place(i)}, column {name!r}: numbers were expected, got texts, dates or missing values; "
                    "make_pipeline(TableFeatures(), ...) turns them into features"
                )
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values))[0])
                raise DataError(
                    f"{self.place(i, row)}, column {name!r}: a finite number was expected, got {values[row]}; "
                    "make_pipeline(TableFeatures(), ...) fills in missing values"
                )
            found.column(j)[:] = values
        return found.finished()

    def _not_finite(self, i: int, X: Any) -> DataError:
        if sparse.issparse(X):
            entry = int(np.flatnonzero(~np.isfinite(X.data))[0])
            row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
            value = X.data[entry]
        else:
            row, column = (int(each) for each in np.argwhere(~np.isfinite(X))[0])
            value = X[row, column]
        return DataError(
            f"{self.place(i, row)}, column {column}: a finite number was expected, got {value}; correct it, or leave "
            "the row out"
        )

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        """(targets, weights) of block i; None for those that are absent."""
        return self._kept[i] if i in self._kept else self._read_targets(i)

    def labels_of(self, i: int) -> tuple[Array, IndexArray, Array | None]:
        """(the distinct targets of block i, sorted, the place of each row's among them, weights or None)."""
        if isinstance(self._reader, MappedRows):
            return self._reader.blocks.labels_of(i)
        read = getattr(self._reader, "words", None)
        found = None if read is None or self.weight is not None or i in self._kept else read(i, self.target)
        if found is not None:
            return *sorted_words(*found), None
        y, weights = self.targets(i)
        return *np.unique(cast(Array, y), return_inverse=True), weights

    def keep_targets(self, i: int, found: tuple[Array | None, Array | None]) -> None:
        """Keep targets read in passing: they stay in memory, since a format may have no quick way to them."""
        self._kept[i] = found

    def _read_targets(self, i: int) -> tuple[Array | None, Array | None]:
        if not self.is_table:
            y, weights = cast(MatrixReader, self._reader).targets(i)
            return (None if y is None else self._sound_target(i, y)), weights
        wanted = [name for name in (self.target, self.weight) if name is not None]
        return self.split_targets(i, dict(self.columns(i, wanted)))

    def split_targets(self, i: int, found: dict[str, Array]) -> tuple[Array | None, Array | None]:
        """(targets, weights) from columns of block i that have been read."""
        y = None if self.target is None else self._sound_target(i, found[self.target])
        if self.weight is None:
            return y, None
        if found[self.weight].dtype.kind not in "fiu":
            raise DataError(f"{self.place(i)}, column {self.weight!r}: weights must be numbers")
        return y, found[self.weight].astype(np.float64)

    def _sound_target(self, i: int, y: Array) -> Array:
        """Targets as numbers or text, with none missing."""
        none: Any = None
        gone = np.isnan(y) if y.dtype.kind == "f" else y == none if y.dtype == "O" else np.zeros(0, bool)
        if gone.any():
            row, name = int(np.flatnonzero(gone)[0]), "" if self.target is None else f" {self.target!r}"
            raise DataError(f"{self.place(i, row)}: the target{name} has no value; leave such rows out")
        if y.dtype.kind == "O":
            places = {each: k for k, each in enumerate(dict.fromkeys(y.tolist()))} if isinstance(y[0], str) else {}
            if places and all(isinstance(each, str) for each in places):
                # A few words in many rows, each created once.
                return np.array(list(places))[np.fromiter(map(places.__getitem__, y.tolist()), np.intp, len(y))]
            is_whole = all(isinstance(each, int) for each in y)
            return y.astype(np.int64) if is_whole else np.array([str(each) for each in y])
        if y.dtype.kind not in "iufbU":
            raise DataError(f"{self.place(i)}: the target {self.target!r} must hold numbers or texts, got {y.dtype}")
        return y

    def block(self, i: int) -> Block:
        """Rows, targets and weights of block i."""
        if not 0 <= i < len(self):
            raise ParameterError(f"i must be from 0 to {len(self) - 1}, got {i!r}")
        rows = ColumnFrame(dict(self.columns(i))) if self.is_table else self.matrix(i)
        return Block(rows, *(self.targets(i) if self.has_targets else (None, None)))

    def place(self, i: int, row: int | None = None) -> str:
        """The location of block i, or of one of its rows, for messages."""
        return str(self._reader.place(i, row))

    @property
    def find_fault(self) -> Callable[[int, str], None] | None:
        """For CSV: raise the error that names the line where a column of a block is not numeric."""
        return getattr(self._reader, "find_fault", None)

    def is_number(self, name: str, word: str) -> bool:
        """Whether a word of a column is a number in that column's notation."""
        forms = getattr(self._reader, "forms", {})
        return value_of(word, forms.get(name, Form())) is not None

    def labels(self) -> Array:
        """The distinct targets, sorted, from a pass over the targets alone."""
        return np.unique(np.concatenate([self.labels_of(i)[0] for i in range(len(self))]))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """(X, y), or (X, y, weights), of each block, with rows of finite numbers: for `fit_stream`."""
        for i in range(len(self)):
            y, weights = self.targets(i)
            yield (self.matrix(i), y) if weights is None else (self.matrix(i), y, weights)


def _as_rows(X: Any, dtype: DTypeLike, room: Room) -> Any:
    if sparse.issparse(X):
        return X.astype(dtype, copy=False)
    if X.dtype == dtype and X.flags.c_contiguous:
        return X
    found = room("rows", X.shape, dtype)
    found[:] = X
    return found


def _is_path(source: Any, target: Any) -> bool:
    """Whether a target is the path of an array that accompanies a matrix."""
    return isinstance(target, str) and isinstance(source, str | os.PathLike)
