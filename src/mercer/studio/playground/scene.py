"""What is on the screen: points, method, kernel and their parameters, read from a request and checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    SecondOrder,
    Sigmoid,
)
from mercer.problems.svm.soft_margin import BIASES

MOST_POINTS = 2000
MOST_CLASSES = 8
LARGEST_COORDINATE = 1e6
LONGEST_EXPRESSION = 500
# (smallest, largest) of each number that a slider moves.
RANGES = {
    "C": (1e-6, 1e9),
    "gamma": (1e-6, 1e6),
    "degree": (1, 12),
    "coef0": (-100.0, 100.0),
    "length_scale": (1e-6, 1e6),
    "nu": (1e-4, 1.0),
    "epsilon": (0.0, 1e6),
    "alpha": (1e-12, 1e9),
}
_DEFAULTS = {
    "C": 1.0,
    "gamma": 1.0,
    "degree": 2,
    "coef0": 1.0,
    "length_scale": 1.0,
    "nu": 0.2,
    "epsilon": 0.1,
    "alpha": 0.1,
}


@dataclass(frozen=True)
class Scene:
    """The playground's state.

    Attributes
    ----------
    points : ndarray (n, 2)
    labels : ndarray of int (n,)
    method : str
        A key of `mercer.studio.playground.methods.METHODS`.
    kernel : Kernel
    bias : {"free", "penalized", "none"}
    numbers : dict of str to float
        C, gamma and the like, each within `RANGES`.
    window : tuple of four float
        x from, x to, y from, y to: what the screen shows.
    """

    points: NDArray[np.float64]
    labels: NDArray[np.intp]
    method: str
    kernel: Kernel
    bias: str = "free"
    numbers: dict[str, float] = field(default_factory=dict)
    window: tuple[float, float, float, float] = (-4.0, 4.0, -3.0, 3.0)

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> "Scene":
        """From a request; everything in it is checked."""
        points, labels = read_points(request.get("points", []))
        numbers = {name: read_number(name, request.get(name, value)) for name, value in _DEFAULTS.items()}
        bias = str(request.get("bias", "free"))
        if bias not in BIASES:
            raise ParameterError(f"bias must be one of {', '.join(BIASES)}, got {bias!r}")
        kernel = read_kernel(str(request.get("kernel", "linear")), numbers, str(request.get("expression", "")))
        window = read_window(request.get("window", (-4.0, 4.0, -3.0, 3.0)))
        return cls(points, labels, str(request.get("method", "soft")), kernel, bias, numbers, window)

    def grid(self, columns: int, rows: int) -> NDArray[np.float64]:
        """Points of the window, row by row from below, shape (rows * columns, 2)."""
        left, right, bottom, top = self.window
        x, y = np.linspace(left, right, columns), np.linspace(bottom, top, rows)
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def read_points(given: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Points and labels, from a list of [x, y, class]."""
    if not isinstance(given, list) or len(given) > MOST_POINTS:
        raise DataError(f"points must be a list of at most {MOST_POINTS} triples [x, y, class]")
    try:
        table = np.array(given, dtype=np.float64).reshape(-1, 3)
    except (ValueError, TypeError) as error:
        raise DataError("points must be triples of numbers [x, y, class]") from error
    if not (np.abs(table[:, :2]) <= LARGEST_COORDINATE).all():
        raise DataError(f"coordinates must be finite and at most {LARGEST_COORDINATE:g} in size")
    labels = table[:, 2].astype(np.intp)
    if not ((labels == table[:, 2]) & (labels >= 0) & (labels < MOST_CLASSES)).all():
        raise DataError(f"classes must be whole numbers from 0 to {MOST_CLASSES - 1}")
    return np.ascontiguousarray(table[:, :2]), labels


def read_number(name: str, given: Any) -> float:
    """A number within its range; one sentence otherwise."""
    low, high = RANGES[name]
    if isinstance(given, bool) or not isinstance(given, int | float) or not low <= given <= high:
        raise ParameterError(f"{name} must be a number from {low:g} to {high:g}, got {given!r}")
    return int(given) if name == "degree" else float(given)


def read_window(given: Any) -> tuple[float, float, float, float]:
    """What the screen shows: x from, x to, y from, y to."""
    try:
        left, right, bottom, top = (float(each) for each in given)
    except (TypeError, ValueError) as error:
        raise DataError("window must be four numbers") from error
    is_sound = all(map(math.isfinite, (left, right, bottom, top))) and left < right and bottom < top
    if not is_sound or max(map(abs, (left, right, bottom, top))) > 10 * LARGEST_COORDINATE:
        raise DataError("window must be x from, x to, y from, y to, each pair in order")
    return left, right, bottom, top


def read_kernel(name: str, numbers: Mapping[str, float], expression: str = "") -> Kernel:
    """The kernel that was chosen, or the one that an expression describes."""
    gamma, coef0, scale = numbers["gamma"], numbers["coef0"], numbers["length_scale"]
    choices = {
        "linear": Linear,
        "poly": lambda: Polynomial(degree=int(numbers["degree"]), gamma=gamma, coef0=coef0),
        "rbf": lambda: RBF(gamma=gamma),
        "laplacian": lambda: Laplacian(gamma=gamma),
        "matern": lambda: Matern(nu=1.5, length_scale=scale),
        "rational": lambda: RationalQuadratic(alpha=1.0, length_scale=scale),
        "second": SecondOrder,
        "cosine": Cosine,
        "chi2": lambda: ChiSquared(gamma=gamma),
        "sigmoid": lambda: Sigmoid(gamma=gamma, coef0=coef0),
        "expression": lambda: parse_expression(expression),
    }
    if name not in choices:
        raise ParameterError(f"kernel must be one of {', '.join(choices)}, got {name!r}")
    return choices[name]()


def parse_expression(text: str) -> Kernel:
    """The kernel of an expression such as ``rbf(gamma=1) + 0.5*linear``."""
    from mercer.kernels import parse

    if not text.strip():
        raise ParameterError("write a kernel, for instance: rbf(gamma=1) + 0.5*linear()")
    if len(text) > LONGEST_EXPRESSION:
        raise ParameterError(f"an expression may have at most {LONGEST_EXPRESSION} characters, got {len(text)}")
    return parse(text.strip())
