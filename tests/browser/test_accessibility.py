"""What a machine can check of accessibility, on every view, light and dark; and pictures in words."""

from pathlib import Path

import pytest

from tests.browser.test_playground_page import answered
from tests.browser.test_views_page import open_view, recorded

# The first visit may have to wait for compilation.
pytestmark = pytest.mark.timeout(400)

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
IDEAS = {
    "line": "[data-number=roots]",
    "plane": "[data-number=plane]",
    "hulls": "[data-number=verdict]",
    "box": "[data-number=alpha]",
    "version": "[data-number=area]",
    "losses": "[data-loss=hinge]",
    "bounds": "[data-bound=xi_alpha]",
}


def violations(page):
    """What axe-core has to say against the page as it is."""
    if not AXE.is_file():
        pytest.fail("axe-core is missing: `npm ci --ignore-scripts` installs it", pytrace=False)
    # Evaluated, and not added as an element: the page's policy lets no other script in.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.evaluate("axe.run().then((found) => { window.found = found.violations; })")
    return dict(page.evaluate("found.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 160))])"))


# Colours differ by the scheme, places by the size: each of either is there.
@pytest.fixture(params=[("light", 1280), ("dark", 390)], ids=["light-desk", "dark-phone"])
def looked_at(request, visit):
    scheme, width = request.param
    page = visit(color_scheme=scheme, viewport={"width": width, "height": 844})
    page.wait_for_selector("[data-answered]")
    return page


def test_axe_finds_nothing_on_playground_and_film(looked_at):
    page = looked_at
    assert violations(page) == {}
    answered(page, lambda: page.click("[data-preset=xor]"))
    answered(page, lambda: page.select_option("select[data-name=kernel]", "expression"))
    answered(page, lambda: page.locator("textarea[data-name=expression]").fill("nonsense"))
    page.locator("input[data-name=C-box]").fill("abc")
    page.locator("input[data-name=C-box]").press("Enter")
    assert violations(page) == {}
    open_view(page, "solve")
    page.click("[data-preset=moons]")
    recorded(page)
    assert violations(page) == {}


def test_axe_finds_nothing_on_any_idea(looked_at):
    page = looked_at
    open_view(page, "idea")
    for idea, number in IDEAS.items():
        page.click(f"[data-idea={idea}]")
        page.wait_for_selector(number)
        assert violations(page) == {}, idea


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_data_and_dialogs(visit, scheme):
    page = visit(color_scheme=scheme)
    page.wait_for_selector("[data-answered]")
    page.click("#link")
    assert violations(page) == {}
    page.keyboard.press("Escape")
    page.click("#export")
    assert violations(page) == {}
    page.click("[data-export=code]")
    page.wait_for_selector("#code-dialog[open]")
    assert violations(page) == {}
    page.keyboard.press("Escape")
    open_view(page, "data")
    page.click("[data-set=cancer]")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-number=score]", timeout=240_000)
    page.locator("tr.pick").first.click()
    page.wait_for_selector("[data-name=contributions]")
    assert violations(page) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_page_of_a_web_host(alone, scheme):
    page = alone(color_scheme=scheme)
    assert violations(page) == {}
    open_view(page, "idea")
    page.wait_for_selector("[data-number=roots]")
    assert violations(page) == {}


def words_of(page, selector):
    """What a screen reader says of a picture beside its name."""
    node = page.locator(selector).first
    return page.text_content(f"#{node.get_attribute('aria-describedby')}")


def test_every_picture_says_what_it_shows(page):
    answered(page, lambda: page.click("[data-preset=moons]"))
    words = words_of(page, ".canvas-box canvas")
    assert "100 points of 2 classes" in words
    assert "support vectors" in words
    assert "margin" in words
    answered(page, lambda: page.click("[data-name=clear]"))
    assert "0 points" in words_of(page, ".canvas-box canvas")
    open_view(page, "solve")
    page.click("[data-preset=toy]")
    page.wait_for_function("() => document.querySelector('[data-number=primal]')")
    assert "Primal" in words_of(page, ".canvas-box canvas")
    for bars in page.locator("canvas.bars").all():
        assert "of every point" in bars.get_attribute("aria-label")
    assert "primal: " in page.get_attribute(".chart", "aria-label")
    open_view(page, "idea")
    for idea, number in IDEAS.items():
        page.click(f"[data-idea={idea}]")
        page.wait_for_selector(number)
        for canvas in page.locator(".canvas-box canvas").all():
            assert canvas.get_attribute("aria-label")
            assert page.text_content(f"#{canvas.get_attribute('aria-describedby')}").strip(), idea
