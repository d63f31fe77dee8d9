"""Tables of delimited text: CSV, tab-separated and the like.

If pyarrow is installed, it reads them at its own speed; otherwise Python's csv module does, which
also finds the faulty line if a file is refused. The contents of a column are the same either way: pyarrow is trusted
with plain numbers, and all other words are judged by `mercer.io.csv.judgement`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mercer._errors import ParameterError
from mercer.io.column_notes import ColumnNote
from mercer.io.csv.by_arrow import read_by_arrow
from mercer.io.csv.delimiters import delimiter_of, require_delimiter, require_marks
from mercer.io.csv.lines import MISSING, Lines
from mercer.io.csv.numbers import Form
from mercer.io.tables import has_arrow
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from mercer.io.source import Source

# Bytes that a value takes while it is read: as Arrow's number and numpy's, or as Python's text, number and numpy's.
_CELL_OF_ARROW, _CELL_OF_PYTHON = 16, 110


def read_delimited(
    source: "Source",
    *,
    text: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    missing: Iterable[str] = MISSING,
    decimal: str | None = None,
    forms: Mapping[str, Form] | None = None,
) -> tuple[ColumnFrame, list[ColumnNote]]:
    """(the table of a `Source` of delimited text, notes on its columns).

    Columns named in `text` are texts even if they look like numbers; `missing` are the words
    for missing values. `forms` are given for a part of a file: see `Lines`.
    """
    source.require_room()
    require_marks(delimiter, decimal)
    lines = Lines(source, delimiter or delimiter_of(source), header, missing, decimal, forms)
    names = lines.names()
    require_delimiter(source, lines.delimiter, names)
    unknown = [name for name in text if name not in names]
    if unknown:
        raise ParameterError(
            f"text names {unknown[0]!r}; the columns of {source.name} are {', '.join(map(repr, names))}"
        )
    if not has_arrow():
        _require_room_for_cells(source, lines.delimiter, _CELL_OF_PYTHON)
        columns, notes = lines.columns(text)
        return ColumnFrame.of_lists(columns, source.name), notes
    _require_room_for_cells(source, lines.delimiter, _CELL_OF_ARROW)
    return read_by_arrow(lines, names, text)


def _require_room_for_cells(source: "Source", delimiter: str, each: int) -> None:
    """Refuse a file whose values would take more memory than there is, before reading them."""
    # A value and its separator are at least two bytes: most files are small enough to need no count.
    if source.is_plain and source.size * each // 2 <= source.most:
        return
    marks, size = (delimiter.encode(), b"\n"), 0
    for piece in source.pieces():
        size += each * sum(map(piece.count, marks)) + (0 if source.is_plain else len(piece))
        source.require_room(size)
