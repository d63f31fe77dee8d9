"""Databases at an address: a real PostgreSQL gives what SQLite gives, within limits, and says nothing of passwords."""

import copy
import datetime as dt
import pickle
import sqlite3
import sys
import traceback
from contextlib import closing

import numpy as np
import pytest

import mercer
from mercer import SVC, DataError, MissingExtraError, ParameterError
from mercer.io import SQLDatabase, SQLiteDatabase, open_database, read_table
from mercer.io.databases.address import Address
from mercer.kernels import Record
from mercer.kernels.table.frame import as_frame
from tests.io.databases.copied import copy_database
from tests.kernels.relational.test_record import LABELS, NAMES, ROWS, by_hand, explicit, filled, sqlite_memory
from tests.postgres import PASSWORD, require_programs

# ruff: noqa: S608 - queries are what is tested
PEOPLE = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, born DATE, paid NUMERIC(8, 2), ok BOOLEAN, mark UUID,
                     facts JSONB, at TIME, code CHAR(6));
CREATE SEQUENCE next_one;
INSERT INTO person VALUES
    (1, 'Zoë', '2001-02-03', 12.50, true, '00000000-0000-0000-0000-000000000001', '{"b": 1, "a": [2]}', '12:30', 'ab'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'cd');
"""


@pytest.fixture(scope="module")
def trains(postgres, tmp_path_factory):
    """(the server, the address of a database, the SQLite file that it is a copy of)."""
    path = tmp_path_factory.mktemp("trains") / "trains.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        filled(connection)
    return postgres, copy_database(path, postgres, "trains"), path


@pytest.fixture(scope="module")
def people(postgres):
    address = postgres.database("people")
    with postgres.connect("people") as connection:
        connection.execute(PEOPLE)
        connection.execute("CREATE SCHEMA sales; CREATE TABLE sales.orders (x INTEGER)")
        connection.execute("INSERT INTO sales.orders VALUES (7)")
    return address


def rows_of(found):
    return as_frame(found.data).rows()


# ------------------------------------------------------------------ tables


def test_a_table_of_a_server_is_that_of_sqlite(trains):
    _, address, path = trains
    for table in ROWS:
        assert rows_of(read_table(address, table=table)) == rows_of(read_table(path, table=table))
    found = read_table(address, table="train", target="label", text=["maker"])
    assert (found.kind, found.format, found.target.tolist()) == ("table", "sql", LABELS)
    assert rows_of(found)[0]["maker"] == "1"


def test_a_query_is_sent_as_it_is(trains):
    found = read_table(trains[1], query="SELECT 7 % 4 AS rest, ':x %s' AS word, count(*) AS n FROM car")
    assert rows_of(found) == [{"rest": 3, "word": ":x %s", "n": len(ROWS["car"])}]


def test_values_of_every_type_are_numbers_dates_or_texts(people):
    first, second = rows_of(read_table(people, table="person"))
    assert first == {
        "id": 1, "name": "Zoë", "born": dt.date(2001, 2, 3), "paid": 12.5, "ok": "true",
        "mark": "00000000-0000-0000-0000-000000000001", "facts": '{"a": [2], "b": 1}',
        "at": "12:30:00", "code": "ab    ",
    }  # fmt: skip
    assert [second[name] for name in ("name", "born", "paid", "ok", "mark", "facts", "at")] == [None] * 7


def test_tables_of_another_schema_and_views(people, postgres):
    assert rows_of(read_table(people, table="sales.orders")) == [{"x": 7}]
    with postgres.connect("people") as connection:
        connection.execute("CREATE OR REPLACE VIEW names AS SELECT name FROM person")
    assert read_table(people, table="names").columns == ["name"]


def test_an_address_of_a_file_needs_no_server(trains):
    path = trains[2]
    assert rows_of(read_table(f"sqlite:///{path}", table="car")) == rows_of(read_table(path, table="car"))
    assert isinstance(open_database(f"sqlite:///{path}"), SQLiteDatabase)
    with pytest.raises(ParameterError, match=r"must name a file, such as sqlite:///bank\.db"):
        read_table("sqlite://")


def test_nothing_can_be_written(trains, people):
    server, address, _ = trains
    with pytest.raises(DataError, match="cannot answer"):
        read_table(address, query="DELETE FROM load")
    with pytest.raises(DataError, match="must not contain data-modifying statements"):
        read_table(address, query="WITH gone AS (DELETE FROM load RETURNING *) SELECT * FROM gone")
    with pytest.raises(DataError, match=r"cannot execute nextval\(\) in a read-only transaction"):
        read_table(people, query="SELECT nextval('next_one')")
    with server.connect("trains") as connection:
        assert connection.execute("SELECT count(*) FROM load").fetchone() == (len(ROWS["load"]),)


# ------------------------------------------------------------------ limits


def test_time_rows_and_memory_are_bounded(trains):
    address, many = trains[1], "SELECT generate_series(1, 100000000) AS n"
    with pytest.raises(DataError, match=r"no answer within 0\.3 seconds"):
        read_table(address, query="SELECT pg_sleep(60)", time_limit=0.3)
    with pytest.raises(DataError, match="more than 5,000 rows; select fewer, or allow more"):
        read_table(address, query=many, row_limit=5000)
    with pytest.raises(DataError, match="do not fit into 5,000,000 bytes of memory"):
        read_table(address, query=many, memory_limit=5_000_000)
    assert len(read_table(address, query="SELECT generate_series(1, 5000) AS n", row_limit=5000)) == 5000
    with pytest.raises(ParameterError, match="row_limit must be a positive integer"):
        read_table(address, query=many, row_limit=0)


def test_rows_of_files_are_bounded_too(trains):
    with pytest.raises(DataError, match="more than 3 rows"):
        read_table(trains[2], table="car", row_limit=3)


def test_records_have_the_same_limits(trains):
    with pytest.raises(DataError, match="more than 2 rows"):
        Record("train", database=SQLDatabase(trains[1], row_limit=2))(NAMES)


# ------------------------------------------------------------------ records


@pytest.mark.parametrize("how", ["sum", "mean", "cosine"])
def test_records_of_a_server_are_those_worked_out_by_hand(trains, how):
    database = SQLDatabase(trains[1])
    assert explicit(database, how)(NAMES) == pytest.approx(by_hand(ROWS, how))


def test_inferred_records_are_those_of_sqlite(trains):
    for depth in range(3):
        there, here = (
            Record("train", depth=depth, exclude=["train.label"], database=database).bind(NAMES)(NAMES)
            for database in (SQLDatabase(trains[1]), SQLiteDatabase(trains[2]))
        )
        assert there == pytest.approx(here, rel=1e-12)


def test_any_dialect_gives_the_same(trains):
    """SQLAlchemy's SQLite is asked by the same words as a server."""
    database = SQLDatabase(f"sqlite:///{trains[2]}")
    assert database.schema == SQLiteDatabase(trains[2]).schema
    assert explicit(database)(NAMES) == pytest.approx(by_hand(ROWS))


