import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse

from mercer import SVC, AnalyticCenterMachine, BayesPointMachine, DataError
from mercer.plot import VersionSpaceDisplay
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([-1.5, 0.0], 0.5, (15, 2)), rng.normal([1.5, 0.4], 0.6, (15, 2))])
    return X, np.repeat(["left", "right"], 15)


@pytest.fixture
def display(clouds):
    return VersionSpaceDisplay.from_data(*clouds)


def members(display, n=200_000):
    """Random points of the version space."""
    draws = np.random.default_rng(1).normal(size=(n, 3))
    draws /= np.linalg.norm(draws, axis=1)[:, None]
    return draws[(draws @ display.normals.T > 0).all(axis=1)]


def test_every_row_has_a_wall_that_passes_where_it_decides(display):
    assert len(display.walls_) == 30
    for wall, normal in zip(display.walls_, display.normals, strict=True):
        line = np.column_stack(wall.get_data())
        assert np.isfinite(line).any()
        corners = display.polygon.corners
        # On the map, a wall through a corner passes there.
        on_it = np.abs(corners @ normal) < 1e-9
        for place in display.map(corners[on_it]):
            assert np.nanmin(np.linalg.norm(line - place, axis=1)) < 0.02


def test_the_map_keeps_areas(display):
    outline = display.region_.get_xy()
    x, y = outline.T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert area == pytest.approx(display.polygon.area, rel=1e-3)


def test_members_are_drawn_inside_and_others_outside(display):
    from matplotlib.path import Path

    path = Path(display.region_.get_xy())
    assert path.contains_points(display.map(members(display))).mean() > 0.999
    flipped = -members(display, 20_000)
    assert not path.contains_points(display.map(flipped)).any()


def test_the_ball_touches_a_wall_and_crosses_none(display):
    ball = display.centers["ball centre"]
    distances = display.normals @ ball
    assert distances.min() == pytest.approx(display.radius, rel=1e-6)
    assert np.sum(distances < display.radius * (1 + 1e-6)) >= 3


def test_the_centres_are_where_the_machines_put_them(display, clouds):
    X, y = clouds
    model = AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y)
    point = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_allclose(display.centers["analytic centre"], point / np.linalg.norm(point), atol=1e-6)
    mean = members(display).mean(axis=0)
    np.testing.assert_allclose(display.centers["centre of mass"], mean / np.linalg.norm(mean), atol=0.02)
    np.testing.assert_allclose(display.marks_["centre of mass"].get_offsets(), [[0.0, 0.0]], atol=1e-9)


def test_other_models_are_marked_too(clouds):
    X, y = clouds
    models = {
        "Bayes point": BayesPointMachine(kernel="linear", slack=0.0, random_state=0).fit(X, y),
        "SVC": SVC(kernel="linear", C=1e6).fit(sparse.csr_array(X), y),
    }
    display = VersionSpaceDisplay.from_data(sparse.csr_array(X), y, estimators=models)
    assert list(display.marks_) == ["ball centre", "analytic centre", "centre of mass", "Bayes point", "SVC"]
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"version space", "largest ball", "Bayes point", "wall of a row of class left"} <= set(words)
    near = display.map(display.centers["Bayes point"][None])
    assert np.linalg.norm(near) < 0.1


def test_three_features_need_no_bias():
    normals = np.abs(np.random.default_rng(0).normal(size=(10, 3)))
    y = np.arange(10) % 2
    display = VersionSpaceDisplay.from_data(normals * (2 * y - 1)[:, None], y, bias="none", legend=False)
    assert display.ax_.get_legend() is None
    assert (display.normals @ display.centers["centre of mass"]).min() > 0


def test_it_draws_into_given_axes_and_returns_itself(clouds):
    _, ax = plt.subplots()
    display = VersionSpaceDisplay.from_data(*clouds, ax=ax)
    assert display.ax_ is ax
    assert display.plot(ax=ax) is display


def test_what_cannot_be_drawn_is_refused(clouds):
    X, y = clouds
    with pytest.raises(DataError, match=r"X must have 2 columns with bias='penalized', got shape \(30, 3\)"):
        VersionSpaceDisplay.from_data(np.ones((30, 3)), y)
    with pytest.raises(DataError, match="bias must be 'penalized' or 'none', got 'free'"):
        VersionSpaceDisplay.from_data(X, y, bias="free")
    with pytest.raises(DataError, match="y must have two classes, got 3"):
        VersionSpaceDisplay.from_data(X, np.arange(30) % 3)
    with pytest.raises(DataError, match="the version space is empty"):
        VersionSpaceDisplay.from_data(X, np.arange(30) % 2)
    with pytest.raises(DataError, match="fewer than three corners"):
        VersionSpaceDisplay.from_data(X[[0, -1]], y[[0, -1]])
    with pytest.raises(DataError, match="'one' must be a linear classifier of two classes with three weights, got 2"):
        VersionSpaceDisplay.from_data(X, y, estimators={"one": SVC(kernel="linear").fit(X[:, :1], y)})


def test_the_picture(display):
    assert_pictured(display.figure_, "version_space")
