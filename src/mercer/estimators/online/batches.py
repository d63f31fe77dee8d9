"""A stream of batches: which labels it holds, how often it can be read, and when it ends."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike
from mercer.io.batches import open_batches
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits


class Stream:
    """Batches to be learnt from, once or several times.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight), or a path
    classes : array-like or None
        All labels; None finds them by reading everything once before.
    epochs : int
    """

    def __init__(self, batches: Any, classes: ArrayLike | None, epochs: int) -> None:
        self.source, self.epochs = open_batches(batches), epochs
        is_read_once = iter(self.source) is self.source
        if is_read_once and (classes is None or epochs > 1):
            wish = "classes=None" if classes is None else f"epochs={epochs}"
            remedy = "pass classes=, or " if classes is None else ""
            raise ParameterError(
                f"{wish} needs batches that can be read repeatedly, got an iterator; {remedy}pass a list or a reader"
            )
        self.classes = self._found_classes() if classes is None else classes

    def feed(self, learn: Callable[..., Any], limits: "Limits") -> Status:
        """Pass every batch to `learn`; the final status."""
        is_empty = True
        for _ in range(self.epochs):
            for batch in self.source:
                X, y, weights = _parts(batch)
                if len(y) == 0:
                    continue
                is_empty = False
                status = learn(X, y, self.classes, weights, limits)
                if status != Status.OPTIMAL:
                    return status
        if is_empty:
            raise DataError("the stream is empty: no batch has a row")
        return Status.OPTIMAL

    def _found_classes(self) -> Array:
        """The labels, from a first reading."""
        if hasattr(self.source, "labels"):
            found = self.source.labels()
        else:
            found = np.unique(np.concatenate([np.unique(column_or_1d(_parts(batch)[1])) for batch in self.source]))
        if len(found) < 2:
            raise DataError(f"The number of classes has to be greater than one; the stream has {len(found)} class")
        return found


def _parts(batch: Sequence[Any]) -> tuple[Any, ...]:
    """(X, y, sample_weight or None) of a batch."""
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise DataError(f"a batch must be (X, y) or (X, y, sample_weight), got {type(batch).__name__}")
    return (*batch, None) if len(batch) == 2 else tuple(batch)
