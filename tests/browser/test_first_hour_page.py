"""What people met in their first hour on the page: keys, steps back, typing, numbers, links, small screens."""

import re

import pytest
from playwright.sync_api import expect

from mercer.studio.server.links import fragment_of
from tests.browser.test_playground_page import answered, number, place

# The first visit may have to wait for compilation.
pytestmark = pytest.mark.timeout(400)


def points(page):
    return page.evaluate("mercerStudio.state.scene.points")


def until_points(page, count):
    page.wait_for_function("n => mercerStudio.state.scene.points.length === n", arg=count)


def open_view(page, key):
    page.click(f".tabs [data-view={key}]")
    page.wait_for_selector(f".view[data-view={key}]")


# --- keyboard -------------------------------------------------------------------------------------


def test_the_film_obeys_the_keyboard_after_a_click_on_its_tab(page):
    open_view(page, "solve")
    page.wait_for_selector(".view[data-recording=false]")
    page.keyboard.press(".")
    expect(page.locator(".view")).to_have_attribute("data-step", "1")
    page.keyboard.press("End")
    steps = int(page.get_attribute(".view", "data-steps"))
    expect(page.locator(".view")).to_have_attribute("data-step", str(steps - 1))
    page.keyboard.press("Home")
    expect(page.locator(".view")).to_have_attribute("data-step", "0")


def test_a_point_typed_into_a_box_moves_no_film(page):
    open_view(page, "solve")
    page.wait_for_selector(".view[data-recording=false]")
    page.locator("input[data-name=C-box]").press("End")
    page.locator("input[data-name=C-box]").press(".")
    assert page.get_attribute(".view", "data-step") == "0"


def test_the_plane_is_the_first_stop_after_the_bar(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    page.keyboard.press("Enter")  # places a point
    until_points(page, 5)
    page.reload()
    page.wait_for_selector("[data-answered]")
    stops = []
    while "CANVAS" not in stops and len(stops) < 30:
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.tagName"))
    assert len(stops) <= 9  # skip, the open tab, undo, redo if there is one, link, export, theme, the plane


# --- steps back -----------------------------------------------------------------------------------


def test_what_was_cleared_comes_back_and_goes_again(page):
    answered(page, lambda: page.click("[data-preset=moons]"))
    page.click("[data-name=clear]")
    until_points(page, 0)
    expect(page.locator(".timing")).to_have_text("0 points")
    page.click("#undo")
    until_points(page, 100)
    assert page.get_attribute("[data-preset=moons]", "aria-pressed") == "true"
    page.click("#redo")
    until_points(page, 0)
    page.keyboard.press("Control+z")
    until_points(page, 100)
    page.keyboard.press("Control+Shift+z")
    until_points(page, 0)
    page.keyboard.press("Control+z")
    until_points(page, 100)
    page.keyboard.press("Control+z")
    until_points(page, 4)
    expect(page.locator("#undo")).to_be_disabled()


def test_a_whole_drag_is_one_step(page):
    x, y = place(page, 3, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(4):
        page.mouse.move(x - 20 * k, y - 15 * k)
        page.wait_for_timeout(300)  # longer than what ends a step elsewhere
    page.mouse.up()
    page.wait_for_timeout(400)
    assert points(page)[3][0] < 2.9
    page.keyboard.press("Control+z")
    page.wait_for_function("() => mercerStudio.state.scene.points[3][0] === 3")
    expect(page.locator("#undo")).to_be_disabled()


def test_back_goes_to_the_view_before_and_does_not_leave(page):
    answered(page, lambda: page.click("[data-preset=xor]"))
    page.wait_for_timeout(400)
    open_view(page, "idea")
    page.wait_for_timeout(400)
    page.click("[data-idea=hulls]")
    page.wait_for_selector("[data-separable]")
    page.wait_for_timeout(400)
    page.go_back()
    page.wait_for_selector(".view[data-idea=line]")
    page.go_back()
    page.wait_for_selector(".view[data-view=play][data-answered]")
    assert len(points(page)) == 48
    page.go_back()
    until_points(page, 4)
    page.go_forward()
    until_points(page, 48)


def test_points_of_an_idea_can_be_undone_and_linked_to(page, visit):
    open_view(page, "idea")
    page.click("[data-idea=hulls]")
    page.wait_for_selector("[data-separable=true]")
    page.click("text=Meeting")
    page.wait_for_selector("[data-separable=false]")
    page.click("#link")
    link = page.input_value("#link-text")
    page.keyboard.press("Escape")
    other = visit("#" + fragment_of(link))
    other.wait_for_selector("[data-separable=false]")
    page.click("#undo")
    page.wait_for_selector("[data-separable=true]")


# --- honest typing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("1e9", "is more than 100000"),
        ("1e400", "is more than 100000"),
        ("abc", "is no number"),
        ("-3", "is less than"),
        ("", "is no number"),
    ],
)
def test_what_cannot_be_taken_stays_with_a_word_beside_it(page, typed, words):
    answered(page, lambda: page.click("[data-preset=moons]"))
    box = page.locator("input[data-name=C-box]")
    box.fill(typed)
    box.press("Enter")
    said = page.locator(".slider:has(input[data-name=C-box]) .field-error")
    expect(said).to_contain_text(words)
    expect(said).to_contain_text("it stays 10")
    assert box.input_value() == typed
    assert box.get_attribute("aria-invalid") == "true"
    assert page.evaluate("mercerStudio.state.scene.C") == 10
    box.fill("2,5")  # as many write it
    answered(page, lambda: box.press("Enter"))
    assert page.evaluate("mercerStudio.state.scene.C") == 2.5
    expect(said).to_be_hidden()


