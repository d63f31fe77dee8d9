"""A studio that runs as a user's does, and a browser that visits it."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from mercer.studio.static_site import write_site

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The first visit may have to wait for compilation.
PATIENCE = 240_000


def chromium() -> str:
    """Where the browser is: CHROMIUM, or what Debian installs."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or not Path(found).exists():
        pytest.fail(
            "browser tests need chromium: `apt install chromium`, or set CHROMIUM to where it is", pytrace=False
        )
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address that `mercer studio` prints."""
    command = [sys.executable, "-c", "from mercer.cli import main; main()", "studio", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open tabs; whatever they complain about fails the test."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def opened(state: str = "", **options: Any) -> Page:
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address + state)
        page.wait_for_selector(".live[data-state=on]", timeout=PATIENCE)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    opened = visit()
    opened.wait_for_selector("[data-answered][data-pending=false]")
    return opened


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing: a test's output is its own."""


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The playground that `mercer studio --static` writes, on a web host that does nothing but hand out files."""
    folder = tmp_path_factory.mktemp("host")
    write_site(folder / "playground")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/playground/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def alone(browser: Browser, host: str) -> Iterator[Callable[..., Page]]:
    """Open tabs of the playground without a Studio; whatever they complain about fails the test."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def opened(state: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(host + state)
        page.wait_for_selector("[data-answered], [data-idea]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
