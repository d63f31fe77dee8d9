"""Prediction sets of classifiers."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from mercer._errors import DataError, ParameterError
from mercer._types import Array, BoolArray, FloatArray, IndexArray, Rows
from mercer.estimators.conformal.conformal import Conformal
from mercer.estimators.conformal.conforming import Conforming
from mercer.estimators.fitting import tasks
from mercer.solvers.calibration.conformal import adaptive_scores, conforms, rank_of

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformity import Conformity


def is_conformal(model: Any) -> bool:
    """Whether a classifier is asked to predict sets, or has learnt to."""
    if model.conformal is None and "_conformity" not in vars(model):
        raise AttributeError(
            "predict_set and predict_interval need a model fitted with `conformal`, or a call of `conform` first"
        )
    return True


class PredictsSets(Conforming):
    """`predict_set` for a classifier with a parameter `conformal`."""

    if TYPE_CHECKING:
        classes_: Array

        def predict(self, X: Rows) -> Array: ...

    @available_if(is_conformal)
    def predict_set(self, X: Rows, coverage: float = 0.9) -> BoolArray:
        """The classes that each row may be: a set that contains the true one as often as `coverage` says, or more.

        The class that `predict` gives is always in the set. See the user guide for what is guaranteed, and what is not.

        Parameters
        ----------
        X : as `predict` takes it
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        ndarray of bool of shape (n, n_classes)
            In the order of `classes_`.
        """
        found = self._require_conformity(coverage)
        _require_enough(found, coverage, self.classes_)
        candidates = np.stack([class_scores(model, X, found.score) for model in found.asked(self)], axis=1)
        members = np.empty((len(candidates), len(self.classes_)), bool)
        for code in range(len(self.classes_)):
            own = found.codes == code if found.by_class else slice(None)
            members[:, code] = conforms(candidates[:, :, code], found.columns[own], found.scores[own], coverage)
        members[np.arange(len(members)), np.searchsorted(self.classes_, self.predict(X))] = True
        return members

    def _score_name(self, asked: Conformal) -> str:
        if asked.score == "aps" and not hasattr(self, "predict_proba"):
            raise ParameterError("score='aps' needs probabilities; set probability=True, or use score='lac'")
        return asked.score or "lac"

    def _codes(self, y: Array) -> IndexArray | None:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)[1]

    def _known_codes(self, targets: Array) -> IndexArray:
        if self.classes_.dtype.kind == "U" and targets.dtype.kind in "iuf":
            # Part of the rows may have only labels that look like numbers.
            targets = targets.astype(str)
        places = np.minimum(np.searchsorted(self.classes_, targets), len(self.classes_) - 1)
        return np.where(self.classes_[places] == targets, places, -1)

    def _scores(self, model: Any, X: Rows, y: Array, score: str) -> FloatArray:
        codes = self._known_codes(y)
        # A class unknown to the machine is in no set.
        return np.where(codes < 0, np.inf, class_scores(model, X, score)[np.arange(len(codes)), codes])


def class_scores(model: Any, X: Rows, score: str) -> FloatArray:
    """The nonconformity of each class for each row, shape (n, n_classes)."""
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        return adaptive_scores(probabilities) if score == "aps" else 1.0 - probabilities
    values = model.decision_function(X)
    if values.ndim == 1:
        return np.column_stack([values, -values])
    if getattr(model, "decision_function_shape", "ovr") == "ovo" and tasks.strategy_of(model) == "ovo":
        values = tasks.ovr_from_ovo(values, len(model.classes_))
    return -values


def _require_enough(found: "Conformity", coverage: float, classes: Array) -> None:
    """Refuse sets of all classes; warn of classes that are in every set."""
    if not found.by_class:
        found.require_enough(coverage)
        return
    counts = np.bincount(found.codes[found.codes >= 0], minlength=len(classes))
    few = [k for k, count in enumerate(counts) if rank_of(coverage, count) > count]
    if len(few) == len(classes):
        raise DataError(
            f"coverage={coverage:g} by class needs more than {counts.max()} left-out rows in some class, the most "
            "here; otherwise every class would be in every set. Ask for less, fit to more rows, or use by_class=False"
        )
    if few:
        listed = ", ".join(f"{classes[k].item()!r} ({counts[k]})" for k in few[:5])
        warnings.warn(
            f"coverage={coverage:g} by class: too few rows were left out, so these classes (rows) are in every set: "
            f"{listed}; ask for less, fit to more rows, or use by_class=False",
            UserWarning,
            stacklevel=3,
        )
