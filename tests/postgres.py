"""A PostgreSQL server of the tests' own: on loopback, with a password, in a folder that is gone afterwards.

Debian's package `postgresql` has the programs (`make programs` installs it). Where they are missing, tests that need
them are skipped on a desk, and fail in continuous integration.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

USER, PASSWORD = "mercer", "open sesame/@:%"


class PostgreSQL(NamedTuple):
    """Where the server is."""

    port: int

    def address(self, database: str = "postgres", password: str = PASSWORD, user: str = USER) -> str:
        from urllib.parse import quote

        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres"):
        import psycopg

        return psycopg.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, dbname=database, autocommit=True
        )

    def database(self, name: str) -> str:
        """The address of a new database, instead of one of that name."""
        with self.connect() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)


def programs() -> Path | None:
    """The folder of the server's programs; Debian keeps them off the path."""
    found = shutil.which("postgres")
    if found is not None:
        return Path(found).resolve().parent
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    return known[-1].parent if known else None


def require_programs() -> Path:
    found = programs()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("PostgreSQL is missing; `make programs` installs it (Debian: apt install postgresql)")
    if found is None:
        pytest.skip("PostgreSQL is missing (Debian: apt install postgresql)")
    return found


def _somebody() -> dict:
    """As whom to run: the server refuses to be root."""
    if os.getuid() != 0:
        return {}
    known = {each.pw_name: each for each in pwd.getpwall()}
    who = known.get("postgres") or known["nobody"]
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running() -> Iterator[PostgreSQL]:
    """A server, until the end of the block."""
    folder, who, port = require_programs(), _somebody(), free_port()
    data = Path(tempfile.mkdtemp(prefix="mercer-postgres-"))
    try:
        (data / "password").write_text(PASSWORD)
        if who:
            for path in (data, data / "password"):
                os.chown(path, who["user"], who["group"])
        made = [
            folder / "initdb",
            "-D",
            data / "data",
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            "--pwfile",
            data / "password",
        ]
        subprocess.run(
            [*made, "-E", "UTF8", "--locale=C", "--no-sync"], cwd=data, check=True, capture_output=True, **who
        )
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 20,
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        server = subprocess.Popen(
            [folder / "postgres", "-D", data / "data", "-p", str(port), *options],
            cwd=data, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, **who,
        )  # fmt: skip
        try:
            said = []
            for line in server.stderr:
                said.append(line)
                if "ready to accept connections" in line:
                    break
            else:
                pytest.fail(f"PostgreSQL did not start: {''.join(said)}")
            # What it says later is not for anybody, but must go somewhere.
            rest = threading.Thread(target=server.stderr.read)
            rest.start()
            yield PostgreSQL(port)
            # At once, whoever is still connected.
            server.send_signal(signal.SIGINT)
            rest.join()
        finally:
            server.kill()
            server.wait()
            server.stderr.close()
    finally:
        shutil.rmtree(data, ignore_errors=True)
