"""A SQLite database copied into PostgreSQL: types, keys and rows."""

import re
import sqlite3
from contextlib import closing

from mercer.io import SQLiteDatabase

TYPES = {"INT": "bigint", "REAL": "double precision", "DATE": "timestamp", "NUM": "numeric"}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def names(columns):
    return ", ".join(map(quoted, columns))


def copy_database(path, server, name):
    """The address of a new database `name` with the tables of a SQLite file."""
    address, schema = server.database(name), SQLiteDatabase(path).schema
    with closing(sqlite3.connect(path)) as old, server.connect(name) as new:
        for table in schema.values():
            kinds = {row[1]: row[2].upper() for row in old.execute(f"PRAGMA table_info({quoted(table.name)})")}
            columns = [
                f"{quoted(c)} {next((TYPES[k] for k in TYPES if re.match(k, kinds[c])), 'text')}" for c in table.columns
            ]
            key = [f"PRIMARY KEY ({names(table.primary_key)})"] if table.primary_key else []
            new.execute(f"CREATE TABLE {quoted(table.name)} ({', '.join(columns + key)})")
            with new.cursor().copy(f"COPY {quoted(table.name)} ({names(table.columns)}) FROM STDIN") as copy:
                for row in old.execute(f"SELECT {names(table.columns)} FROM {quoted(table.name)}"):  # noqa: S608
                    copy.write_row(row)
        for table in schema.values():
            for key in table.foreign_keys:
                target = f"{quoted(key.to_table)} ({names(key.to_columns)})"
                new.execute(
                    f"ALTER TABLE {quoted(table.name)} ADD FOREIGN KEY ({names(key.columns)}) REFERENCES {target}"
                )
    return address
