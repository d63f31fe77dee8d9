"""Columns that a database or a typed file keeps as texts, though they look like numbers: 1.234,56 or 12 %.

If a format states the types of its columns, they stand. Whoever stored such a column as text may not be aware of it,
so there is a note on it.
"""

from collections import Counter

import numpy as np

from mercer.io.column_notes import ColumnNote
from mercer.io.csv.judgement import Words, judged
from mercer.kernels.table.column import Column
from mercer.kernels.table.column_frame import ColumnFrame

# Rows examined.
_ROWS = 1000


def notes_on_texts(frame: ColumnFrame, left_alone: tuple[str, ...] = ()) -> list[ColumnNote]:
    """A note on each column of texts that are numbers in an unusual way of writing; none on those in `left_alone`."""
    head = frame[np.arange(min(len(frame), _ROWS))]
    words = {name: _words(head.column(name)) for name in frame.names if name not in left_alone}
    verdicts = judged({name: found for name, found in words.items() if found.words}, None, "")
    return [
        ColumnNote(name, "mixed", f"looks like numbers, but holds texts: {words[name].words[0]!r}")
        for name, verdict in verdicts.items()
        if verdict.form is not None and not verdict.strangers and verdict.note is not None
    ]


def _words(column: Column) -> Words:
    """The words of a column of texts; none if it has other values."""
    values = column.as_came() if column.kind in ("category", "text") else []
    present = [value for value in values if value is not None]
    counts = Counter(present if all(isinstance(value, str) for value in present) else [])
    return Words(list(counts), list(counts.values()))
