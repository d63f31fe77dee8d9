"""Kernels made from another by changing its values: multiples and powers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.feature_maps import product_names, require_writable, row_kronecker
from mercer.kernels.base.kernel import Kernel, block_of
from mercer.kernels.base.parameters import require_non_negative, require_positive, require_power


def require_kernel(name: str, value: object) -> None:
    """Refuse anything but a kernel."""
    if not isinstance(value, Kernel):
        raise ParameterError(f"{name} must be a Kernel, got {value!r}; wrap a function as Custom(function)")


class Wrapped(Kernel):
    """A kernel made from another, `kernel`, by changing its values entry by entry."""

    if TYPE_CHECKING:
        kernel: Kernel

    def __post_init__(self) -> None:
        require_kernel("kernel", self.kernel)

    def _finish(self, block: Array) -> Array:
        """Turn the wrapped kernel's values into this one's, in place."""
        raise NotImplementedError

    @property
    def is_psd(self) -> bool | None:
        return self.kernel.is_psd

    @property
    def is_translation_invariant(self) -> bool:
        return self.kernel.is_translation_invariant

    @property
    def is_dot_product_form(self) -> bool:
        return self.kernel.is_dot_product_form

    @property
    def takes_items(self) -> bool | None:
        return self.kernel.takes_items

    @property
    def takes_tables(self) -> bool:
        return self.kernel.takes_tables

    @property
    def is_bound(self) -> bool:
        return self.kernel.is_bound

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        return self.kernel.prepare(X, dtype, origin=origin, check=check)

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        self.kernel.transform(dots, left_norms, right_norms, out, row, column)
        self._finish(block_of(out, row, column, dots.shape))

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        self.kernel.tile(left, right, out, row, column)
        self._finish(block_of(out, row, column, (len(left), len(right))))

    def distance_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.kernel.distance_error(norm_bound, dtype)

    def norms_diag(self, norms: Array) -> Array:
        return self._finish(self.kernel.norms_diag(norms))

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return self._finish(self.kernel.diag_of(prepared))


@dataclass(frozen=True)
class Scaled(Wrapped):
    """factor times k(x, y); written ``2.0 * k``.

    Parameters
    ----------
    factor : float
        0 or more.
    kernel : Kernel
        The kernel to multiply.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (0.5 * Linear())([[2.0]], [[3.0]])
    array([[3.]])
    """

    factor: float
    kernel: Kernel

    @classmethod
    def of(cls, factor: float, kernel: Kernel) -> Self:
        """The result of ``factor * kernel``; a multiple of a multiple becomes one multiple."""
        require_non_negative("factor", factor)
        if isinstance(kernel, cls):
            return cls(factor * kernel.factor, kernel.kernel)
        return cls(factor, kernel)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_non_negative("factor", self.factor)

    def _finish(self, block: Array) -> Array:
        block *= block.dtype.type(self.factor)
        return block

    def entry_bound(self, norm_bound: float) -> float:
        return self.factor * self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.factor * self.kernel.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the kernel, times the square root of the factor."""
        return math.sqrt(self.factor) * self.kernel.feature_map(X)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The names of the kernel's features."""
        return self.kernel.feature_names(X, names)

    def terms(self) -> list[tuple[str | None, Kernel]]:
        return [(name, Scaled.of(self.factor, term)) for name, term in self.kernel.terms()]


@dataclass(frozen=True)
class Power(Wrapped):
    """k(x, y) ** exponent; written ``k ** 3``.

    Parameters
    ----------
    kernel : Kernel
        The kernel to raise.
    exponent : float
        Positive, at most a million. An integer exponent keeps a kernel positive semidefinite; any other need
        not, and requires nonnegative values.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() ** 2)([[2.0]], [[3.0]])
    array([[36.]])
    """

    kernel: Kernel
    exponent: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("exponent", self.exponent)
        require_power("exponent", self.exponent)

    @property
    def _is_whole(self) -> bool:
        return float(self.exponent).is_integer()

    @property
    def is_psd(self) -> bool | None:
        return self.kernel.is_psd if self._is_whole else None

    def _finish(self, block: Array) -> Array:
        if self._is_whole:
            return _whole_power(block, int(self.exponent))
        if block.size and block.min() < 0:
            raise DataError(f"k ** {self.exponent} needs k >= 0, but k takes the value {block.min():.3g} on these data")
        return np.power(block, block.dtype.type(self.exponent), out=block)

    def entry_bound(self, norm_bound: float) -> float:
        return self.kernel.entry_bound(norm_bound) ** self.exponent

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        error = self.kernel.entry_error(norm_bound, dtype)
        if self.exponent < 1:
            # The slope is infinite at zero: an error e there becomes e ** exponent.
            return error**self.exponent
        return self.exponent * self.kernel.entry_bound(norm_bound) ** (self.exponent - 1) * error

    def feature_map(self, X: Rows) -> Features:
        """All products of `exponent` features of the kernel."""
        if not self._is_whole:
            raise ParameterError(f"a feature map needs a whole exponent, got {self.exponent!r}")
        features, exponent = self.kernel.feature_map(X), int(self.exponent)
        if features.shape[1] == 1:
            return features.power(exponent) if sparse.issparse(features) else features**exponent
        if not sparse.issparse(features):
            require_writable(features.shape[1] ** exponent)
        return reduce(row_kronecker, [features] * exponent)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        own = self.kernel.feature_names(X) if names is None else self.kernel.feature_names(X, names)
        require_writable(int(self.exponent) * len(own) ** int(self.exponent))
        return product_names([own] * int(self.exponent))


def _whole_power(block: Array, exponent: int) -> Array:
    """Raise the entries to a whole power in place, by repeated squaring."""
    square = block.copy()
    remaining = exponent - 1
    while remaining:
        if remaining & 1:
            block *= square
        remaining >>= 1
        if remaining:
            square *= square
    return block
