"""Tables of delimited text: CSV, tab-separated and the like.

pyarrow reads them where it is installed, at its own speed; Python's csv module does otherwise, and
also finds the line that is to blame when a file is refused.
"""

import io
import re

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer.io.delimited_lines import MISSING, SOME_NUMBERS, Lines, not_a_number
from mercer.io.frames import has_arrow, table_of

# Bytes looked at in one go: they stay in the processor's cache.
_BLOCK = 2**18
DELIMITERS = (",", ";", "\t", "|")
_QUOTE = b'"'
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_CONVERSION = re.compile(r"column #(\d+).*conversion error to (\w+)", re.DOTALL)


def read_delimited(source, *, text=(), header=True, delimiter=None, missing=MISSING):
    """The table of a `Source` of delimited text.

    Columns named in `text` are texts even where they look like numbers; `missing` are the words
    that stand for no value.
    """
    source.require_room()
    lines = Lines(source, delimiter or _delimiter(source), header, missing)
    names = lines.names()
    unknown = [name for name in text if name not in names]
    if unknown:
        raise ParameterError(f"text names the column {unknown[0]!r}; {source.name} has {', '.join(map(repr, names))}")
    if not has_arrow():
        return table_of(lines.columns(text), source.name)
    table = _by_arrow(lines, names, text)
    if not table.num_rows:
        raise DataError(f"{source.name}: there is a header, but no row below it")
    _require_clean_numbers(lines, table, text)
    return table


def _delimiter(source):
    """The candidate that the first line has most of."""
    if source.ending in (".tsv", ".tab"):
        return "\t"
    first = source.head().split(b"\n")[0]
    return max(DELIMITERS, key=lambda mark: first.count(mark.encode()))


def _by_arrow(lines, names, text):
    import pyarrow as pa
    from pyarrow import csv

    types, content = dict.fromkeys(text, pa.string()), lines.source.plain_path
    if content is None:
        # Unpacked once, though it is looked at twice.
        content = lines.source.read()
    quotes = _quotes(lines.source.name, content)
    if sum(quotes) % 2:
        lines.find_fault(set())
    for _ in range(len(names) + 1):
        try:
            return _arrow_table(csv, lines, content, names, types, quotes[1] > 0)
        except pa.ArrowInvalid as error:
            if not _as_real_numbers(pa, str(error), names, types):
                # The csv module says where; if it finds nothing wrong, Arrow has the last word.
                lines.find_fault({name for name, kind in types.items() if kind == pa.float64()})
                raise DataError(f"{lines.source.name}: not a sound table of text: {error}") from error
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{lines.source.name}: cannot be read to its end: {error}") from error
    raise DataError(f"{lines.source.name}: the columns do not keep to one type")


def _arrow_table(csv, lines, content, names, types, has_quotes):
    options = {
        "read_options": csv.ReadOptions(column_names=names, skip_rows=0, skip_rows_after_names=lines.rows_of_header()),
        "parse_options": csv.ParseOptions(delimiter=lines.delimiter, newlines_in_values=has_quotes),
        "convert_options": csv.ConvertOptions(
            column_types=types,
            null_values=list(lines.missing),
            strings_can_be_null=True,
            # Truth values stay texts, see `mercer.io.frames`.
            true_values=[],
            false_values=[],
        ),
    }
    return csv.read_csv(io.BytesIO(content) if isinstance(content, bytes) else content, **options)


def _quotes(name, content):
    """How many quotation marks there are in the first line, and in all others.

    A value in quotes may hold line breaks, for which pyarrow gives up reading in parallel; names of columns may not.
    """
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb", buffering=0) as file:
            first = file.readline().count(_QUOTE)
            buffer, rest = bytearray(_BLOCK), 0
            while (size := file.readinto(buffer)) > 0:
                # Most files have none, which is sooner found out than how many there are.
                if buffer.find(_QUOTE, 0, size) >= 0:
                    rest += int(np.count_nonzero(np.frombuffer(buffer, np.uint8, size) == ord(_QUOTE)))
    except OSError as error:
        raise DataError(f"{name}: cannot be read to its end: {error}") from error
    return first, rest


def _as_real_numbers(pa, message, names, types):
    """Whether a column that began as whole numbers is to be read again, as real ones or as texts."""
    found = _CONVERSION.search(message)
    if found is None:
        return False
    name, kind = names[int(found[1])], found[2]
    if kind.startswith(("int", "null", "timestamp", "date", "time")) and name not in types:
        types[name] = pa.float64() if kind.startswith("int") else pa.string()
        return True
    return False


def _require_clean_numbers(lines, table, text):
    """Refuse a column of numbers with a few words in it, which would otherwise be read as categories."""
    import pyarrow as pa
    from pyarrow import compute

    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in text or not pa.types.is_string(column.type):
            continue
        # Most columns of words have few different ones: each is looked at once.
        found = compute.value_counts(column.drop_null())
        is_number = compute.match_substring_regex(found.field("values"), _NUMBER)
        counts = found.field("counts")
        share = (compute.sum(counts.filter(is_number)).as_py() or 0) / max(1, compute.sum(counts).as_py() or 0)
        if SOME_NUMBERS <= share < 1.0:
            words = found.field("values").filter(compute.invert(is_number))
            row = min(compute.index(column, word).as_py() for word in words)
            raise not_a_number(lines, name, row, column[row].as_py())
