"""How well predictions agree with the truth, as plain numbers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The standard normal's 97.5% point: intervals of 95%.
_Z = 1.959963984540054


# If one class has this large a share, the accuracy of always predicting it is hard to beat.
_MOST, _FOUND, _ORDERED = 0.7, 0.5, 0.6


def score(
    task: str,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    labels: Any = None,
    values: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> dict[str, Any]:
    """The figures that suit a task; `labels` are the classes in the order of the table, `values` a model's classes and
    decision values, for the area under the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.report import score
    >>> found = score("classification", np.array(["a", "b", "b"]), np.array(["a", "b", "a"]))
    >>> found["correct"], found["confusion"]["counts"]
    (2, [[1, 0], [1, 1]])
    """
    if task == "regression":
        return _regression(np.asarray(truth, float), np.asarray(predicted, float))
    found = _classification(np.asarray(truth), np.asarray(predicted), labels)
    area = None if values is None else area_under_curve(np.asarray(truth), *values)
    return found if area is None else {**found, "area_under_curve": area}


def area_under_curve(truth: NDArray[Any], classes: NDArray[Any], values: NDArray[Any]) -> float | None:
    """How often a row of a class has a larger decision value for it than a row of another, with a tie counting half.

    The mean over the classes if there are several; None if all rows are of one class.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.report.scores import area_under_curve
    >>> area_under_curve(np.array([0, 0, 1, 1]), np.array([0, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    columns = values.reshape(len(values), -1)
    positive = classes[1:] if columns.shape[1] == 1 else classes
    areas = [_area(truth == label, columns[:, k]) for k, label in enumerate(positive)]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _area(is_positive: NDArray[Any], values: NDArray[Any]) -> float | None:
    """By the ranks of the positive rows, after Mann and Whitney (1947)."""
    ups = int(is_positive.sum())
    downs = len(values) - ups
    if not ups or not downs:
        return None
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[is_positive].sum() - ups * (ups + 1) / 2) / (ups * downs))


def advice(scores: dict[str, Any] | None, machine: Any) -> list[str]:
    """What to try if a rare class is hardly ever found, though the model can tell it from the others."""
    if scores is None or "classes" not in scores or getattr(machine, "class_weight", None) is not None:
        return []
    if scores["baseline"] < _MOST or scores.get("area_under_curve", 1.0) < _ORDERED:
        return []
    lost = min((one for one in scores["classes"] if one["rows"]), key=lambda one: one["recall"])
    if lost["recall"] > _FOUND:
        return []
    found = round(lost["recall"] * lost["rows"])
    words = f"only {found} of {lost['rows']} rows of class {str(lost['label'])!r} were recognised: missing a rare "
    return [words + "class costs little; with --class-weight balanced, all classes count equally"]


def _classification(truth: NDArray[Any], predicted: NDArray[Any], labels: Any) -> dict[str, Any]:
    known = np.unique(np.concatenate([truth, predicted] if labels is None else [truth, np.asarray(labels)]))
    rows, columns = np.searchsorted(known, truth), np.searchsorted(known, predicted)
    counts = np.zeros((len(known), len(known)), dtype=int)
    np.add.at(counts, (rows, columns), 1)
    correct, total = int(np.trace(counts)), int(counts.sum())
    low, high = _wilson(correct, total)
    each = [_one_class(counts, k, known[k]) for k in range(len(known))]
    present = [one["recall"] for one in each if one["rows"]]
    return {
        "rows": total,
        "correct": correct,
        "accuracy": correct / total,
        "interval": [low, high],
        "balanced_accuracy": float(np.mean(present)),
        "baseline": float(counts.sum(axis=1).max() / total),
        "most_frequent": _plain(known[counts.sum(axis=1).argmax()]),
        "classes": each,
        "confusion": {"labels": [_plain(label) for label in known], "counts": counts.tolist()},
    }


def _one_class(counts: NDArray[Any], k: int, label: Any) -> dict[str, Any]:
    hits, asked, said = int(counts[k, k]), int(counts[k].sum()), int(counts[:, k].sum())
    precision, recall = (hits / said if said else 0.0), (hits / asked if asked else 0.0)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return {"label": _plain(label), "rows": asked, "precision": precision, "recall": recall, "f1": f1}


def _wilson(correct: int, total: int) -> tuple[float, float]:
    """The interval of Wilson (1927) for a share, at 95%."""
    share, square = correct / total, _Z**2 / total
    centre = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def _regression(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    errors = predicted - truth
    spread = float(((truth - truth.mean()) ** 2).sum())
    squares = float((errors**2).sum())
    return {
        "rows": len(truth),
        "r2": 1.0 - squares / spread if spread > 0 else None,
        "mean_absolute_error": float(np.abs(errors).mean()),
        "root_mean_squared_error": math.sqrt(squares / len(truth)),
        "baseline": float(np.abs(truth - np.median(truth)).mean()),
    }


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
