"""One fit: within its limits from the first line to the last, and whole or not at all."""

from types import TracebackType
from typing import Any

from sklearn.base import BaseEstimator

from mercer.solvers.limits import Limits


class unchanged_by_errors:  # noqa: N801 - read as a verb; classes, for a small fit takes little longer than generators
    """A context after which, where an error or Ctrl-C ends it, the estimator is as it was before: fitted, or not."""

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


class fitting(unchanged_by_errors):  # noqa: N801 - the same
    """The same for the fit of an estimator, which is ended by `limits` all the while."""

    def __init__(self, estimator: BaseEstimator, limits: Limits) -> None:
        super().__init__(estimator)
        self._in_force = limits.in_force()

    def __enter__(self) -> None:
        super().__enter__()
        self._in_force.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self._in_force.__exit__(kind, error, traceback)
