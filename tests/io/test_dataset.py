"""`read_table`: what every format gives, and what is said of every fault."""

import csv
import gzip
import io
import json
import lzma
import os
import sqlite3
import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DataError, ParameterError
from mercer.io import Dataset, read_table
from mercer.io.column_notes import AmbiguousNumbersWarning
from mercer.io.csv.by_arrow import BLOCK
from mercer.kernels.table.frame import as_frame

PEOPLE = b"age,town,buys\n31,Ulm,yes\n60,Bonn,no\n45,,yes\n"


def rows_of(found):
    return as_frame(found.data).rows()


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


@pytest.fixture(params=["pyarrow", "csv module"])
def either_reader(request, monkeypatch):
    """The same promises with pyarrow and without."""
    if request.param == "csv module":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    return request.param


# ------------------------------------------------------------------ formats


def test_csv_has_numbers_texts_and_missing_values(either_reader):
    found = read(PEOPLE, target="buys")
    assert (found.kind, found.format, found.columns, len(found)) == ("table", "csv", ["age", "town"], 3)
    assert found.target.tolist() == ["yes", "no", "yes"]
    assert rows_of(found)[2] == {"age": 45, "town": None}


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_delimiters_are_found_in_the_first_line(mark, either_reader):
    assert read(PEOPLE.replace(b",", mark.encode())).columns == ["age", "town", "buys"]


def test_quoted_values_may_hold_delimiters_and_line_breaks(either_reader):
    found = read(b'a,b\n"x, y\nz",1\nw,2\n')
    assert rows_of(found)[0] == {"a": "x, y\nz", "b": 1}


def test_texts_stay_texts_where_asked(either_reader):
    assert rows_of(read(b"zip,n\n0123,1\n0456,2\n", text=["zip"]))[0] == {"zip": "0123", "n": 1}


def test_without_a_header_columns_are_counted(either_reader):
    assert read(b"1,2\n3,4\n", header=False).columns == ["x1", "x2"]


def test_whole_numbers_may_turn_real_after_the_first_block():
    count = BLOCK // 4 + 1
    found = read(b"a,b\n" + b"1,2\n" * count + b"1.5,7\n")
    assert rows_of(found.rows(np.array([count]))) == [{"a": 1.5, "b": 7}]


def test_truth_values_are_texts_in_every_format(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": [True, False]}), tmp_path / "t.parquet")
    for found in (read_table(tmp_path / "t.parquet"), read(b'{"a": true}\n{"a": false}\n'), read(b"a\ntrue\nfalse\n")):
        assert rows_of(found) == [{"a": "true"}, {"a": "false"}]


def test_json_lines_need_not_all_have_the_same_keys(either_reader):
    found = read(b'{"a": 1, "b": "x"}\n\n{"b": "y"}\n')
    assert rows_of(found) == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_columnar_files_are_read_as_they_are(kind, tmp_path):
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"x": [1.5, None], "word": pa.array(["a", "b"]).dictionary_encode(), "y": [1, 2]})
    path = tmp_path / f"t.{kind}"
    parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)
    found = read_table(path, target="y")
    assert rows_of(found) == [{"x": 1.5, "word": "a"}, {"x": None, "word": "b"}]
    assert found.target.tolist() == [1, 2]


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path / "parts"
    folder.mkdir()
    parquet.write_table(pa.table({"x": [1.5, None], "word": ["a", "b"], "n": [1, 2]}), folder / "part-1.parquet")
    # The same columns in another order, and one of a type that fits in.
    parquet.write_table(
        pa.table({"word": ["b", None], "n": pa.array([3, 4], pa.int32()), "x": [2.5, 3.5]}), folder / "part-2.parquet"
    )
    (folder / "_SUCCESS").touch()
    found = read_table(folder, target="n")
    assert rows_of(found) == [
        {"x": 1.5, "word": "a"}, {"x": None, "word": "b"}, {"x": 2.5, "word": "b"}, {"x": 3.5, "word": None}
    ]  # fmt: skip
    assert (found.format, found.target.tolist()) == ("parquet", [1, 2, 3, 4])
    parquet.write_table(pa.table({"x": pa.nulls(1), "word": pa.nulls(1), "n": [1.5]}), folder / "part-0.parquet")
    found = read_table(folder)
    assert rows_of(found)[0] == {"x": None, "word": None, "n": 1.5}
    assert [row["word"] for row in rows_of(found)] == [None, "a", "b", "b", None]
    (folder / "part-0.parquet").unlink()
    parquet.write_table(pa.table({"x": [1.0], "word": ["c"], "m": [1]}), folder / "part-3.parquet")
    with pytest.raises(DataError, match=r"part-3\.parquet: the file has no column 'n', unlike part-1\.parquet"):
        read_table(folder)
    parquet.write_table(pa.table({"x": [1.0], "word": ["c"], "n": ["one"]}), folder / "part-3.parquet")
    with pytest.raises(DataError, match=r"part-3\.parquet: its types differ from those of part-1\.parquet"):
        read_table(folder)
    with pytest.raises(DataError, match="bytes of memory"):
        read_table(folder, memory_limit=30)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_files_are_seen_by_their_bytes(pack):
    assert read(pack(PEOPLE), target="buys").columns == ["age", "town"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PEOPLE)))
    assert len(read_table("-", target="buys")) == 3


