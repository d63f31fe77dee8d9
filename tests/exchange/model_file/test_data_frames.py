"""Data frames as nodes of a model file: each type of column of each library comes back as it was."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer import ModelFileError, ParameterError
from mercer.exchange.model_file import data_frames
from mercer.exchange.model_file.decode import Reader
from mercer.exchange.model_file.encode import Writer

NOON = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
COLUMNS = {
    "whole": [1, 2, 3],
    "real": [0.5, None, 2.5],
    "flag": [True, False, True],
    "text": ["a", None, "é"],
    "day": [dt.date(2024, 2, 29), None, dt.date(1969, 12, 31)],
    "moment": [NOON.replace(tzinfo=None), None, dt.datetime.fromisoformat("1960-01-01T00:00:01")],
    "moment in a zone": [NOON, None, NOON + dt.timedelta(days=200)],
}
FRAMES = {
    "polars": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("moment in a zone").dt.convert_time_zone("Europe/Berlin")
    ),
    "pyarrow": lambda: pa.table(COLUMNS),
    "pandas": lambda: pd.DataFrame(COLUMNS, index=[7, 3, 5]).drop(columns="text"),
    "categories": lambda: pd.DataFrame({"c": pd.Categorical(["b", None, "a"], categories=["b", "unused", "a"])}),
    "objects": lambda: pd.DataFrame({"o": [(1, 2), None, "x"]}, index=list("abc"), dtype=object),
    "nanoseconds": lambda: pd.DataFrame({"t": pd.to_datetime(["2024-01-01 00:00:00.000001", None])}),
}


def node_of(frame):
    writer = Writer()
    node = data_frames.write(writer, frame)
    return Reader(writer.arrays), node


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_comes_back_as_it_was(name):
    frame = FRAMES[name]()
    again = data_frames.read(*node_of(frame))
    assert type(again) is type(frame)
    assert again.equals(frame)
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_frame_equal(again, frame, check_index_type=False)
    else:
        assert again.schema == frame.schema


def test_what_is_a_frame():
    assert all(data_frames.is_frame(make()) for make in FRAMES.values())
    assert not any(map(data_frames.is_frame, (COLUMNS, pd.Series([1]), pa.array([1]), np.zeros((2, 2)), None)))


def test_a_type_that_a_file_cannot_hold_is_named():
    frame = pl.DataFrame({"lists": [[1], [2, 3]]})
    with pytest.raises(ParameterError, match=r"column 'lists' has type List.* cast it"):
        data_frames.write(Writer(), frame)


def spoilt(frame, **changes):
    reader, node = node_of(frame)
    column = {**node["columns"][0], **changes}
    return reader, {**node, "columns": [column, *node["columns"][1:]]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unit": "h"}, "times cannot have unit 'h'"),
        ({"zone": 3}, "times cannot have unit .* and zone 3"),
        ({"zone": "Nowhere/At all"}, "a data frame cannot be made from what the file says"),
        ({"dtype": "Decimal"}, "unknown type of column 'Decimal'"),
        ({"dtype": ["Date"]}, r"unknown type of column \['Date'\]"),
    ],
)
def test_a_column_of_times_that_says_something_else_is_refused(changes, words):
    with pytest.raises(ModelFileError, match=words):
        data_frames.read(*spoilt(pl.DataFrame({"t": [NOON]}), **changes))


@pytest.mark.parametrize("change", [{"backend": "excel"}, {"backend": ["pandas"]}])
def test_a_library_that_is_none_is_refused(change):
    reader, node = node_of(FRAMES["categories"]())
    with pytest.raises(ModelFileError, match="unknown kind of data frame"):
        data_frames.read(reader, {**node, **change})


def test_names_columns_and_rows_are_as_many():
    reader, node = node_of(FRAMES["pandas"]())
    for change in ({"columns": node["columns"][1:]}, {"columns": {}}, {"names": "c"}):
        with pytest.raises(ModelFileError, match="a name for each column"):
            data_frames.read(reader, {**node, **change})


def test_an_index_has_a_label_for_each_row():
    writer = Writer()
    long, short = (data_frames.write(writer, FRAMES["pandas"]().iloc[:rows]) for rows in (3, 2))
    with pytest.raises(ModelFileError, match="a data frame of 3 rows cannot have an index of 2"):
        data_frames.read(Reader(writer.arrays), {**long, "index": short["index"]})
