"""The playground without a Studio: its own solver has the library's answers, and its links are the Studio's."""

import numpy as np
import pytest
from playwright.sync_api import expect

from mercer._errors import NotSeparableError
from mercer.studio.playground.presets import PRESETS, preset
from mercer.studio.playground.scene import Scene
from mercer.studio.server.links import fragment_of
from mercer.studio.server.messages import plain
from mercer.studio.server.quiet_warnings import expected_warnings_ignored
from mercer.studio.server.worker import Job
from mercer.studio.views import ACTIONS
from tests.browser.test_playground_page import answered, number, place

pytestmark = pytest.mark.timeout(400)

# As exact as the page promises to be, relative to the size of what is compared.
EXACT = 1e-6
ASK = """([what, request]) => new Promise((done) => mercerStudio.ask(what, request, (header, arrays) => done([header,
  Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, Array.from(values)]))])))"""
# What only one solution has: coefficients of a singular kernel matrix are one choice of many.
NOT_UNIQUE = {"support", "free", "bounded", "gap"}


@pytest.fixture(scope="module")
def engine(browser, host):
    """Ask the solver of the page; numbers come in double precision."""
    page = browser.new_page()
    page.goto(host)
    page.wait_for_selector("[data-answered]")
    yield lambda what, request: page.evaluate(ASK, [what, request])
    page.close()


def of_the_library(what, request):
    with expected_warnings_ignored():
        header, arrays = next(iter(ACTIONS[what](request, Job())))
    return plain(header), {name: np.ravel(values) for name, values in arrays.items()}


def assert_close(found, expected, what=""):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, what
    assert np.abs(found - expected).max(initial=0.0) <= EXACT * max(1.0, np.abs(expected).max(initial=0.0)), what


def assert_same_machine(engine, request):
    """Values, field or curve, and numbers of the page's machine are those of the library's."""
    header, arrays = of_the_library("fit", request)
    found, own = engine("fit", request)
    assert found["status"] == header["status"] == "OPTIMAL"
    for name in set(arrays) - {"alpha"}:
        if len(header.get("classes", ())) > 2 and name == "field":  # classes, and not values: borders may round
            assert np.mean(np.array(own[name]) != arrays[name]) <= 1e-3
        else:
            assert_close(own[name], arrays[name], name)
    for name, value in header["numbers"].items():
        if name not in NOT_UNIQUE:
            assert found["numbers"][name] == pytest.approx(value, rel=EXACT, abs=EXACT), name
    assert abs(found["numbers"].get("gap", 0.0)) <= EXACT * max(1.0, abs(found["numbers"].get("primal", 0.0)))
    return header, found, arrays, own


@pytest.mark.parametrize("key", PRESETS)
def test_every_preset_has_the_librarys_answer(engine, key):
    header, found, arrays, own = assert_same_machine(engine, preset(key))
    if preset(key)["kernel"] == "rbf":  # then there is one solution only
        assert found["cases"] == header["cases"]
        assert_close(own["alpha"], arrays["alpha"], "alpha")


