"""The template of every fit: check parameters, learn within limits, and warn at the end if need be."""

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
    """An estimator whose fit obeys its limits, is all or nothing, and warns if it falls short of its goal.

    An estimator defines `fit`, with its own signature and docstring, and passes its arguments on:
    ``return self._fit_and_tell(X, y, sample_weight)``. It also defines:

    - `_check_parameters()`, which refuses invalid parameters whatever the data,
    - `_limits()`, the limits of a fit,
    - `_learn(limits, ...)`, which takes the arguments of `fit` and leaves a fitted model with its `status_`.
    """

    # Remedies by status, where they differ from those of a support vector machine.
    _remedies: ClassVar[Mapping[Status, str]] = {}
    # The attribute that tells how good a model is.
    _judge: ClassVar[str] = "certificate_"

    if TYPE_CHECKING:
        status_: Status
        _check_parameters: Callable[[], None]
        _limits: Callable[[], Limits]
        _learn: Callable[..., None]

    def _fit_and_tell(self, *data: Any) -> Self:
        """Fit, then issue the warnings at the line that called `fit`."""
        self._fit(*data)
        said = vars(self).pop("_said", ())
        if not any(replaces_status for _, _, replaces_status in said):
            max_iter = cast(Any, self).max_iter if hasattr(self, "max_iter") else -1
            warn_unless_optimal(self.status_, max_iter, self._remedies, self._judge, stacklevel=4)
        for words, kind, _ in said:
            warnings.warn(words, kind, stacklevel=3)
        return self

    def _fit(self, *data: Any) -> None:
        """Fit without warnings. A mixin that holds rows out overrides this to fit several times."""
        self._fit_once(*data)

    def _fit_once(self, *data: Any) -> None:
        self._check_parameters()
        limits = self._limits()
        with fitting(cast("BaseEstimator", self), limits):
            self._learn(limits, *data)

    def _say(self, words: str, kind: type[Warning] = ConvergenceWarning, *, replaces_status: bool = False) -> None:
        """Queue a warning to be issued after the fit, at the line that called `fit`."""
        vars(self).setdefault("_said", []).append((words, kind, replaces_status))
