"""Columns that give the target away: each predicts it all by itself."""

from typing import Any

import numpy as np

from mercer._errors import MercerError
from mercer._types import Array, FloatArray, Rows
from mercer.estimators.auto.table_kernel import sample_of, targets_of
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import Frame, as_frame, is_data_frame
from mercer.kernels.table.infer_coding import reading_of
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.matern import Matern
from mercer.selection.preflight.finding import Finding
from mercer.solvers.relevance import left_out

# Rows examined; too few say nothing. The most columns examined.
MOST_ROWS, FEWEST_ROWS, MOST_COLUMNS = 250, 30, 200
# The share of the variance, or of the classes that the most frequent one does not have, that is too good to be true.
QUANTITY, CLASSES = 0.9, 0.97
RIDGE = 0.1
_SHOWN = 4
# A copy on another scale is a line, which a few rows of a stationary kernel alone do not go on beyond the outermost.
_EITHER = Matern(nu=0.5) + Linear()


def leaks(X: Rows, y: Array, is_quantity: bool) -> list[Finding]:
    """A finding for the columns of a table each of which predicts the target by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection.preflight.leaks import leaks
    >>> y = np.random.default_rng(0).normal(size=60)
    >>> rows = [{"x": k % 7, "copy": 2 * value + 1} for k, value in enumerate(y)]
    >>> print(leaks(rows, y, is_quantity=True)[0].message[:75])
    'copy' alone predicts the target (100% of what there is to explain); if it
    """
    table = _as_table(X)
    if table is None or not FEWEST_ROWS <= len(table) == len(y) or not 1 < len(table.names) <= MOST_COLUMNS:
        return []
    rows = sample_of(len(table), MOST_ROWS)
    part, y = table[rows], np.asarray(y)[rows]
    told = {name: share for name in table.names if (share := _explained(part, name, y, is_quantity)) is not None}
    least = QUANTITY if is_quantity else CLASSES
    named = [f"{name!r} alone predicts the target ({share:.0%} of what there is to explain)"
             for name, share in sorted(told.items(), key=lambda each: -each[1]) if share >= least]  # fmt: skip
    if not named:
        return []
    which = "it is" if len(named) == 1 else "they are"
    remedy = f"if {which} only known once the target is, leave {'it' if len(named) == 1 else 'them'} out"
    return [Finding("leak", f"{'; '.join(named[:_SHOWN])}; {remedy}", is_problem=True)]


def _as_table(X: Rows) -> Frame | None:
    is_rows = isinstance(X, list) and X and isinstance(X[0], dict)
    is_matrix = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu"
    return as_frame(X) if is_data_frame(X) or is_rows or is_matrix else None


def _explained(table: Frame, name: Any, y: Array, is_quantity: bool) -> float | None:
    """How much of the target one column explains on rows left out; None if that cannot be determined."""
    try:
        ways = reading_of(table.column(name)).ways
        if not ways:
            return None
        K = Encoded({name: ways}, _EITHER, {name: (1.0,) * len(ways)})(table, dtype=np.float64) + 1.0
    except MercerError:
        return None
    if is_quantity:
        Y = targets_of(y.astype(np.float64), is_quantity=True)
        spread = float(np.var(Y))
        return 1.0 - float(np.mean((left_out(K, Y, RIDGE) - Y) ** 2)) / spread if spread else None
    return _of_classes(K, y)


def _of_classes(K: FloatArray, y: Array) -> float | None:
    labels, codes = np.unique(y, return_inverse=True)
    wrong = float(np.mean(left_out(K, (codes[:, None] == np.arange(len(labels))) * 1.0, RIDGE).argmax(axis=1) != codes))
    by_chance = 1.0 - float(np.bincount(codes).max()) / len(codes)
    return 1.0 - wrong / by_chance if by_chance else None
