"""Sums of the entries of a tile, weighted by coefficients, for several functions."""

from collections.abc import Iterable
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.lanes import FEWEST_ROWS, line_sums
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray

# Up to this many functions, sums stay in registers; BLAS takes up to twice as long for so few.
WIDEST_LINE, NARROWEST_LINE = 32, 8
# Sums in single precision are off by about 6e-8 times the sum of the absolute values of their terms. Where that may be
# more than this, they are taken in double precision.
MOST_IN_SINGLE = 1e3

Part: TypeAlias = tuple[int, int, FloatArray, slice | IndexArray]
"""(begin, end, weights, outputs) of right-hand items begin..end."""


@jit
def _add_single(block: Array, weights: Array, bounds: IndexArray, outputs: IndexArray, out: FloatArray) -> None:
    """For each part one function; accumulated in double precision."""
    vector_loop()
    for i in range(block.shape[0]):
        target = out[i]
        for s in range(outputs.shape[0]):
            row, own = block[i, bounds[s] : bounds[s + 1]], weights[bounds[s] : bounds[s + 1]]
            total = 0.0
            for j in range(own.shape[0]):
                total += row[j] * own[j]
            target[outputs[s]] += total


@jit
def _add_columns(sums: Array, places: IndexArray, out: FloatArray) -> None:
    """out[i, places[k]] += sums[i, k]; NumPy takes five times as long, as it copies what is added to."""
    for i in range(out.shape[0]):
        row, target = sums[i], out[i]
        for k in range(places.shape[0]):
            # An index that might be negative would have to be looked at.
            target[np.uintp(places[k])] += row[k]


@jit
def _add_few(
    block: Array,
    lines: Array,
    line: tuple[float, ...],
    bounds: IndexArray,
    outputs: IndexArray,
    room: Array,
    out: FloatArray,
) -> None:
    """For each part a few functions, whose weights are the first numbers of lines."""
    vector_loop()
    for s in range(outputs.shape[0]):
        entries, own = block[:, bounds[s] : bounds[s + 1]], lines[bounds[s] : bounds[s + 1]]
        i = 0
        while i < block.shape[0]:
            i += line_sums(entries, own, i, line, room, 0)
        _add_columns(room, outputs[s], out)


class TileSums(NamedTuple):
    """Weights of the right-hand items of a tile, in parts that serve different functions, as many each."""

    begin: int
    end: int
    bounds: IndexArray  # where in the tile each part begins, and where the last one ends
    outputs: IndexArray  # the functions of each part
    weights: Array  # a row for each item
    in_lines: bool  # whether rows of weights are filled up with zeros to lines

    @classmethod
    def of_parts(cls, parts: list[Part], every: IndexArray, shape: tuple[int, DTypeLike]) -> Self:
        """Consecutive parts, for so many rows of entries in this precision; `every` lists all functions."""
        (rows, dtype), count = shape, parts[0][2].shape[1]
        begin, end = parts[0][0], parts[-1][1]
        weights = parts[0][2] if len(parts) == 1 else np.concatenate([part[2] for part in parts])
        if count == 1 or any(np.abs(part[2]).sum(axis=0).max(initial=0.0) > MOST_IN_SINGLE for part in parts):
            dtype = np.dtype(np.float64)
        in_lines = 1 < count <= WIDEST_LINE and rows >= FEWEST_ROWS
        if in_lines:
            lines = np.zeros((end - begin, max(NARROWEST_LINE, 1 << (count - 1).bit_length())), dtype)
            lines[:, :count] = weights
            weights = lines
        bounds = np.array([*(part[0] - begin for part in parts), end - begin])
        outputs = np.array([every[part[3]] for part in parts])
        return cls(begin, end, bounds, outputs, np.ascontiguousarray(weights, dtype), in_lines)

    def add(self, block: Array, out: FloatArray) -> None:
        """Add the sums of each row of entries to the functions of each part."""
        weights, (parts, count) = self.weights, self.outputs.shape
        if count == 1:
            _add_single(block, weights[:, 0], self.bounds, self.outputs[:, 0], out)
        elif self.in_lines:
            width = weights.shape[1]
            room = scratch("tile sums", (len(block), width), weights.dtype)
            _add_few(block, weights, (weights.dtype.type(0),) * width, self.bounds, self.outputs, room, out)
        else:
            for k in range(parts):
                own = slice(self.bounds[k], self.bounds[k + 1])
                _add_columns(block[:, own] @ weights[own], self.outputs[k], out)


def joined(parts: Iterable[Part], most: int, n_functions: int, shape: tuple[int, DTypeLike]) -> list[TileSums]:
    """Parts in tiles: since narrow ones are slow, neighbours share one of up to so many items.

    `shape` is how many rows of entries there will be, and their precision.
    """
    every = np.arange(n_functions)
    found: list[list[Part]] = []
    for part in parts:
        last = found[-1] if found else None
        follows = last is not None and last[-1][1] == part[0] and part[1] - last[0][0] <= most
        if last is not None and follows and part[2].shape[1] == last[0][2].shape[1]:
            last.append(part)
        else:
            found.append([part])
    return [TileSums.of_parts(tile, every, shape) for tile in found]
