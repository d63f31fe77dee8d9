"""Each idea shows numbers of the library."""

import numpy as np
import pytest

from mercer import SVC, theory
from mercer.kernels import Polynomial
from mercer.studio.playground.presets import preset
from mercer.studio.playground.scene import Scene
from mercer.studio.server.worker import Job
from mercer.studio.views import ideas

THREE = [[-1.1, 0.7, 0], [0.9, 1.1, 1], [0.5, -1.2, 1]]


def answer(action, **request):
    return next(iter(action(request, Job())))


def test_the_line_is_separated_once_it_is_lifted():
    header, _arrays = answer(ideas.lift_line, **preset("line"))
    table = np.array(preset("line")["points"])
    x, y = table[:, 0], np.where(table[:, 2] == 1, 1.0, -1.0)
    w1, w2, b = header["weights"]
    assert header["hard"]
    assert header["flat_errors"] > 0
    assert (y * (w1 * x + w2 * x**2 + b)).min() == pytest.approx(1.0, abs=1e-6)
    for root in header["roots"]:
        assert w1 * root + w2 * root**2 + b == pytest.approx(0.0, abs=1e-9)


def test_the_cut_through_the_features_is_the_decision_value():
    header, arrays = answer(ideas.lift_plane, **preset("rings"))
    scene = Scene.of(preset("rings"))
    kernel = Polynomial(degree=2, gamma=1.0, coef0=0.0)
    features = kernel.feature_map(scene.grid(96, 72))
    np.testing.assert_allclose(features @ header["weights"] + header["bias"], arrays["field"].ravel(), atol=1e-6)
    np.testing.assert_allclose(arrays["features"] @ arrays["features"].T, kernel(scene.points, scene.points), rtol=1e-9)


def test_the_version_space_of_three_points_is_a_triangle_with_its_centres_inside():
    header, arrays = answer(ideas.version_space, points=THREE)
    rows = np.column_stack([np.array(THREE)[:, :2], np.ones(3)])
    normals = np.array([-1.0, 1.0, 1.0])[:, None] * rows
    assert header["corners"] == 3
    for centre in header["centres"].values():
        assert np.linalg.norm(centre) == pytest.approx(1.0)
        assert (normals @ centre > 0).all()
    assert (normals @ arrays["outline"].T > -1e-6).all()
    distances = normals / np.linalg.norm(normals, axis=1)[:, None] @ header["centres"]["ball centre"]
    assert distances.min() == pytest.approx(header["radius"], rel=1e-6)


def test_its_area_is_the_share_of_random_lines_that_are_right(rng):
    header, _ = answer(ideas.version_space, points=THREE)
    lines = rng.normal(size=(200_000, 3))
    normals = np.array([-1.0, 1.0, 1.0])[:, None] * np.column_stack([np.array(THREE)[:, :2], np.ones(3)])
    assert header["area"] == pytest.approx(np.mean((lines @ normals.T > 0).all(axis=1)), abs=0.005)


def test_an_empty_version_space_is_a_sentence(open_tab):
    with open_tab() as tab:
        assert "empty" in tab.ask("version_space", points=[[0, 0, 0], [0, 0, 1], [1, 1, 1]])[0]["error"]


@pytest.mark.parametrize(("C", "where"), [(5.0, ["free", "free"]), (0.1, ["at C", "at C"])])
def test_the_walk_ends_at_the_top_of_the_box(C, where):
    points = [[-0.9, 0.5, 0], [0.8, 0.7, 1]]
    header, arrays = answer(ideas.dual_box, points=points, C=C)
    model = SVC(C=C, kernel="linear", bias="none", tol=1e-8).fit(np.array(points)[:, :2], [0, 1])
    np.testing.assert_allclose(header["alpha"], np.abs(model.dual_coef_.ravel()), atol=1e-6)
    assert header["where"] == where
    assert header["dual"] == pytest.approx(header["primal"], abs=1e-6)
    columns, _rows = header["grid"]
    inside = np.linspace(0, header["reach"], columns) <= C
    assert arrays["field"][np.ix_(inside, inside)].max() <= header["dual"] + 1e-9


def test_losses_are_those_of_the_library():
    header, arrays = answer(ideas.losses)
    for (name, _, convex), curve in zip(header["losses"], arrays["curves"], strict=True):
        np.testing.assert_allclose(curve, theory.LOSSES[name].value(arrays["z"]))
        assert convex == theory.LOSSES[name].is_convex


def test_bounds_are_those_of_the_report():
    state = {**preset("rings"), "bias": "penalized"}
    header, _ = answer(ideas.bounds, **state)
    table = np.array(state["points"])
    X, y = table[:, :2], np.where(table[:, 2] == 1, 1.0, -1.0)
    model = SVC(C=1.0, kernel=Scene.of(state).kernel, bias="penalized").fit(X, y)
    assert header["findings"] == theory.report(model, X, y).as_dict()["findings"]


def test_hulls_apart_have_nearest_points_twice_the_margin_apart():
    header, _ = answer(ideas.hulls, **preset("toy"))
    assert header["separable"]
    assert np.linalg.norm(np.subtract(*header["nearest"])) == pytest.approx(2 * header["margin"])


def test_hulls_that_meet_share_a_point():
    header, _ = answer(ideas.hulls, **preset("xor"))
    points, rows = np.array(preset("xor")["points"])[:, :2], np.array(header["indices"])
    for sign in (1.0, -1.0):
        own = np.array(header["signs"]) == sign
        np.testing.assert_allclose(np.array(header["weights"])[own] @ points[rows[own]], header["point"], atol=1e-7)


@pytest.mark.parametrize("name", ["lift_line", "lift_plane", "version_space", "dual_box", "bounds", "hulls"])
@pytest.mark.parametrize("points", [[], [[0, 0, 0]], [[1, 1, 0], [1, 1, 1]], [[1, 1, 0], [1, 1, 0], [1, 1, 1]]])
def test_too_little_to_draw_is_a_sentence_or_a_picture(open_tab, name, points):
    with open_tab() as tab:
        header, _ = tab.ask(name, points=points)
        assert "Error:" not in header.get("error", "")
        assert tab.ask("losses")[0]["losses"]