def test_a_pipe_is_read_once_and_looked_at_as_often_as_need_be(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(PEOPLE),))
    writer.start()
    found = read_table(pipe, target="buys")
    writer.join()
    assert found.format == "csv"
    assert found.target.tolist() == ["yes", "no", "yes"]


def test_svmlight_is_recognised_without_its_ending(tmp_path):
    (tmp_path / "data").write_text("+1 1:0.5 3:2\n-1 2:1\n")
    for found in (read_table(tmp_path / "data"), read(b"+1 1:0.5 3:2\n-1 2:1\n")):
        assert found.kind == "vectors"
        assert found.data.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
        assert found.target.tolist() == [1, -1]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "trips.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE trip (day TEXT, wind REAL, late TEXT);"
            "INSERT INTO trip VALUES ('2025-01-02', 3.5, 'no'), ('2025-01-03', NULL, 'yes');"
        )
    connection.close()
    return path


def test_the_only_table_of_a_database_needs_no_name(database):
    found = read_table(database, target="late")
    assert rows_of(found) == [{"day": "2025-01-02", "wind": 3.5}, {"day": "2025-01-03", "wind": None}]


def test_a_query_of_a_database(database):
    assert read_table(database, query="SELECT wind * 2 AS w FROM trip WHERE wind > 1").columns == ["w"]


def test_a_query_may_not_write(database):
    with pytest.raises(DataError, match="readonly"):
        read_table(database, query="DELETE FROM trip")
    assert len(read_table(database)) == 2


def test_duckdb_is_read_by_the_same_words(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "trips.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trip AS SELECT 1.5 AS wind, 'no' AS late")
    assert [float(row["wind"]) for row in rows_of(read_table(path))] == [1.5]
    with pytest.raises(DataError, match="did you mean 'trip'"):
        read_table(path, table="trips")
    with pytest.raises(DataError, match="cannot answer"):
        read_table(path, query="SELECT * FROM read_csv('/etc/passwd')")


def test_folders_of_texts_are_classes(tmp_path):
    for name, text in (("a", "one"), ("a", "two"), ("b", "three")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / f"{text}.txt").write_text(text)
    found = read_table(tmp_path)
    assert (found.kind, found.data, found.target.tolist()) == ("texts", ["one", "two", "three"], ["a", "a", "b"])
    assert read_table(tmp_path / "a").target is None


def test_trees_stand_after_their_labels():
    found = read(b"q (S (A b))\ns (S (C d))\n")
    assert (found.kind, found.target.tolist(), str(found.data[1])) == ("trees", ["q", "s"], "(S (C d))")
    assert read(b"(S (A b))\n").target is None


def test_graphs_of_a_folder(tmp_path):
    for name, lines in (("A", "1, 2\n2, 1\n"), ("graph_indicator", "1\n1\n2\n"), ("graph_labels", "1\n-1\n")):
        (tmp_path / f"two_{name}.txt").write_text(lines)
    found = read_table(tmp_path)
    assert (found.kind, len(found), found.target.tolist()) == ("graphs", 2, [1, -1])


# ------------------------------------------------------------------ faults

