"""What a machine can check of accessibility, on the page of a report, by day and by night."""

import pytest

from mercer.cli import run
from tests.browser.test_accessibility import violations

# Fits may have to wait for compilation.
pytestmark = pytest.mark.timeout(400)


def flowers(k):
    return f"{k % 7 + 0.5 * (k % 3)},{k % 5 - (k % 3)},{('evening primrose', 'tulip', 'lily of the valley')[k % 3]}"


def crossings(k):
    wind, town, sky = "" if k % 17 == 0 else k % 20, ("Ulm", "Bonn", "Kiel")[k % 3], "fog" if k % 20 > 9 else "sun"
    return f"{wind},{town},{sky} at sea,{'late' if k % 20 + k % 3 > 10 else 'in time'}"


def prices(k):
    return f"{k % 13},{k % 7},{3 * (k % 13) + (k % 7) ** 2 + k % 5 / 3}"


TABLES = {
    "flowers": ("length,width,y", flowers),
    "crossings": ("wind,town,note,y", crossings),
    "prices": ("area,age,y", prices),
}


def write_texts(folder):
    for name, words in (("good", "a fine warm film"), ("bad", "a dull cold play")):
        (folder / name).mkdir(parents=True)
        for k in range(20):
            (folder / name / f"{k}.txt").write_text(" ".join((words.split() * 3)[k % 4 : k % 4 + 4 + k % 3]))


@pytest.fixture(scope="module", params=[*TABLES, "texts"])
def report(request, tmp_path_factory):
    """A page of classes, of a table of all kinds, of quantities, or of texts."""
    folder, options = tmp_path_factory.mktemp(request.param), ["--target", "y"]
    source = folder / "source"
    if request.param == "texts":
        write_texts(source)
        options = []
    else:
        header, row = TABLES[request.param]
        source.write_text("\n".join([header, *(row(k) for k in range(120))]) + "\n")
        options += ["--format", "csv"]
    written = ["--report", str(folder / "page.html"), "--output", str(folder / "m.mercer")]
    assert run(["train", str(source), *options, *written, "--json"]) == 0
    return folder / "page.html"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_on_a_report(browser, report, scheme, width):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("svg.picture").count() > 0
    assert page.locator("svg:not([aria-label])").count() == 0
    assert violations(page) == {}
    context.close()


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_report_fits_a_phone(browser, report, width):
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_axe_finds_what_is_wrong(browser, report):
    # Or the test above could not fail.
    context = browser.new_context()
    page = context.new_page()
    page.goto(report.as_uri())
    page.evaluate("document.querySelector('h1').innerHTML = '<img src=\"data:,\">'")
    assert "image-alt" in violations(page)
    context.close()
