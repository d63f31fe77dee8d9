"""Scores by their everyday names."""

from typing import Any

import numpy as np
from sklearn.metrics import f1_score, make_scorer, roc_auc_score

from mercer._types import Array, FloatArray

CLASS_SCORES = ("accuracy", "balanced", "auc", "log_loss", "f1")
QUANTITY_SCORES = ("r2", "mae")
# Those with another name in scikit-learn, whatever the targets.
_SAME = {
    "balanced": "balanced_accuracy",
    "log_loss": "neg_log_loss",
    "mae": "neg_mean_absolute_error",
}


def named_score(scoring: Any, y: Array, classifies: bool) -> Any:
    """What scikit-learn takes for one of these names; anything else is returned unchanged.

    "auc" is the area under the curve, for several classes the mean over each against the others; "f1" is that of the
    second of two classes, and the mean over several.

    Parameters
    ----------
    scoring : str or anything that `SVCCV` takes
    y : ndarray
        Targets, or their classes.
    classifies : bool

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection.auto.named_scores import named_score
    >>> named_score("balanced", np.array([0, 1]), classifies=True)
    'balanced_accuracy'
    """
    if not isinstance(scoring, str):
        return scoring
    if not classifies or scoring not in ("auc", "f1"):
        return _SAME.get(scoring, scoring)
    classes = np.unique(y)
    if scoring == "auc":
        return make_scorer(_area, response_method="decision_function", classes=classes)
    return "f1_macro" if len(classes) > 2 else make_scorer(f1_score, pos_label=classes[-1], zero_division=0.0)


def _area(y: Array, values: FloatArray, classes: Array, sample_weight: FloatArray | None = None) -> float:
    if values.ndim == 1:
        return float(roc_auc_score(y, values, sample_weight=sample_weight))
    areas = [roc_auc_score(y == each, values[:, k], sample_weight=sample_weight) for k, each in enumerate(classes)]
    return float(np.mean(areas))
