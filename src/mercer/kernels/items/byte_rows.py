r"""Rows whose numbers are bytes in disguise: pictures, small counts, indicators.

Where every number is :math:`x = a + s k` with a whole :math:`0 \le k \le 255` and the same :math:`a` and :math:`s`,
inner products of rows moved by an origin :math:`o` are those of the :math:`k`, which are exact and several times faster
to compute than any in floating point (`mercer._jit.byte_products`): with :math:`q = o - a`,

.. math:: \langle x - o, x' - o \rangle = s^2 \langle k, k' \rangle + t + t', \qquad
          t = \tfrac12 \langle q, q \rangle - s \langle q, k \rangle .

A byte is also a quarter of what single precision takes to keep, to copy and to read.
"""

import builtins
from typing import NamedTuple, Self

import numpy as np

from mercer._jit.byte_products import HEIGHT, QUAD, WIDTH, byte_products, has_byte_products, pack
from mercer._jit.compile import jit
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels.items.column_statistics import plain
from mercer.kernels.items.rows import Rows

LARGEST = 255
# Fewer rows, or shorter ones, are done before this has begun.
FEWEST_ROWS, FEWEST_FEATURES = 800, 96
# Products of bytes in the time of one in single precision.
AT_ONCE = 4
# Sums of so many products of bytes fit into 32 bits.
MOST_FEATURES = (2**31 - 1) // LARGEST**2
# Rows that are looked at before all of them are.
SAMPLE = 32
# How far a number may be from its level, as a share of the largest: some roundings to single precision.
ACCURACY = 4.0 * float(np.finfo(np.float32).eps)


