"""A studio that runs as a user's does, and a browser that visits it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
        context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True, **options)
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
    opened.wait_for_selector("[data-answered]")
    return opened
