"""Sums and products of kernels, which are kernels, and the operators + and *.

When every part is in dot-product form, so is the combination: one matrix product serves
all parts, and their transforms are combined tile by tile while the tile is in cache.
Otherwise each part prepares and evaluates in its own form.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import kernels
from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.feature_maps import product_names, row_kronecker
from mercer.kernels.algebra.scaled_power import Scaled, require_kernel
from mercer.kernels.base.kernel import Kernel, block_of
from mercer.kernels.base.parameters import is_number


def _flatten(kind: "type[_Combination]", left: Kernel, right: Kernel) -> tuple[Kernel, ...]:
    """(a + b) + c becomes one sum of three."""
    parts = [part.kernels if isinstance(part, kind) else (part,) for part in (left, right)]
    return parts[0] + parts[1]


class Parts:
    """One prepared form per kernel of a combination, sliced together."""

    def __init__(self, parts: Iterable[Any]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.parts[0].dtype

    @property
    def n_features(self) -> int | None:
        return getattr(self.parts[0], "n_features", None)

    @property
    def longest_tile(self) -> int | None:
        return min((part.longest_tile for part in self.parts if getattr(part, "longest_tile", None)), default=None)

    def take(self, indices: IndexArray) -> "Parts":
        """The items at `indices`."""
        return Parts(part.take(indices) for part in self.parts)

    def slice(self, start: int, stop: int) -> "Parts":
        """Items start..stop."""
        return Parts(part.slice(start, stop) for part in self.parts)


@dataclass(frozen=True)
class _Combination(Kernel):
    """The common part of Sum and Product: evaluate each part, merge into the first."""

    kernels: tuple

    if TYPE_CHECKING:

        @staticmethod
        def _merge(total: Array, term: Array) -> Array: ...

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, tuple):
            object.__setattr__(self, "kernels", tuple(self.kernels))
        if not self.kernels:
            raise ParameterError("kernels must hold at least one kernel, got none")
        for kernel in self.kernels:
            require_kernel("each of kernels", kernel)

    def nested_kernels(self) -> dict[str, Any]:
        return {f"k{number}": kernel for number, kernel in enumerate(self.kernels, 1)}

    def _with_nested(self, fields: dict[str, Any], nested: dict[str, Any]) -> dict[str, Any]:
        replaced = fields["kernels"] is not self.kernels
        return fields if replaced else {"kernels": tuple(nested.values())}

    @property
    def is_psd(self) -> bool | None:
        return True if all(kernel.is_psd for kernel in self.kernels) else None

    @property
    def is_translation_invariant(self) -> bool:
        return all(kernel.is_translation_invariant for kernel in self.kernels)

    @property
    def is_dot_product_form(self) -> bool:
        return all(kernel.is_dot_product_form for kernel in self.kernels)

    @property
    def takes_items(self) -> bool | None:
        answers = [kernel.takes_items for kernel in self.kernels if kernel.takes_items is not None]
        return all(answers) if answers else None

    @property
    def takes_tables(self) -> bool:
        return any(kernel.takes_tables for kernel in self.kernels)

    @property
    def is_bound(self) -> bool:
        return all(kernel.is_bound for kernel in self.kernels)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        if self.is_dot_product_form:
            return super().prepare(X, dtype, origin=origin, check=check)
        return Parts(kernel.prepare(X, dtype, origin=origin, check=check) for kernel in self.kernels)

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        def write(number: int, target: Array, row: int, column: int) -> None:
            self.kernels[number].transform(dots, left_norms, right_norms, target, row, column)

        self._merge_all(write, dots.shape, out, row, column)

    def tile(self, left: Any, right: Any, out: Array, row: int, column: int) -> None:
        if self._is_one_product(left, right):
            return cast(Any, self).transform(*left.products(right, self.is_translation_invariant), out, row, column)
        lefts, rights = (self._prepared_parts(items) for items in (left, right))

        def write(number: int, target: Array, row: int, column: int) -> None:
            self.kernels[number].tile(lefts[number], rights[number], target, row, column)

        return self._merge_all(write, (len(left), len(right)), out, row, column)

    def _is_one_product(self, left: Any, right: Any) -> bool:
        """Whether one tile of inner products serves all parts: not if some need distances that it loses."""
        if not self.is_dot_product_form:
            return False
        return self.is_translation_invariant or not (left.by_differences or right.by_differences)

    def _prepared_parts(self, items: Prepared) -> Sequence[Prepared]:
        return items.parts if isinstance(items, Parts) else [items] * len(self.kernels)

    def _merge_all(
        self, write: Callable[[int, Array, int, int], None], shape: tuple[int, ...], out: Array, row: int, column: int
    ) -> None:
        write(0, out, row, column)
        block = block_of(out, row, column, shape)
        scratch = np.empty(shape, out.dtype)
        for number in range(1, len(self.kernels)):
            write(number, scratch, 0, 0)
            self._merge(block, scratch)

    def distance_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return max(kernel.distance_error(norm_bound, dtype) for kernel in self.kernels)

    def norms_diag(self, norms: Array) -> Array:
        return self._merged(kernel.norms_diag(norms) for kernel in self.kernels)

    def _merged(self, diagonals: Iterable[Array]) -> FloatArray:
        """Merge into a copy, because a kernel may return the norms that its items keep."""
        return reduce(self._merge, [np.array(diagonal, dtype=np.float64) for diagonal in diagonals])

    def diag_of(self, prepared: Any) -> FloatArray:
        if self.is_dot_product_form:
            return self.norms_diag(prepared.norms.astype(np.float64))
        return self._merged(k.diag_of(part) for k, part in zip(self.kernels, prepared.parts, strict=True))


@dataclass(frozen=True)
class Sum(_Combination):
    """k(x, y) = k1(x, y) + k2(x, y) + ...; written ``k1 + k2``.

    Parameters
    ----------
    kernels : tuple of Kernel
        Their parameters are named ``k1__gamma``, ``k2__gamma`` and so on.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> (Linear() + RBF())([[1.0], [2.0]]).round(4)
    array([[2.    , 2.3679],
           [2.3679, 5.    ]])
    """

    @classmethod
    def of(cls, left: Kernel | float, right: Kernel | float) -> Kernel:
        """The result of ``left + right``; a number other than 0 becomes a constant kernel."""
        for number, kernel in ((left, right), (right, left)):
            if is_number(number) and number == 0:
                return cast(Kernel, kernel)
        terms = [kernels.Constant(term) if is_number(term) else term for term in (left, right)]
        if not all(isinstance(term, Kernel) for term in terms):
            return NotImplemented
        return cls(_flatten(cls, *cast(Any, terms)))

    @staticmethod
    def _merge(total: Array, term: Array) -> Array:
        total += term
        return total

    def entry_bound(self, norm_bound: float) -> float:
        return sum(kernel.entry_bound(norm_bound) for kernel in self.kernels)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return sum(kernel.entry_error(norm_bound, dtype) for kernel in self.kernels)

    def feature_map(self, X: Rows) -> Features:
        """The features of all parts, side by side."""
        parts = [kernel.feature_map(X) for kernel in self.kernels]
        return sparse.hstack(parts, "csr") if any(sparse.issparse(part) for part in parts) else np.hstack(parts)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The names of the features of all parts, side by side."""
        return [name for kernel in self.kernels for name in kernel.feature_names(X, names)]

    def terms(self) -> list[tuple[str | None, Kernel]]:
        return [term for kernel in self.kernels for term in kernel.terms()]


