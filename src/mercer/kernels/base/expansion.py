r"""The result of learning: :math:`f(x) = \sum_j c_j\, k(x_j, x) + b`.

The representer theorem as a class. Several functions may share one set of vectors; if a
vector serves only some of them (one-vs-one), its group names those, and no product with a
zero coefficient is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._jit.lasting import lasting_empty
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.kernels.base.single_precision import SAMPLE, SinglePrecision
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import MatrixItems
from mercer.kernels.items.rows import Rows as PreparedRows

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


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

    def __init__(
        self, kernel: "Kernel", vectors: Rows, groups: list[Group], intercepts: ArrayLike, origin: Array | None = None
    ) -> None:
        self.kernel = kernel
        self.vectors = vectors
        self.groups = groups
        self.intercepts = np.asarray(intercepts, dtype=np.float64)
        self.origin = origin
        self._prepared: dict[Any, Any] = {}
        self._rule: tuple[float, SinglePrecision] | None = None

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
            found = self._prepared[dtype] = self.prepare(self.vectors, dtype)
            if isinstance(found, PreparedRows):
                found.stay = True
        return self._prepared[dtype]

    def prepare(self, X: Rows, dtype: DTypeLike) -> Any:
        """Rows in the form in which the kernel compares them with the vectors."""
        if isinstance(X, MatrixItems):
            return X
        return self.kernel.prepare(X, dtype, origin=self.origin, check=False)

    def values(self, X: Rows, tolerance: float = 0.0, n_jobs: int | None = None) -> FloatArray:
        """f(x) for each row of X and each function, shape (n, n_functions).

        In double precision, except for many rows given in single precision, where that is off by no more than
        `tolerance` (`single_precision`).
        """
        out = lasting_empty((X.shape[0] if hasattr(X, "shape") else len(X), self.n_functions), np.float64)
        for places, items in self._in_precisions(X, tolerance):
            vectors = self.prepared(items.dtype)
            tiles.add_products(
                self.kernel, items, vectors, self._parts(), out, n_jobs, start=self.intercepts, places=places
            )
        # One pass without a temporary; if it overflows, each number decides.
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(out.sum())
        if not (is_finite or np.isfinite(out).all()):
            raise DataError("the decision function overflows on X; scale X as the training data were scaled")
        return out

    def _single_precision(self, X: Rows, tolerance: float) -> SinglePrecision | None:
        """What may be computed in single precision, or None if that is nothing, whatever the rows are."""
        if getattr(X, "dtype", None) != np.float32 or not self.kernel.is_dot_product_form:
            return None
        if X.shape[0] <= SAMPLE:
            return None  # the comparison would take as long
        found = self._rule
        if found is None or found[0] != tolerance:
            with np.errstate(over="ignore"):  # of lengths that only double precision can hold
                found = self._rule = tolerance, SinglePrecision(self, tolerance)
        return None if found[1].reach < 0.0 else found[1]

    def _in_precisions(self, X: Rows, tolerance: float) -> list[tuple[IndexArray | None, Any]]:
        """The rows, prepared in the precision of each, and where they are: near rows in single precision, the others in
        double, and all in double if too many are."""
        rule = self._single_precision(X, tolerance)
        if rule is None:
            return [(None, self.prepare(X, np.float64))]
        with np.errstate(over="ignore"):
            items = self.prepare(X, np.float32)
            near = rule.near_rows(X, items)
        if near is None:
            return [(None, self.prepare(X, np.float64))]
        if len(near) == len(items):
            return [(None, items)]
        far = np.delete(np.arange(len(items)), near)
        return [(near, items.take(near)), (far, self.prepare(X[far], np.float64))]

    def _parts(self) -> Iterator[tuple[int, int, FloatArray, slice | IndexArray]]:
        for group in self.groups:
            alone = len(group.outputs) == self.n_functions
            for begin in range(group.begin, group.end, tiles.TILE):
                end = min(begin + tiles.TILE, group.end)
                weights = group.coefficients[begin - group.begin : end - group.begin]
                yield begin, end, weights, slice(None) if alone else group.outputs

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_prepared": {}, "_rule": None}
