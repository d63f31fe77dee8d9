"""In which ways a column of a table is best read as numbers, by what it holds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.kernels.table.coding import PERIODS
from mercer.kernels.table.infer_kernel import column_kernel, is_prose

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.table.column import Column

# Whole numbers with at most this many values, each in this many rows on average, may be labels as well as numbers, and
# are read as both.
FEW_VALUES, ROWS_A_VALUE = 12, 5
# A value more than this many deviations from the mean makes a long tail.
LONG_TAIL = 4.0
# A date has a place in a period if the column covers the period this many times.
COVERED = 1.5


@dataclass(frozen=True)
class Reading:
    """How a column is read.

    Attributes
    ----------
    ways : tuple of str
        As in `Encoded`; none where the column is left out, or has a kernel of its own.
    kernel : Kernel or None
        For texts, trees and graphs.
    why_not : str
        Why the column is left out, where it is.
    has_long_tail : bool
        Whether "log" might do as well as "rank".
    """

    ways: tuple[str, ...] = ()
    kernel: "Kernel | None" = None
    why_not: str = ""
    has_long_tail: bool = False


def reading_of(column: "Column") -> Reading:
    """How a column is read, by its values alone."""
    present = ~column.missing
    if not present.any():
        return Reading(why_not="no value")
    if column.kind == "number":
        return _of_numbers(column)
    if column.kind == "date":
        return _of_dates(column)
    if column.kind == "category" or (column.kind == "text" and not is_prose(column.items(present))):
        is_constant = len(set(column.items(present))) == 1 and present.all()
        return Reading(why_not="never varies") if is_constant else Reading(("category",))
    return Reading(kernel=column_kernel(column))


def _of_numbers(column: "Column") -> Reading:
    values = column.numbers(~column.missing)
    distinct = np.unique(values)
    if len(distinct) == 1:
        return Reading(("number",)) if column.missing.any() else Reading(why_not="never varies")
    if len(distinct) == 2:
        return Reading(("number",))
    is_few = len(distinct) <= min(FEW_VALUES, len(values) // ROWS_A_VALUE)
    if is_few and (distinct == np.rint(distinct)).all():
        return Reading(("number", "category"))
    middle, deviation = values.mean(), values.std()
    is_long = bool(np.abs(distinct[[0, -1]] - middle).max() > LONG_TAIL * deviation)
    return Reading(("rank",) if is_long else ("number",), has_long_tail=is_long)


def _of_dates(column: "Column") -> Reading:
    values = column.numbers(~column.missing)
    span = float(values.max() - values.min())
    if span == 0:
        return Reading(why_not="never varies") if not column.missing.any() else Reading(("number",))
    has_hours = bool((values != np.floor(values)).any())
    periods = [name for name, length in PERIODS.items() if span >= COVERED * length and (name != "day" or has_hours)]
    return Reading(("number", *periods))
