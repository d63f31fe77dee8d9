"""Where rows are measured from, so that distances keep their digits.

Distances are computed as |x|^2 + |y|^2 - 2 <x, y>, which loses what is small beside |x|^2. So kernels that only know
distances measure rows from the middle of the data: the mean of each column. A single row far away drags that mean with
it, and then all others are far from it; where that would show, the middle is the median.
"""

import numpy as np

from mercer._errors import DataError
from mercer.kernels.row_passes import moved, plain, squared_lengths, summary

# An entry that is off by more than this shows that the mean is no middle.
FAR = 1e-9
# One that is off by more than this is wrong.
WRONG = 1e-3
# Rows that are near each other are neighbours on one of so many random lines.
LINES = 3


def origin_of(kernel, X, found=None):
    """The origin for rows of finite numbers, dense and at least one; `found` is their `Summary`, where it is known."""
    found = summary(X) if found is None else found
    if not _error(kernel, largest_square(found, found.means)) > FAR:
        return found.means
    return np.median(plain(X), axis=0).astype(np.float64)


def largest_square(found, origin):
    """A bound of |x - origin|^2 for rows of this `Summary`."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.maximum(found.greatest - origin, origin - found.least)
        return float(spread @ spread)


def require_tellable(kernel, X, origin, largest):
    """Refuse rows that are near each other, and so far from the origin that their distance is lost.

    `largest` bounds |x - origin|^2. A row that is far from all others is no such row: its distances are large.
    """
    if not _error(kernel, largest) > WRONG:
        return
    rows = moved(X, origin, np.float64)
    squares = squared_lengths(rows)
    far = np.flatnonzero(squares >= _first_wrong(kernel, np.sort(squares)))
    pair = _near_pair(rows[far], squares[far])
    if pair is not None:
        i, j = sorted(int(far[place]) for place in pair)
        raise DataError(
            f"rows {i} and {j} of X are {squares[j] ** 0.5:.3g} away from the middle of the data, and so near each "
            "other that rounding leaves nothing of their distance; scale the features, clip them, or lower gamma"
        )


def _error(kernel, square):
    """The error of an entry in double precision, for rows of this squared length; 0 where distances do not cancel."""
    if not (kernel.is_dot_product_form and kernel.is_translation_invariant):
        return 0.0
    try:
        return kernel.entry_error(square, np.float64)
    except OverflowError:
        return np.inf


def _first_wrong(kernel, squares):
    """The least of increasing squared lengths whose entries may be wrong; infinite where there is none."""
    low, high = 0, len(squares)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _error(kernel, squares[middle]) > WRONG else (middle + 1, high)
    return squares[low] if low < len(squares) else np.inf


def _near_pair(rows, squares):
    """Two rows whose squared distance has less than three digits, or None."""
    rng, lost = np.random.default_rng(0), np.finfo(np.float64).eps / WRONG
    for _ in range(LINES):
        # What overflows is refused for that, by who computes inner products.
        with np.errstate(over="ignore", invalid="ignore"):
            order = np.argsort(rows @ rng.normal(size=rows.shape[1]))
            left, right = order[:-1], order[1:]
            apart = squared_lengths(rows[left] - rows[right])
            near = np.flatnonzero(apart < 4.0 * lost * (squares[left] + squares[right]))
        if len(near):
            return left[near[0]], right[near[0]]
    return None
