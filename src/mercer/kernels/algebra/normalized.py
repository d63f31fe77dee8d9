"""A kernel scaled to k(x, x) = 1: the cosine of the angle between features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.scaled_power import Wrapped
from mercer.kernels.base.kernel import Kernel, block_of, epsilon
from mercer.kernels.items.prepare_rows import squared_norms


class Weighted:
    """A prepared form with one number per item, sliced together."""

    def __init__(self, part: Prepared, weights: FloatArray) -> None:
        self.part = part
        self.weights = weights

    def __len__(self) -> int:
        return len(self.part)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.part.dtype

    @property
    def n_features(self) -> int | None:
        return getattr(self.part, "n_features", None)

    @property
    def longest_tile(self) -> int | None:
        return getattr(self.part, "longest_tile", None)

    def take(self, indices: IndexArray) -> "Weighted":
        """The items at `indices`."""
        return Weighted(self.part.take(indices), self.weights[indices])

    def slice(self, start: int, stop: int) -> "Weighted":
        """Items start..stop."""
        return Weighted(self.part.slice(start, stop), self.weights[start:stop])


def _inverse_roots(diagonal: FloatArray) -> FloatArray:
    """1 / sqrt(k(x, x)), or zero if k(x, x) is zero: an item without features is not even like itself."""
    if diagonal.size and diagonal.min() < 0:
        raise DataError(f"k(x, x) must not be negative to normalise a kernel, got {diagonal.min():.3g}")
    positive = diagonal > 0
    return np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=positive)


@dataclass(frozen=True)
class Normalized(Wrapped):
    """k(x, y) / sqrt(k(x, x) k(y, y)); written ``k.normalized()``.

    It is 0 if k(x, x) = 0, the cosine of a zero vector.

    Parameters
    ----------
    kernel : Kernel
        The kernel to normalise.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().normalized()([[3.0, 4.0]], [[2.0, 0.0]])
    array([[0.6]])
    """

    kernel: Kernel

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        part = super().prepare(X, dtype, origin=origin, check=check)
        if self.is_dot_product_form:
            return part
        return Weighted(part, _inverse_roots(self.kernel.diag_of(part)))

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        self.kernel.transform(dots, left_norms, right_norms, out, row, column)
        left, right = (_inverse_roots(self.kernel.norms_diag(n.astype(np.float64))) for n in (left_norms, right_norms))
        _weigh(block_of(out, row, column, dots.shape), left, right)

    def tile(self, left: Any, right: Any, out: Array, row: int, column: int) -> None:
        target = block_of(out, row, column, (len(left), len(right)))
        if self.is_dot_product_form:
            self.kernel.tile(left, right, out, row, column)
            return _weigh(target, *(_inverse_roots(self.kernel.diag_of(items)) for items in (left, right)))
        if out.dtype == np.float32 and not (_is_moderate(left.weights) and _is_moderate(right.weights)):
            # Values before normalisation do not fit into single precision.
            target[...] = self._double_tile(left, right)
            return None
        self.kernel.tile(left.part, right.part, out, row, column)
        return _weigh(target, left.weights, right.weights)

    def _double_tile(self, left: Weighted, right: Weighted) -> FloatArray:
        block = np.empty((len(left), len(right)))
        self.kernel.tile(left.part, right.part, block, 0, 0)
        _weigh(block, left.weights, right.weights)
        return block

    def norms_diag(self, norms: Array) -> Array:
        return (self.kernel.norms_diag(norms) > 0).astype(np.float64)

    def diag_of(self, prepared: Any) -> FloatArray:
        if self.is_dot_product_form:
            return self.norms_diag(prepared.norms.astype(np.float64))
        return (prepared.weights > 0).astype(np.float64)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0 if self.is_psd else self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # Relative to the size of the entries, which the weights scale to 1.
        bound = self.kernel.entry_bound(norm_bound)
        error = self.kernel.entry_error(norm_bound, dtype) / bound if bound > 0 else 0.0
        return 2.0 * error + 2.0 * epsilon(dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the kernel, each row divided by its length."""
        features = self.kernel.feature_map(X)
        if sparse.issparse(features):
            return sparse.csr_matrix(sparse.diags_array(_inverse_roots(squared_norms(features))) @ features)
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        return np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The names of the kernel's features."""
        return self.kernel.feature_names(X, names)


def _is_moderate(weights: FloatArray) -> bool:
    """Whether values with these weights, and their products, are far from the limits of float32."""
    used = weights[weights > 0]
    return not len(used) or bool(used.min() > 1e-15 and used.max() < 1e15)


def _weigh(block: Array, left: FloatArray, right: FloatArray) -> None:
    block *= left.astype(block.dtype)[:, None]
    block *= right.astype(block.dtype)
