"""The parameter that asks for prediction sets or intervals."""

from dataclasses import dataclass
from typing import Any

from mercer._errors import ParameterError
from mercer.estimators.fitting.parameters import require_choice, require_count, require_flag, require_number

METHODS = ("split", "cross", "leave_one_out")
SCORES_OF_CLASSES = ("lac", "aps")


@dataclass(frozen=True)
class Conformal:
    """How `predict_set` or `predict_interval` is calibrated: a value of ``conformal=``.

    Parameters
    ----------
    method : {"split", "cross", "leave_one_out"}, default="cross"
        "split" sets a share of the rows aside, and the machine learns only from the others. "cross" lets it learn from
        all rows, and fits one more machine for each fold, without its rows (CV+). "leave_one_out" does so with one row
        in each fold, by a formula (jackknife+), and is for `KernelRidge` and `KernelLeastSquares`.
    folds : int, default=10
        Number of folds of "cross".
    share : float, default=0.25
        Share of the rows that "split" sets aside.
    score : {"lac", "aps"}, optional
        For classifiers: how badly a class suits a row. "lac" gives the smallest sets on average: one minus the
        probability of the class or, if the machine has no probabilities, minus its decision value. "aps" gives larger
        sets where a row is doubtful and smaller ones where it is not: the probability of the class and of all more
        probable ones; it needs probabilities. By default "lac".
    by_class : bool, default=False
        For classifiers: whether every class, even a rare one, is covered as often as requested, and not only all
        together.
    random_state : int, RandomState or None, default=None
        Seed that decides which rows are set aside, or which fold they are in; by default it is the same each time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, Conformal
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(conformal=Conformal("cross", folds=5)).fit(X[:, :2], y)
    >>> model.predict_set([[5.0, 3.5], [6.2, 2.8]], coverage=0.9).tolist()
    [[True, False, False], [False, True, True]]
    """

    method: str = "cross"
    folds: int = 10
    share: float = 0.25
    score: Any = None
    by_class: bool = False
    random_state: Any = None

    def __post_init__(self) -> None:
        require_choice("method", self.method, METHODS)
        require_count("folds", self.folds, least=2)
        require_number("share", self.share, above=0.0, below=1.0)
        if self.score is not None:
            require_choice("score", self.score, SCORES_OF_CLASSES)
        require_flag("by_class", self.by_class)


def asked_for(value: Any) -> Conformal | None:
    """The settings in a parameter `conformal`; None for nothing."""
    if value is None or isinstance(value, Conformal):
        return value
    if isinstance(value, str) and value in METHODS:
        return Conformal(value)
    told = "; write Conformal()" if value is Conformal else ""
    names = ", ".join(repr(name) for name in METHODS)
    raise ParameterError(f"conformal must be None, {names} or a mercer.Conformal, got {value!r}{told}")
