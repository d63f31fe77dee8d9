"""The rows of a sheet, read by python-calamine after checking its extent."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

from mercer._errors import DataError, MissingExtraError
from mercer.io.sheets.extent import extent_of_ods, extent_of_xlsx

if TYPE_CHECKING:
    from mercer.io.source import Source

# Memory of a cell while a sheet is read: in the library, as a Python object, in a list, in an array.
_CELL = 100
# Memory of a character of a text: in the library, and in Python.
_CHARACTER = 3
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError, RuntimeError)


class Sheet(NamedTuple):
    """The cells of a sheet, row by row, from the first nonempty one; "" for an empty cell."""

    name: str
    first_row: int
    rows: list[list[Any]]


def read_sheet(source: "Source", kind: str, name: str | None) -> Sheet:
    """The sheet called `name`; by default, the only nonempty one."""
    content = source.read()
    _require_room(source, kind, content)
    with _opened(source, content) as (calamine, book):
        if name is not None:
            return _read(book, _named(source, book.sheet_names, name))
        shown = [
            each.name
            for each in book.sheets_metadata
            if each.typ == calamine.SheetTypeEnum.WorkSheet and each.visible == calamine.SheetVisibleEnum.Visible
        ]
        filled = [sheet for sheet in (_read(book, each) for each in shown) if sheet.rows]
    if not filled:
        raise DataError(f"{source.name}: the spreadsheet is empty")
    if len(filled) > 1:
        names = ", ".join(repr(sheet.name) for sheet in filled)
        raise DataError(f"{source.name}: has several sheets; choose one of {names} with table (--table)")
    return filled[0]


def _named(source: "Source", names: Sequence[str], name: str) -> str:
    if name in names:
        return name
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    listed = ", ".join(map(repr, names))
    raise DataError(f"{source.name}: has no sheet {name!r}{meant}; choose one of {listed} with table (--table)")


def _read(book: Any, name: str) -> Sheet:
    sheet = book.get_sheet_by_name(name)
    rows = sheet.to_python(skip_empty_area=True)
    return Sheet(name, 1 if sheet.start is None else sheet.start[0] + 1, rows)


def _require_room(source: "Source", kind: str, content: bytes) -> None:
    """Refuse a spreadsheet whose cells would take more memory than there is."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            source.require_room(sum(part.file_size for part in archive.infolist()))
            extent = (extent_of_xlsx if kind == "xlsx" else extent_of_ods)(archive)
    except DataError:
        raise
    except (*_DAMAGED, expat.ExpatError) as error:
        raise DataError(f"{source.name}: is not a valid spreadsheet: {error}") from error
    if extent.cells * _CELL + extent.characters * _CHARACTER > source.most:
        raise DataError(
            f"{source.name}: a sheet extends over {extent.cells:,} cells with {extent.characters:,} characters, which "
            f"do not fit into {source.most:,} bytes of memory; delete cells far away from the table, or allow more "
            "(memory_limit, --memory-limit)"
        )


@contextmanager
def _opened(source: "Source", content: bytes) -> Iterator[tuple[Any, Any]]:
    """(the library, the workbook); any error of the library about a damaged file becomes a DataError."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtraError(
            f"{source.name} is a spreadsheet, which needs python-calamine: pip install 'mercer[sheets]', or save it as "
            "CSV"
        ) from error
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            yield calamine, book
    except calamine.CalamineError as error:
        raise DataError(f"{source.name}: cannot be read as a spreadsheet: {error}") from error
    except BaseException as error:
        # The library, written in Rust, has met something unforeseen.
        if type(error).__name__ != "PanicException":
            raise
        raise DataError(f"{source.name}: cannot be read as a spreadsheet") from error