@dataclass(frozen=True)
class Product(_Combination):
    """k(x, y) = k1(x, y) k2(x, y) ...; written ``k1 * k2``.

    Parameters
    ----------
    kernels : tuple of Kernel
        Their parameters are named ``k1__gamma``, ``k2__gamma`` and so on.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> (Linear() * RBF())([[1.0], [2.0]]).round(4)
    array([[1.    , 0.7358],
           [0.7358, 4.    ]])
    """

    @classmethod
    def of(cls, kernel: Kernel, other: Kernel | float) -> Kernel:
        """The result of ``kernel * other``; a number scales the kernel."""
        if is_number(other):
            return Scaled.of(cast(float, other), kernel)
        return cls(_flatten(cls, kernel, other)) if isinstance(other, Kernel) else NotImplemented

    @staticmethod
    def _merge(total: Array, term: Array) -> Array:
        total *= term
        return total

    def entry_bound(self, norm_bound: float) -> float:
        return math.prod(kernel.entry_bound(norm_bound) for kernel in self.kernels)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        bounds = [kernel.entry_bound(norm_bound) for kernel in self.kernels]
        errors = [kernel.entry_error(norm_bound, dtype) for kernel in self.kernels]
        others = [math.prod(bounds[:i] + bounds[i + 1 :]) for i in range(len(bounds))]
        return sum(error * other for error, other in zip(errors, others, strict=True))

    def feature_map(self, X: Rows) -> Features:
        """All products of one feature of each part."""
        return reduce(row_kronecker, [kernel.feature_map(X) for kernel in self.kernels])

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """A name for each product: the names of its factors, joined."""
        return product_names([kernel.feature_names(X, names) for kernel in self.kernels])
