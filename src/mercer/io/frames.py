"""Columns as a table: of Arrow where pyarrow is installed, otherwise a list of dictionaries.

A column holds numbers, dates or texts. Truth values become the texts "true" and "false", so that a
model learnt from one format takes rows of another.
"""

from importlib.util import find_spec

import numpy as np

from mercer._errors import DataError

TRUTH = {True: "true", False: "false"}


def has_arrow():
    """Whether pyarrow can be imported."""
    try:
        return find_spec("pyarrow") is not None
    except ValueError:  # sys.modules says None: it is not to be used
        return False


def table_of(columns, name):
    """A table from lists by column name."""
    columns = {key: [TRUTH.get(v, v) if isinstance(v, bool) else v for v in values] for key, values in columns.items()}
    if not has_arrow():
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    import pyarrow as pa

    return pa.table({key: _array(pa, values, key, name) for key, values in columns.items()})


def _array(pa, values, column, name):
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        # Numbers beside texts: all are texts. Anything else is said by row.
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int, float}:
            return pa.array([None if value is None else _real(value) for value in values], pa.float64())
        if kinds <= {int, float, str}:
            return pa.array([None if value is None else str(value) for value in values], pa.string())
    row = next(k for k, value in enumerate(values) if not isinstance(value, str | int | float | None))
    raise DataError(f"{name}, row {row}, column {column!r}: a number or a text was expected, got {values[row]!r:.60}")


def _real(value):
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def is_text(kind):
    """Whether an Arrow type is text, also text by codes."""
    import pyarrow as pa

    return pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind)


def plain_arrow(table, coded=None):
    """An Arrow table whose truth values are texts, and whose dictionaries are spelled out but for texts of `coded`."""
    import pyarrow as pa
    from pyarrow import compute

    for place, field in enumerate(table.schema):
        column = table.column(place)
        if field.name == coded and is_text(field.type):
            continue
        if pa.types.is_dictionary(field.type):
            column = compute.cast(column, field.type.value_type)
        if pa.types.is_boolean(column.type):
            column = compute.if_else(column, TRUTH[True], TRUTH[False])
        if column is not table.column(place):
            table = table.set_column(place, field.name, column)
    return table


def with_texts(table, names):
    """The table with the named columns as texts."""
    if isinstance(table, list):
        return [{k: str(v) if k in names and v is not None else v for k, v in row.items()} for row in table]
    import pyarrow as pa

    for name in names:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


def complete_texts(table, name):
    """A column of Arrow texts, none missing, as an array; None for any other. Each different text is made once."""
    if isinstance(table, list):
        return None
    column = table.column(name)
    if column.null_count or not is_text(column.type):
        return None
    encoded = column.dictionary_encode().combine_chunks()
    return np.array(encoded.dictionary.to_pylist())[encoded.indices.to_numpy()]


def column_names(table):
    """The names of a table's columns."""
    return list(dict.fromkeys(name for row in table for name in row)) if isinstance(table, list) else table.column_names


def without(table, name):
    """The table less one column."""
    if isinstance(table, list):
        return [{key: value for key, value in row.items() if key != name} for row in table]
    return table.drop_columns([name])


def chosen(table, names):
    """The table with these columns only, in this order."""
    if isinstance(table, list):
        return [{name: row.get(name) for name in names} for row in table]
    return table.select(names)


def matrix_of(columns):
    """Columns (of `mercer.kernels.table`) as a matrix, or None unless all hold numbers in every row."""
    if not columns or any(column.kind != "number" or column.missing.any() for column in columns):
        return None
    return np.column_stack([column.numbers(~column.missing) for column in columns])
