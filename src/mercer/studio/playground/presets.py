"""Sets of points that a lesson begins with."""

from collections.abc import Callable
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


# Key, title, the points, the window, and with which method and kernel a lesson would begin.
PRESETS: dict[str, tuple[str, Callable[[], Points], tuple[float, ...], dict[str, Any]]] = {
    "toy": ("Toy set", _toy, (-1.5, 4.5, -1.25, 3.25), {"method": "hard", "kernel": "linear"}),
    "xor": ("XOR", _xor, (-4, 4, -3, 3), {"method": "soft", "kernel": "poly", "C": 1.0, "gamma": 1.0}),
    "rings": ("Rings", _rings, (-4, 4, -3, 3), {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5}),
    "moons": ("Moons", _moons, (-4, 4, -3, 3), {"method": "soft", "kernel": "rbf", "C": 10.0, "gamma": 1.0}),
    "iris": ("Iris petals", _iris, (0.2, 7.8, -1.1, 4.6), {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5}),
    "noisy": ("Noisy halves", _noisy, (-4, 4, -3, 3), {"method": "soft", "kernel": "linear", "C": 1.0}),
    "line": ("Line that needs x²", _line, (-4, 4, -3, 3), {"method": "hard", "kernel": "poly", "degree": 2}),
    "three": ("Three classes", _three, (-4, 4, -3, 3), {"method": "soft", "kernel": "rbf", "C": 1.0, "gamma": 0.5}),
    "blob": ("One cloud", _blob, (-4, 4, -3, 3), {"method": "oneclass", "kernel": "rbf", "gamma": 0.6, "nu": 0.1}),
    "curve": ("Noisy curve", _curve, (-4, 4, -3, 3), {"method": "svr", "kernel": "rbf", "C": 10.0, "gamma": 0.8}),
}


def preset(key: str) -> dict[str, Any]:
    """The state that a preset stands for."""
    title, make, window, settings = PRESETS[key]
    points, labels = make()
    rows = [[round(float(x), 3), round(float(y), 3), int(label)] for (x, y), label in zip(points, labels, strict=True)]
    return {"preset": key, "title": title, "points": rows, "window": list(window), **settings}
