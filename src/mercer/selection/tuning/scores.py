"""What a setting is worth on a fold: scikit-learn's scorers, answered from decision values."""

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.estimators.fitting.parameters import require_choice, require_flag
from mercer.estimators.fitting.plan import decisions_of, labels_of

if TYPE_CHECKING:
    from mercer.selection.tuning.results import Table


SINGLE = "score"
# Scores whose best value is known, for those who stop early; all that begin with neg_ have zero.
_BEST_IS_ONE = (
    "accuracy",
    "balanced_accuracy",
    "top_k_accuracy",
    "average_precision",
    "matthews_corrcoef",
    "r2",
    "explained_variance",
)
_FAMILIES_OF_ONE = ("f1", "precision", "recall", "jaccard", "roc_auc", "d2_")
_SCORER = type(get_scorer("accuracy"))


class ScoringError(ParameterError):
    """The scores that a function returns do not match what `refit` says about them: no setting is to blame."""


class Scores:
    """One scorer, or several by name.

    Parameters
    ----------
    scoring : str, callable, list, tuple, dict or None
        The name of a scikit-learn scorer, a function of (estimator, X, y), or several of them.
    default : str
        What None stands for.
    refit : bool or str
        Whether the best setting is fitted; with several scores, the name of the one that decides.

    Attributes
    ----------
    is_single : bool
        Whether there is one score. A function may turn out to return several.
    judge : str
        Name of the score by which settings are compared.
    """

    def __init__(self, scoring: Any, default: str, refit: bool | str = False) -> None:
        self.is_single = not isinstance(scoring, (list, tuple, set, dict))
        if self.is_single:
            named = {SINGLE: default if scoring is None else scoring}
        else:
            named = dict(scoring) if isinstance(scoring, dict) else {name: name for name in scoring}
        if not named:
            raise ParameterError(f"scoring must name at least one score, got {scoring!r}")
        self.scorers = {name: _scorer(each) for name, each in named.items()}
        self.words = {name: each if isinstance(each, str) else None for name, each in named.items()}
        self.is_function = self.is_single and not isinstance(self.scorers[SINGLE], _SCORER)
        self.refit, self.judge = refit, self._judge(refit)
        # Names of those that a function has given.
        self.several = {}

    def _judge(self, refit: bool | str) -> str:
        if self.is_function and isinstance(refit, str):
            return refit
        if self.is_single:
            require_flag("refit", refit)
            return SINGLE
        if refit is False:
            return next(iter(self.scorers))
        require_choice("refit", refit, tuple(self.scorers))
        return cast(str, refit)

    @property
    def names(self) -> tuple[str, ...]:
        """Scores that there will be in any case."""
        return (self.judge,) if self.is_function else tuple(self.scorers)

    def know(self, several: Iterable[str]) -> None:
        """A function gives scores of these names; none: it gives one number."""
        self.several |= dict.fromkeys(several)
        self.is_single = self.is_single and not self.several

    def kept_names(self, table: "Table") -> list[str]:
        """The names of the scores of a table that are told."""
        return list(self.several or table.test)

    @property
    def need_values_only(self) -> bool:
        """Whether the scorers ask for nothing but predictions and decision values."""
        return all(isinstance(scorer, _SCORER) for scorer in self.scorers.values())

    def require_answers(self, model: BaseEstimator) -> None:
        """Refuse a machine that will not have the probabilities that a score is of."""
        if getattr(model, "probability", False):
            return
        for name, scorer in self.scorers.items():
            if getattr(scorer, "_response_method", None) == "predict_proba":
                remedy = "set probability=True" if hasattr(model, "probability") else "a regression has none"
                raise ParameterError(f"scoring={self.words[name] or scorer!r} needs probabilities; {remedy}")

    def best_possible(self, name: str) -> float | None:
        """The best value that a score can have; None where that is not known."""
        word = self.words.get(name)
        if word is None:
            return None
        if word.startswith("neg_"):
            return 0.0
        return 1.0 if word in _BEST_IS_ONE or word.startswith(_FAMILIES_OF_ONE) else None

    def of(self, machine: BaseEstimator, X: Rows, y: Array, weights: FloatArray | None) -> dict[str, float]:
        """{name: score} of a fitted machine."""
        if self.is_function:
            return self._of_function(_score(self.scorers[SINGLE], machine, X, y, weights))
        return {name: self._one(name, machine, X, y, weights) for name in self.scorers}

    def _one(self, name: str, machine: BaseEstimator, X: Rows, y: Array, weights: FloatArray | None) -> float:
        # The usual scores, of which there are hundreds: the checks of the general way take longer than small fits.
        if self.words[name] == "accuracy" and isinstance(machine, ClassifierAnswers):
            return float(np.average(machine.predict(X) == y, weights=weights))
        if self.words[name] == "r2" and isinstance(machine, RegressorAnswers):
            found = _r2(machine.predict(X), y, weights)
            if found is not None:
                return found
        return float(_score(self.scorers[name], machine, X, y, weights))

    def _of_function(self, found: Any) -> dict[str, float]:
        """The number, or the several, that a function gives."""
        if not isinstance(found, dict):
            if isinstance(self.refit, str):
                raise ScoringError(f"refit must be True or False if scoring returns one number, got {self.refit!r}")
            return {SINGLE: float(found)}
        known = ", ".join(map(repr, found))
        if not found or (self.refit is not False and self.refit not in found):
            raise ScoringError(f"refit must name one of the scores that scoring returns ({known}), got {self.refit!r}")
        self.know(found)
        scores = {name: float(score) for name, score in found.items()}
        # Without a refit any of them may stand in the place of the one that decides.
        return scores if self.refit is not False else {SINGLE: next(iter(scores.values())), **scores}


