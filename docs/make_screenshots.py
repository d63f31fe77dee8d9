"""Photograph the Studio for docs/studio.md: every view, at three sizes, light and dark.

    python docs/make_screenshots.py             all of them
    python docs/make_screenshots.py play phone  some of them

It starts a Studio of its own and drives Debian's chromium, or the one that CHROMIUM names.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from mercer.studio.static_site import write_site

FOLDER = Path(__file__).with_name("images") / "studio"
DESK, TABLET, PHONE = (1280, 800), (820, 1180), (390, 844)


def play(page: Page, preset: str = "moons") -> None:
    """Points, fitted, at rest."""
    page.click(f"[data-preset={preset}]")
    page.wait_for_function("key => mercerStudio.state.scene.preset === key", arg=preset)
    page.wait_for_selector(".view[data-refined=true]")


def solve(page: Page) -> None:
    """Thirty steps of a solver."""
    page.click(".tabs [data-view=solve]")
    page.click("[data-preset=moons]")
    page.wait_for_function("() => Number(document.querySelector('.view').dataset.steps) > 31")
    page.click("[data-name=first]")
    for _ in range(30):
        page.keyboard.press(".")


def idea(key: str) -> Callable[[Page], None]:
    """One of the ideas."""

    def show(page: Page) -> None:
        page.click(".tabs [data-view=idea]")
        page.click(f"[data-idea={key}]")
        page.wait_for_function("() => document.querySelector('.foot')?.textContent")

    return show


def data(page: Page) -> None:
    """A table, learnt from, and why a row was decided as it was."""
    page.click(".tabs [data-view=data]")
    page.click("[data-set=cancer]")
    page.select_option("select[data-name=data-kernel]", "columns")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-number=score]", timeout=240_000)
    page.locator("tr.pick").first.click()
    page.wait_for_selector("[data-name=contributions]")
    page.evaluate("document.querySelectorAll('.cards, .panel').forEach((each) => each.scrollTo(0, 0))")


def link(page: Page) -> None:
    """The dialogue of links."""
    play(page, "rings")
    page.click("#link")


# Name of the file: what is done, the size, the colours, and whether it is the playground of a web host.
PICTURES: dict[str, tuple[Callable[[Page], None], tuple[int, int], str, bool]] = {
    "play": (play, DESK, "light", False),
    "solve": (solve, DESK, "light", False),
    "lift": (idea("plane"), DESK, "light", False),
    "version_space": (idea("version"), DESK, "dark", False),
    "bounds": (idea("bounds"), DESK, "light", False),
    "data": (data, (1280, 1130), "light", False),
    "link": (link, DESK, "light", False),
    "tablet": (partial(play, preset="blob"), TABLET, "light", False),
    "phone": (partial(play, preset="blob"), PHONE, "light", False),
    "static": (partial(play, preset="three"), DESK, "light", True),
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def addresses() -> Iterator[tuple[str, str]]:
    """A Studio, and the playground on a web host."""
    command = [sys.executable, "-c", "from mercer.cli import main; main()", "studio", "--no-browser", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio,  # noqa: S603 - our own command
    ):
        assert studio.stdout is not None
        write_site(Path(folder) / "playground")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield studio.stdout.readline().strip(), f"http://127.0.0.1:{server.server_port}/playground/"
        server.shutdown()
        server.server_close()
        studio.terminate()


def photograph(browser: Browser, name: str, studio: str, host: str) -> None:
    """One picture."""
    act, (width, height), scheme, is_static = PICTURES[name]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(240_000)  # the first visit may have to wait for compilation
    page.goto(host if is_static else studio)
    page.wait_for_selector(".live[data-state=on]")
    page.wait_for_selector("[data-answered]")
    act(page)
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.closest('dialog') ?? document.activeElement.blur()")
    page.wait_for_timeout(600)
    page.screenshot(path=FOLDER / f"{name}.png")
    context.close()


def main(names: list[str]) -> None:
    """All pictures, or those that are named."""
    unknown = sorted(set(names) - set(PICTURES))
    if unknown:
        raise SystemExit(f"there are no pictures named {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, addresses() as (studio, host):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in names or PICTURES:
            photograph(browser, name, studio, host)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
