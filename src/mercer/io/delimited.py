"""Tables of delimited text: CSV, tab-separated and the like.

pyarrow reads them where it is installed, at its own speed; Python's csv module does otherwise, and
also finds the line that is to blame when a file is refused.
"""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer.io.delimited_lines import MISSING, SOME_NUMBERS, Lines, not_a_number
from mercer.io.frames import has_arrow, is_text, table_of
from mercer.io.quotation import look_through

# Bytes that a thread of pyarrow takes at a time: twice the default has fewer pieces to put together.
BLOCK = 2**21
DELIMITERS = (",", ";", "\t", "|")
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_CONVERSION = re.compile(r"column #(\d+).*conversion error to (\w+)", re.DOTALL)


def read_delimited(source, *, text=(), header=True, delimiter=None, missing=MISSING, coded=None):
    """The table of a `Source` of delimited text.

    Columns named in `text` are texts even where they look like numbers; `missing` are the words
    that stand for no value. The column `coded`, if it begins with a word, comes as Arrow's dictionary.
    """
    source.require_room()
    lines = Lines(source, delimiter or _delimiter(source), header, missing)
    names = lines.names()
    unknown = [name for name in text if name not in names]
    if unknown:
        raise ParameterError(f"text names the column {unknown[0]!r}; {source.name} has {', '.join(map(repr, names))}")
    if not has_arrow():
        return table_of(lines.columns(text), source.name)
    table = _by_arrow(lines, names, _known_types(lines, names, text, coded))
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


def _known_types(lines, names, text, coded):
    """Types of columns that need not be found out."""
    import pyarrow as pa

    types = dict.fromkeys(text, pa.string())
    if coded in names and (coded in text or lines.begins_with_word(names.index(coded))):
        types[coded] = pa.dictionary(pa.int32(), pa.string())
    return types


def _by_arrow(lines, names, types):
    import pyarrow as pa

    reading = _Reading(lines, names, types)
    for _ in range(len(names) + 1):
        try:
            return reading.table()
        except pa.ArrowInvalid as error:
            if not _as_real_numbers(pa, str(error), names, types):
                # The csv module says where; if it finds nothing wrong, Arrow has the last word.
                lines.find_fault({name for name, kind in types.items() if kind == pa.float64()})
                raise DataError(f"{lines.source.name}: not a sound table of text: {error}") from error
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{lines.source.name}: cannot be read to its end: {error}") from error
    raise DataError(f"{lines.source.name}: the columns do not keep to one type")


class _Reading:
    """One file read by pyarrow, in parallel where no value holds a line break; `types` may change between readings."""

    def __init__(self, lines, names, types):
        self.lines, self.names, self.types = lines, names, types
        # Unpacked once, though it is looked at twice.
        self.content = lines.source.read() if lines.source.plain_path is None else None
        self.is_serial = False

    def table(self):
        """The table; raises what pyarrow does."""
        import pyarrow as pa

        path = self.lines.source.plain_path
        with pa.memory_map(str(path)) if self.content is None else pa.BufferReader(self.content) as file:
            found = None if self.is_serial else self._in_parallel(pa, file)
            return self._read(file, True) if found is None else found

    def _in_parallel(self, pa, file):
        """The table, or None if a line break in quotes makes it doubtful, which is looked for meanwhile."""
        content = np.frombuffer(file.read_buffer(), dtype=np.uint8)
        with ThreadPoolExecutor(1) as pool:
            looking, found = pool.submit(look_through, content), None
            try:
                found = self._read(file, False)
            except pa.ArrowInvalid:
                if looking.result() is None:
                    raise
        if looking.result() is None:
            return found
        is_odd, lines = looking.result()
        if is_odd:
            # pyarrow would not say where.
            self.lines.find_fault(set())
        self.is_serial = found is None or found.num_rows + self.lines.rows_of_header() != lines
        return None if self.is_serial else found

    def _read(self, file, may_break):
        from pyarrow import csv

        file.seek(0)
        header = self.lines.rows_of_header()
        return csv.read_csv(
            file,
            csv.ReadOptions(block_size=BLOCK, column_names=self.names, skip_rows_after_names=header),
            csv.ParseOptions(delimiter=self.lines.delimiter, newlines_in_values=may_break),
            csv.ConvertOptions(
                column_types=self.types,
                null_values=list(self.lines.missing),
                strings_can_be_null=True,
                # Truth values stay texts, see `mercer.io.frames`.
                true_values=[],
                false_values=[],
            ),
        ).unify_dictionaries()


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
        if name in text or not is_text(column.type):
            continue
        if not _may_hold_numbers(column):
            continue
        words, counts = _different(column)
        is_number = compute.match_substring_regex(words, _NUMBER)
        share = (compute.sum(counts.filter(is_number)).as_py() or 0) / max(1, compute.sum(counts).as_py() or 0)
        if SOME_NUMBERS <= share < 1.0:
            texts = column.cast(pa.string())
            row = min(compute.index(texts, word).as_py() for word in words.filter(compute.invert(is_number)))
            raise not_a_number(lines, name, row, texts[row].as_py())


def _may_hold_numbers(column):
    """Whether a word of a column by codes is a number; anything may be in another."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return True
    return compute.any(compute.match_substring_regex(column.chunk(0).dictionary, _NUMBER)).as_py()


def _different(column):
    """(the different texts of a column, how often each is there): most columns of words have few."""
    from pyarrow import compute

    found = compute.value_counts(column.drop_null() if column.null_count else column)
    words, counts = found.field("values"), found.field("counts")
    return (words.dictionary_decode() if hasattr(words, "dictionary") else words), counts
