"""What a setting is worth on a fold: scikit-learn's scorers, answered from decision values."""

import inspect

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from mercer._errors import ParameterError

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


class Scores:
    """One scorer, or several by name.

    Parameters
    ----------
    scoring : str, callable, list, tuple, dict or None
        As for scikit-learn's searches.
    default : str
        What None stands for.
    """

    def __init__(self, scoring, default):
        self.is_single = not isinstance(scoring, (list, tuple, set, dict))
        if self.is_single:
            named = {SINGLE: default if scoring is None else scoring}
        else:
            named = dict(scoring) if isinstance(scoring, dict) else {name: name for name in scoring}
        if not named:
            raise ParameterError(f"scoring must name at least one score, got {scoring!r}")
        self.scorers = {name: _scorer(each) for name, each in named.items()}
        self.words = {name: each if isinstance(each, str) else None for name, each in named.items()}

    @property
    def need_values_only(self):
        """Whether the scorers ask for nothing but predictions and decision values."""
        return all(isinstance(scorer, _SCORER) for scorer in self.scorers.values())

    def best_possible(self, name):
        """The best value that a score can have; None where that is not known."""
        word = self.words[name]
        if word is None:
            return None
        if word.startswith("neg_"):
            return 0.0
        return 1.0 if word in _BEST_IS_ONE or word.startswith(_FAMILIES_OF_ONE) else None

    def of(self, machine, X, y, weights):
        """{name: score} of a fitted machine."""
        return {name: self._one(name, machine, X, y, weights) for name in self.scorers}

    def _one(self, name, machine, X, y, weights):
        if self.words[name] == "accuracy" and isinstance(machine, ClassifierAnswers):
            # The usual score, of which there are hundreds: the checks of the general way take longer than small fits.
            return float(np.average(machine.predict(X) == y, weights=weights))
        return _score(self.scorers[name], machine, X, y, weights)


def _scorer(scoring):
    if callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except (ValueError, TypeError, KeyError) as error:
        raise ParameterError(
            f"scoring must be a name that sklearn.metrics.get_scorer_names() has, or a function, got {scoring!r}"
        ) from error


def _score(scorer, machine, X, y, weights):
    if weights is None or not takes_weights(scorer):
        return float(scorer(machine, X, y))
    return float(scorer(machine, X, y, sample_weight=weights))


def takes_weights(scorer):
    """Whether a scorer can weigh rows."""
    function = getattr(scorer, "_score_func", scorer)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "sample_weight" in parameters


class _Answers(BaseEstimator):
    """A machine that knows its decision values at the rows it will be asked for, and nothing else."""

    def __init__(self, model=None, rows=None, values=None):
        self.model, self.rows, self.values = model, rows, values

    def _own(self, X):
        if X is not self.rows:
            raise ValueError("these are the scores of one fold; only its rows can be asked for")
        return self.values


class ClassifierAnswers(ClassifierMixin, _Answers):
    """A classifier on a fold, for scikit-learn's scorers."""

    @property
    def classes_(self):
        """Labels of the fold's training rows."""
        return self.model.classes_

    def predict(self, X):
        """Labels."""
        return self.model._labels(self._own(X))

    def decision_function(self, X):
        """Decision values."""
        return self.model._decisions(self._own(X))


class RegressorAnswers(RegressorMixin, _Answers):
    """A regression on a fold, for scikit-learn's scorers."""

    def predict(self, X):
        """Predicted targets."""
        return self._own(X)[:, 0]
