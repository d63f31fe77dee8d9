"""svmlight files of any size, read in batches or at once."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer.io.compressed import open_bytes
from mercer.io.nearest_double import powers_of_five
from mercer.io.svmlight_lines import LABEL, REASONS, VALUE, parse_lines

# Bytes of text read at a time, and the longest line that is believed to be one.
CHUNK = 4 * 2**20
LONGEST_LINE = 256 * 2**20
_ANY = 2**31 - 1
_TOKEN = re.compile(rb"[^\s#]+")


class SvmlightFile:
    r"""Batches (X, y) of an svmlight file; X is a CSR matrix, y holds numbers.

    Memory is bounded by `chunk_bytes` and the longest line, whatever the size of the file. Each
    ``for`` loop reads the file from the beginning. The rows before a line that is malformed are
    given out; then a `DataError` names the line.

    Parameters
    ----------
    path : str or Path
        Plain, or compressed: .gz, .xz, .bz2.
    n_features : int, optional
        Number of columns; found by reading the file once, unless told.
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

    def __init__(self, path, n_features=None, zero_based=False, dtype=np.float64, chunk_bytes=CHUNK):
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
    def n_features(self):
        """Number of columns."""
        return self._given if self._given is not None else self._scanned()[1]

    def labels(self):
        """The labels in the file, in order, from a reading of all of it."""
        return self._scanned()[0]

    def __iter__(self):
        width = self.n_features
        for indptr, indices, values, labels in self._tables(width):
            X = sparse.csr_matrix((values.astype(self.dtype), indices, indptr), shape=(len(labels), width))
            yield X, labels

    def read(self):
        """All rows at once, from one reading: (X, y).

        Beside the result, memory is bounded as it is for batches.
        """
        parts = list(self._tables(self._given or _ANY))
        if not parts:
            raise DataError(f"{self.path}: the file has no rows")
        indptr, indices, values, labels = (list(each) for each in zip(*parts, strict=True))
        del parts
        width = self._given or max(1, 1 + max(int(part.max(initial=-1)) for part in indices))
        arrays = _joined(values, self.dtype), _joined(indices), _joined_ends(indptr)
        return sparse.csr_matrix(arrays, shape=(len(arrays[2]) - 1, width)), _joined(labels)

    def _scanned(self):
        """(labels, number of features) up to the first malformed line, which a reader will meet."""
        if self._scan is None:
            labels, width, error = np.empty(0), 0, None
            try:
                for _, indices, _, found in self._tables(self._given or _ANY):
                    labels = np.union1d(labels, found)
                    width = max(width, int(indices.max(initial=-1)) + 1)
            except DataError as refused:
                error = refused
            if len(labels) == 0:
                raise error or DataError(f"{self.path}: the file has no rows")
            self._scan = labels, max(width, 1)
        return self._scan

    def _tables(self, width):
        """(indptr, indices, values, labels) of each chunk of whole lines."""
        lines_before = 0
        for text in self._chunks():
            table, lines, fault = _parse(text, self.first, width)
            if len(table[3]):
                yield table
            if fault:
                raise self._refusal(text, fault, lines_before + lines + 1, width)
            lines_before += lines

    def _chunks(self):
        """Text of whole lines, about `chunk_bytes` at a time."""
        rest = b""
        try:
            with open_bytes(self.path) as file:
                while block := file.read(self.chunk_bytes):
                    whole, newline, after = block.rpartition(b"\n")
                    if newline:
                        yield rest + whole + newline
                        rest = after
                    else:
                        rest += block
                    if len(rest) > LONGEST_LINE:
                        raise DataError(f"{self.path}: a line is longer than {LONGEST_LINE} bytes")
        except (EOFError, OSError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self.path}: the file cannot be read to its end: {error}") from error
        if rest:
            yield rest + b"\n"

    def _refusal(self, text, fault, line, width):
        shown = text[fault.line : fault.line + 200].split(b"\n")[0][:80].decode("latin-1")
        why = REASONS[fault.reason].format(first=self.first, n_features=width)
        column = fault.place - fault.line + 1
        return DataError(f"{self.path}, line {line}, column {column}: {why}; the line begins {shown!r}")


def read_svmlight(path, n_features=None, zero_based=False, dtype=np.float64):
    r"""All rows of an svmlight file, in one reading.

    Parameters
    ----------
    path, n_features, zero_based, dtype
        As for `SvmlightFile`, whose batches are for files that do not fit into memory.

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
    return SvmlightFile(path, n_features, zero_based, dtype).read()


def _joined(parts, dtype=None):
    """One array; each part is let go as soon as it has been copied."""
    out = np.empty(sum(map(len, parts)), dtype or parts[0].dtype)
    end = len(out)
    while parts:
        part = parts.pop()
        out[end - len(part) : end] = part
        end -= len(part)
    return out


def _joined_ends(parts):
    """The ends of all rows, of parts that each count from 0."""
    counts = np.concatenate([np.diff(part) for part in parts])
    kind = np.int32 if int(counts.sum(dtype=np.int64)) < 2**31 else np.int64
    return np.concatenate([np.zeros(1, kind), np.cumsum(counts, dtype=kind)])


@dataclass(frozen=True)
class _Fault:
    """Why a line is refused, where in the text it begins, and where it errs."""

    reason: int
    line: int
    place: int


def _parse(text, first, width):
    """((indptr, indices, values, labels), lines read, fault or None) of some whole lines."""
    n_rows, n_entries = text.count(b"\n"), text.count(b":")
    labels, indptr = np.empty(n_rows), np.empty(n_rows + 1, np.int32)
    values, indices = np.empty(n_entries), np.empty(n_entries, np.int32)
    slow, places = np.empty(n_rows + n_entries, np.int64), np.empty(n_rows + n_entries, np.int64)
    rows, lines, left, reason, line, place = parse_lines(
        np.frombuffer(text, np.uint8), first, width, powers_of_five(),
        labels, indptr, indices, values, slow, places,
    )  # fmt: skip
    fault = _Fault(reason, line, place) if reason else None
    for number, at in zip(slow[:left].tolist(), places[:left].tolist(), strict=True):
        row = -1 - number if number < 0 else int(np.searchsorted(indptr[: rows + 1], number, side="right")) - 1
        if row >= rows:
            break  # of the line that is refused
        value = float(_TOKEN.match(text, at).group())
        if not np.isfinite(value):
            rows, lines = row, text.count(b"\n", 0, at)
            fault = _Fault(LABEL if number < 0 else VALUE, text.rfind(b"\n", 0, at) + 1, at)
            break
        if number < 0:
            labels[row] = value
        else:
            values[number] = value
    used = int(indptr[rows])
    return (indptr[: rows + 1], indices[:used], values[:used], labels[:rows]), lines, fault
