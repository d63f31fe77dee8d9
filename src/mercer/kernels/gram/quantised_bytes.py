r"""A symmetric matrix with a byte an entry, and products with it that are good to about a percent.

For methods that want a direction rather than a solution, such as the conjugate gradients inside of a Newton step.
With entries :math:`K_{ij} = l + u k_{ij}` and coefficients :math:`v_{jc} = a_c + s_c m_{jc}`, all :math:`k` and
:math:`m` whole numbers from 0 to 255,

.. math:: (K v)_{ic} = u s_c \sum_j k_{ij} m_{jc} + u a_c \sum_j k_{ij} + l \sum_j v_{jc},

and the first sum, which is all of the work, is exact and four times as fast as in single precision
(`mercer._jit.byte_products`). One use of that instruction has room for many columns, and few of them
would not pay.
"""

from typing import TYPE_CHECKING, Self

import numpy as np

from mercer._jit.byte_products import HEIGHT, QUAD, WIDTH, byte_products, has_byte_products, pack
from mercer._jit.compile import jit
from mercer._jit.lasting import lasting_empty
from mercer._jit.scratch import scratch
from mercer._jit.threads import run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Span, Stop
from mercer.kernels.evaluation import tiles

if TYPE_CHECKING:
    from mercer.kernels.gram.quantised import RoundedMatrix

# With fewer columns than this a product takes as long as in 16 bits.
FEWEST_COLUMNS = 10
# Sums of so many products of bytes fit into 32 bits.
MOST_ITEMS = (2**31 - 1) // 255**2
# Entries of 16 bits are divided by so much: those of any sign, and those that have none.
_SIGNED, _POSITIVE = 8, 7


class ByteMatrix:
    """A rough copy of a `RoundedMatrix`.

    Parameters
    ----------
    codes : ndarray of int8, shape (n, n filled up to a multiple of four)
        k - 128, and -128 where there is no entry.
    lowest, unit : float
        l and u above.
    """

    def __init__(self, codes: IndexArray, n: int, lowest: float, unit: float, n_jobs: int | None) -> None:
        self.codes, self.n, self.lowest, self.unit, self.n_jobs = codes, n, lowest, unit, n_jobs
        self._sums = np.empty(n)
        _sum_codes(codes, n, self._sums)

    @classmethod
    def of(cls, rounded: "RoundedMatrix") -> Self | None:
        """The copy, or None where this processor is slow at bytes or the items are too many."""
        n = rounded.n
        if n > MOST_ITEMS or not has_byte_products():
            return None
        least = min(int(panel.min(initial=0)) for _, _, panel in rounded.triangle)
        bits = _SIGNED if least < 0 else _POSITIVE
        codes = lasting_empty((n, -(-n // QUAD) * QUAD), np.int8)
        codes[:, n:] = -128
        # Up or down by chance, as the rest asks for: what is rounded alike, as entries near zero, would add up.
        chances = np.random.default_rng(0).integers(0, 2**15, n).astype(np.uint16) * np.uint16(2) + np.uint16(1)

        def copy(place: int) -> None:
            begin, end = rounded.triangle.spans[place]
            panel = rounded.triangle.panels[place]
            _copy_rows(panel, begin, end, bits, chances, codes)
            _copy_corner(panel, begin, end, bits, chances, codes)
            tiles.transpose(codes, begin, end, 0, begin)

        places = reversed(range(len(rounded.triangle.spans)))
        run_parallel(copy, places, thread_count(rounded.n_jobs))
        unit = rounded.unit * 2**bits
        return cls(codes, n, -128 * unit if least < 0 else 0.0, unit, rounded.n_jobs)

    @property
    def noise(self) -> float:
        """As that of a `RoundedMatrix`; chance makes it larger."""
        return self.unit * np.sqrt(self.n)

    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        """The copy times coefficients of shape (n, k), which are rounded to a byte too."""
        least = coefficients.min(axis=0)
        steps = (coefficients.max(axis=0) - least) / 255.0
        steps[steps == 0] = 1.0
        levels = np.full((coefficients.shape[1], self.codes.shape[1]), -128, np.int8)
        _encode(np.ascontiguousarray(coefficients.T), least, steps, levels)
        found = self._level_products(levels, stop)
        found *= self.unit * steps
        found += self.unit * np.outer(self._sums, least)
        return found + self.lowest * coefficients.sum(axis=0)

    def _level_products(self, levels: IndexArray, stop: Stop | None) -> FloatArray:
        """Sums of k times m, shape (n, k)."""
        panels = -(-len(levels) // WIDTH)
        packed = np.zeros((panels, levels.shape[1] // QUAD, WIDTH, QUAD), np.uint8)
        sums = np.zeros((panels, WIDTH), np.int32)
        pack(levels, packed, sums)
        out, nothing = np.empty((self.n, len(levels))), np.zeros(max(self.n, len(levels)))

        def rows(span: Span) -> None:
            block = scratch("bytes", (HEIGHT, WIDTH), np.int32)
            own = slice(*span)
            byte_products(self.codes[own], packed, sums, 1.0, nothing[own], nothing, block, out[own])

        workers = 1 if self.n**2 < tiles.SERIAL_ENTRIES * 8 else thread_count(self.n_jobs)
        run_parallel(rows, tiles.spans(self.n), workers, stop)
        return out


@jit
def _copy_rows(panel: Array, begin: int, end: int, bits: int, chances: Array, codes: IndexArray) -> None:
    """Of rows begin..end, which a panel has, what is left of the tile on the diagonal, as bytes."""
    vector_loop()
    offset, shift = 0 if bits == _SIGNED else 128, 16 - bits
    for i in range(begin, end):
        row, target, own = panel[i - begin, :begin], codes[i, :begin], chances[i]
        for j in range(begin):
            chance = np.int32(np.uint16(own * chances[j])) >> shift
            target[j] = np.int8(min(((np.int32(row[j]) + chance) >> bits) - offset, 127))  # type: ignore[arg-type] # Numba's min


@jit
def _copy_corner(panel: Array, begin: int, end: int, bits: int, chances: Array, codes: IndexArray) -> None:
    """The tile on the diagonal, from its lower triangle."""
    offset, shift = 0 if bits == _SIGNED else 128, 16 - bits
    for top in range(begin, end, 32):
        bottom = min(top + 32, end)
        for first in range(begin, bottom, 32):
            for i in range(top, bottom):
                for j in range(first, min(first + 32, i + 1)):
                    chance = np.int32(np.uint16(chances[i] * chances[j])) >> shift
                    code = np.int8(min(((np.int32(panel[i - begin, j]) + chance) >> bits) - offset, 127))  # type: ignore[arg-type] # Numba's min
                    codes[i, j] = code
                    codes[j, i] = code


@jit
def _sum_codes(codes: IndexArray, n: int, out: Array) -> None:
    """Sums of k in each row."""
    vector_loop()
    for i in range(n):
        row, total = codes[i], 0
        for j in range(n):
            total += np.int32(row[j]) + 128
        out[i] = total


@jit
def _encode(columns: Array, least: Array, steps: Array, levels: IndexArray) -> None:
    """levels[c, j] = m_jc - 128."""
    vector_loop()
    for c in range(columns.shape[0]):
        column, row, low, scale = columns[c], levels[c], least[c], 1.0 / steps[c]
        for j in range(columns.shape[1]):
            row[j] = np.int8(np.int32(min((column[j] - low) * scale + 0.5, 255.0)) - 128)
