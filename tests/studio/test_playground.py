"""What the playground shows is what the library computes, and bad input is a sentence."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import mercer
from mercer._errors import DataError
from mercer.studio.playground.methods import METHODS, method_of
from mercer.studio.playground.presets import PRESETS, preset, preset_list
from mercer.studio.playground.scene import Scene
from mercer.studio.playground.script import script
from mercer.studio.server.quiet_warnings import expected_warnings_ignored
from mercer.studio.server.worker import Job
from mercer.studio.views.playground import FREE, INSIDE, WRONG, ZERO, fit

PRESET_OF = {"classes": "moons", "region": "blob", "curve": "curve"}


def first_answer(**request):
    with expected_warnings_ignored():
        return next(iter(fit(request, Job())))


@pytest.mark.parametrize("key", PRESETS)
def test_every_preset_begins_with_a_model(key):
    state = preset(key)
    header, _ = first_answer(**state)
    assert header["status"] == "OPTIMAL"
    assert len(header["cases"]) == len(state["points"])
    left, right, bottom, top = state["window"]
    assert all(left < x < right and bottom < y < top for x, y, _ in state["points"])


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "matern", "rational", "second", "cosine"])
def test_every_kernel_gives_a_field(kernel):
    header, arrays = first_answer(**{**preset("moons"), "kernel": kernel})
    assert np.isfinite(arrays["field"]).all()
    assert header["kind"] == "classes"


def test_an_expression_is_a_kernel_like_any_other():
    state = {**preset("moons"), "kernel": "expression", "expression": "rbf(gamma=1) + 0.5*linear()"}
    X, y = np.array(state["points"])[:, :2], np.array(state["points"])[:, 2]
    kernel = mercer.kernels.RBF(gamma=1.0) + 0.5 * mercer.kernels.Linear()
    expected = mercer.SVC(C=10.0, kernel=kernel).fit(X, y).decision_function(Scene.of(state).grid(96, 72))
    np.testing.assert_allclose(first_answer(**state)[1]["field"].ravel(), expected, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_field_is_that_of_the_library(name, kernel):
    state = {**preset(PRESET_OF[METHODS[name].kind]), "method": name, "kernel": kernel}
    scene = Scene.of(state)
    if (name, kernel) == ("hard", "linear"):
        with pytest.raises(mercer.NotSeparableError):
            first_answer(**state)
        return
    _, arrays = first_answer(**state)
    model = method_of(scene).estimator(scene)
    X, y = scene.points, scene.labels
    with expected_warnings_ignored():
        if METHODS[name].kind == "curve":
            model.fit(X[:, :1], X[:, 1])
            np.testing.assert_allclose(
                arrays["curve"][1], model.predict(arrays["curve"][0][:, None]), rtol=1e-5, atol=1e-5
            )
        else:
            model.fit(X, y if METHODS[name].kind == "classes" else None)
            np.testing.assert_allclose(arrays["field"].ravel(), model.decision_function(scene.grid(96, 72)), atol=1e-8)


def test_points_are_sorted_into_their_kkt_cases():
    state = {**preset("noisy"), "method": "soft", "kernel": "linear", "C": 1.0}
    header, arrays = first_answer(**state)
    cases, alpha, margins = np.array(header["cases"]), arrays["alpha"], arrays["values"]
    assert (alpha[cases == ZERO] == 0).all()
    assert (margins[cases == ZERO] >= 1 - 1e-3).all()
    assert (np.abs(margins[cases == FREE] - 1) < 1e-3).all()
    assert ((alpha[cases == FREE] > 0) & (alpha[cases == FREE] < 1)).all()
    np.testing.assert_allclose(alpha[(cases == INSIDE) | (cases == WRONG)], 1.0)
    assert (margins[cases == WRONG] <= 0).all()
    assert header["numbers"]["support"] == np.count_nonzero(alpha)
    assert {FREE, INSIDE, WRONG} <= set(cases)


def test_more_than_two_classes_are_regions():
    header, arrays = first_answer(**preset("three"))
    assert header["classes"] == [0, 1, 2]
    assert set(np.unique(arrays["field"])) == {0.0, 1.0, 2.0}


def test_data_that_cannot_be_separated_come_with_their_proof(open_tab):
    with open_tab() as tab:
        header, _ = tab.ask("fit", **{**preset("xor"), "method": "hard", "kernel": "linear"})
    points = np.array(preset("xor")["points"])
    proof = header["proof"]
    rows, weights, signs = np.array(proof["indices"]), np.array(proof["weights"]), np.array(proof["signs"])
    sides = [weights[signs == sign] @ points[rows[signs == sign], :2] for sign in (1, -1)]
    np.testing.assert_allclose(sides[0], sides[1], atol=1e-7)
    np.testing.assert_allclose(proof["point"], sides[0], atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_no_points_are_a_sentence(method):
    with pytest.raises(DataError, match="no points yet"):
        first_answer(method=method, points=[])


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.kind == "classes"])
def test_one_class_only_is_a_sentence(method):
    with pytest.raises(DataError, match="at least two classes"):
        first_answer(method=method, points=[[0, 0, 1], [1, 1, 1]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_points_that_are_all_equal_are_a_model_or_a_sentence(open_tab, method, kernel):
    with open_tab() as tab:
        header, _ = tab.ask("fit", points=[[1, 1, 0], [1, 1, 1], [1, 1, 0]], method=method, kernel=kernel)
        assert header.get("error") or header["status"]
        assert "Traceback" not in str(header)
        assert tab.ask("fit", **preset("toy"))[0]["status"] == "OPTIMAL"


@pytest.mark.parametrize("method", METHODS)
def test_a_single_point_is_a_model_or_a_sentence(open_tab, method):
    with open_tab() as tab:
        header, _ = tab.ask("fit", points=[[1, 1, 0]], method=method, kernel="rbf")
    assert header.get("error") or header["status"]


def test_a_kernel_that_fails_is_a_sentence(open_tab):
    with open_tab() as tab:
        header, _ = tab.ask("fit", **{**preset("moons"), "kernel": "chi2"})  # for counts, which are not negative
        assert "negative" in header["error"]
        assert tab.ask("fit", **preset("toy"))[0]["status"] == "OPTIMAL"


# --- the code that reproduces it -----------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kernel", ["poly", "rbf", "expression"])
def test_exported_code_runs_and_gives_the_same_model_and_its_picture(name, kernel, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = {**preset(PRESET_OF[METHODS[name].kind]), "method": name, "kernel": kernel, "bias": "penalized"}
    state["degree"] = 5  # enough for a hard margin
    state["expression"] = "2*rbf(gamma=0.5) * laplacian(gamma=1) + 0.1*linear()**2"
    scene = Scene.of(state)
    _, arrays = first_answer(**state)
    names = {}
    with expected_warnings_ignored():
        exec(compile(script(scene), "studio.py", "exec"), names)  # noqa: S102 - our own code, which is what is tested
    model = names["model"]
    if METHODS[name].kind == "curve":
        np.testing.assert_allclose(model.predict(arrays["curve"][0][:, None]), arrays["curve"][1], rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_allclose(model.decision_function(scene.grid(96, 72)), arrays["field"].ravel(), atol=1e-8)
    assert "status" in capsys.readouterr().out
    assert (tmp_path / "mercer_studio.png").read_bytes().startswith(b"\x89PNG")
    assert len(names["picture"].points) == len(scene.points)
    plt.close("all")


def test_the_code_of_classes_that_nothing_separates_ends_with_the_proof():
    state = {**preset("xor"), "method": "hard", "kernel": "linear"}
    with pytest.raises(SystemExit, match="convex hulls have a point in common"):
        exec(compile(script(Scene.of(state)), "studio.py", "exec"), {})  # noqa: S102 - as above


def test_the_code_of_the_toy_set_prints_its_margin(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(script(Scene.of(preset("toy"))), "studio.py", "exec"), {})  # noqa: S102 - as above
    assert "0.707106781186547" in capsys.readouterr().out
    plt.close("all")


# --- presets that teach ---------------------------------------------------------------------------


def test_every_preset_has_a_lesson_for_a_narrow_panel():
    for key, title, short, lesson in preset_list():
        assert title
        assert len(short) <= 9, key
        assert 40 <= len(lesson) <= 220, key
        assert lesson.endswith((".", "”."))


def test_the_cloud_leaves_its_stray_points_outside():
    header, arrays = first_answer(**preset("blob"))
    assert (arrays["values"][-3:] < 0).all()  # those that were put there to stray
    assert header["numbers"]["outside"] <= 0.1 * len(arrays["values"])
    # and, as the lesson says, each gets an island of its own when gamma is larger
    assert first_answer(**{**preset("blob"), "gamma": 1.0})[0]["numbers"]["outside"] == 0


def test_what_the_lessons_say_is_so():
    assert first_answer(**preset("toy"))[0]["numbers"]["margin"] == pytest.approx(0.5**0.5)
    assert first_answer(**preset("toy"))[0]["cases"][3] == ZERO
    assert first_answer(**{**preset("xor"), "degree": 1})[0]["numbers"]["training_errors"] > 10
    assert first_answer(**preset("xor"))[0]["numbers"]["training_errors"] <= 2
    with pytest.raises(mercer.NotSeparableError):
        first_answer(**{**preset("noisy"), "method": "hard"})
    few, many = (first_answer(**{**preset("moons"), "C": C})[0]["numbers"]["support"] for C in (10.0, 0.1))
    assert many > few
