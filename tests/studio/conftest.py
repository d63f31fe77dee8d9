"""A client that is let in, and what it sends."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

with warnings.catch_warnings():
    # Newer versions would rather have another HTTP client underneath; older ones know only this one.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from mercer.studio.server.messages import unpack
from mercer.studio.server.server import make_app, names_of

TOKEN = "a-token-of-this-run"  # noqa: S105 - for a server that lives as long as a test
PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
UPLOAD_LIMIT = 1000


class Tab:
    """A websocket that asks and waits for answers."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.number = socket, 0
        self.hello = unpack(socket.receive_bytes())[0]

    def send(self, do: str, **request: Any) -> int:
        self.number += 1
        self.socket.send_json({"n": self.number, "do": do, **request})
        return self.number

    def receive(self) -> tuple[dict[str, Any], dict[str, Any]]:
        while True:
            header, arrays = unpack(self.socket.receive_bytes())
            if header["do"] != "warm":
                return header, arrays

    def ask(self, do: str, **request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first answer to this request."""
        number = self.send(do, **request)
        while True:
            header, arrays = self.receive()
            if header["n"] == number:
                return header, arrays


@pytest.fixture
def app():
    return make_app(TOKEN, names_of(PORT), upload_limit=UPLOAD_LIMIT)


@pytest.fixture
def client(app):
    return TestClient(app, base_url=ORIGIN)


@pytest.fixture
def open_tab(client):
    @contextmanager
    def opened(tab: str = "") -> Iterator[Tab]:
        with client.websocket_connect(
            f"ws://127.0.0.1:{PORT}/ws?token={TOKEN}&tab={tab}", headers={"origin": ORIGIN}
        ) as socket:
            yield Tab(socket)

    return opened
