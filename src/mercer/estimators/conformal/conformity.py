"""The result of a conformal calibration: scores of held-out rows, and the machines that have not seen them."""

import math
from typing import Any

from mercer._errors import DataError
from mercer._types import FloatArray, IndexArray
from mercer.solvers.calibration.conformal import rank_of


class Conformity:
    """Scores of rows that were left out.

    Parameters
    ----------
    scores : ndarray (m,)
    columns : ndarray of int (m,)
        Which machine has not seen the row: its number among `models`, or 0 for the model itself.
    models : list of estimators
        Machines that have not seen some of the rows; one may have several functions. Empty where the model itself has
        seen none of them.
    codes : ndarray of int (m,)
        Classes of the rows, -1 for one that the model does not know; zeros for quantities.
    score : str
        What the scores are.
    by_class : bool
        Whether scores are compared within a class.
    """

    def __init__(
        self,
        scores: FloatArray,
        columns: IndexArray,
        models: list[Any],
        codes: IndexArray,
        score: str,
        by_class: bool,
    ) -> None:
        self.scores, self.columns, self.models = scores, columns, models
        self.codes, self.score, self.by_class = codes, score, by_class

    def asked(self, model: Any) -> list[Any]:
        """The machines that score new rows."""
        return self.models or [model]

    def require_enough(self, coverage: float) -> None:
        """Refuse a coverage out of reach with so few rows, where everything would conform."""
        m = len(self.scores)
        if rank_of(coverage, m) > m:
            enough = math.ceil(coverage / (1.0 - coverage) * (1.0 - 1e-12))
            most = math.floor(1000 * m / (m + 1)) / 1000
            raise DataError(
                f"coverage={coverage:g} needs at least {enough} left-out rows, but there are only {m}, so that every "
                f"answer would conform; ask for at most {most:g}, or fit to more rows"
            )
