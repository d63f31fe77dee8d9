import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_circles

from mercer import SVC, DataError, LinearSVC, ParameterError
from mercer.kernels import RBF, Polynomial
from mercer.plot import LiftDisplay
from mercer.plot.drawing.lifting import cut_box
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def line():
    x = np.linspace(-3.0, 3.0, 25)
    return x[:, None], np.where(np.abs(x - 0.3) > 1.3, "out", "in")


@pytest.fixture(scope="module")
def rings():
    return make_circles(60, factor=0.4, noise=0.05, random_state=0)


def quadratic(coef0):
    return SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=coef0), C=100.0, tol=1e-8)


def values(display):
    """<w, psi(x)> + b of the drawn rows, by the drawn plane."""
    return display.features @ display.normal + display.offset


def test_a_column_is_lifted_to_a_parabola(line):
    model = quadratic(1.0).fit(*line)
    display = LiftDisplay.from_estimator(model, *line)
    assert display.names == ("√2 x", "x²")
    np.testing.assert_allclose(display.features, np.column_stack([np.sqrt(2.0) * line[0], line[0] ** 2]))
    np.testing.assert_allclose(values(display), model.decision_function(line[0]), atol=1e-6)


def test_the_plane_is_lifted_to_a_cone(rings):
    model = quadratic(0.0).fit(*rings)
    display = LiftDisplay.from_estimator(model, *rings)
    assert display.names == ("x1²", "√2 x1 x2", "x2²")
    np.testing.assert_allclose(values(display), model.decision_function(rings[0]), atol=1e-6)
    first, second, third = display.sheet.reshape(-1, 3).T
    np.testing.assert_allclose(second**2, 2.0 * first * third, atol=1e-9)


def test_a_kernel_with_too_many_features_is_lifted_by_its_decision(rings):
    model = SVC(kernel=RBF(gamma=1.0)).fit(*rings)
    display = LiftDisplay.from_estimator(model, *rings)
    assert display.names == ("x1", "x2", "f(x)")
    np.testing.assert_allclose(display.features[:, 2], model.decision_function(rings[0]))
    np.testing.assert_array_equal(display.normal, [0.0, 0.0, 1.0])


def test_features_of_the_caller_carry_a_linear_model(rings):
    def lifted(X):
        return np.column_stack([X, (X**2).sum(axis=1)])

    X, y = rings
    model = LinearSVC(C=100.0).fit(lifted(X), y)
    display = LiftDisplay.from_estimator(model, X, y, feature_map=lifted, names=("a", "b", "a² + b²"))
    np.testing.assert_allclose(values(display), model.decision_function(lifted(X)), atol=1e-9)
    assert display.ax_.get_zlabel() == "a² + b²"


def test_the_plane_that_is_drawn_is_the_plane_that_separates(rings):
    display = LiftDisplay.from_estimator(quadratic(0.0).fit(*rings), *rings)
    corners = np.asarray(display.plane_._vec[:3].T) if hasattr(display.plane_, "_vec") else display.plane_._faces[0]
    np.testing.assert_allclose(corners[:, :3] @ display.normal + display.offset, 0.0, atol=1e-9)


def test_every_row_is_drawn_once_before_or_behind_the_plane(rings):
    display = LiftDisplay.from_estimator(quadratic(0.0).fit(*rings), *rings)
    counts = [len(artist._offsets3d[0]) for artist in display.points_ + display.hidden_]
    assert sum(counts) == 60
    assert display.hidden_[0].get_zorder() < display.plane_.get_zorder() < display.points_[0].get_zorder()


def test_support_vectors_are_ringed(line):
    model = quadratic(1.0).fit(*line)
    display = LiftDisplay.from_estimator(model, *line)
    assert len(display.rings_.get_offsets()) == len(model.support_)


def test_a_plane_cuts_a_box_in_a_polygon():
    low, high = -np.ones(3), np.ones(3)
    hexagon = cut_box(np.ones(3), 0.0, low, high)
    assert len(hexagon) == 6
    np.testing.assert_allclose(hexagon.sum(axis=1), 0.0, atol=1e-12)
    sides = np.linalg.norm(hexagon - np.roll(hexagon, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, np.sqrt(2.0))
    assert len(cut_box(np.ones(3), 5.0, low, high)) == 0
    assert len(cut_box(np.array([1.0, 0.0]), 0.0, low[:2], high[:2])) == 2


def test_what_cannot_be_lifted_is_refused(rings, petals):
    X, y = rings
    model = quadratic(0.0).fit(X, y)
    with pytest.raises(DataError, match=r"X must have 1 or 2 columns .* got shape \(60, 3\)"):
        LiftDisplay.from_estimator(model, np.zeros((60, 3)), y)
    with pytest.raises(DataError, match="one plane between two classes, got 3 classes"):
        LiftDisplay.from_estimator(quadratic(0.0).fit(*petals), *petals)
    with pytest.raises(
        ParameterError, match="LiftDisplay needs a model with expansion_, which LinearSVC does not have"
    ):
        LiftDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    with pytest.raises(DataError, match=r"feature_map must return 2 or 3 features.* got 2 and 3"):
        LiftDisplay.from_estimator(LinearSVC().fit(np.c_[X, X[:, 0]], y), X, y, feature_map=lambda X: X)
    _, flat = plt.subplots()
    with pytest.raises(ParameterError, match="ax must have three dimensions for three features"):
        LiftDisplay.from_estimator(model, X, y, ax=flat)


def test_pictures_in_two_and_three_dimensions(line, rings):
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    flat = figure.add_subplot(1, 2, 1)
    solid = figure.add_subplot(1, 2, 2, projection="3d", computed_zorder=False)
    solid.view_init(elev=18, azim=-38)
    LiftDisplay.from_estimator(quadratic(1.0).fit(*line), *line, ax=flat)
    LiftDisplay.from_estimator(quadratic(0.0).fit(*rings), *rings, ax=solid)
    assert_pictured(figure, "lift")
