"""Probabilities as ONNX operators: Platt's sigmoid, isotonic steps, and pairs joined to classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer.estimators.bases.probabilities import TILT, Sigmoid
from mercer.estimators.fitting.tasks import pairs
from mercer.solvers.calibration.pairwise_coupling import LEAST

if TYPE_CHECKING:
    from mercer.estimators.bases.probabilities import Calibration, Steps
    from mercer.exchange.onnx.graph import Tensor


def both_sides(maps: "Sequence[Sigmoid | Steps]", values: "Tensor") -> "tuple[Tensor, Tensor]":
    """(p, 1 - p) of each function of values (n, n_functions)."""
    if isinstance(maps[0], Sigmoid):
        u = values * [cast(Sigmoid, each).A for each in maps] + [cast(Sigmoid, each).B for each in maps]
        return (-u).sigmoid(), u.sigmoid()
    sides = [_steps(cast("Steps", each), values.columns([k])) for k, each in enumerate(maps)]
    graph = values.graph
    return graph.concat([p for p, _ in sides], 1), graph.concat([q for _, q in sides], 1)


def _steps(steps: "Steps", values: "Tensor") -> "tuple[Tensor, Tensor]":
    """Of a function given at knots, tilted by a sigmoid."""
    u = values * steps.slope.A + steps.slope.B
    p = values.interpolated(steps.knots, steps.levels)
    return p * (1.0 - TILT) + (-u).sigmoid() * TILT, (1.0 - p) * (1.0 - TILT) + u.sigmoid() * TILT


def log_odds(maps: "Sequence[Sigmoid | Steps]", values: "Tensor") -> "Tensor":
    """log(p / (1 - p)) of each function."""
    if isinstance(maps[0], Sigmoid):
        return -(values * [cast(Sigmoid, each).A for each in maps] + [cast(Sigmoid, each).B for each in maps])
    p, q = both_sides(maps, values)
    return p.log() - q.log()


def probabilities(calibration: "Calibration", values: "Tensor") -> "Tensor":
    """Of each class, shape (n, n_classes)."""
    graph, k = values.graph, calibration.n_classes
    positive, negative = both_sides(calibration.maps, values)
    if k == 2:
        return graph.concat([negative, positive], 1)
    if calibration.has_pairs:
        return coupled(positive, k)
    total = positive.sum(1)
    some = total.above(0.0)
    return positive * some / total.where_above_zero(1.0) + (1.0 - some) * (1.0 / k)


def coupled(pairwise: "Tensor", k: int) -> "Tensor":
    """The probabilities of k classes from those of all pairs.

    They are those of `mercer.solvers.calibration.pairwise_coupling`.

    The system of k + 1 equations is solved by eliminating the first k - 1 unknowns, whose part of the
    matrix is positive definite and needs no pivots; what is left are two equations.
    """
    first, second = np.array(pairs(k)).T
    here, there = np.zeros((len(first), k * k)), np.zeros((len(first), k * k))
    here[np.arange(len(first)), first * k + second] = 1.0
    there[np.arange(len(first)), second * k + first] = 1.0
    r = pairwise.clip(LEAST, 1.0 - LEAST)
    forward, back = (r @ here + (1.0 - r) @ there), (r @ there + (1.0 - r) @ here)
    squares = (forward * forward).reshaped(0, k, k).sum(1)
    Q = squares * np.eye(k) - (forward * back).reshaped(0, k, k)
    graph = pairwise.graph
    ones = Q.columns([0], axis=2) * 0.0 + 1.0
    M = graph.concat([Q, ones], 2).columns(range(k - 1))
    left = M
    for i in range(k - 1):
        row = left.columns([i])
        row = row / row.columns([i], axis=2)
        left = left - (left.columns([i], axis=2) - np.eye(k - 1)[:, i : i + 1]) * row
    ends = [k - 1, k]
    Z, B = left.columns(ends, axis=2), M.columns(ends, axis=2)
    corner = Q.columns([k - 1]).columns([k - 1], axis=2)
    s00 = corner - (B.columns([0], axis=2) * Z.columns([0], axis=2)).sum(1)
    s01 = 1.0 - (B.columns([0], axis=2) * Z.columns([1], axis=2)).sum(1)
    # Up to a positive factor, which cancels when the probabilities are divided by their sum.
    others = Z.columns([1], axis=2) * s00 - Z.columns([0], axis=2) * s01
    p = graph.concat([others, s01], 1).squeezed(2).maximum(0.0)
    return p / p.sum(1)