# --- numbers that agree ---------------------------------------------------------------------------


def test_step_0_has_one_primal_in_table_and_chart(page):
    open_view(page, "solve")
    page.click("[data-preset=noisy]")
    page.wait_for_function(
        "() => mercerStudio.state.scene.preset === 'noisy'"
        " && document.querySelector('.view').dataset.recording === 'false'"
    )
    page.click("[data-name=first]")
    chart = page.locator(".u-legend .u-series:has-text('primal') .u-value").text_content()
    assert float(chart) == pytest.approx(number(page, "primal"), rel=1e-4)
    assert number(page, "primal") == pytest.approx(140)  # C = 1, and each of 140 points costs 1


def test_a_box_shows_every_digit_that_is_used(page):
    answered(page, lambda: page.click("[data-preset=moons]"))
    box = page.locator("input[data-name=C-box]")
    box.fill("0.12345")
    answered(page, lambda: box.press("Enter"))
    assert float(box.input_value()) == page.evaluate("mercerStudio.state.scene.C") == 0.12345


def test_a_loss_is_that_of_the_margin_in_the_box(page):
    open_view(page, "idea")
    page.click("[data-idea=losses]")
    expect(page.locator("[data-loss=hinge]")).to_have_text("1.4")  # z = -0.4, as the page begins
    expect(page.locator(".view .foot")).to_contain_text("z = −0.4")
    box = page.locator("input[data-name=z-box]")
    box.fill("0.25")
    box.press("Enter")
    expect(page.locator("[data-loss=hinge]")).to_have_text("0.75")
    expect(page.locator("[data-loss=zero_one]")).to_have_text("0")


@pytest.mark.parametrize("method", ["fisher", "ridge"])
def test_least_squares_count_no_support_vectors(page, method):
    answered(page, lambda: page.click("[data-preset=noisy]"))
    answered(page, lambda: page.select_option("select[data-name=method]", method))
    assert page.locator("[data-number=support], .legend [data-case]").count() == 0


@pytest.mark.parametrize(
    ("method", "words"), [("nu", "is too small here"), ("oneclass", "the origin of the feature space")]
)
def test_a_machine_that_learnt_nothing_says_so(page, method, words):
    answered(page, lambda: page.click("[data-preset=noisy]"))
    answered(page, lambda: page.select_option("select[data-name=method]", method))
    expect(page.locator(".notice")).to_contain_text(words)
    expect(page.locator(".hero .big")).to_have_text("–")
    page.wait_for_timeout(400)  # the finer field, which comes later, brings nothing back
    expect(page.locator(".notice")).to_be_visible()
    answered(page, lambda: page.click("[data-preset=blob]"))
    expect(page.locator(".notice")).to_be_hidden()


def test_old_numbers_do_not_stand_beside_new_points(page):
    assert "4 points" in page.text_content(".timing")
    page.click("[data-name=clear]")
    page.wait_for_selector(".notice:not([hidden])")
    assert page.text_content(".timing") == "0 points"
    assert page.text_content(".hero .big") == "–"


# --- links ----------------------------------------------------------------------------------------


def test_a_link_names_no_server_and_no_run_and_opens_by_paste(page, visit):
    answered(page, lambda: page.click("[data-preset=rings]"))
    page.click("#link")
    link = page.input_value("#link-text")
    assert re.fullmatch(r"mercer:play=[\w-]+", link)
    other = visit()
    other.wait_for_selector("[data-answered]")
    other.click("#link")
    other.fill("#link-paste", "what is this")
    other.press("#link-paste", "Enter")
    expect(other.locator("#link-error")).to_contain_text("no link of Mercer Studio")
    other.fill("#link-paste", f"https://somewhere.example/lesson/#{fragment_of(link)}")
    other.press("#link-paste", "Enter")
    until_points(other, 90)
    assert points(other) == points(page)
    assert not other.locator("#link-dialog").is_visible()


