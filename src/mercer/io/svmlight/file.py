"""svmlight files of any size, read in batches or at once."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._types import FloatArray
from mercer.io.compressed import open_bytes
from mercer.io.svmlight.table import ANY_WIDTH, CHUNK, Layout, Table, tables_of, within

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SvmlightFile:
    r"""Batches (X, y) of an svmlight file; X is a CSR matrix, y has numbers.

    Memory is bounded by `chunk_bytes` and the longest line, whatever the size of the file. Each
    ``for`` loop reads the file from the beginning. The rows before a malformed line are
    yielded; then a `DataError` names the line.

    Parameters
    ----------
    path : str or Path
        Plain, or compressed: .gz, .xz, .bz2.
    n_features : int, optional
        Number of columns; by default, found by reading the file once.
    zero_based : bool, default=False
        Whether the first feature has index 0 instead of 1.
    dtype : float32 or float64
    chunk_bytes : int
        Bytes of text for a batch.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.io import SvmlightFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "three.svm"
    ...     _ = path.write_text("+1 1:0.5 3:2\n-1 2:1  # a comment\n+1\n")
    ...     [(X, y)] = SvmlightFile(path)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ],
           [0. , 0. , 0. ]])
    >>> y
    array([ 1., -1.,  1.])
    """

    if TYPE_CHECKING:
        _scan: tuple[FloatArray, int] | None

    def __init__(
        self,
        path: str | PathLike[str],
        n_features: int | None = None,
        zero_based: bool = False,
        dtype: DTypeLike = np.float64,
        chunk_bytes: int = CHUNK,
    ) -> None:
        if n_features is not None and (not isinstance(n_features, (int, np.integer)) or n_features < 1):
            raise ParameterError(f"n_features must be a positive integer or None, got {n_features!r}")
        if not isinstance(chunk_bytes, (int, np.integer)) or chunk_bytes < 1:
            raise ParameterError(f"chunk_bytes must be a positive integer, got {chunk_bytes!r}")
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ParameterError(f"dtype must be float32 or float64, got {dtype!r}")
        self.path, self.dtype, self.chunk_bytes = Path(path), np.dtype(dtype), int(chunk_bytes)
        self.first = 0 if zero_based else 1
        self._given, self._scan = n_features, None
        if not self.path.is_file():
            raise DataError(f"{str(path)!r} is not a file")

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._given if self._given is not None else self._scanned()[1]

    def labels(self) -> FloatArray:
        """The labels in the file, in order, from a reading of all of it."""
        return self._scanned()[0]

    def __iter__(self) -> "Iterator[tuple[csr_matrix, FloatArray]]":
        width = self.n_features
        for table in self._tables():
            values = table.values.astype(self.dtype)
            X = sparse.csr_matrix((values, table.indices, table.indptr), shape=(len(table), width))
            yield X, table.labels[:, 0]

    def read(self, memory_limit: int | str | None = None) -> "tuple[csr_matrix, FloatArray]":
        """All rows at once, in one reading: (X, y).

        The result takes at most `memory_limit` bytes, by default the free memory; in addition, memory is bounded as it
        is for batches.
        """
        most = available_bytes() if memory_limit is None else parse_bytes(memory_limit)
        parts = within(self._tables(), most, str(self.path))
        if not parts:
            raise DataError(f"{self.path}: the file has no rows")
        whole = Table.joined(parts, self.dtype)
        shape = (len(whole), self._given or max(1, whole.width))
        return sparse.csr_matrix((whole.values, whole.indices, whole.indptr), shape=shape), whole.labels[:, 0]

    def _scanned(self) -> tuple[FloatArray, int]:
        """(labels, number of features) up to the first malformed line, which a reader will meet."""
        if self._scan is None:
            labels, width, error = np.empty(0), 0, None
            try:
                for table in self._tables():
                    labels, width = np.union1d(labels, table.labels), max(width, table.width)
            except DataError as refused:
                error = refused
            if len(labels) == 0:
                raise error or DataError(f"{self.path}: the file has no rows")
            self._scan = labels, max(width, 1)
        return self._scan

    def _tables(self) -> Iterator[Table]:
        layout = Layout(first=self.first, n_features=self._given or ANY_WIDTH)
        with open_bytes(self.path) as file:
            yield from tables_of(file, str(self.path), layout, self.chunk_bytes)


def read_svmlight(
    path: str | PathLike[str],
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: DTypeLike = np.float64,
    *,
    memory_limit: int | str | None = None,
) -> "tuple[csr_matrix, FloatArray]":
    r"""Read all rows of an svmlight file at once.

    Parameters
    ----------
    path, n_features, zero_based, dtype
        As for `SvmlightFile`, which reads files that do not fit into memory in batches.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the rows may take; by default, the free memory.

    Returns
    -------
    X : CSR matrix of shape (n, d)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.io import read_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.svm"
    ...     _ = path.write_text("+1 1:0.5 3:2\n-1 2:1\n")
    ...     X, y = read_svmlight(path)
    >>> X.shape, y
    ((2, 3), array([ 1., -1.]))
    """
    return SvmlightFile(path, n_features, zero_based, dtype).read(memory_limit)