def test_keys_are_reflected(trains):
    found = SQLDatabase(trains[1]).schema
    expected = sqlite_memory().schema
    assert {name: (table.columns, table.primary_key) for name, table in found.items()} == {
        name: (table.columns, table.primary_key) for name, table in expected.items()
    }
    assert {str(key) for table in found.values() for key in table.foreign_keys} == {
        str(key) for table in expected.values() for key in table.foreign_keys
    }


def test_equal_rows_without_a_key_count_as_often_as_they_are_there(postgres):
    address = postgres.database("twins")
    with postgres.connect("twins") as connection:
        connection.execute(
            "CREATE TABLE bag (id TEXT PRIMARY KEY); CREATE TABLE thing (bag TEXT REFERENCES bag, what TEXT);"
            "INSERT INTO bag VALUES ('a'), ('b');"
            "INSERT INTO thing VALUES ('a', 'x'), ('a', 'x'), ('a', NULL), ('b', 'x'), ('b', 'x'), ('b', 'x')"
        )
    kernel = Record("bag", columns={}, how="sum", database=SQLDatabase(address))
    # The constant of the bags, pairs of x, and the pair of the missing ones.
    assert kernel.bind(["a", "b"])(["a", "b"]).tolist() == [[1 + 4 + 1, 1 + 6], [1 + 6, 1 + 9]]


def test_more_keys_than_a_query_takes(postgres):
    address = postgres.database("many")
    with postgres.connect("many") as connection:
        connection.execute("CREATE TABLE n (a INTEGER, b INTEGER, x REAL, PRIMARY KEY (a, b))")
        connection.execute("INSERT INTO n SELECT k, -k, k FROM generate_series(1, 2500) k")
    database, keys = SQLDatabase(address), [(k, -k) for k in range(2500, 0, -1)]
    rows = database.find("n", ("a", "b"), keys)
    assert [row["x"] for row in database.read("n", rows, ["x"])] == list(range(2500, 0, -1))


