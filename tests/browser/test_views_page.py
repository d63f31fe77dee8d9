"""Watching solvers, and moving ideas, in the browser."""

import pytest
from playwright.sync_api import expect

# The first visit may have to wait for compilation.
pytestmark = pytest.mark.timeout(400)


def open_view(page, key):
    page.click(f".tabs [data-view={key}]")
    page.wait_for_selector(f".view[data-view={key}]")


def recorded(page):
    page.wait_for_selector(".view[data-recording=false]")
    return int(page.get_attribute(".view", "data-steps"))


def test_the_perceptron_is_stepped_through(page):
    open_view(page, "solve")
    recorded(page)
    page.click("[data-solver=perceptron]")
    page.wait_for_function("() => document.querySelector('[data-number=bound]')")
    steps = int(page.get_attribute(".view", "data-steps"))
    page.click("[data-name=first]")
    notes = []
    for k in range(1, steps):
        page.click("[data-name=next]")
        assert page.get_attribute(".view", "data-step") == str(k)
        notes.append(page.text_content("[data-name=note]"))
    assert sum("update" in note for note in notes) == int(page.text_content("[data-number=updates]"))
    assert page.text_content("[data-number=end]") == "solved"
    assert all("right side" in note for note in notes[-4:])
    page.click("[data-name=back]")
    assert page.get_attribute(".view", "data-step") == str(steps - 2)


@pytest.mark.parametrize("solver", ["smo", "pegasos", "chunking"])
def test_solvers_are_played_paused_and_scrubbed(page, solver):
    open_view(page, "solve")
    page.click("[data-preset=moons]")
    page.click(f"[data-solver={solver}]")
    page.wait_for_function(
        "() => document.querySelector('.view').dataset.recording === 'false'"
        " && mercerStudio.state.scene.preset === 'moons'"
    )
    slider = page.locator("input[data-name=step]")
    slider.press("Home")
    page.click("[data-name=play]")
    page.wait_for_function("() => Number(document.querySelector('.view').dataset.step) >= 3")
    page.click("[data-name=play]")
    slider.press("End")
    steps = recorded(page)
    assert page.get_attribute(".view", "data-step") == str(steps - 1)
    gap = float(page.text_content("[data-number=gap]").replace("−", "-"))
    primal = float(page.text_content("[data-number=primal]"))
    assert gap >= -1e-6
    if solver != "pegasos":
        assert gap <= 0.05 * primal


def test_a_solver_is_watched_with_a_kernel_that_is_written_down(page):
    open_view(page, "solve")
    recorded(page)
    page.select_option("select[data-name=kernel]", "expression")
    page.locator("textarea[data-name=expression]").fill("rbf(gamma=1) + nonsense")
    expect(page.locator(".notice")).to_contain_text("nonsense")
    page.locator("textarea[data-name=expression]").fill("linear()**2 + linear()")
    expect(page.locator(".notice")).to_be_hidden()
    recorded(page)


def test_a_step_has_a_link(page, visit):
    open_view(page, "solve")
    recorded(page)
    for _ in range(3):
        page.click("[data-name=next]")
    page.click("#link")
    other = visit("#" + page.input_value("#link-text").removeprefix("mercer:"))
    recorded(other)
    assert other.get_attribute(".view", "data-step") == "3"
    assert other.text_content("[data-name=note]") == page.text_content("[data-name=note]")


def test_every_idea_opens_and_moves(page):
    open_view(page, "idea")
    told = {
        "line": "[data-number=roots]",
        "plane": "[data-number=plane]",
        "hulls": "[data-number=verdict]",
        "box": "[data-number=alpha]",
        "version": "[data-number=area]",
        "losses": "[data-loss=hinge]",
        "bounds": "[data-bound=xi_alpha]",
    }
    for key, number in told.items():
        page.click(f"[data-idea={key}]")
        page.wait_for_selector(number)
        assert page.locator(".notice:not([hidden])").count() == 0


def test_three_dimensions_turn_by_mouse_and_keys(page):
    open_view(page, "idea")
    page.click("[data-idea=plane]")
    page.wait_for_selector("[data-number=plane]")
    canvas = page.locator(".canvas-box canvas").nth(1)
    canvas.press("ArrowRight")
    before = float(canvas.get_attribute("data-azimuth"))
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.up()
    assert float(canvas.get_attribute("data-azimuth")) > before + 0.5


def test_dragging_a_point_into_the_other_hull_brings_the_proof(page):
    open_view(page, "idea")
    page.click("[data-idea=hulls]")
    page.wait_for_selector("[data-separable=true]")
    page.click("text=Meeting")
    page.wait_for_selector("[data-separable=false]")
    assert "of point" in page.text_content("[data-number=verdict]")


def test_the_box_ends_the_walk(page):
    open_view(page, "idea")
    page.click("[data-idea=box]")
    page.wait_for_selector("[data-number=alpha]")
    page.locator("input[type=range][data-name=C]").press("Home")
    page.wait_for_function("() => document.querySelector('.foot').textContent.includes('at C')")
