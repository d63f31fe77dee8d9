"""How long the Studio's page takes: to its first paint, and from a drag to pixels; and what the playground weighs."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness.report import table
from benchmarks.sets.data import ROOT

POINTS = 300
DRAGS = 15
GOALS = {
    "first paint, ms": 500,
    f"drag to pixels at {POINTS} points, ms": 50,
    "playground without an install, bytes": 300_000,
}
FIRST_PAINT = """() => new Promise((done) => {
  const look = () => {
    const seen = performance.getEntriesByName("first-contentful-paint")[0];
    if (seen) done(seen.startTime); else setTimeout(look, 5);
  };
  look();
})"""
# Two classes that overlap, the same on every machine.
FILL = """(count) => {
  let s = 7;
  const next = () => (s = (s * 16807) % 2147483647) / 2147483647;
  const rows = Array.from({ length: count }, () => {
    const x = 6 * next() - 3, y = 4 * next() - 2;
    return [x, y, x * x + y * y + next() > 3 ? 1 : 0];
  });
  mercerStudio.state.scene.points.splice(0, 1e9, ...rows);
  return rows[0];
}"""
# Where a point of the plane is on the screen, from the scales that the page draws by.
WHERE = """([x, y]) => {
  const box = document.querySelector(".canvas-box canvas").getBoundingClientRect();
  const [left, right, bottom, top] = mercerStudio.state.scene.window;
  const scale = Math.max((right - left) / box.width, (top - bottom) / box.height);
  const across = box.x + box.width / 2 + (x - (left + right) / 2) / scale;
  return [across, box.y + box.height / 2 - (y - (bottom + top) / 2) / scale];
}"""
# Whether what was asked last is answered, and not only what was asked before it.
IS_ANSWERED = """(before) => {
  const { answered, pending } = document.querySelector(".view").dataset;
  return answered !== before && pending === "false";
}"""
ANSWERED = "[data-answered][data-pending=false]"


def studio_race(options):
    """Each figure beside its goal: the least and the median of several, for a browser is not alone on a machine."""
    from mercer.studio.static_site import write_site

    with tempfile.TemporaryDirectory() as folder:
        weight = write_site(Path(folder) / "playground")
    with _studio() as address, _browser() as browser:
        paints = [_first_paint(browser, address) for _ in range(options.repeats)]
        drags = _drags(browser, address)
    found = zip(GOALS.items(), (paints, drags, [weight]), strict=True)
    rows = [
        (what, f"{min(seen):,.0f}", f"{sorted(seen)[len(seen) // 2]:,.0f}", goal, "yes" if min(seen) <= goal else "NO")
        for (what, goal), seen in found
    ]
    print(table(("Studio", "least", "median", "goal", "held"), rows))
    return [dict(zip(("what", "least", "median", "goal", "held"), row, strict=True)) for row in rows]


@contextmanager
def _studio():
    """The address of a Studio that runs as a user's does."""
    command = [sys.executable, "-c", "from mercer.cli import main; main()", "studio", "--no-browser", "--port", "0"]
    search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": search}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def _browser():
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("the race needs chromium: `apt install chromium`, or set CHROMIUM to where it is")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def _first_paint(browser, address):
    """Milliseconds from the request to the first content, in a browser that has nothing of the page."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    paint = page.evaluate(FIRST_PAINT)
    context.close()
    return paint


def _drags(browser, address):
    """Milliseconds from each move of a point to the pixels that show its machine, as the page itself tells."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(ANSWERED, timeout=240_000)
    point = page.evaluate(FILL, POINTS)
    _answered(page, lambda: page.click("[data-name=fit-view]"))
    _answered(page, lambda: page.select_option("select[data-name=method]", "soft"))
    _answered(page, lambda: page.select_option("select[data-name=kernel]", "rbf"))
    page.wait_for_timeout(500)  # until the picture is drawn in full
    left, top = page.evaluate(WHERE, point[:2])
    page.mouse.move(left, top)
    page.mouse.down()
    times = []
    for k in range(1, DRAGS + 1):
        _answered(page, lambda k=k: page.mouse.move(left + 6 * k, top + 4 * k))
        times.append(float(page.get_attribute(".view", "data-pixels")))
    page.mouse.up()
    context.close()
    return times


def _answered(page, act):
    before = page.get_attribute(".view", "data-answered")
    act()
    page.wait_for_function(IS_ANSWERED, arg=before)
