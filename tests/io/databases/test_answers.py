"""Queries end: whatever a database's views are made to do, rows, values and time are bounded, and Ctrl-C is heard."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from mercer import DataError, ParameterError
from mercer.io import DuckDBDatabase, SQLiteDatabase, read_table
from mercer.io.databases.answers import QueryLimits, answer

duckdb = pytest.importorskip("duckdb")

# ruff: noqa: S608 - queries are what is tested
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT"
SQLITE = {
    "rows": f"CREATE VIEW v AS {ENDLESS} n, 'a text of some length' AS t FROM c",
    "long": "CREATE VIEW v AS SELECT zeroblob(900000000) AS b",
    "wide": "CREATE VIEW v AS SELECT " + ", ".join(f"randomblob(20000000) AS b{k}" for k in range(50)),
    "hidden": "CREATE VIEW v AS SELECT length(hex(zeroblob(450000000))) AS n",
    "joined": f"CREATE VIEW v AS SELECT group_concat(t) AS t FROM ({ENDLESS} printf('%1000d', n) AS t FROM c)",
    "time": f"CREATE VIEW v AS {ENDLESS} count(*) AS n FROM c",
}
DUCKDB = {
    "rows": "CREATE VIEW v AS SELECT range AS n, 'some text ' || range::VARCHAR AS t FROM range(1000000000000)",
    "long": "CREATE VIEW v AS SELECT repeat('x', 900000000) AS t",
    "many": "CREATE VIEW v AS SELECT repeat('x', 1000000) || range::VARCHAR AS t FROM range(100000)",
    "sorted": "CREATE VIEW v AS SELECT range AS n FROM range(1000000000) ORDER BY hash(range)",
    "time": "CREATE VIEW v AS SELECT count(*) AS n FROM range(100000000) a, range(100000000) b WHERE a <> b",
}
CASES = [("sqlite", name) for name in SQLITE] + [("duckdb", name) for name in DUCKDB]
LIMIT = 60_000_000


@pytest.fixture
def database(tmp_path, request):
    kind, name = request.param
    path = tmp_path / f"v.{kind}"
    module, views = (sqlite3, SQLITE) if kind == "sqlite" else (duckdb, DUCKDB)
    with closing(module.connect(str(path))) as connection:
        connection.execute(views[name])
    return path


# The peak of a process is only its own where nothing else has run in it.
MEASURED = """
import resource, sys, time
from mercer import DataError
from mercer.io import read_table
import numpy, sqlite3, duckdb
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
begin = time.monotonic()
try:
    read_table(sys.argv[1], memory_limit=int(sys.argv[2]), time_limit=1.5)
except DataError as error:
    print(error)
else:
    print("answered")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before, time.monotonic() - begin)
"""


@pytest.mark.parametrize("database", CASES, indirect=True, ids="-".join)
def test_a_view_takes_no_more_than_it_may(database):
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(database), str(LIMIT)], capture_output=True, text=True, check=True
    )
    said, measured = ran.stdout.rsplit("\n", 2)[0], ran.stdout.split("\n")[-2].split()
    assert "memory" in said.lower() or "within 1.5 seconds" in said
    assert str(database) in said
    assert float(measured[0]) < 2 * LIMIT
    assert float(measured[1]) < 30  # of a busy machine; what the clock says is tested below


@pytest.mark.parametrize("database", [("sqlite", "time"), ("duckdb", "time")], indirect=True, ids=str)
def test_a_query_without_end_is_ended_by_the_clock(database):
    begin = time.process_time()
    with pytest.raises(DataError, match=r"no answer within 0\.3 seconds.*--time-limit"):
        read_table(database, time_limit=0.3)
    assert time.process_time() - begin < 0.3 * os.cpu_count() + 0.5
    assert threading.active_count() == 1 or not any(isinstance(one, threading.Timer) for one in threading.enumerate())


@pytest.mark.parametrize("database", [("sqlite", "time"), ("duckdb", "time")], indirect=True, ids=str)
def test_ctrl_c_ends_a_query(database):
    """In SQLite's own loop Python is asked now and then; DuckDB is asked from another thread."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            read_table(database, time_limit=60)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("kind", "module"), [(SQLiteDatabase, sqlite3), (DuckDBDatabase, duckdb)])
def test_databases_of_records_have_limits_too(kind, module, tmp_path):
    path = tmp_path / "d.db"
    with closing(module.connect(str(path))) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
        connection.execute("INSERT INTO t VALUES (1, ?)", ("x" * 4_000_000,))
        connection.commit()
    assert kind(path).read("t", [1] if kind is SQLiteDatabase else [0], ["x"])[0]["x"][:2] == "xx"
    small = kind(path, memory_limit="3MB", time_limit=5.0)
    with pytest.raises(DataError, match="memory"):
        small.read("t", [1] if kind is SQLiteDatabase else [0], ["x"])


def test_a_connection_of_the_callers_stays_as_it_was():
    with closing(sqlite3.connect(":memory:")) as connection:
        before = connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
        limits = QueryLimits.of("1MB", 5.0)
        assert answer(connection, "SELECT 1 AS a, 'b' AS b", (), limits, "mine") == (["a", "b"], [(1, "b")])
        with pytest.raises(DataError, match="mine: a value is longer than"):
            answer(connection, "SELECT zeroblob(1000000)", (), limits, "mine")
        with pytest.raises(DataError, match="mine: the answer has more than"):
            answer(connection, f"{ENDLESS} n FROM c", (), limits, "mine")
        assert connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == before


def test_limits_that_are_none():
    with pytest.raises(ParameterError, match="time_limit must be positive, got -1"):
        QueryLimits.of(None, -1)
    with pytest.raises(ParameterError, match="memory_limit"):
        QueryLimits.of("much")
