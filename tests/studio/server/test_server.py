"""The page is small, whole and fetches nothing from elsewhere; the server listens on loopback only."""

import re
import socket

import pytest

from mercer._errors import MercerError
from mercer.studio.server import server
from tests.studio.conftest import TOKEN


def test_the_page_weighs_at_most_half_a_megabyte():
    total = sum(len(body) for body, _ in server._page_files().values())
    assert total <= 500_000


def test_every_file_that_the_page_names_is_there():
    files = server._page_files()
    for name, (body, kind) in files.items():
        if name.startswith("vendor/") or not ("javascript" in kind or "html" in kind or "css" in kind):
            continue
        for found in re.findall(r'(?:from|import\() ?"(\.[^"]+)"|(?:src|href)="/page/([^"]+)"', body.decode()):
            folder = name.rsplit("/", 1)[0] if "/" in name else ""
            parts = (found[1] or f"{folder}/{found[0]}").split("/")
            path: list[str] = []
            for part in parts:
                path = path[:-1] if part == ".." else path if part in (".", "") else [*path, part]
            assert "/".join(path) in files, (name, found)


def test_nothing_is_fetched_from_elsewhere():
    for name, (body, kind) in server._page_files().items():
        if name.startswith("vendor/") or "image" in kind:
            continue
        text = body.decode()
        addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)) - {"http://www.w3.org"}
        assert not addresses, name
        assert "innerHTML" not in text, name
        assert "eval(" not in text, name


def test_the_library_that_draws_curves_brings_its_licence():
    assert b"MIT" in server._page_files()["vendor/uPlot.LICENSE"][0]


def test_the_page_is_served(client):
    answer = client.get(f"/?token={TOKEN}")
    assert answer.headers["content-type"].startswith("text/html")
    assert "<title>Mercer Studio</title>" in answer.text
    module = client.get("/page/main.js")
    assert module.headers["content-type"].startswith("text/javascript")


def test_it_listens_on_loopback_only():
    with server.bind(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(MercerError, match="cannot be used"):
            server.bind(taken.getsockname()[1])