def test_keys_of_every_type(people):
    database = SQLDatabase(people)
    for column, key in (("id", 1), ("mark", "00000000-0000-0000-0000-000000000001"), ("code", "ab"), ("name", "Zoë")):
        assert database.read("person", database.find("person", (column,), [(key,)]), ["id"]) == [{"id": 1}]
    with pytest.raises(DataError, match="table 'person', of 2 rows, has none with id = 9"):
        database.find("person", ("id",), [(9,)])


def test_foreign_keys_that_name_no_row_are_named(postgres):
    address = postgres.database("loose")
    with postgres.connect("loose") as connection:
        connection.execute(
            "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER);"
            "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1, 1), (2, 5);"
            "ALTER TABLE b ADD FOREIGN KEY (a) REFERENCES a NOT VALID"
        )
    kernel = Record("b", columns={}, database=SQLDatabase(address))
    with pytest.raises(DataError, match=r"foreign key b\.a -> a\.id dangles: no row has 5"):
        kernel([1, 2])
    assert kernel.replace(dangling="ignore")([1, 2]).tolist() == [[2, 1], [1, 1]]


def test_everything_within_one_reading_is_of_one_state(postgres):
    address = postgres.database("changing")
    with postgres.connect("changing") as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x REAL); INSERT INTO t VALUES (1, 2), (2, 3)")
        database = SQLDatabase(address)
        kernel = Record("t", columns={"x": mercer.kernels.Linear()}, database=database)
        with database.reading():
            before = kernel([1, 2])
            connection.execute("UPDATE t SET x = 10; INSERT INTO t VALUES (3, 4)")
            assert kernel([1, 2]).tolist() == before.tolist()
            with pytest.raises(DataError, match="of 2 rows, has none with id = 3"):
                kernel([3])
        assert kernel([1, 3]).tolist() == [[100, 40], [40, 16]]


def test_a_fit_and_its_copies_in_other_threads(trains):
    kernel = Record("train", exclude=["train.label"], database=SQLDatabase(trains[1]))
    model = SVC(kernel=kernel, C=10.0).fit(NAMES, LABELS)
    assert copy.deepcopy(kernel.database) is kernel.database
    assert (
        model.predict(NAMES).tolist()
        == SVC(kernel=Record("train", exclude=["train.label"], database=SQLiteDatabase(trains[2])), C=10.0)
        .fit(NAMES, LABELS)
        .predict(NAMES)
        .tolist()
    )


# ------------------------------------------------------------------ secrets


def test_the_password_is_nowhere(trains, tmp_path):
    server, address, _ = trains
    encoded = address.partition("mercer:")[2].partition("@")[0]
    database = SQLDatabase(address)
    kernel = Record("train", exclude=["train.label"], database=database)
    model = SVC(kernel=kernel).fit(NAMES, LABELS)
    mercer.save(model, tmp_path / "model.mercer", kernels={"bank": database})
    said = [repr(database), repr(kernel), repr(model), repr(read_table(address, table="car"))]
    for call in (
        lambda: read_table(address, table="carr"),
        lambda: read_table(address, query="SELECT * FROM nothing"),
        lambda: read_table(server.address("trains", user="stranger"), table="car"),
        lambda: read_table(server.address("none"), table="car"),
        lambda: read_table(address.replace(f":{server.port}", ":1"), table="car"),
        lambda: read_table(address.replace(f":{server.port}", ":port"), table="car"),
    ):
        try:
            call()
        except DataError:
            said.append(traceback.format_exc())
    assert len(said) == 10
    everything = "\n".join(said).encode() + (tmp_path / "model.mercer").read_bytes() + pickle.dumps(database)
    for secret in (PASSWORD, encoded):
        assert secret.encode() not in everything
    assert b"***" in everything


def test_a_copy_for_another_process_asks_for_the_password_there(trains, monkeypatch):
    database = pickle.loads(pickle.dumps(SQLDatabase(trains[1])))  # noqa: S301 - our own
    with pytest.raises(DataError, match="passwords are not sent to other processes: set PGPASSWORD there"):
        database.find("train", ("name",), [("a",)])
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert database.find("train", ("name",), [("a",)]).tolist() == [0]


def test_secrets_among_the_options_are_hidden_too():
    address = Address("postgresql://me@host/bank?password=abc&sslmode=require&sslpassword=def")
    assert str(address) == "postgresql://me@host/bank?password=***&sslmode=require&sslpassword=***"
    assert address.cleaned("the words abc and def") == "the words *** and ***"


# ------------------------------------------------------------------ faults


