"""Sets of points that a lesson begins with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = tuple[NDArray[np.float64], NDArray[np.intp]]


def _of(points: Any, labels: Any) -> Points:
    return np.asarray(points, dtype=np.float64), np.asarray(labels, dtype=np.intp)


def _toy() -> Points:
    return _of([[0, 0], [2, 2], [2, 0], [3, 0]], [0, 0, 1, 1])


def _xor() -> Points:
    rng = np.random.default_rng(3)
    centres = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]) * 1.4
    points = np.repeat(centres, 12, axis=0) + rng.normal(scale=0.38, size=(48, 2))
    return _of(points, np.repeat([0, 0, 1, 1], 12))


def _rings() -> Points:
    rng = np.random.default_rng(5)
    angles, radii = rng.uniform(0, 2 * np.pi, 90), np.repeat([0.7, 2.2], [35, 55])
    radii = radii + rng.normal(scale=0.2, size=90)
    return _of(np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), np.repeat([0, 1], [35, 55]))


def _moons() -> Points:
    rng = np.random.default_rng(7)
    angles = rng.uniform(0, np.pi, 100)
    upper = np.column_stack([np.cos(angles[:50]), np.sin(angles[:50])])
    lower = np.column_stack([1 - np.cos(angles[50:]), 0.5 - np.sin(angles[50:])])
    points = np.concatenate([upper, lower]) + rng.normal(scale=0.13, size=(100, 2))
    return _of((points - [0.5, 0.25]) * [1.9, 2.1], np.repeat([0, 1], 50))


def _iris() -> Points:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    distinct = np.unique(np.column_stack([X[:, 2:], y]), axis=0)
    return _of(distinct[:, :2], distinct[:, 2])


def _noisy() -> Points:
    rng = np.random.default_rng(11)
    points = rng.uniform([-3.2, -2.4], [3.2, 2.4], size=(140, 2))
    labels = (points @ [0.8, 0.6] + rng.normal(scale=0.55, size=140) > 0).astype(np.intp)
    return _of(points, labels)


def _line() -> Points:
    x = np.array([-2.8, -2.3, -1.9, -1.6, -0.8, -0.4, 0.1, 0.5, 0.9, 1.7, 2.1, 2.6])
    return _of(np.column_stack([x, np.zeros(12)]), np.abs(x) > 1.2)


def _curve() -> Points:
    rng = np.random.default_rng(13)
    x = np.sort(rng.uniform(-3.6, 3.6, 60))
    y = np.sin(1.5 * x) + 0.3 * x + rng.normal(scale=0.18, size=60)
    y[20], y[44] = y[20] + 1.6, y[44] - 1.5
    return _of(np.column_stack([x, y]), np.zeros(60))


def _blob() -> Points:
    rng = np.random.default_rng(17)
    first, second = rng.normal([-1.0, 0.5], 0.55, size=(45, 2)), rng.normal([1.3, -0.5], [0.8, 0.4], size=(35, 2))
    return _of(np.concatenate([first, second, [[3.0, 2.2], [-3.1, -2.0], [0.4, 2.4]]]), np.zeros(83))


def _three() -> Points:
    rng = np.random.default_rng(19)
    centres = np.repeat([[-1.6, -0.9], [1.6, -0.9], [0.0, 1.5]], 25, axis=0)
    return _of(centres + rng.normal(scale=0.6, size=(75, 2)), np.repeat([0, 1, 2], 25))


@dataclass(frozen=True)
class Preset:
    """A set of points and what it is there to teach.

    Attributes
    ----------
    title, short : str
        In full, and as short as a button.
    lesson : str
        What to try, and what it shows.
    make : callable
        Gives the points and their classes.
    window : tuple of four float
    settings : dict
        Method, kernel and numbers that the lesson begins with.
    """

    title: str
    short: str
    lesson: str
    make: Callable[[], Points]
    window: tuple[float, float, float, float]
    settings: dict[str, Any]


_USUAL = (-4.0, 4.0, -3.0, 3.0)
PRESETS = {
    "toy": Preset(
        "Toy set",
        "Toy",
        "Four points, solved by hand in lectures: the margin is 1/√2. Drag the point at (3, 0) away: it has no ring, "
        "and nothing moves. Drag a point with a ring, and everything does.",
        _toy,
        (-1.5, 4.5, -1.25, 3.25),
        {"method": "hard", "kernel": "linear"},
    ),
    "xor": Preset(
        "XOR",
        "XOR",
        "No line does it: choose the linear kernel and see. A polynomial of degree 2 does; now lower its degree to 1.",
        _xor,
        _USUAL,
        {"method": "soft", "kernel": "poly", "degree": 2, "C": 1.0, "gamma": 1.0, "coef0": 1.0},
    ),
    "rings": Preset(
        "Rings",
        "Rings",
        "A circle in the plane is a plane among the features. Raise γ until every point has an island of its own: "
        "that is learning by heart.",
        _rings,
        _USUAL,
        {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5},
    ),
    "moons": Preset(
        "Moons",
        "Moons",
        "Lower C: the street widens and more points stand in it. Few points decide the curve; drag one that has no "
        "mark, and it stays.",
        _moons,
        _USUAL,
        {"method": "soft", "kernel": "rbf", "C": 10.0, "gamma": 1.0},
    ),
    "iris": Preset(
        "Iris petals",
        "Iris",
        "Length and width of petals of three species. One is far off; between the other two the machine has to choose.",
        _iris,
        (0.2, 7.8, -1.1, 4.6),
        {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5},
    ),
    "noisy": Preset(
        "Noisy halves",
        "Halves",
        "Labels near the border are wrong by chance. Choose Hard-SVM: it proves that no line exists. Compare what one "
        "far outlier does to the hinge and to the ramp loss.",
        _noisy,
        _USUAL,
        {"method": "soft", "kernel": "linear", "C": 1.0},
    ),
    "line": Preset(
        "Line that needs x²",
        "x²",
        "On a line no threshold separates the middle from both ends; with x² there are two. See it lifted under "
        "“See the idea”.",
        _line,
        _USUAL,
        {"method": "hard", "kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    ),
    "three": Preset(
        "Three classes",
        "3 classes",
        "Three classes are three duels: every pair has a machine, and they vote.",
        _three,
        _USUAL,
        {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5},
    ),
    "blob": Preset(
        "One cloud",
        "Cloud",
        "No labels: a region that leaves out at most the share ν. The three stray points are outside. Raise γ to 1: "
        "each gets an island, and counts as usual.",
        _blob,
        _USUAL,
        {"method": "oneclass", "kernel": "rbf", "gamma": 0.2, "nu": 0.1},
    ),
    "curve": Preset(
        "Noisy curve",
        "Curve",
        "Points inside the tube do not pull; two outliers pull no harder than any other. Kernel ridge, on the same "
        "points, bends to them.",
        _curve,
        _USUAL,
        {"method": "svr", "kernel": "rbf", "C": 10.0, "gamma": 0.8, "epsilon": 0.3},
    ),
}


def preset(key: str) -> dict[str, Any]:
    """The state that a preset stands for."""
    found = PRESETS[key]
    points, labels = found.make()
    rows = [[round(float(x), 3), round(float(y), 3), int(label)] for (x, y), label in zip(points, labels, strict=True)]
    return {
        "preset": key,
        "title": found.title,
        "lesson": found.lesson,
        "points": rows,
        "window": list(found.window),
        **found.settings,
    }


def preset_list() -> list[list[str]]:
    """Key, title, short title and lesson of every preset, in the order of the buttons."""
    return [[key, each.title, each.short, each.lesson] for key, each in PRESETS.items()]