@pytest.mark.parametrize(
    "broken",
    ["points: 'x'", "points: [[0, 0]]", "points: [[0, 0, null]]", "points: [], window: 'wide', C: '1', __proto__: 1"],
)
def test_a_forged_link_leaves_a_page_that_works(visit, broken):
    page = visit()
    page.wait_for_selector("[data-answered]")
    state = page.evaluate(f"btoa(JSON.stringify({{ s: {{ {broken} }} }})).replace(/=+$/, '')")
    other = visit(f"#play={state}")
    other.wait_for_selector("[data-answered]")
    answered(other, lambda: other.click("[data-preset=toy]"))
    assert number(other, "margin") == pytest.approx(2**-0.5, abs=1e-5)


# --- words and places -----------------------------------------------------------------------------


def test_a_proof_names_points_by_the_numbers_that_the_plane_shows(page):
    answered(page, lambda: page.click("[data-preset=xor]"))
    answered(page, lambda: page.select_option("select[data-name=kernel]", "linear"))
    answered(page, lambda: page.select_option("select[data-name=method]", "hard"))
    words = page.text_content(".notice")
    named = {int(found) for found in re.findall(r"of point (\d+)", words)}
    assert 3 <= len(named) <= 4
    drawn = page.evaluate(
        """() => new Promise((done) => {
        const kept = CanvasRenderingContext2D.prototype.fillText;
        const seen = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
          if (this.font.startsWith("600")) seen.push(Number(text));
          return kept.call(this, text, ...at);
        };
        const canvas = document.querySelector(".canvas-box canvas");
        canvas.dispatchEvent(new FocusEvent("blur"));
        requestAnimationFrame(() => requestAnimationFrame(() => {
          CanvasRenderingContext2D.prototype.fillText = kept;
          done(seen);
        })); })"""
    )
    assert set(drawn) == named


def test_every_theorem_has_its_book(page):
    open_view(page, "idea")
    page.click("[data-idea=bounds]")
    page.wait_for_selector("[data-bound=theorem_15_4]")
    for bound in ("theorem_15_4", "corollary_15_7", "norm"):
        source = page.text_content(f"[data-bound={bound}] .source")
        assert "Understanding Machine Learning" in source
        assert "section 15." in source
    assert page.locator("[data-bound] .source").count() == page.locator("[data-bound]").count()


def test_bounds_are_printed_as_in_a_book(page):
    open_view(page, "idea")
    page.click("[data-idea=bounds]")
    page.wait_for_selector("[data-bound=theorem_15_4]")
    words = page.text_content(".view aside")
    assert not re.search(r"<=|\^2|lambda|\brho\b|gamma", words)
    assert "says nothing: expected error ≤ hinge loss + λ |w|² + 2 ρ² / (λ m)" in words


def test_a_line_end_is_no_part_of_an_expression(page):
    page.select_option("select[data-name=kernel]", "expression")
    box = page.locator(".panel textarea")
    box.fill("rbf(")
    box.press("Enter")
    expect(page.locator(".notice")).to_contain_text("'rbf('")


def test_an_expression_stays_in_its_panel(page):
    page.select_option("select[data-name=kernel]", "expression")
    panel = page.locator(".panel:has(textarea)").bounding_box()
    for node in page.locator(".panel textarea, .panel .chip.long").all():
        box = node.bounding_box()
        assert box["x"] >= panel["x"]
        assert box["x"] + box["width"] <= panel["x"] + panel["width"]


def test_a_preset_says_what_to_try(page):
    page.click("[data-preset=blob]")
    expect(page.locator("[data-name=lesson]")).to_contain_text("stray points")
    expect(page.locator("[data-number=outside]")).to_have_text("6")


# --- small screens --------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 390, 820])
def test_every_view_fits_a_small_screen(visit, width):
    page = visit(viewport={"width": width, "height": 844}, has_touch=True)
    page.wait_for_selector("[data-answered]")
    for view in ("play", "solve", "idea", "data"):
        open_view(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        cut = page.evaluate(
            """(width) => [...document.querySelectorAll('#stage button, #stage select, #stage input, #stage canvas')]
            .filter((node) => node.checkVisibility() && !node.closest('.idea-list, .drop, .table-box')
              && (node.getBoundingClientRect().right > width + 1 || node.getBoundingClientRect().left < -1))
            .map((node) => node.outerHTML.slice(0, 100))""",
            width,
        )
        assert not cut, view
    open_view(page, "idea")
    for idea in ("line", "plane", "hulls", "box", "version", "losses", "bounds"):
        page.click(f"[data-idea={idea}]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, idea
        assert all(picture.bounding_box()["height"] >= 180 for picture in page.locator(".canvas-box").all())


def test_a_phone_has_the_plane_first_and_can_be_drawn_on(visit):
    page = visit(viewport={"width": 390, "height": 844}, has_touch=True)
    page.wait_for_selector("[data-answered]")
    tops = [
        page.locator(each).first.bounding_box()["y"]
        for each in (".work", "[aria-label=Settings]", "[aria-label=Results]")
    ]
    assert tops == sorted(tops)
    page.touchscreen.tap(*place(page, 1, 1))
    until_points(page, 5)