def test_each_fault_is_one_sentence(trains):
    server, address, _ = trains
    faults = {
        r"@127\.0\.0\.1:\d+/trains refuses the user and password": server.address("trains", password="wrong"),  # noqa: S106
        r"the server has no database of that name": server.address("nowhere"),
        r"127\.0\.0\.1:1/x cannot be reached: no server answers there; is it running": "postgresql://me@127.0.0.1:1/x",
        r"no\.such\.host\.invalid/x cannot be reached": "postgresql://me@no.such.host.invalid/x",
        r"mysql://me@127\.0\.0\.1:1/x cannot be reached": "mysql://me@127.0.0.1:1/x",
        r"asks for a password, but the address contains none": server.address("trains").replace(
            address.partition("mercer")[2].partition("@")[0], ""
        ),
    }
    for message, where in faults.items():
        with pytest.raises(DataError, match=message):
            read_table(where, table="x")


def test_tables_and_columns_that_are_not_there_are_named(trains):
    with pytest.raises(
        DataError, match=r"has no table 'cars' \(did you mean 'car'\?\); choose one of car, load, maker"
    ):
        read_table(trains[1], table="cars")
    with pytest.raises(DataError, match="has several tables; choose one of car, load, maker, train with table"):
        read_table(trains[1])
    with pytest.raises(DataError, match='relation "nothing" does not exist'):
        read_table(trains[1], query="SELECT * FROM nothing")
    with pytest.raises(DataError, match="there is no column 'lable'"):
        read_table(trains[1], table="train", target="lable")
    with pytest.raises(ParameterError, match="give a table or a query, not both"):
        read_table(trains[1], table="train", query="SELECT 1")
    with pytest.raises(DataError, match="the answer has no rows"):
        read_table(trains[1], query="SELECT * FROM train WHERE speed < 0")
    with pytest.raises(DataError, match="has two columns called 'a'"):
        read_table(trains[1], query="SELECT 1 AS a, 2 AS a")


def test_databases_that_nobody_knows_and_drivers_that_are_missing(monkeypatch):
    with pytest.raises(ParameterError, match="'martian' is not a known database; addresses begin with postgresql://"):
        read_table("martian://me@host/x")
    with pytest.raises(MissingExtraError, match="needs the driver pyodbc, which is not installed: pip install pyodbc"):
        read_table("mssql://me@host/x")
    with pytest.raises(ParameterError, match="https:// is not a database; download the file first"):
        read_table("https://host/people.csv")
    with pytest.raises(ParameterError, match="encoding must be left out, got 'cp1252': it is for files"):
        read_table("postgresql://me@host/x", encoding="cp1252")
    with pytest.raises(DataError, match="the address of the postgresql database cannot be read"):
        read_table("postgresql://me:a@b:c@host:port/x")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"postgresql databases need psycopg: pip install 'mercer\[sql\]'"):
        read_table("postgresql://me@host/x")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match=r"need SQLAlchemy: pip install 'mercer\[sql\]'"):
        read_table("postgresql://me@host/x")


@pytest.mark.parametrize(("where", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_continuous_integration_insists_on_a_server(monkeypatch, where, outcome):
    monkeypatch.setattr("tests.postgres.programs", lambda: None)
    monkeypatch.setenv("CI", where)
    with pytest.raises(outcome, match="PostgreSQL is missing"):
        require_programs()


# ------------------------------------------------------------------ real ones


REAL = {
    "berka": ("loan", "loan_id", ["loan.status"]),
    "chinook": ("Track", "TrackId", ["Track.GenreId", "Genre"]),
    "mutagenesis": ("molecule", "id", ["molecule.active", "molecule.log_mutag", "molecule.fold", "molecule.subset"]),
}


@pytest.mark.parametrize("name", REAL)
def test_real_databases_have_the_same_gram_matrices(name, postgres, tmp_path):
    from benchmarks.sets.data import data_folder
    from benchmarks.structures.records import unpacked

    folder = data_folder()
    if folder is None or not (folder / "relational" / f"{name}.sqlite.gz").is_file():
        pytest.skip("the databases are not in the data folder")
    path, (table, key, exclude) = unpacked(name, tmp_path), REAL[name]
    address = copy_database(path, postgres, name)
    keys = read_table(path, query=f'SELECT "{key}" FROM "{table}" ORDER BY 1 LIMIT 30').data.arrays[key].tolist()
    found = []
    for database in (SQLiteDatabase(path), SQLDatabase(address)):
        kernel = Record(table, depth=2, exclude=exclude, database=database)
        found.append(kernel.bind(keys[:20])(keys))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10, atol=1e-12)
