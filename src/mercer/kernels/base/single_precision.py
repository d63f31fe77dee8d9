"""Which entries of an expansion may be computed in single precision.

A distance loses digits if it is short compared with the rows. So rows count as near or far, by their lengths: values at
near ones are computed in single precision, all others in double. If a few are far, they alone take twice the time.

Vectors may be longer than near rows. Such a vector is at least as far from a row as their lengths differ, and there a
radial kernel changes less with the distance: one that is positive definite in every dimension is completely monotone
in |x - y|^2 (Schoenberg 1938), so its slope is steepest at the shortest distance.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Prepared
from mercer.kernels.evaluation import tiles

if TYPE_CHECKING:
    from mercer.kernels.base.expansion import Expansion
    from mercer.kernels.items.rows import Rows as PreparedRows

EPSILON = float(np.finfo(np.float32).eps)
# Vectors whose entries in single precision are compared with those in double precision.
SAMPLE = 64
# A sample meets one of this many pairs, except once in a hundred and fifty times: exp(-5).
UNMET = 5.0
# Errors of sums are allowed for up to this many standard deviations.
DEVIATIONS = 4.0
# Rows up to this many times as long, squared, as the longest vector lose hardly more digits than vectors do.
FURTHER = 2.0
# If more than this share is far, double precision throughout takes no longer.
FEW = 0.25
# Halvings of the interval in which the longest near row is searched for.
HALVINGS = 60


class SinglePrecision:
    """The part of an expansion whose sums are off by no more than `tolerance` in single precision.

    Parameters
    ----------
    expansion : Expansion
        With a kernel in dot-product form.
    tolerance : float

    Attributes
    ----------
    reach : float
        The |x|^2 up to which a row is near; negative if none is.
    """

    def __init__(self, expansion: "Expansion", tolerance: float) -> None:
        self.kernel, self._prepare, self._tolerance = expansion.kernel, expansion.prepare, tolerance
        self._largest = max(
            (float(np.abs(each.coefficients).max(initial=0.0)) for each in expansion.groups), default=0.0
        )
        everything = expansion.prepared(np.dtype(np.float32))
        # If rows had more neighbours than these, the sample would have met some.
        self._neighbours = 1.0 + UNMET / SAMPLE**2 * len(everything)
        self._norms = everything.norms.astype(np.float64)
        reach = self._longest(FURTHER * everything.largest_norm)
        places = np.flatnonzero(self._norms <= reach)
        if reach < 0.0 or len(places) < (1.0 - FEW) * len(everything):
            self.reach = -np.inf
            return
        # Rows further away than the vectors lose more digits than they do.
        self.reach = min(reach, FURTHER * float(self._norms[places].max(initial=0.0)))
        self._squares, self._sums = np.zeros((2, expansion.n_functions))
        for group in expansion.groups:
            self._squares[group.outputs] += (group.coefficients**2).sum(axis=0)
            self._sums[group.outputs] += group.coefficients.sum(axis=0)
        some = _some(expansion.vectors, places)
        self._sample = self._prepare(some, np.float32), self._prepare(some, np.float64)
        # Vectors far from each other, or a single one, do not show what is lost between them and rows near them.
        if self._sampled_error(some) > tolerance:
            self.reach = -np.inf

    def _longest(self, bound: float) -> float:
        """The largest |x|^2 up to `bound` at which vectors next to a row leave its value within the tolerance."""
        if self._unmet_error(bound) <= self._tolerance:
            return bound
        if self._unmet_error(0.0) > self._tolerance:
            return -1.0
        low, high = 0.0, bound
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._unmet_error(middle) <= self._tolerance else (low, middle)
        return low

    def _unmet_error(self, norm_bound: float) -> float:
        """How far off a value may be because of vectors right next to its row, which no sample need contain.

        Between distant rows the kernel may be zero, whatever is lost, so a sample of these says nothing about the few
        that are near.
        """
        if self.kernel.distance_error(1.0, np.float32) == 0.0:
            return 0.0
        longer = self._norms[self._norms > norm_bound]
        is_radial = self.kernel.is_translation_invariant and self.kernel.is_psd is True
        try:
            if is_radial or not len(longer):
                error = max(self.kernel.entry_error(norm_bound, np.float32), self._error_beside(norm_bound, longer))
            else:
                error = self.kernel.entry_error(float(longer.max()), np.float32)
        except OverflowError:
            return np.inf
        return self._neighbours * self._largest * error

    def _error_beside(self, norm: float, longer: FloatArray) -> float:
        """The largest error of an entry between a row of this |x|^2 and vectors of these, which are longer."""
        if not len(longer):
            return 0.0
        farthest = 4.0 * longer.max(keepdims=True)
        if not (np.isfinite(farthest) & np.isfinite(self._at(farthest, np.float32))).all():
            return np.inf  # it overflows
        # |x|^2 + |y|^2 - 2 x.y loses up to this; so the distance that is found may be that much shorter.
        lost = 2.0 * EPSILON * (norm + longer)
        shortest = np.maximum((np.sqrt(longer) - np.sqrt(norm)) ** 2 - lost, 0.0)
        changes = self._at(shortest, np.float64) - self._at(shortest + lost, np.float64)
        return self.kernel.entry_error(0.0, np.float32) + float(changes.max())

    def _at(self, squares: FloatArray, dtype: DTypeLike) -> Array:
        """A radial kernel at these squared distances: of points on a line, from the origin."""
        out = np.empty((1, len(squares)), dtype)
        self.kernel.transform(np.zeros_like(out), np.zeros(1, dtype), squares.astype(dtype), out, 0, 0)
        return out[0]

    def near_rows(self, X: Rows, items: "PreparedRows") -> IndexArray | None:
        """The positions of near rows, or None if single precision would show, or spare nothing.

        `items` are the rows of X in single precision.
        """
        near = np.flatnonzero(items.norms <= self.reach)
        if len(near) < (1.0 - FEW) * len(items) or self._sampled_error(_some(X, near)) > self._tolerance:
            return None
        return near

    def _sampled_error(self, rows: Rows) -> float:
        """How far off values in single precision are, estimated from entries between some rows and some vectors.

        Individual errors add up like independent ones; the part that the errors of a row have in common, because they
        all come from its length, adds up as the coefficients do.
        """
        if not (rows.shape[0] and len(self._sample[0])):
            return 0.0
        single, double = (self._entries(self._prepare(rows, vectors.dtype), vectors) for vectors in self._sample)
        errors = single - double
        # Entries may be exact, for integers say, but their products with coefficients are rounded all the same.
        rounded = EPSILON * double
        own = float((errors**2 + rounded**2).mean())
        common = max(0.0, float((errors.mean(axis=1) ** 2).mean()) - own / len(self._sample[0]))
        return DEVIATIONS * float(np.sqrt(own * self._squares + common * self._sums**2).max(initial=0.0))

    def _entries(self, rows: Prepared, vectors: Prepared) -> FloatArray:
        out = np.empty((len(rows), len(vectors)), rows.dtype)
        tiles.fill(self.kernel, rows, vectors, out)
        return out


def _some(X: Rows, places: IndexArray) -> Any:
    """Some of the rows at `places`, spread over all of them."""
    chosen = np.linspace(0, len(places) - 1, min(len(places), SAMPLE)).astype(np.int64)
    return X[places[chosen]]