def _scorer(scoring: Any) -> Callable[..., Any]:
    if callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except (ValueError, TypeError, KeyError) as error:
        raise ParameterError(
            f"scoring must be one of sklearn.metrics.get_scorer_names(), or a function, got {scoring!r}"
        ) from error


def _r2(predicted: FloatArray, y: Array, weights: FloatArray | None) -> float | None:
    """Scikit-learn's score of a regression; None where it has a rule or a warning of its own for it."""
    if len(y) < 2 or y.dtype != np.float64:
        return None
    left, spread = (y - predicted) ** 2, (y - np.average(y, weights=weights)) ** 2
    if weights is not None:
        left, spread = weights * left, weights * spread
    of_mean = float(spread.sum())
    found = 1.0 - float(left.sum()) / of_mean if of_mean > 0.0 else np.nan
    return found if np.isfinite(found) else None


def _score(scorer: Callable[..., Any], machine: BaseEstimator, X: Rows, y: Array, weights: FloatArray | None) -> Any:
    if weights is None or not takes_weights(scorer):
        return scorer(machine, X, y)
    return scorer(machine, X, y, sample_weight=weights)


def takes_weights(scorer: Callable[..., Any]) -> bool:
    """Whether a scorer can weigh rows."""
    function = getattr(scorer, "_score_func", scorer)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "sample_weight" in parameters


class _Answers(BaseEstimator):
    """A machine that knows its decision values at the rows it will be asked for, and nothing else."""

    def __init__(self, model: Any = None, rows: Any = None, values: FloatArray | None = None) -> None:
        self.model, self.rows, self.values = model, rows, values

    def _own(self, X: Rows) -> FloatArray:
        if X is not self.rows:
            raise ValueError("these are the scores of one fold, which are known only for its own rows")
        return cast(FloatArray, self.values)


class ClassifierAnswers(ClassifierMixin, _Answers):
    """A classifier on a fold, for scikit-learn's scorers."""

    @property
    def classes_(self) -> Array:
        """Labels of the fold's training rows."""
        return self.model.classes_

    def predict(self, X: Rows) -> Array:
        """Labels."""
        return labels_of(self.model, self._own(X))

    def decision_function(self, X: Rows) -> FloatArray:
        """Decision values."""
        return decisions_of(self.model, self._own(X))


class RegressorAnswers(RegressorMixin, _Answers):
    """A regression on a fold, for scikit-learn's scorers."""

    def predict(self, X: Rows) -> Array:
        """Predicted targets."""
        return self._own(X)[:, 0]
