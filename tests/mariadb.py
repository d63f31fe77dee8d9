"""A MariaDB server of the tests' own, on loopback, as `tests.postgres` is one of PostgreSQL.

Debian's package `mariadb-server` has the programs (`make programs` installs it). Where they are missing, tests that
need them are skipped on a desk, and fail in continuous integration.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from tests.postgres import PASSWORD, USER, free_port

CANNOT_CONNECT = 2003


class MariaDB(NamedTuple):
    """Where the server is."""

    port: int

    def address(self, database: str, password: str = PASSWORD, scheme: str = "mysql") -> str:
        return f"{scheme}://{USER}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str | None = None):
        import pymysql

        return pymysql.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, database=database, autocommit=True
        )

    def database(self, name: str) -> str:
        """The address of a new database, instead of one of that name."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
            cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        return self.address(name)


def require_programs() -> tuple[str, str]:
    """(the server, what makes its folder)."""
    found = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("mariadbd", "mariadb-install-db")]
    if None in found and os.environ.get("CI") == "true":
        pytest.fail("MariaDB is missing; `make programs` installs it (Debian: apt install mariadb-server)")
    if None in found:
        pytest.skip("MariaDB is missing (Debian: apt install mariadb-server)")
    return found[0], found[1]


@contextmanager
def running() -> Iterator[MariaDB]:
    """A server, until the end of the block."""
    (server, install), port = require_programs(), free_port()
    data = Path(tempfile.mkdtemp(prefix="mercer-mariadb-"))
    # The server does not care to be root.
    user = "mysql" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    shutil.chown(data, user)
    begin = data / "begin.sql"
    # One statement on a line.
    begin.write_text(f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO '{USER}'@'%';\n")
    shutil.chown(begin, user)
    common = ["--no-defaults", f"--user={user}", f"--datadir={data}/data"]
    small = [
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=8M",
        "--innodb-flush-log-at-trx-commit=0",
        "--skip-log-bin",
    ]
    try:
        subprocess.run(
            [install, *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
            cwd=data, check=True, capture_output=True,
        )  # fmt: skip
        process = subprocess.Popen(
            [server, *common, *small, "--bind-address=127.0.0.1", f"--port={port}", f"--socket={data}/socket",
             f"--init-file={begin}"],
            cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _wait(MariaDB(port), process)
            yield MariaDB(port)
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(data, ignore_errors=True)


def _wait(server: MariaDB, process: subprocess.Popen) -> None:
    import pymysql

    while True:
        try:
            return server.connect().close()
        except pymysql.OperationalError as error:
            if process.poll() is not None or error.args[0] != CANNOT_CONNECT:
                pytest.fail(f"MariaDB did not start: {error}")
            time.sleep(0.1)
