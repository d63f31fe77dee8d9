"""A kernel of numbers after each column has been brought to mean 0 and deviation 1."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.algebra.scaled_power import Wrapped
from mercer.kernels.base.kernel import Kernel


@dataclass(frozen=True)
class Standardized(Wrapped):
    """k((x - mean) / deviation, (y - mean) / deviation), with both measured on training data.

    Parameters
    ----------
    kernel : Kernel
        Of rows of numbers.
    mean, deviation : tuple of float, optional
        One for each column; `bind` measures them on the training rows. A column that does not
        vary keeps its scale.

    Examples
    --------
    >>> from mercer.kernels import Linear, Standardized
    >>> Standardized(Linear())([[1.0], [3.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    kernel: Kernel
    mean: tuple | None = field(default=None)
    deviation: tuple | None = field(default=None)

    # Rows are changed before the kernel sees them, so they cannot be shared with another.
    is_dot_product_form = False
    is_translation_invariant = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel.takes_items:
            raise ParameterError(f"kernel must be a kernel of numbers, got {self.kernel!r}")
        if (self.mean is None) != (self.deviation is None):
            raise ParameterError(f"mean and deviation must be given together, got {self.mean!r} and {self.deviation!r}")

    @property
    def is_bound(self) -> bool:
        return self.mean is not None and self.kernel.is_bound

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        if self.is_bound:
            return self
        rows = _dense(X)
        known = self if self.mean is not None else self._measured(rows, weights)
        return type(self)(known.kernel.bind(known._rows(rows), weights), known.mean, known.deviation)

    def _measured(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        mean = np.average(rows, axis=0, weights=weights)
        deviation = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))
        # Rounding leaves a constant column a deviation that is not quite zero.
        tiny = deviation <= 1e-12 * np.abs(mean)
        return type(self)(self.kernel, tuple(mean.tolist()), tuple(np.where(tiny, 1.0, deviation).tolist()))

    def _rows(self, X: Rows) -> FloatArray:
        rows = _dense(X)
        if rows.shape[1] != len(cast(tuple, self.mean)):
            raise DataError(f"X must have {len(cast('tuple[float, ...]', self.mean))} features, got {rows.shape[1]}")
        return (rows - cast("tuple[float, ...]", self.mean)) / cast("tuple[float, ...]", self.deviation)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        self._require_bound()
        return self.kernel.prepare(self._rows(X), dtype, check=check)

    def _finish(self, block: Array) -> Array:
        return block

    def entry_bound(self, norm_bound: float) -> float:
        return self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.kernel.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the standardised rows."""
        bound = self.bind(X)
        return bound.kernel.feature_map(bound._rows(X))

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        return self.kernel.feature_names(X, names)


def _dense(X: Rows) -> FloatArray:
    return double_rows(X.toarray() if sparse.issparse(X) else X)
