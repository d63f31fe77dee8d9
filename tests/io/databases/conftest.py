"""One server for all tests of a process."""

import pytest

from tests.postgres import running


@pytest.fixture(scope="session")
def postgres():
    with running() as server:
        yield server