@pytest.mark.parametrize("method", ["hard", "soft", "squared", "nu", "oneclass", "svr", "ridge"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern", "rational", "second", "poly", "cosine", "linear"])
def test_every_machine_and_kernel_of_the_page_is_the_librarys(engine, method, kernel):
    for bias in ("free", "penalized", "none") if method in ("hard", "soft", "squared", "svr") else ("free",):
        state = {**preset("curve" if method in ("svr", "ridge") else "moons"), "method": method, "kernel": kernel}
        state |= {"bias": bias, "nu": 0.45, "C": 2.0, "length_scale": 0.7, "degree": 3}
        try:
            of_the_library("fit", state)
        except NotSeparableError:
            assert "proof" in engine("fit", state)[0]
            continue
        if method == "oneclass" and kernel in ("linear", "cosine"):
            assert "origin" in engine("fit", state)[0]["error"]  # the library warns of it
            continue
        assert_same_machine(engine, state)


def test_a_proof_of_the_page_is_one(engine):
    state = {**preset("xor"), "method": "hard", "kernel": "linear"}
    proof = engine("fit", state)[0]["proof"]
    X, weights, signs = Scene.of(state).points[proof["indices"]], np.array(proof["weights"]), np.array(proof["signs"])
    for sign in (1, -1):
        assert weights[signs == sign].sum() == pytest.approx(1.0)
        assert_close(weights[signs == sign] @ X[signs == sign], proof["point"])


def random_points(count, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = (X[:, 0] + 0.4 * rng.normal(size=count) > 0).astype(int)
    return [[round(float(a), 3), round(float(b), 3), int(c)] for (a, b), c in zip(X, y, strict=True)]


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("gamma", [0.05, 1.0, 30.0])
def test_three_hundred_points_have_the_librarys_answer_too(engine, C, gamma):
    state = {"points": random_points(300, 5), "method": "soft", "kernel": "rbf", "C": C, "gamma": gamma}
    assert_same_machine(engine, state)


LINE, WIDE = [[-2.4, 0, 1], [-1.5, 0, 1], [-0.8, 0, 0], [0.7, 0, 0], [1.4, 0, 1]], [-3, 3, -2, 2]
APART = [[-2.2, 0.9, 0], [-1.2, -1.1, 0], [-0.9, 0.8, 0], [1.1, 0.2, 1], [2.3, 1.3, 1], [1.9, -1.2, 1]]
THREE = [[-1.1, 0.7, 0], [0.9, 1.1, 1], [0.5, -1.2, 1]]


@pytest.mark.parametrize(
    ("what", "request_"),
    [
        ("lift_line", {"points": LINE, "window": WIDE}),
        ("lift_line", {"points": [[-2, 0, 1], [-1, 0, 0], [0, 0, 1], [1, 0, 0]], "window": WIDE}),
        ("lift_plane", {"points": preset("rings")["points"][::2], "window": WIDE}),
        ("lift_plane", {"points": preset("xor")["points"][::2], "window": WIDE}),
        ("hulls", {"points": APART}),
        ("dual_box", {"points": [[-0.9, 0.5, 0], [0.8, 0.7, 1]], "C": 1.0}),
        ("dual_box", {"points": [[-0.9, 0.5, 0], [0.8, 0.7, 1]], "C": 0.3}),
        ("version_space", {"points": THREE}),
        ("version_space", {"points": [*THREE, [-0.5, 1, 0], [2, 0, 1]]}),
        ("losses", {}),
    ],
)
def test_every_idea_has_the_librarys_numbers(engine, what, request_):
    header, arrays = of_the_library(what, request_)
    found, own = engine(what, request_)
    # Which of several points carry a weight, and where a walk or an outline begins, is free.
    free = {"support", "path", "hulls"} | ({"outline", "walls", "ball"} if what == "version_space" else set())
    for name in set(header) - free:
        if isinstance(header[name], (int, float)) and not isinstance(header[name], bool):
            assert found[name] == pytest.approx(header[name], rel=EXACT, abs=EXACT), name
        elif name == "centres":
            for centre, place_ in header[name].items():
                assert_close(found[name][centre], place_, centre)
        elif name in ("weights", "alpha", "roots", "nearest"):
            assert_close(found[name], header[name], name)
        else:
            assert found[name] == header[name], name
    for name in set(arrays) - free:
        assert_close(own[name], arrays[name], name)


@pytest.mark.parametrize("C", [0.1, 1.0, 1e4])
@pytest.mark.parametrize("key", ["rings", "noisy"])
def test_bounds_are_those_of_the_theory_word_for_word(engine, key, C):
    request = {"points": preset(key)["points"], "C": C, "gamma": 0.5, "kernel": "rbf", "bias": "penalized"}
    header, arrays = of_the_library("bounds", request)
    found, own = engine("bounds", request)
    for name in ("m", "norm", "rho", "ball_radius", "hinge", "training_error"):
        assert found[name] == pytest.approx(header[name], rel=EXACT, abs=EXACT), name
    for one, other in zip(found["findings"], header["findings"], strict=True):
        assert one["value"] == (None if other["value"] is None else pytest.approx(other["value"], rel=EXACT)), one[
            "key"
        ]
        assert {**one, "value": 0} == {**other, "value": 0}
    assert_close(own["field"], arrays["field"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": []}, "no points yet"),
        ({"points": [[0, 0, 1], [1, 1, 1]]}, "at least two classes"),
        ({"points": random_points(501, 1)}, "at most 500"),
        ({"points": [[1e9, 0, 1], [1, 1, 0]]}, "at most 1000000"),
        ({"points": [[0, 0, 9], [1, 1, 0]]}, "from 0 to 7"),
        ({"C": -1}, "C must be a number"),
        ({"C": "1"}, "C must be a number"),
        ({"kernel": "expression"}, "mercer studio LINK"),
        ({"method": "logistic"}, "mercer studio LINK"),
        ({"method": "nu", "nu": 1.0, "points": [[0, 0, 0], [1, 1, 1], [2, 2, 1]]}, "ν must be at most 0.667"),
    ],
)
def test_what_the_page_cannot_do_is_a_sentence(engine, change, words):
    assert words in engine("fit", {**preset("moons"), **change})[0]["error"]


# --- the page -------------------------------------------------------------------------------------


def test_points_are_dragged_and_the_margin_follows(alone):
    page = alone()
    assert number(page, "margin") == pytest.approx(2**-0.5, abs=1e-5)
    page.mouse.move(*place(page, 2, 0))
    page.mouse.down()
    page.mouse.move(*place(page, 2.5, -0.5), steps=5)
    page.mouse.up()
    page.wait_for_selector(".view[data-refined=true]")
    assert number(page, "margin") > 0.9


def test_it_works_where_it_may_keep_nothing(browser, host):
    """As in a frame of another site, whose storage a browser may refuse."""
    context = browser.new_context()
    context.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page = context.new_page()
    page.goto(host)
    expect(page.locator("[data-number=margin]")).to_have_text("0.70711", timeout=30_000)
    page.click("[data-preset=moons]")
    expect(page.locator(".timing")).to_contain_text("100 points")
    page.click("#undo")
    expect(page.locator(".timing")).to_contain_text("4 points")
    context.close()


def test_it_has_the_views_that_need_no_library_and_says_what_needs_one(alone):
    page = alone()
    assert page.locator(".tabs button").all_text_contents() == ["Playground", "See the idea"]
    assert "logistic" not in page.eval_on_selector_all(
        "select[data-name=method] option", "all => all.map(o => o.value)"
    )
    page.click("#export")
    page.click("[data-export=code]")
    expect(page.locator("#toast")).to_contain_text("mercer studio LINK")


def test_links_go_from_the_host_to_the_studio_and_back(alone, visit, host):
    page = alone()
    answered(page, lambda: page.click("[data-preset=rings]"))
    page.click("#link")
    link = page.input_value("#link-text")
    assert link.startswith(f"{host}#play=")
    studio = visit("#" + fragment_of(link))
    studio.wait_for_selector("[data-answered]")
    assert number(studio, "margin") == pytest.approx(number(page, "margin"), rel=1e-4)
    answered(studio, lambda: studio.click("[data-preset=moons]"))
    studio.click("#link")
    other = alone("#" + fragment_of(studio.input_value("#link-text")))
    assert len(other.evaluate("mercerStudio.state.scene.points")) == 100
    assert number(other, "margin") == pytest.approx(number(studio, "margin"), rel=1e-4)


def test_a_link_to_a_view_that_is_not_here_opens_the_playground(alone, visit):
    studio = visit()
    studio.wait_for_selector("[data-answered]")
    studio.click(".tabs [data-view=solve]")
    studio.wait_for_selector(".view[data-view=solve]")
    studio.click("#link")
    page = alone("#" + fragment_of(studio.input_value("#link-text")))
    assert page.locator(".view[data-view=play]").count() == 1


@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_every_screen(alone, width):
    page = alone(viewport={"width": width, "height": 844})
    for view in ("play", "idea"):
        page.click(f".tabs [data-view={view}]")
        page.wait_for_selector(f".view[data-view={view}]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
