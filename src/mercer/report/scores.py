"""How well predictions agree with the truth, as plain numbers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The standard normal's 97.5 % point: intervals of 95 %.
_Z = 1.959963984540054


def score(task: str, truth: NDArray[Any], predicted: NDArray[Any], labels: Any = None) -> dict[str, Any]:
    """The figures that suit a task; `labels` are the classes in the order of a table.

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
    return _classification(np.asarray(truth), np.asarray(predicted), labels)


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
        "classes": each,
        "confusion": {"labels": [_plain(label) for label in known], "counts": counts.tolist()},
    }


def _one_class(counts: NDArray[Any], k: int, label: Any) -> dict[str, Any]:
    hits, asked, said = int(counts[k, k]), int(counts[k].sum()), int(counts[:, k].sum())
    precision, recall = (hits / said if said else 0.0), (hits / asked if asked else 0.0)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return {"label": _plain(label), "rows": asked, "precision": precision, "recall": recall, "f1": f1}


def _wilson(correct: int, total: int) -> tuple[float, float]:
    """The interval of Wilson (1927) for a share, at 95 %."""
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
