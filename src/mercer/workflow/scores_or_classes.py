"""Whole numbers that are scores: whether they are predicted better as quantities than as classes.

Ridge regression tries both on the same rows, as it knows its prediction for each row without that row. A class is a
number too, so the predictions can be compared: by their squared error relative to that of the mean.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import MercerError
from mercer.estimators.auto.table_kernel import sample_of, table_kernel
from mercer.kernels.table.frame import as_frame
from mercer.solvers.relevance import left_out

# Scores have at least this many values, and nearly all whole numbers from the smallest to the largest occur.
FEWEST_VALUES, DENSE = 5, 0.7
# Rows that decide.
ROWS = 500
# Quantities must explain this much more of the variance.
CLEARLY = 0.02
RIDGES = (0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Judgement:
    """The share of the variance that each explains for rows left out."""

    as_quantity: float
    as_classes: float
    least: int
    most: int

    @property
    def is_better(self) -> bool:
        """Whether quantities are clearly better."""
        return self.as_quantity > max(0.0, self.as_classes) + CLEARLY

    def __str__(self) -> str:
        return (
            f"whole numbers from {self.least} to {self.most}; on rows left out, that explains {self.as_quantity:.0%} "
            f"of the variance, and classes {max(0.0, self.as_classes):.0%}; to force classes, use --task classification"
        )


def may_be_scores(target: NDArray[Any]) -> bool:
    """Whether labels are whole numbers with several values and no large gaps."""
    if target.dtype.kind not in "iuf":
        return False
    values = np.unique(target)
    span = float(values[-1] - values[0]) + 1.0
    return len(values) >= FEWEST_VALUES and len(values) >= DENSE * span


def judged_as_scores(X: Any, target: NDArray[Any]) -> Judgement | None:
    """How well whole numbers are predicted as quantities and as classes; None if that cannot be determined.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.workflow.scores_or_classes import judged_as_scores
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> score = np.clip(np.rint(5 + x[:, 0] + np.random.default_rng(1).normal(size=200)), 3, 8)
    >>> judged_as_scores(x, score).is_better
    True
    """
    frame = as_frame(X)
    rows = sample_of(len(frame), ROWS)
    part, y = frame[rows], target[rows].astype(np.float64)
    try:
        K = table_kernel(part).kernel(part, dtype=np.float64) + 1.0
    except MercerError:
        return None
    labels = np.unique(y)
    indicators = (y[:, None] == labels).astype(np.float64)
    spread = float(np.var(y))
    if spread == 0.0:
        return None
    best = [-np.inf, -np.inf]
    for ridge in RIDGES:
        said = left_out(K, np.column_stack([y - y.mean(), indicators]), ridge)
        for place, numbers in enumerate((said[:, 0] + y.mean(), labels[said[:, 1:].argmax(axis=1)])):
            best[place] = max(best[place], 1.0 - float(np.mean((numbers - y) ** 2)) / spread)
    return Judgement(best[0], best[1], int(target.min()), int(target.max()))