FAULTS = {
    "ragged, too many": (b"a,b\n1,2\n3,4,5\n", r"line 3: 2 fields were expected, got 3; the first surplus one is '5'"),
    "ragged, too few": (b"a,b\n1,2\n3\n4,5\n", r"line 3: 2 fields were expected, got 1; there is none for 'b'"),
    "quote never closed": (b'a,b\n1,2\n3,"4\n', r"line 3: a closing quotation mark was expected"),
    "word among numbers": (b"a\n" + b"1\n" * 30 + b"x\n", r"line 32, column 'a': a number was expected, got 'x'"),
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n", "the file is empty"),
    "header only": (b"a,b\n", "a header, but no row"),
    "blanks between fields": (b"a b c\n1 2 x\n3 4 y\n", r"makes one column of 'a b c'; is it ' '\?"),
    "numbers for names": (b"1,2\n3,4\n", "line 1: names of columns were expected"),
    "twice": (b"a,a\n1,2\n", "the column 'a' occurs twice"),
    "not UTF-8": (b"a,b\n1,\xff\n", "UTF-8 was expected, got byte 0xff"),
    "JSON broken": (b'{"a": 1}\n{"a": \n', "line 2, column 7: JSON was expected"),
    "JSON nested": (b'{"a": [1]}\n', "line 1, column 'a': a number or a text was expected"),
    "JSON no object": (b'{"a": 1}\n3\n', "line 2: an object such as"),
    "JSON deep": (b'{"a": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
    "svmlight": (b"+1 1:0.5\n-1 2:x\n", "line 2.*a value must be a finite number"),
    "tree": (b"q (S (A b)\n", "line 1: unbalanced brackets"),
    "tree without its label": (b"q (S a)\n(S b)\n", "line 2: a label before the tree was expected"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_names_the_line_and_what_was_expected(content, message, either_reader):
    with pytest.raises(DataError, match=message):
        read(content)


BINARY = {
    "binary": (b"\x00\x01\x02\x03" * 50, "a binary file of unknown format"),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(300) + b"\x03\x00>\x00", "a binary file of unknown format"),
    "UTF-16 without its mark": (
        "a,b\n1,2\n".encode("utf-16-le"),
        r"UTF-16 without a byte order mark; pass encoding='utf-16-le'",
    ),
    "cut gzip": (gzip.compress(PEOPLE)[:-9], "cannot be read to its end"),
    "cut Parquet": (b"PAR1xxxx", "cannot be read"),
    "cut Arrow": (b"ARROW1\0\0", "cannot be read"),
}


def test_a_field_of_five_million_letters_is_read(either_reader):
    long = "x" * 5_000_000
    found = read(f"a,b\n1,y\n2,{long}\n3,z\n".encode())
    assert rows_of(found)[1] == {"a": 2, "b": long}


@pytest.mark.parametrize(("content", "message"), BINARY.values(), ids=BINARY)
def test_bytes_that_are_no_data_are_refused(content, message):
    with pytest.raises(DataError, match=message):
        read(content)


def test_the_name_of_a_missing_target_is_guessed():
    with pytest.raises(DataError, match=r"no column 'bys' .did you mean 'buys'.*'age', 'town', 'buys'"):
        read(PEOPLE, target="bys")


def test_a_target_without_a_value_names_its_row():
    with pytest.raises(
        DataError, match="'town' has no value in 1 of 3 rows, the first of them row 2; --skip-unlabeled"
    ):
        read(PEOPLE, target="town")


def test_a_thousand_million_declared_rows_take_no_memory():
    import pyarrow as pa

    sink = io.BytesIO()
    table = pa.table({"x": pa.nulls(10**9)})
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    assert len(sink.getvalue()) < 1000
    with pytest.raises(DataError, match=r"declares 1,000,000,000 rows in .* implausible"):
        read(sink.getvalue())


def test_what_does_not_fit_is_refused_by_what_it_declares(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": np.zeros(100_000)}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="declares 100,000 rows of 1 columns, which take 1,600,000 bytes"):
        read_table(tmp_path / "t.parquet", memory_limit=1_000_000)
    with pytest.raises(DataError, match="does not fit into 10 bytes"):
        read(PEOPLE, memory_limit=10)


def test_a_packed_bomb_is_not_unpacked():
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000)
    with pytest.raises(DataError, match="does not fit into"):
        read(b"{" + b" " * 10, memory_limit=5)
    with pytest.raises(DataError, match="does not fit into"):
        read_table(io.BytesIO(gzip.compress(b'{"a": 1}\n' * 1_000_000)), memory_limit=100_000)
    assert len(bomb) < 100_000


def test_a_file_that_is_not_there_is_guessed(tmp_path):
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    with pytest.raises(DataError, match=r"there is no file .*poeple.csv'; did you mean .*people.csv"):
        read_table(tmp_path / "poeple.csv")


def test_a_file_whose_name_is_alike_only_in_its_ending_is_not_suggested(tmp_path):
    (tmp_path / "de.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"there is no file .*nofile.csv'$"):
        read_table(tmp_path / "nofile.csv")


def test_permission_is_asked_of_the_system(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    monkeypatch.setattr("mercer.io.source.os.access", lambda *_: False)
    with pytest.raises(DataError, match="no permission to read it"):
        read_table(tmp_path / "people.csv")


def test_labels_that_stand_beside_the_data_need_no_target():
    with pytest.raises(ParameterError, match="target must be left out, got 'y'"):
        read(b"+1 1:0.5\n-1 2:1\n", target="y")


def test_unknown_formats_and_columns_of_text_are_refused():
    with pytest.raises(ParameterError, match="format must be one of csv, xlsx, ods, parquet"):
        read(PEOPLE, format="excel")
    with pytest.raises(ParameterError, match="text names 'tow'; the columns of"):
        read(PEOPLE, text=["tow"])


def test_a_wrong_delimiter_is_doubted(either_reader):
    with pytest.raises(DataError, match=r"the delimiter ',' makes one column of 'a;b'; is it ';'\?"):
        read(b"a;b\n1;2\n", delimiter=",")
    with pytest.raises(ParameterError, match="delimiter must be one character"):
        read(b"a;b\n1;2\n", delimiter="; ")


def test_the_delimiter_is_what_divides_all_rows_alike(either_reader):
    assert read(b"weight, kg;height, m\n80,5;1,9\n60,0;1,6\n").columns == ["weight, kg", "height, m"]


def test_both_folders_and_files_are_no_texts(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b.txt").write_text("b")
    with pytest.raises(DataError, match=r"got both the folder 'a' and the file 'b.txt'"):
        read_table(tmp_path)


# ------------------------------------------------------------------ the record


def test_columns_are_chosen_by_name_and_the_wrong_ones_are_named():
    found = read(PEOPLE)
    assert found.with_columns(["town", "age"]).columns == ["town", "age"]
    with pytest.raises(DataError, match=r"columns 'agee' are missing; the model does not know 'age', 'town', 'buys'"):
        found.with_columns(["agee"])


def test_a_matrix_needs_numbers_everywhere():
    assert read(b"a,b\n1,2\n3,4\n").matrix().tolist() == [[1, 2], [3, 4]]
    assert read(PEOPLE).matrix() is None
    assert read(b"a,b\n1,\n3,4\n").matrix() is None


def test_rows_are_chosen_with_their_target(either_reader):
    found = read(PEOPLE, target="buys").rows(np.array([2, 0]))
    assert isinstance(found, Dataset)
    assert (found.columns, found.target.tolist()) == (["age", "town"], ["yes", "yes"])
    assert rows_of(found)[1]["age"] == 31


def test_an_integer_of_any_size_in_json_is_a_number():
    found = read(json.dumps({"a": 10**30}).encode() + b'\n{"a": 1}\n')
    assert rows_of(found)[0]["a"] == pytest.approx(1e30)


def test_whole_numbers_that_no_double_holds_are_read(either_reader, tmp_path):
    """Identifiers of nineteen digits are rounded where numbers are wanted, and kept where labels are."""
    path = tmp_path / "ids.csv"
    path.write_text("id,x\n1111110111111111111,1\n-9007199254740993,2\n7,3\n")
    found = read_table(path)
    assert found.matrix()[:, 0].tolist() == [1111110111111111111.0, -9007199254740993.0, 7.0]
    assert read_table(path, target="id").target.tolist() == [1111110111111111111, -9007199254740993, 7]


# ------------------------------------------------------------------ one path

CELLS = ["1", "-2", "+3", "007", "2.5", ".5", "5.", "1e3", "1E+2", "0x1F", "inf", "-inf", "1e999", "Infinity", "NAN",
         "", "NA", "nan", "?", "true", "False", "Ulm", "  7 ", " 8", "1_000",
         "1,5", "9223372036854775808", "2024-01-02", "1 2",
         "1.234", "1,234", "1.234,5", "$1,234.50", "7 €", "12 %", "3,5%", "1 234", "1'234.5", "−4", "0,123",
         "0.123", "  ", " NA ",
         "2024-01-02T03:04:05Z", "2024-01-02 03:04", "12:30", "12:30:01", "ä", "٣", '"', "'", "-", "+"]  # fmt: skip


def as_stored(content, **options):
    """What is read: types, values and None of each column; or that it is refused, and the line that is named."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AmbiguousNumbersWarning)
            found = read(content, **options)
    except DataError as error:
        return str(error)
    columns = {name: (values.dtype, repr(values.tolist())) for name, values in found.data.arrays.items()}
    return columns, found.notes


def in_lines(rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["a", "b"], *rows])
    return text.getvalue().encode()


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(CELLS), st.sampled_from(CELLS)), min_size=1, max_size=5),
    st.sampled_from(",;"),
    st.sampled_from([None, ".", ","]),
)
def test_both_readers_of_csv_make_the_same_of_every_cell(rows, delimiter, decimal):
    """Extras never change an answer: values, their types, what is refused and what is said are those of the base."""
    content = in_lines([*rows, rows[0]], delimiter)
    with_arrow = as_stored(content, delimiter=delimiter, decimal=decimal if decimal != delimiter else None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        without = as_stored(content, delimiter=delimiter, decimal=decimal if decimal != delimiter else None)
    assert with_arrow == without
