"""A real server that speaks MySQL gives what SQLite gives, and says as little of passwords as any other."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from mercer import DataError
from mercer.cli import run
from mercer.io import SQLDatabase, SQLiteDatabase, read_table
from mercer.kernels import Record
from mercer.kernels.table.frame import as_frame
from tests.kernels.relational.test_record import LABELS, NAMES, ROWS, filled
from tests.mariadb import running
from tests.postgres import PASSWORD

TYPES = {"INT": "bigint", "REAL": "double", "TEXT": "varchar(80)"}


@pytest.fixture(scope="module")
def server():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def trains(server, tmp_path_factory):
    """(the address of a database, the SQLite file that it is a copy of)."""
    path = tmp_path_factory.mktemp("trains") / "trains.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        filled(connection)
    address, schema = server.database("trains"), SQLiteDatabase(path).schema
    with closing(sqlite3.connect(path)) as old, server.connect("trains") as new, new.cursor() as cursor:
        for table in schema.values():
            kinds = {row[1]: row[2].upper() for row in old.execute(f"PRAGMA table_info({table.name})")}
            columns = [
                f"`{name}` {next((TYPES[kind] for kind in TYPES if kinds[name].startswith(kind)), 'varchar(80)')}"
                for name in table.columns
            ]
            key = [f"PRIMARY KEY ({', '.join(table.primary_key)})"] if table.primary_key else []
            cursor.execute(f"CREATE TABLE `{table.name}` ({', '.join(columns + key)})")
            marks = ", ".join(["%s"] * len(table.columns))
            rows = old.execute(f"SELECT {', '.join(table.columns)} FROM {table.name}").fetchall()  # noqa: S608
            cursor.executemany(f"INSERT INTO `{table.name}` VALUES ({marks})", rows)  # noqa: S608
        for table in schema.values():
            for key in table.foreign_keys:
                cursor.execute(
                    f"ALTER TABLE `{table.name}` ADD FOREIGN KEY ({', '.join(key.columns)}) "
                    f"REFERENCES `{key.to_table}` ({', '.join(key.to_columns)})"
                )
    return address, path


def rows_of(found):
    return as_frame(found.data).rows()


def test_tables_keys_and_gram_matrices_are_those_of_sqlite(trains):
    address, path = trains
    for table in ROWS:
        assert rows_of(read_table(address, table=table)) == rows_of(read_table(path, table=table))
    for scheme in ("mysql", "mariadb"):
        grams = [
            Record("train", depth=2, exclude=["train.label"], database=database).bind(NAMES)(NAMES)
            for database in (SQLDatabase(address.replace("mysql", scheme, 1)), SQLiteDatabase(path))
        ]
        np.testing.assert_array_equal(*grams)


def test_nothing_can_be_written_and_time_and_rows_are_bounded(trains):
    address, _ = trains
    with pytest.raises(DataError, match="cannot answer"):
        read_table(address, query="DELETE FROM `load`")
    with pytest.raises(DataError, match=r"no answer within 0\.3 seconds"):
        read_table(address, query="SELECT sleep(60)", time_limit=0.3)
    with pytest.raises(DataError, match="more than 2 rows"):
        read_table(address, table="car", row_limit=2)


def test_each_fault_is_one_sentence_without_the_password(server, trains):
    faults = {
        "refuses the user and password": (server.address("trains", password="wrong"), "car"),  # noqa: S106
        "has no database of that name": (server.address("nowhere"), "car"),
        r"has no table 'cars' \(did you mean 'car'\?\)": (trains[0], "cars"),
    }
    for words, (address, table) in faults.items():
        with pytest.raises(DataError, match=words) as caught:
            read_table(address, table=table)
        assert PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_command_trains_and_predicts_from_it(trains, tmp_path):
    model = str(tmp_path / "trains.mercer")
    assert run(["train", trains[0], "--table", "train", "--target", "label", "--holdout", "0", "--output", model]) == 0
    assert run(["predict", model, trains[0], "--table", "train", "--output", str(tmp_path / "said.csv")]) == 0
    assert len((tmp_path / "said.csv").read_text().splitlines()) == 1 + len(LABELS)
    assert PASSWORD.encode() not in (tmp_path / "trains.mercer").read_bytes()
