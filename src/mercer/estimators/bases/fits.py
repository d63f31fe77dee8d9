"""The template of every fit: parameters, limits, learning within them, and what is said when it has ended."""

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sklearn.exceptions import ConvergenceWarning

from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.whole_fit import fitting
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.solvers.limits import Limits


class Fits:
    """An estimator whose fit is within its limits and whole or not at all, and says where it ends short of its goal.

    An estimator has a `fit` of its own, for its signature and its docstring, which passes on what it is given:
    ``return self._fit_and_tell(X, y, sample_weight)``. Beside it stand:

    - `_check_parameters()`, which refuses parameters whatever the data,
    - `_limits()`, what ends a fit,
    - `_learn(limits, ...)`, which takes what was passed on, and leaves a fitted model with its `status_`.
    """

    # What to do about a status, where it differs from what a support vector machine needs.
    _remedies: ClassVar[Mapping[Status, str]] = {}
    # The attribute that says how good a model is.
    _judge: ClassVar[str] = "certificate_"

    if TYPE_CHECKING:
        status_: Status
        _check_parameters: Callable[[], None]
        _limits: Callable[[], Limits]
        _learn: Callable[..., None]

    def _fit_and_tell(self, *data: Any) -> Self:
        """A fit, and at the line that called `fit` what there is to say of it."""
        self._fit(*data)
        said = vars(self).pop("_said", ())
        if not any(replaces_status for _, _, replaces_status in said):
            max_iter = cast(Any, self).max_iter if hasattr(self, "max_iter") else -1
            warn_unless_optimal(self.status_, max_iter, self._remedies, self._judge, stacklevel=4)
        for words, kind, _ in said:
            warnings.warn(words, kind, stacklevel=3)
        return self

    def _fit(self, *data: Any) -> None:
        """A fit that says nothing. What leaves rows out to learn from them, fits more than once."""
        self._fit_once(*data)

    def _fit_once(self, *data: Any) -> None:
        self._check_parameters()
        limits = self._limits()
        with fitting(cast("BaseEstimator", self), limits):
            self._learn(limits, *data)

    def _say(self, words: str, kind: type[Warning] = ConvergenceWarning, *, replaces_status: bool = False) -> None:
        """Have a warning given when the fit has ended, at the line that called `fit`."""
        vars(self).setdefault("_said", []).append((words, kind, replaces_status))
