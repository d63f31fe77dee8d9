"""The Matern family: from exp(-r), which is rough, to the Gaussian, which is smooth."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import special

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._jit.math import exp
from mercer._types import Array, FloatArray
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.base.parameters import is_number, require_positive
from mercer.kernels.vector.rbf import RBF
from mercer.kernels.vector.squared_distances import squared_distances

# Half-integers up to this have a short polynomial; above it, and between them, Bessel
# functions are evaluated, which is some hundred times slower.
_LARGEST_POLYNOMIAL = 5.5
# Beyond this the Bessel function overflows at distances that still matter.
_LARGEST_BESSEL = 50.0
# exp(-80) is negligible, and the polynomial of 80 does not overflow in single precision.
FARTHEST = 80.0


@jit
def _half_integer(
    dots: Array,
    left_norms: Array,
    right_norms: Array,
    scale: float,
    farthest: float,
    coefficients: Array,
    out: Array,
    row: int,
    column: int,
) -> None:
    n, m = dots.shape
    zero = dots.dtype.type(0)
    radius = np.empty(m, dots.dtype)
    for i in range(n):
        source = dots[i]
        target = out[row + i, column : column + m]
        norm = left_norms[i]
        for j in range(m):
            distance = (norm - source[j]) + (right_norms[j] - source[j])
            scaled = scale * np.sqrt(distance if distance > zero else zero)
            radius[j] = scaled if scaled < farthest else farthest
            target[j] = zero
        for p in range(coefficients.shape[0]):
            coefficient = coefficients[p]
            for j in range(m):
                target[j] = target[j] * radius[j] + coefficient
        for j in range(m):
            target[j] *= exp(-radius[j])


def polynomial_coefficients(p: int) -> list[float]:
    """Coefficients of the polynomial in a = sqrt(2 nu) r / l that multiplies exp(-a), highest first.

    For nu = p + 1/2 (Rasmussen & Williams 2006, eq. 4.16).
    """
    front = math.factorial(p) / math.factorial(2 * p)
    terms = [math.factorial(p + i) / (math.factorial(i) * math.factorial(p - i)) for i in range(p + 1)]
    return [front * term * 2.0 ** (p - i) for i, term in enumerate(terms)]


def _bessel(squared: FloatArray, nu: float, length_scale: float) -> FloatArray:
    """2^(1 - nu) / Gamma(nu) a^nu K_nu(a), by logarithms; 1 if a is nearly zero."""
    # Far away the value is negligible, and the Bessel function has no digits left.
    a = np.minimum(np.sqrt(2.0 * nu * squared) / length_scale, 700.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logarithm = np.log(special.kve(nu, a)) - a + nu * np.log(a)
        values = np.exp(logarithm + (1.0 - nu) * math.log(2.0) - special.gammaln(nu))
    return np.where(np.isfinite(values), values, 1.0)


@dataclass(frozen=True)
class Matern(DotProductKernel):
    """The Matern kernel of smoothness nu, a function of r = |x - y| / length_scale.

    nu = 0.5 is exp(-r), nu = 1.5 is (1 + sqrt(3) r) exp(-sqrt(3) r), nu = 2.5 is
    (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r), and nu = inf the Gaussian exp(-r^2 / 2).

    Parameters
    ----------
    nu : float
        Positive, at most 50, or infinity. 0.5, 1.5, ... 5.5 are fast; others need
        Bessel functions.
    length_scale : float
        Positive.

    Examples
    --------
    >>> from mercer.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[2.0]]).round(4)
    array([[0.1353]])
    """

    nu: float = 1.5
    length_scale: float = 1.0

    is_psd = True
    is_translation_invariant = True

    def __post_init__(self) -> None:
        require_positive("length_scale", self.length_scale)
        if not is_number(self.nu) or not (0 < self.nu <= _LARGEST_BESSEL or self.nu == math.inf):
            raise ParameterError(f"nu must be positive and at most {_LARGEST_BESSEL:g}, or inf, got {self.nu!r}")

    @property
    def has_polynomial(self) -> bool:
        """Whether it is a polynomial of the distance times an exponential."""
        return self.nu <= _LARGEST_POLYNOMIAL and float(self.nu - 0.5).is_integer()

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        if self.nu == math.inf:
            RBF(0.5 / self.length_scale**2).transform(dots, left_norms, right_norms, out, row, column)
        elif self.has_polynomial:
            number = dots.dtype.type
            scale = number(math.sqrt(2.0 * self.nu) / self.length_scale)
            coefficients = np.array(polynomial_coefficients(int(self.nu)), dots.dtype)
            _half_integer(dots, left_norms, right_norms, scale, number(FARTHEST), coefficients, out, row, column)
        else:
            block = squared_distances(dots, left_norms, right_norms, block_of(out, row, column, dots.shape))
            block[...] = _bessel(block.astype(np.float64), self.nu, self.length_scale)

    def norms_diag(self, norms: Array) -> Array:
        return np.ones_like(norms)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        lost = 4.0 * epsilon(dtype) * norm_bound / self.length_scale**2
        # Up to nu = 1 the slope in the squared distance is infinite at zero.
        slope = 0.5 * self.nu / (self.nu - 1.0) if self.nu > 1 and self.nu != math.inf else 0.5
        change = slope * lost if self.nu > 1 else min(1.0, math.sqrt(2.0 * lost)) ** (2.0 * min(self.nu, 0.5))
        return change + 4.0 * epsilon(dtype)
