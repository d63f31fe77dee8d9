"""A kernel of numbers that come round again: hours of a day, days of a year, angles."""

import math
from dataclasses import dataclass

import numpy as np

from mercer._errors import DataError
from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_positive
from mercer.kernels.vector.rbf import RBF


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

    def __post_init__(self):
        require_positive("period", self.period)
        require_positive("gamma", self.gamma)

    @property
    def _on_circle(self):
        return RBF(self.gamma)

    def prepare(self, X, dtype=np.float64, *, origin=None, check=True):
        rows = double_rows(X)
        if rows.shape[1] != 1:
            raise DataError(f"Cyclic takes one column, got {rows.shape[1]}")
        angle = 2.0 * math.pi * np.remainder(rows / self.period, 1.0)
        return self._on_circle.prepare(np.hstack([np.cos(angle), np.sin(angle)]), dtype, check=check)

    def tile(self, left, right, out, row, column):
        self._on_circle.tile(left, right, out, row, column)

    def diag_of(self, prepared):
        return self._on_circle.diag_of(prepared)

    def entry_bound(self, norm_bound):
        return 1.0

    def entry_error(self, norm_bound, dtype):
        # The points have norm 1, whatever the numbers.
        return self._on_circle.entry_error(1.0, dtype)
