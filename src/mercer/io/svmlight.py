"""svmlight files of any size, read in batches."""

from pathlib import Path

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer.io.compressed import open_bytes
from mercer.io.svmlight_lines import LABEL, REASONS, VALUE, doubles, parse_lines

# Bytes of text read at a time, and the longest line that is believed to be one.
CHUNK = 4 * 2**20
LONGEST_LINE = 256 * 2**20
_ANY = 2**31 - 1


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
            table, lines, reason, place = _parse(text, self.first, width)
            line = lines_before + lines + 1
            bad = _not_finite(table)
            if bad is not None:
                table, reason, place, line = _before(text, table, *bad, lines_before)
            if len(table[3]):
                yield table
            if reason:
                raise self._refusal(text, reason, place, line, width)
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
            yield rest

    def _refusal(self, text, reason, place, line, width):
        shown = text[place : place + 200].split(b"\n")[0][:80].decode("latin-1")
        why = REASONS[reason].format(first=self.first, n_features=width)
        return DataError(f"{self.path}, line {line}: {why}; the line begins {shown!r}")


def _parse(text, first, width):
    """((indptr, indices, values, labels), lines read, reason, place) of some whole lines."""
    n_rows, n_entries = text.count(b"\n") + 1, text.count(b":")
    labels, label_powers, label_places = (
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )
    indptr, indices = np.empty(n_rows + 1, np.int32), np.empty(n_entries, np.int32)
    values, powers, places = (np.empty(n_entries, np.int64) for _ in range(3))
    rows, lines, reason, place = parse_lines(
        np.frombuffer(text, np.uint8), first, width, labels, label_powers, label_places,
        indptr, indices, values, powers, places,
    )  # fmt: skip
    used = indptr[rows] if rows else 0
    numbers = doubles(text, values[:used], powers[:used], places[:used])
    found = doubles(text, labels[:rows], label_powers[:rows], label_places[:rows])
    return (indptr[: rows + 1], indices[:used], numbers, found), lines, reason, place


def _not_finite(table):
    """(row, reason) of the first number that overflows, or None."""
    indptr, _, values, labels = table
    rows = [(int(k), LABEL) for k in np.flatnonzero(~np.isfinite(labels))[:1]]
    rows += [
        (int(np.searchsorted(indptr, k, side="right")) - 1, VALUE) for k in np.flatnonzero(~np.isfinite(values))[:1]
    ]
    return min(rows, default=None)


def _before(text, table, row, reason, lines_before):
    """The table cut before `row`, and where its line is."""
    indptr, indices, values, labels = table
    end = indptr[row]
    contents = text.split(b"\n")
    filled = [k for k, content in enumerate(contents) if content.split(b"#")[0].strip()]
    line = filled[row]
    place = sum(len(content) + 1 for content in contents[:line])
    return (indptr[: row + 1], indices[:end], values[:end], labels[:row]), reason, place, lines_before + line + 1
