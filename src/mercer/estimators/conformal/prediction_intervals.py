"""Prediction intervals of regressions."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.conformal.conformal import Conformal
from mercer.estimators.conformal.conforming import Conforming
from mercer.estimators.conformal.prediction_sets import is_conformal
from mercer.solvers.calibration.conformal import bounds


class PredictsIntervals(Conforming):
    """`predict_interval` for a regression of one target with a parameter `conformal`."""

    if TYPE_CHECKING:

        def predict(self, X: Rows) -> Array: ...

    @available_if(is_conformal)
    def predict_interval(self, X: Rows, coverage: float = 0.9) -> FloatArray:
        """An interval for each row, which contains its target as often as `coverage` says, or more.

        See the user guide for what is guaranteed, and what is not.

        Parameters
        ----------
        X : as `predict` takes it
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper end.
        """
        found = self._require_conformity(coverage)
        found.require_enough(coverage)
        values = np.column_stack([model.predict(X) for model in found.asked(self)])
        return np.column_stack(bounds(values, found.columns, found.scores, coverage))

    def _score_name(self, asked: Conformal) -> str:
        for name, value, usual in (("score", asked.score, None), ("by_class", asked.by_class, False)):
            if value is not usual:
                raise ParameterError(
                    f"Conformal: {name} is for classifiers, got {name}={value!r} for {type(self).__name__}"
                )
        return "absolute"

    def _codes(self, y: Array) -> IndexArray | None:
        return None

    def _scores(self, model: Any, X: Rows, y: Array, score: str) -> FloatArray:
        return np.abs(np.asarray(y, dtype=np.float64) - model.predict(X).ravel())
