"""From decision values to an estimator's answers, as ONNX operators: labels, scores, probabilities."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.estimators.bases.probabilities import is_ranked_by_steps
from mercer.estimators.fitting.fitted_parts import part
from mercer.estimators.fitting.tasks import pairs
from mercer.exchange.onnx import probabilities

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.onnx.graph import Tensor


def classifier(model: "BaseEstimator", values: "Tensor") -> "dict[str, Tensor]":
    """Outputs of a classifier with decision values (n, n_functions), by name."""
    if part(model, "calibration", None) is not None:
        return _calibrated(model, values)
    scores, ranked = _scores(model, values), _ranked(model, values)
    place = values.above(0.0).squeezed().as_integer() if ranked is None else ranked.position_of_largest()
    return {"label": labels(model, place), "decision_function": scores}


def _scores(model: "BaseEstimator", values: "Tensor") -> "Tensor":
    """`decision_function`."""
    k = len(model.classes_)
    if k == 2:
        return values.squeezed()
    if part(model, "has_pairs", False) and model.decision_function_shape == "ovr":
        return ranks_of_pairs(values, k)
    return values


def _ranked(model: "BaseEstimator", values: "Tensor") -> "Tensor | None":
    """Scores whose largest entry is at the class of each row; None for two classes."""
    k = len(model.classes_)
    if k == 2:
        return None
    if not part(model, "has_pairs", False):
        return values
    return ranks_of_pairs(values, k) if model.break_ties else votes(values.above(0.0), k)


def _sides(k: int) -> FloatArray:
    """+1 for the first and -1 for the second class of each pair, shape (n_pairs, k)."""
    table = np.zeros((k * (k - 1) // 2, k))
    for row, (i, j) in zip(table, pairs(k), strict=True):
        row[i], row[j] = 1.0, -1.0
    return table


def votes(first_wins: "Tensor", k: int) -> "Tensor":
    """How many pairs each class wins."""
    return first_wins @ _sides(k) + (_sides(k) < 0).sum(axis=0)


def ranks_of_pairs(values: "Tensor", k: int) -> "Tensor":
    """Votes, with ties broken by confidence: see `mercer.estimators.fitting.tasks.ovr_from_ovo`."""
    confidence = values @ _sides(k)
    return votes(values.not_below(0.0), k) + confidence / ((confidence.abs() + 1.0) * 3.0)


def _calibrated(model: "BaseEstimator", values: "Tensor") -> "dict[str, Tensor]":
    calibration, k = part(model, "calibration"), len(model.classes_)
    found = probabilities.probabilities(calibration, values)
    ranked = found if k == 2 or calibration.has_pairs else probabilities.log_odds(calibration.maps, values)
    if hasattr(model, "decision_function_shape"):
        scores = found - 1.0 / k if is_ranked_by_steps(model) else _scores(model, values)
    else:
        odds = probabilities.log_odds(calibration.maps, values)
        scores = odds.squeezed() if k == 2 else odds
    place = ranked.position_of_largest()
    return {"label": labels(model, place), "decision_function": scores, "probabilities": found}


def logistic(model: "BaseEstimator", values: "Tensor") -> "dict[str, Tensor]":
    """Outputs of a kernel logistic regression: the logistic function, or its form for several classes."""
    if len(model.classes_) == 2:
        found = values.graph.concat([(-values).sigmoid(), values.sigmoid()], 1)
        scores = values.squeezed()
    else:
        powers = (values - values.largest(1)).exp()
        found, scores = powers / powers.sum(1), values
    return {
        "label": labels(model, found.position_of_largest()),
        "decision_function": scores,
        "probabilities": found,
    }


def fisher(model: "BaseEstimator", coordinates: "Tensor") -> "dict[str, Tensor]":
    """Outputs of a kernel Fisher discriminant, from coordinates along its directions."""
    rule = part(model, "rule")
    constant = rule.log_priors - 0.5 * (rule.means**2).sum(axis=1)
    scores = coordinates @ np.ascontiguousarray(rule.means.T) + constant
    if len(model.classes_) == 2:
        scores = scores @ np.array([[-1.0], [1.0]])
        place = scores.above(0.0).squeezed().as_integer()
        return {"label": labels(model, place), "decision_function": scores.squeezed()}
    return {"label": labels(model, scores.position_of_largest()), "decision_function": scores}


def detector(scores: "Tensor") -> "dict[str, Tensor]":
    """Outputs of one-class learning: +1 inside, -1 outside."""
    side = scores.not_below(0.0) * 2.0 - 1.0
    return {"label": side.squeezed().as_integer(), "decision_function": scores.squeezed()}


def labels(model: "BaseEstimator", place: "Tensor") -> "Tensor":
    """The labels at these positions, in a type that ONNX has."""
    classes = np.asarray(model.classes_)
    if classes.dtype.kind in "iu":
        return place.chosen(classes, np.int64)
    if classes.dtype.kind in "fb":
        return place.chosen(classes, np.float64 if classes.dtype.kind == "f" else np.bool_)
    if all(isinstance(label, str) for label in classes.tolist()):
        return place.chosen(classes.astype(object), object)
    raise ParameterError(f"labels must be numbers or texts to be exported, got {classes.tolist()[:5]}")