class Ladder(NamedTuple):
    """The levels lowest + step k on which numbers stand."""

    lowest: float
    step: float

    @classmethod
    def of(cls, X: Array) -> Self | None:
        """The ladder of some of the rows of an array, or None; whether all of them stand on it, `encode` finds out."""
        n, d = X.shape
        if not (n >= FEWEST_ROWS and FEWEST_FEATURES <= d <= MOST_FEATURES and has_byte_products()):
            return None
        some = np.linspace(0, n - 1, SAMPLE).astype(np.int64)
        # Numbers of any kind are different from each other; two rows are enough to see that.
        if len(np.unique(X[some[:2]])) > LARGEST + 1:
            return None
        return cls.under(np.unique(X[some]).astype(np.float64))

    @classmethod
    def under(cls, numbers: FloatArray) -> Self | None:
        """The ladder with the widest steps under different numbers in ascending order; None where there is none."""
        if not 1 < len(numbers) <= LARGEST + 1:
            return None
        span, largest = numbers[-1] - numbers[0], np.abs(numbers).max()
        if span < 1e-2 * largest:
            return None  # close together, far from zero: rounding might pass for a level
        above = (numbers - numbers[0]) / span
        for count in range(len(numbers) - 1, LARGEST + 1):
            if np.abs(above * count - np.rint(above * count)).max() <= 2 * count * ACCURACY * largest / span:
                return cls(float(numbers[0]), _rounded_to_part(span / count))
        return None

    def encode(self, X: Array, origin: FloatArray) -> tuple[IndexArray, FloatArray] | None:
        """(k - 128 of each number as int8, <q, k> of each row) for rows moved by `origin`; None where one is no level.

        The length of the rows is filled up to a multiple of four.
        """
        codes = np.full((len(X), -(-X.shape[1] // QUAD) * QUAD), -128, np.int8)
        sums = np.empty(len(X))
        allowed = ACCURACY * max(abs(self.lowest), abs(self.lowest + LARGEST * self.step))
        fits = _encode(X, self.lowest, self.step, allowed, origin - self.lowest, codes, sums)
        return (codes, sums) if fits else None


def _rounded_to_part(step: float) -> float:
    """A step as it was meant: one of a whole number of parts of one, where it is that but for rounding."""
    parts = np.rint(1.0 / step)
    return 1.0 / parts if parts >= 1 and abs(parts * step - 1.0) <= ACCURACY else float(step)


@jit
def _encode(X: Array, lowest: float, step: float, allowed: float, moves: Array, codes: IndexArray, sums: Array) -> bool:
    """See `Ladder.encode`; False at the first row with a number that is no level."""
    vector_loop()
    for i in range(X.shape[0]):
        row, target = X[i], codes[i]
        total, furthest, least, greatest = 0.0, 0.0, 0.0, 255.0
        for c in range(X.shape[1]):
            number = np.float64(row[c])
            level = np.rint((number - lowest) / step)
            furthest = max(furthest, abs(number - (lowest + step * level)))
            least, greatest = min(least, level), max(greatest, level)
            total += moves[c] * level
            target[c] = np.int8(np.int32(min(max(level, 0.0), 255.0)) - 128)
        if furthest > allowed or least < 0.0 or greatest > 255.0:
            return False
        sums[i] = total
    return True


@jit
def _decode(codes: IndexArray, step: float, moves: Array, out: Array) -> None:
    """out = s k - q."""
    vector_loop()
    for i in range(out.shape[0]):
        row, target = codes[i], out[i]
        for c in range(out.shape[1]):
            target[c] = step * (np.float64(row[c]) + 128.0) - moves[c]


@jit
def _squares(codes: IndexArray, out: Array) -> None:
    """<k, k> of each row."""
    vector_loop()
    for i in range(codes.shape[0]):
        total = 0
        for c in range(codes.shape[1]):
            number = np.int32(codes[i, c]) + 128
            total += number * number
        out[i] = total


class LevelRows(Rows):
    """Rows in single precision that are kept as bytes.

    Parameters
    ----------
    ladder : Ladder
    moves : ndarray of shape (d,)
        The origin minus the lowest level, of each column.
    codes : ndarray of int8, shape (n, d filled up to a multiple of four)
    terms : ndarray of shape (n,)
        What each row adds to every product with it: t above.
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self, ladder: Ladder, moves: FloatArray, codes: IndexArray, terms: FloatArray, norms: Array | None = None
    ) -> None:
        self.ladder, self.moves, self.codes, self.terms = ladder, moves, codes, terms
        self.is_sparse = False
        self._whole, self._span, self._panels = None, None, {}
        if norms is not None:
            self.norms = norms

    @classmethod
    def of(cls, X: Array, origin: FloatArray | None = None) -> Self | None:
        """Rows of an array moved by `origin`, or None where they do not stand on one ladder."""
        ladder = Ladder.of(X)
        if ladder is None:
            return None
        origin = np.zeros(X.shape[1]) if origin is None else np.asarray(origin, np.float64)
        encoded = ladder.encode(plain(X), origin)
        if encoded is None:
            return None
        codes, sums = encoded
        moves = origin - ladder.lowest
        return cls(ladder, moves, codes, 0.5 * (moves @ moves) - ladder.step * sums)

    @computed_once
    def values(self) -> Array:
        """The rows as numbers, for those who do not ask for products."""
        out = np.empty((len(self), self.n_features), self.dtype)
        _decode(self.codes, self.ladder.step, self.moves, out)
        return out

    @computed_once
    def norms(self) -> Array:
        """Squared norms |x|^2, exact but for the last rounding."""
        squares = np.empty(len(self))
        _squares(self.codes, squares)
        return (self.ladder.step**2 * squares + 2.0 * self.terms).clip(0.0).astype(self.dtype)

    @property
    def n_features(self) -> int:
        return len(self.moves)

    @property
    def product_cost(self) -> float:
        return self.n_features / AT_ONCE

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, indices: IndexArray) -> "LevelRows":
        return self._part(indices)

    def slice(self, start: int, stop: int) -> "LevelRows":
        rows = self._part(slice(start, stop))
        rows._whole, rows._span = self, (start, stop)
        return rows

    def _part(self, places: IndexArray | builtins.slice) -> "LevelRows":
        return LevelRows(self.ladder, self.moves, self.codes[places], self.terms[places], self.norms[places])

    def dots(self, right: Rows) -> Array:
        if not (isinstance(right, LevelRows) and right.ladder == self.ladder):
            return super().dots(right)
        out = scratch("dots", (len(self), len(right)), self.dtype)
        block = scratch("bytes", (HEIGHT, WIDTH), np.int32)
        byte_products(self.codes, *right.packed, self.ladder.step**2, self.terms, right.terms, block, out)
        return out

    @property
    def packed(self) -> tuple[Array, Array]:
        """The rows as the right-hand side of products; those from which they were sliced remember it."""
        return self._remembered("packed", lambda: _packed(self.codes))


def _packed(codes: IndexArray) -> tuple[Array, Array]:
    n, d = codes.shape
    panels = -(-n // WIDTH)
    packed, sums = np.zeros((panels, d // QUAD, WIDTH, QUAD), np.uint8), np.zeros((panels, WIDTH), np.int32)
    pack(codes, packed, sums)
    return packed, sums
