r"""The result of learning: :math:`f(x) = \sum_j c_j\, k(x_j, x) + b`.

The representer theorem as a class. Several functions may share one set of vectors; if a
vector serves only some of them (one-vs-one), its group names those, and no product with a
zero coefficient is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._jit.once import computed_once
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.kernels._types import Prepared
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import MatrixItems

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.items.rows import Rows as PreparedRows

# Vectors whose entries in single precision are compared with those in double precision.
SAMPLE = 64
# A sample meets one of this many pairs, except once in a hundred and fifty times: exp(-5).
UNMET = 5.0
# Errors of sums are allowed for up to this many standard deviations.
DEVIATIONS = 4.0
# Rows up to this many times as long, squared, as the longest vector lose hardly more digits than vectors do.
FURTHER = 2.0


@dataclass(frozen=True)
class Group:
    """Consecutive vectors begin..end and their coefficients for some of the functions."""

    begin: int
    end: int
    coefficients: np.ndarray  # (end - begin, len(outputs))
    outputs: np.ndarray


class Expansion:
    """Functions that are sums of kernels at support vectors.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    vectors : array, CSR matrix, or prepared items
        The support vectors, in a form that the kernel's ``prepare`` takes.
    groups : list of Group
    intercepts : ndarray (n_functions,)
    origin : ndarray, optional
        Subtracted from rows before distances are taken (see `Kernel.prepare`).
    """

    if TYPE_CHECKING:
        _single: float | Any  # None before it is computed

    def __init__(
        self, kernel: "Kernel", vectors: Rows, groups: list[Group], intercepts: ArrayLike, origin: Array | None = None
    ) -> None:
        self.kernel = kernel
        self.vectors = vectors
        self.groups = groups
        self.intercepts = np.asarray(intercepts, dtype=np.float64)
        self.origin = origin
        self._prepared, self._single = {}, None

    @classmethod
    def single(
        cls,
        kernel: "Kernel",
        vectors: Rows,
        coefficients: ArrayLike,
        intercepts: ArrayLike,
        origin: Array | None = None,
    ) -> Self:
        """One group: every vector has a coefficient for every function."""
        coefficients = np.asarray(coefficients, dtype=np.float64)
        group = Group(0, len(coefficients), coefficients, np.arange(coefficients.shape[1]))
        return cls(kernel, vectors, [group], intercepts, origin)

    @property
    def n_functions(self) -> int:
        return len(self.intercepts)

    def prepared(self, dtype: DTypeLike) -> Any:
        """The vectors in the kernel's own form; computed once for each precision."""
        if dtype not in self._prepared:
            self._prepared[dtype] = self._prepare(self.vectors, dtype)
        return self._prepared[dtype]

    def _prepare(self, X: Rows, dtype: DTypeLike) -> Any:
        if isinstance(X, MatrixItems):
            return X
        return self.kernel.prepare(X, dtype, origin=self.origin, check=False)

    def values(self, X: Rows, tolerance: float = 0.0, n_jobs: int | None = None) -> FloatArray:
        """f(x) for each row of X and each function, shape (n, n_functions).

        In double precision, except for many rows given in single precision if that is off by no more than
        `tolerance`, judging by entries between some of the rows and some of the vectors, and wherever the others
        may be.
        """
        items = self._single_items(X, tolerance)
        items = self._prepare(X, np.float64) if items is None else items
        vectors = self.prepared(items.dtype)
        out = np.zeros((len(items), self.n_functions))
        tiles.add_products(self.kernel, items, vectors, self._parts(), out, n_jobs)
        if not np.isfinite(out).all():
            raise DataError("the decision function overflows on X; scale X as the training data were scaled")
        return out + self.intercepts

    def _single_items(self, X: Rows, tolerance: float) -> "PreparedRows | None":
        """The rows of X in single precision, or None if that would show."""
        if getattr(X, "dtype", None) != np.float32 or not self.kernel.is_dot_product_form:
            return None
        if X.shape[0] <= SAMPLE:
            return None  # the comparison would take as long
        single = np.dtype(np.float32)
        vectors = self.prepared(single).largest_norm
        if self._unmet_error(vectors) > tolerance:
            return None  # whatever the rows are, so they need not be examined
        if self._single is None:
            self._single = self._single_error(self.vectors)
        # Vectors far from each other, or a single one, do not show what is lost between them and rows near them.
        if not (self._single <= tolerance and self._single_error(X) <= tolerance):
            return None
        items = self._prepare(X, single)
        # Rows further away than the vectors lose more digits than they do.
        rows = items.largest_norm
        if rows > FURTHER * vectors or self._unmet_error(max(vectors, rows)) > tolerance:
            return None
        return items

    def _single_error(self, X: Rows) -> float:
        """How far off values in single precision are, estimated from entries between rows of X and vectors.

        Individual errors add up like independent ones; the part that the errors of a row have in common, because they
        all come from its length, adds up as the coefficients do.
        """
        some, rows = self._some_vectors, _some(X)
        if not (rows.shape[0] and len(some.double)):
            return 0.0
        single = self._entries(self._prepare(rows, np.float32), some.single)
        double = self._entries(self._prepare(rows, np.float64), some.double)
        errors = single - double
        # Entries may be exact, for integers say, but their products with coefficients are rounded all the same.
        rounded = float(np.finfo(np.float32).eps) * double
        own = float((errors**2 + rounded**2).mean())
        common = max(0.0, float((errors.mean(axis=1) ** 2).mean()) - own / len(some.double))
        return DEVIATIONS * float(np.sqrt(own * some.squares + common * some.sums**2).max(initial=0.0))

    def _unmet_error(self, norm_bound: float) -> float:
        """How far off a value may be because of vectors right next to its row, which no sample need contain.

        A distance loses digits if it is short compared with the rows. Between distant rows the
        kernel may be zero, whatever is lost, so a sample of these says nothing about the few that are near.
        """
        if self.kernel.distance_error(1.0, np.float32) == 0.0:
            return 0.0
        try:
            error = self.kernel.entry_error(norm_bound, np.float32)
        except OverflowError:
            return np.inf
        largest = max((float(np.abs(group.coefficients).max(initial=0.0)) for group in self.groups), default=0.0)
        # If rows had more neighbours than these, the sample would have met some.
        neighbours = 1.0 + UNMET / SAMPLE**2 * self.vectors.shape[0]
        return neighbours * largest * error

    @computed_once
    def _some_vectors(self) -> "_SomeVectors":
        squares, sums = np.zeros((2, self.n_functions))
        for group in self.groups:
            squares[group.outputs] += (group.coefficients**2).sum(axis=0)
            sums[group.outputs] += group.coefficients.sum(axis=0)
        vectors = _some(self.vectors)
        return _SomeVectors(self._prepare(vectors, np.float32), self._prepare(vectors, np.float64), squares, sums)

    def _entries(self, rows: Prepared, vectors: Prepared) -> Array:
        out = np.empty((len(rows), len(vectors)), rows.dtype)
        tiles.fill(self.kernel, rows, vectors, out)
        return out

    def _parts(self) -> Iterator[tuple[int, int, FloatArray, slice | IndexArray]]:
        for group in self.groups:
            alone = len(group.outputs) == self.n_functions
            for begin in range(group.begin, group.end, tiles.TILE):
                end = min(begin + tiles.TILE, group.end)
                weights = group.coefficients[begin - group.begin : end - group.begin]
                yield begin, end, weights, slice(None) if alone else group.outputs

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name != "_some_vectors"}
        return {**kept, "_prepared": {}, "_single": None}


class _SomeVectors(NamedTuple):
    """Some of the vectors in both precisions, and sums of all coefficients and of their squares for each function."""

    single: Any
    double: Any
    squares: np.ndarray
    sums: np.ndarray


def _some(X: Rows) -> Any:
    """Some of the rows, spread over all of them."""
    return X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], SAMPLE)).astype(np.int64)]
