"""The origin from which rows are measured, so that distances keep their digits.

Distances are computed as |x|^2 + |y|^2 - 2 <x, y>, which loses whatever is small beside |x|^2. So kernels that depend
only on distances measure rows from the middle of the data: the mean of each column. A single row far away drags that
mean with it, leaving all others far from it; if that would show, the middle is the median. If rows are far from any
middle, `exact_distances` computes their distances, and shifting them would only round them. Rows that are mostly zeros
are left where they are, since products skip zeros, unless they would be much shorter from the mean.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import Array, FloatArray
from mercer.kernels.items.column_statistics import plain, summary
from mercer.kernels.items.sparse_rows import is_mostly_zeros

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.items.column_statistics import Summary

# An entry that is off by more than this shows that the mean is not in the middle.
FAR = 1e-9
# If an entry may be off by more than this, rows are too far from any middle to be shifted there.
WRONG = 1e-3
# Rows this many times as long, squared, as from their mean lose at most two more bits.
LONGER = 4.0


def origin_of(kernel: "Kernel", X: Array, found: "Summary | None" = None) -> FloatArray | None:
    """The origin for finite, dense rows, at least one, or None if they are best left where they are.

    `found` is their `Summary`, if it is known.
    """
    found = summary(X) if found is None else found
    if is_mostly_zeros(X) and largest_square(found, 0.0 * found.means) <= LONGER * largest_square(found, found.means):
        return None
    if not _error(kernel, found, found.means) > FAR:
        return found.means
    middle = np.median(plain(X), axis=0).astype(np.float64)
    return None if _error(kernel, found, middle) > WRONG else middle


def _error(kernel: "Kernel", found: "Summary", origin: FloatArray) -> float:
    """The error of an entry in double precision for rows of this `Summary` shifted by `origin`."""
    return kernel.distance_error(largest_square(found, origin), np.float64)


def largest_square(found: "Summary", origin: FloatArray) -> float:
    """A bound of |x - origin|^2 for rows of this `Summary`."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.maximum(found.greatest - origin, origin - found.least)
        return float(spread @ spread)
