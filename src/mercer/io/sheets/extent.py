"""How much a spreadsheet contains, before a library makes a table of it.

Cells state their own positions, so one cell far away, or a row declared to repeat a million times, makes a small
file a table that does not fit into memory; and a long text that is stored once may be in every cell.
"""

import re
import zipfile
from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

_PIECE = 2**20
_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
_SHARED = re.compile(rb'<c\b[^>]*\bt="s"[^>]*>\s*<v>([0-9]{1,9})</v>')
# A cell may be split between two pieces; the part that matters is not longer than this.
_OVERLAP = 256
_LETTERS = 26
_STRINGS = "xl/sharedStrings.xml"


class Extent(NamedTuple):
    """Cells from the first to the last of the largest sheet, including empty ones, and characters in all of them."""

    cells: int
    characters: int


def extent_of_xlsx(archive: zipfile.ZipFile) -> Extent:
    """The extent of a workbook, whose texts may be stored once for all cells that contain them."""
    parts = [name for name in archive.namelist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)]
    lengths = _lengths_of_strings(archive) if _STRINGS in archive.namelist() else []
    found = [_of_part(archive, name, lengths) for name in parts]
    return Extent(max((each.cells for each in found), default=0), max((each.characters for each in found), default=0))


def _of_part(archive: zipfile.ZipFile, name: str, lengths: list[int]) -> Extent:
    columns: set[bytes] = set()
    first, last, characters, tail = 2**31, -1, 0, b""
    for piece in _pieces(archive, name):
        text = tail + piece
        for column, row in _CELL.findall(text):
            columns.add(column)
            first, last = min(first, int(row)), max(last, int(row))
        end = 0
        for match in _SHARED.finditer(text):
            place, end = int(match[1]), match.end()
            characters += lengths[place] if place < len(lengths) else 0
        # What was counted is not counted again.
        tail = text[max(end, len(text) - _OVERLAP) :]
    places = [_place(column) for column in columns]
    cells = (last - first + 1) * (max(places) - min(places) + 1) if places else 0
    return Extent(cells, characters)


def _lengths_of_strings(archive: zipfile.ZipFile) -> list[int]:
    lengths: list[int] = []

    def begins(tag: str, _attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "si":
            lengths.append(0)

    def has(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = begins, has
    _parse(parser, archive, _STRINGS)
    return lengths


def _place(letters: bytes) -> int:
    place = 0
    for letter in letters:
        place = _LETTERS * place + letter - ord("A") + 1
    return place


def extent_of_ods(archive: zipfile.ZipFile) -> Extent:
    """The extent of an OpenDocument spreadsheet, where a cell or a row may be declared to repeat many times."""
    counter = _RepeatedCells()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = counter.begins, counter.ends
    parser.CharacterDataHandler = counter.has
    _parse(parser, archive, "content.xml")
    return Extent(counter.most, counter.characters)


class _RepeatedCells:
    """Counts rows up to the last nonempty one, times cells up to the last nonempty one; and their texts."""

    def __init__(self) -> None:
        self.most = self.characters = self._rows = self._times = self._width = self._cells = self._filled = 0
        self._repeated = self._long = 0

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "table:table":
            self._rows = self._width = 0
        elif tag == "table:table-row":
            self._cells = self._filled = self._long = 0
            self._times = _times(attributes, "table:number-rows-repeated")
            self._rows += self._times
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self._repeated = _times(attributes, "table:number-columns-repeated")
            self._cells += self._repeated
            if any(name.startswith("office:") for name in attributes):
                self._filled = self._cells
                self._long += self._repeated * sum(map(len, attributes.values()))

    def has(self, text: str) -> None:
        self._long += self._repeated * len(text)

    def ends(self, tag: str) -> None:
        if tag == "table:table-row" and self._filled:
            self._width = max(self._width, self._filled)
            self.most = max(self.most, self._rows * self._width)
            self.characters += self._times * self._long


def _times(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    return int(text) if text.isdigit() and len(text) < 10 else 10**9


def _parse(parser: expat.XMLParserType, archive: zipfile.ZipFile, name: str) -> None:
    for piece in _pieces(archive, name):
        parser.Parse(piece, False)
    parser.Parse(b"", True)


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(name) as part:
        while piece := part.read(_PIECE):
            yield piece
