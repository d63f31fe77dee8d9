"""Windows for density estimation that end at distance one: functions of r = |x - y|, zero beyond."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._types import Array
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.vector.squared_distances import squared_distances


def _tophat(squared: Array) -> Array:
    return np.ones_like(squared)


def _epanechnikov(squared: Array) -> Array:
    return 1 - squared


def _linear(squared: Array) -> Array:
    return 1 - np.sqrt(squared)


def _cosine(squared: Array) -> Array:
    return np.cos(np.pi / 2 * np.sqrt(squared))


_SHAPES = {"tophat": _tophat, "epanechnikov": _epanechnikov, "linear": _linear, "cosine": _cosine}
NAMES = tuple(_SHAPES)


@dataclass(frozen=True)
class Window(DotProductKernel):
    """A function of |x - y| that is zero beyond one.

    Parameters
    ----------
    shape : {"tophat", "epanechnikov", "linear", "cosine"}
        1, 1 - r^2, 1 - r, or cos(pi r / 2). None of them is positive semidefinite in every dimension:
        they are for density estimation, not for support vector machines.

    Examples
    --------
    >>> from mercer.kernels.vector.density_window import Window
    >>> Window("epanechnikov")([[0.0]], [[0.5], [2.0]])
    array([[0.75, 0.  ]])
    """

    shape: str = "epanechnikov"

    is_psd = None
    is_translation_invariant = True
    _instead_of_features = "it is a window for density estimation"

    def __post_init__(self) -> None:
        if self.shape not in _SHAPES:
            raise ParameterError(f"shape must be one of {', '.join(NAMES)}, got {self.shape!r}")

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        block = block_of(out, row, column, dots.shape)
        squared = squared_distances(dots, left_norms, right_norms, block)
        block[...] = np.where(squared < 1, _SHAPES[self.shape](np.minimum(squared, 1)), 0)

    def norms_diag(self, norms: Array) -> Array:
        return np.ones_like(norms)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * (4.0 * norm_bound + 2.0)
