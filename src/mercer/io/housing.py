"""Boston housing (Harrison & Rubinfeld 1978), read from the user's own file; nothing is downloaded.

The data set is available in four formats, which are recognised by their contents:

- ``housing.data``: 14 numbers per line, separated by blanks;
- the StatLib file: some lines about the data, then each row on two lines;
- CSV with a line of names, in either case, possibly with row numbers in front;
- CSV as once shipped with scikit-learn: a line of counts before the names.
"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._types import BoolArray, FloatArray

COLUMNS = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT", "MEDV")
# Other names that files use.
ALIASES = {"BLACK": "B", "PRICE": "MEDV", "TARGET": "MEDV"}
ROWS = 506
# The largest of these files has about 50 kB.
MOST_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class Housing:
    """Rows of the data set.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        A row for each tract.
    price : ndarray of shape (n,)
        MEDV: the median value of a home there, in thousands of dollars.
    columns : list of str
        Of X.
    """

    X: np.ndarray
    price: np.ndarray
    columns: list

    @property
    def is_dear(self) -> BoolArray:
        """Whether each price is above the median of all."""
        return self.price > np.median(self.price)


def read_boston_housing(
    path: str | PathLike[str], *, without: str | Iterable[str] = (), n_rows: int | None = ROWS
) -> Housing:
    r"""Read the Boston housing data from a file in any of its usual formats.

    Parameters
    ----------
    path : str or path
    without : sequence of str
        Columns to leave out of X. "B" was computed from the share of Black residents, by a formula that assumes that
        people pay for segregation; scikit-learn withdrew the data because of it.
    n_rows : int or None
        How many rows there must be: the whole set has 506. None accepts any number.

    Returns
    -------
    Housing

    Examples
    --------
    Two made-up rows in the format of ``housing.data``:

    >>> import tempfile, pathlib
    >>> from mercer.io import read_boston_housing
    >>> rows = "0.1 0 7 0 0.5 6.2 65 4.1 4 300 17 390 5 24\n0.3 0 8 0 0.5 5.9 80 3.9 4 310 18 380 14 19\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "housing.data"
    ...     _ = path.write_text(rows)
    ...     housing = read_boston_housing(path, without=["B"], n_rows=None)
    >>> housing.X.shape, housing.price, housing.is_dear
    ((2, 12), array([24., 19.]), array([ True, False]))
    """
    kept = _kept(without)
    table = _table(_text(path), path)
    if n_rows is not None and len(table) != n_rows:
        raise DataError(f"{path} must have {n_rows} rows, got {len(table)}; n_rows=None accepts any number")
    return Housing(table[:, kept], table[:, -1].copy(), [COLUMNS[k] for k in kept])


def _kept(without: str | Iterable[str]) -> list[int]:
    asked = [without] if isinstance(without, str) else list(without)
    strange = [name for name in asked if name not in COLUMNS[:-1]]
    if strange:
        raise ParameterError(f"without must name columns among {', '.join(COLUMNS[:-1])}, got {strange[0]!r}")
    kept = [k for k, name in enumerate(COLUMNS[:-1]) if name not in asked]
    if not kept:
        raise ParameterError("without must leave at least one column, got all of them")
    return kept


def _text(path: str | PathLike[str]) -> str:
    size = Path(path).stat().st_size
    if size > MOST_BYTES:
        raise DataError(f"{path} has {size:,} bytes, too many for the Boston housing data, which have about 50,000")
    return Path(path).read_text(encoding="utf-8-sig", errors="replace")


def _table(text: str, path: str | PathLike[str]) -> FloatArray:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    for number, line in lines[:2]:
        names = [_canonical(name) for name in next(csv.reader([line]))]
        if "MEDV" in names:
            return _with_header(names, [each for each in lines if each[0] > number], path)
    return _without_header(lines, path)


def _canonical(name: str) -> str:
    name = name.strip().strip("\"'").upper()
    return ALIASES.get(name, name)


def _with_header(names: list[str], lines: Iterable[tuple[int, str]], path: str | PathLike[str]) -> FloatArray:
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise DataError(f"{path} has no column {missing[0]}; the columns must be {', '.join(COLUMNS)}")
    places = [names.index(name) for name in COLUMNS]
    rows = []
    for number, line in lines:
        cells = next(csv.reader([line]))
        if len(cells) != len(names):
            raise DataError(f"{path}, line {number}: there are {len(cells)} values for {len(names)} columns")
        rows.append([_number(cells[k], path, number, name) for k, name in zip(places, COLUMNS, strict=True)])
    return _stacked(rows, path)


def _without_header(lines: Iterable[tuple[int, str]], path: str | PathLike[str]) -> FloatArray:
    """14 numbers per row, on one line or wrapped over several; lines before the first row are about the data."""
    cells = [(number, line.replace(",", " ").split()) for number, line in lines]
    begin = next((k for k, (_, parts) in enumerate(cells) if _is_row(parts)), None)
    if begin is None:
        raise DataError(
            f"{path} has neither a line of names with MEDV nor rows of {len(COLUMNS)} numbers; it must be "
            "housing.data, the StatLib file, or a CSV file of the Boston housing data"
        )
    rows, row, first = [], [], 0
    for number, parts in cells[begin:]:
        first = first if row else number
        row += [_number(part, path, number, COLUMNS[min(len(row) + k, 13)]) for k, part in enumerate(parts)]
        if len(row) > len(COLUMNS):
            raise DataError(f"{path}, line {first}: a row must have {len(COLUMNS)} numbers, got {len(row)}")
        if len(row) == len(COLUMNS):
            rows.append(row)
            row = []
    if row:
        raise DataError(f"{path}, line {first}: the last row must have {len(COLUMNS)} numbers, got {len(row)}")
    return _stacked(rows, path)


def _is_row(parts: Sequence[str]) -> bool:
    """Whether a line begins a row: all of it, or the eleven numbers of StatLib's first line."""
    return len(parts) >= 11 and all(_is_number(part) for part in parts)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(text: str, path: str | PathLike[str], number: int, name: str) -> float:
    if not _is_number(text):
        said = f"{text!r}" if text.strip() else "an empty value"
        raise DataError(f"{path}, line {number}: {name} must be a finite number, got {said}")
    return float(text)


def _stacked(rows: list[list[float]], path: str | PathLike[str]) -> FloatArray:
    if not rows:
        raise DataError(f"{path} has no rows after its names")
    return np.array(rows, dtype=np.float64)
