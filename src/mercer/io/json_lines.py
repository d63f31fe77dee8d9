"""JSON lines: one object per line, whose keys are the columns."""

import json
from sys import getsizeof
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from mercer.io.source import Source

# Memory for a reference to a value, in a list and in an array.
_ENTRY = 16
_PLAIN = (str, int, float, bool, type(None))


def read_json_lines(source: "Source") -> ColumnFrame:
    """The table of a `Source` of JSON lines; a key that a line does not have is a missing value."""
    columns, count, size = {}, 0, 0
    for number, line in source.lines():
        row = _row(line, number, source.name)
        if row is None:
            continue
        columns.update({name: [None] * count for name in row if name not in columns})
        for name, values in columns.items():
            values.append(row.get(name))
        count += 1
        size += _ENTRY * len(columns) + sum(map(getsizeof, row.values()))
        source.require_room(size)
    if not count:
        raise DataError(f"{source.name}: there are no rows")
    return ColumnFrame.of_lists(columns, source.name)


def _row(line: str, number: int, name: str) -> dict[str, Any] | None:
    """The object of one line; None for an empty line."""
    if not line.strip():
        return None
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{name}, line {number}, column {error.colno}: JSON was expected: {error.msg}") from error
    except RecursionError as error:
        raise DataError(f"{name}, line {number}: the JSON is nested too deeply for a row") from error
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"{name}, line {number}: {error}") from error
    if not isinstance(row, dict) or not row:
        raise DataError(
            f'{name}, line {number}: an object such as {{"age": 31}} was expected, got {line.strip()[:40]!r}'
        )
    nested = next((key for key, value in row.items() if not isinstance(value, _PLAIN)), None)
    if nested is not None:
        raise DataError(
            f"{name}, line {number}, column {nested!r}: a number or a text was expected, "
            f"got {json.dumps(row[nested])[:40]}; flatten it first"
        )
    return row
