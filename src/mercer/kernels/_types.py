"""Names for the types that signatures of this room share, and what others may plug into it."""

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mercer._types import Array, FloatArray, IndexArray

T = TypeVar("T")

KeyArray: TypeAlias = NDArray[np.uint64]
"""Keys of features, labels or distances."""

Sparse: TypeAlias = Any
"""A SciPy matrix in CSR form; SciPy ships no types."""

Features: TypeAlias = Any
"""Explicit features, a row for each item: a dense array, or a SciPy matrix in CSR form."""

Span: TypeAlias = tuple[int, int]
"""The first of some consecutive items, and the one after the last."""

Tally: TypeAlias = tuple[IndexArray, KeyArray, FloatArray]
"""Features of consecutive items: where those of each end, their keys, and how often they occur."""

ColumnName: TypeAlias = str | int
"""What a column of a table is called: its name, or its position."""

Stop: TypeAlias = Callable[..., bool]
"""Asked between tiles, some of the time told the share that is done; True ends the work."""

Receive: TypeAlias = Callable[[Array, int], None]
"""Takes a tile, and the column of the matrix that its first column is."""

Visit: TypeAlias = Callable[[int, Receive], None]
"""Hands the tiles of a panel of rows, given by its number, to a receiver."""


class Prepared(Protocol):
    """Items as a kernel has prepared them: what else they can do, only that kernel knows."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the kernel's values."""

    def __len__(self) -> int: ...

    def take(self, indices: Any, /) -> Self:
        """The items at `indices`."""

    def slice(self, start: int, stop: int, /) -> Self:
        """Items start..stop."""


class Prepare(Protocol):
    """Gives the prepared form of all items, or of some."""

    def __call__(self, dtype: DTypeLike, indices: IndexArray | None = None, /) -> Any: ...


class Tiles(Protocol):
    """What writes tiles of a matrix: a kernel, or one that changes a kernel's on their way."""

    def tile(self, left: Any, right: Any, out: Array, row: int, column: int, /) -> None:
        """Write the entries between `left` and `right` to `out`, from that row and column on."""


class KernelTiles(Tiles, Protocol):
    """Those that also say whether they are functions of inner products."""

    @property
    def is_dot_product_form(self) -> bool:
        """As that of a kernel."""


class Source(Protocol):
    """Where a matrix in single precision comes from: it has the entries in double precision."""

    rows_to_compare: int

    @property
    def is_rough(self) -> bool:
        """Whether some entries may err by more than a solver's tolerance."""

    def rough_rows(self) -> IndexArray:
        """The items whose entries may."""

    def longest(self, indices: IndexArray, count: int, /) -> IndexArray:
        """The items among some whose entries rounding disturbs most, where that is known."""

    def view(self, indices: IndexArray, /) -> "Source":
        """The same of some of the items."""

    def in_double(self) -> Any:
        """The matrix in double precision."""

    def rows_in_double(self, indices: IndexArray, /) -> FloatArray:
        """Some rows in double precision."""

    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray, /) -> FloatArray:
        """Part of the matrix times coefficients, in double precision."""
