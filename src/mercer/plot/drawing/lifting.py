"""How rows are lifted: by the features of a kernel, by the caller's, or by the decision value."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.checks import require_attribute
from mercer.plot.drawing.plane import dense, numbers

# Features whose values differ by less than this, relative to their size, are constants.
CONSTANT = 1e-12


class Lift:
    """Features as a function of rows, and the plane among them."""

    def __init__(self, of: Callable[..., NDArray[Any]], normal: NDArray[Any], offset: float, names: tuple[str, ...]):
        self.of, self.normal, self.offset, self.names = of, np.asarray(normal, dtype=np.float64), float(offset), names

    @property
    def count(self) -> int:
        """How many features there are."""
        return len(self.normal)


def lift_of(model: Any, rows: NDArray[Any], feature_map: Callable[..., Any] | None) -> Lift:
    """The lift for a fitted model of two classes."""
    if len(model.classes_) != 2:
        raise DataError(f"LiftDisplay draws one plane between two classes, got {len(model.classes_)} classes")
    if feature_map is not None:
        return _lift_by(feature_map, model, rows)
    require_attribute(model, "expansion_", "LiftDisplay", "or pass feature_map and a linear model of its features")
    return _lift_by_kernel(model, rows) or _lift_by_decision(model, rows)


def _lift_by(feature_map: Callable[..., Any], model: Any, rows: NDArray[Any]) -> Lift:
    """The caller's features, and a linear model of them."""

    def lifted(X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(dense(feature_map(X)), dtype=np.float64)

    weights = require_attribute(model, "coef_", "LiftDisplay", "fit a linear one to feature_map(X)")
    weights, count = np.ravel(dense(weights)), lifted(rows).shape[1]
    if count not in (2, 3) or len(weights) != count:
        raise DataError(
            f"feature_map must return 2 or 3 features, and the model must have as many weights, got {count} and "
            f"{len(weights)}"
        )
    return Lift(lifted, weights, np.ravel(model.intercept_)[0], tuple(f"ψ{_index(k)}(x)" for k in range(count)))


def _lift_by_kernel(model: Any, rows: NDArray[Any]) -> Lift | None:
    """The kernel's own features, if two or three of them are not constant."""
    kernel = model.expansion_.kernel
    try:
        every = np.asarray(dense(kernel.feature_map(rows)), dtype=np.float64)
    except ParameterError:
        return None
    varies = np.ptp(every, axis=0) > CONSTANT * np.abs(every).max(axis=0)
    if varies.sum() not in (2, 3) or (varies.sum() == 2 and rows.shape[1] == 2):
        return None
    support = np.asarray(dense(kernel.feature_map(numbers(model.support_vectors_))), dtype=np.float64)
    weights = np.ravel(dense(model.dual_coef_) @ support)
    offset = np.ravel(model.intercept_)[0] + weights[~varies] @ every[0, ~varies]

    def lifted(X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(dense(kernel.feature_map(X)), dtype=np.float64)[:, varies]

    return Lift(lifted, weights[varies], offset, _names(lifted, rows.shape[1], int(varies.sum())))


def _lift_by_decision(model: Any, rows: NDArray[Any]) -> Lift:
    """The decision value as the last coordinate: the feature <w, ψ(x)> + b, of which only the sign counts."""
    columns = rows.shape[1]

    def lifted(X: NDArray[Any]) -> NDArray[Any]:
        return np.column_stack([X, model.decision_function(X)])

    names = ("x1", "x2", "f(x)") if columns == 2 else ("x", "f(x)")
    return Lift(lifted, np.append(np.zeros(columns), 1.0), 0.0, names)


def _names(lifted: Callable[..., NDArray[Any]], columns: int, count: int) -> tuple[str, ...]:
    """Names for the features, found by evaluating them: multiples of x, x² and the product of two columns."""
    at = np.random.default_rng(0).uniform(0.5, 2.0, (4, columns))
    known = {"x": at[:, 0], "x²": at[:, 0] ** 2}
    if columns == 2:
        x1, x2 = at.T
        known = {"x1": x1, "x2": x2, "x1²": x1**2, "x2²": x2**2, "x1 x2": x1 * x2}
    return tuple(_name(values, known, k) for k, values in zip(range(count), lifted(at).T, strict=True))


def _name(values: NDArray[Any], known: dict[str, NDArray[Any]], k: int) -> str:
    for name, monomial in known.items():
        factors = values / monomial
        if np.ptp(factors) <= 1e-9 * abs(factors[0]):
            factor = {1.0: "", 1.414214: "√2 "}.get(round(float(factors[0]), 6), f"{factors[0]:.3g} ")
            return factor + name
    return f"ψ{_index(k)}(x)"


def _index(k: int) -> str:
    return "₁₂₃"[k]


def cut_box(normal: NDArray[Any], offset: float, low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """Corners of the part of the plane <normal, z> + offset = 0 inside a box, in order around it."""
    count = len(normal)
    corners = np.array(np.meshgrid(*zip(low, high, strict=True), indexing="ij")).reshape(count, -1).T
    values, crossings = corners @ normal + offset, []
    for i in range(len(corners)):
        for axis in range(count):
            j = i ^ (1 << (count - 1 - axis))
            if i < j and values[i] * values[j] <= 0 and values[i] != values[j]:
                share = values[i] / (values[i] - values[j])
                crossings.append(corners[i] + share * (corners[j] - corners[i]))
    if len(crossings) < 3:
        return np.array(crossings).reshape(-1, count)
    return _around(np.array(crossings), normal)


def _around(points: NDArray[Any], normal: NDArray[Any]) -> NDArray[Any]:
    """Points of a plane in the order of their angle about their middle."""
    first, second = np.linalg.svd(normal[None])[2][1:3] if len(normal) == 3 else np.eye(2)
    away = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(away @ second, away @ first))]
