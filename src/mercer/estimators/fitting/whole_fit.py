"""One fit: within its limits from the first line to the last, and whole or not at all."""

import time
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.base import BaseEstimator

from mercer._jit.compile import seconds_compiling
from mercer.estimators.fitting.progress import say_that_it_is_over
from mercer.solvers.limits import Limits


class unchanged_by_errors:  # noqa: N801 - read as a verb; classes, for a small fit takes little longer than generators
    """A context that restores the estimator's previous state, fitted or not, if an error or Ctrl-C ends it."""

    def __init__(self, estimator: BaseEstimator) -> None:
        self._attributes: dict[str, Any] = vars(estimator)

    def __enter__(self) -> None:
        self._before = dict(self._attributes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._attributes.clear()
            self._attributes.update(self._before)


# Duration of an estimator's last fit, kept outside it so that two fits to the same data leave the same state.
_SECONDS: WeakKeyDictionary[BaseEstimator, float] = WeakKeyDictionary()


def fit_seconds(estimator: BaseEstimator) -> float | None:
    """The time of the last fit in this process, without compilation; None if there was none."""
    return _SECONDS.get(estimator)


class fitting(unchanged_by_errors):  # noqa: N801 - the same
    """The same for a fit, during which `limits` are in force."""

    def __init__(self, estimator: BaseEstimator, limits: Limits) -> None:
        super().__init__(estimator)
        self._estimator, self._limits, self._in_force = estimator, limits, limits.in_force()

    def __enter__(self) -> None:
        super().__enter__()
        self._begin, self._compiling = time.perf_counter(), seconds_compiling()
        self._in_force.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self._in_force.__exit__(kind, error, traceback)
        say_that_it_is_over(self._limits, kind is None)
        if kind is None:
            compiling = seconds_compiling() - self._compiling
            _SECONDS[self._estimator] = max(0.0, time.perf_counter() - self._begin - compiling)
