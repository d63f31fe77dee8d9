"""A kernel of numbers that come round again: hours of a day, days of a year, angles."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_positive
from mercer.kernels.vector.rbf import RBF

if TYPE_CHECKING:
    from mercer.kernels.items.rows import Rows as PreparedRows


@dataclass(frozen=True)
class Cyclic(Kernel):
    r"""The Gaussian kernel of points on a circle: :math:`\exp(-4 \gamma \sin^2(\pi (x - y) / p))`.

    A number x stands for the point at the angle 2 pi x / period, and two such points are
    :math:`2 \lvert\sin(\pi (x - y) / p)\rvert` apart (MacKay 1998). A Gaussian kernel of points is
    positive semidefinite, whatever the points stand for.

    Parameters
    ----------
    period : float
        After which values repeat; dates are days, so that a week is 7.
    gamma : float
        Positive.

    Examples
    --------
    >>> from mercer.kernels import Cyclic
    >>> Cyclic(period=24.0)([[23.0]], [[1.0], [11.0]]).round(3)
    array([[0.765, 0.018]])
    """

    period: float = 1.0
    gamma: float = 1.0

    is_psd = True

    def __post_init__(self) -> None:
        require_positive("period", self.period)
        require_positive("gamma", self.gamma)

    @property
    def _on_circle(self) -> RBF:
        return RBF(self.gamma)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> "PreparedRows":
        rows = double_rows(X)
        if rows.shape[1] != 1:
            raise DataError(f"Cyclic takes one column, got {rows.shape[1]}")
        angle = 2.0 * math.pi * np.remainder(rows / self.period, 1.0)
        return self._on_circle.prepare(np.hstack([np.cos(angle), np.sin(angle)]), dtype, check=check)

    def tile(self, left: "PreparedRows", right: "PreparedRows", out: Array, row: int, column: int) -> None:
        self._on_circle.tile(left, right, out, row, column)

    def diag_of(self, prepared: "PreparedRows") -> FloatArray:
        return self._on_circle.diag_of(prepared)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # The points have norm 1, whatever the numbers.
        return self._on_circle.entry_error(1.0, dtype)
