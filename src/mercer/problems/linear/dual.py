r"""The dual of every linear model with an L2 penalty.

With :math:`w = \sum_i \beta_i x_i` and a loss for each row,

.. math::
    \min_{w,b}\; \tfrac12\|w\|^2 + \tfrac{1}{2 s^2} b^2 + \sum_i h_i(\langle w, x_i\rangle + b)
    \;=\; \max_{l \le \beta \le u}\; p^T\beta - \varepsilon\|\beta\|_1 - \tfrac12\beta^T R \beta
    - \tfrac12\Big\|\sum_i \beta_i x_i\Big\|^2 - \tfrac{s^2}{2}\Big(\sum_i\beta_i\Big)^2 .

s is the value of the constant feature that carries a penalised bias (0 without a bias); with a
free bias the term :math:`b^2` is dropped and :math:`\sum_i\beta_i = 0` is required. Each loss is the conjugate of its
part of the dual,

.. math::
    h_i(f) = \max_{l_i \le \beta \le u_i} (p_i - f)\beta - \varepsilon|\beta| - \tfrac12 R_i \beta^2,

which gives the hinge (p = y, R = 0, [0, yC]), its square (R = 1/(2C), no upper bound), the
epsilon-insensitive loss ([-C, C]) and its square: formulations are data here, as in `mercer.problems.svm.signed_dual`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._types import BoolArray, FloatArray

# Coefficients this close to a bound, as a fraction of the largest, are at it.
ROUNDING = 1e-9


@dataclass(frozen=True)
class LinearDual:
    """The whole dual except the rows.

    Attributes
    ----------
    linear, lower, upper, ridge : ndarray (n,)
        p, l, u and the diagonal of R.
    epsilon : float
    scale : float
        s: the constant feature of a penalised bias; 0 for none, 1 for a free one.
    has_equality : bool
        Whether the bias is free.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray
    epsilon: float = 0.0
    scale: float = 0.0
    has_equality: bool = False

    def __len__(self) -> int:
        return len(self.linear)

    @property
    def reach(self) -> FloatArray:
        """The largest |beta_i| that the box allows."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def value(self, beta: FloatArray, w: FloatArray) -> float:
        """The dual objective at beta, given w = sum beta_i x_i."""
        bias = 0.0 if self.has_equality else (self.scale * beta.sum()) ** 2
        return self.separable(beta) - 0.5 * float(w @ w + bias)

    def separable(self, beta: FloatArray) -> float:
        """p'b - epsilon |b|_1 - b'Rb / 2."""
        return float(self.linear @ beta - self.epsilon * np.abs(beta).sum() - 0.5 * (self.ridge * beta) @ beta)

    def penalty(self, w: FloatArray, b: float) -> float:
        """|w|^2/2 and the cost of the bias."""
        bias = 0.0 if self.has_equality or self.scale == 0 else (b / self.scale) ** 2
        return 0.5 * float(w @ w + bias)

    def at_bounds(self, beta: FloatArray, size: float | None = None) -> tuple[BoolArray, BoolArray]:
        """(where beta is at its lower bound, at its upper one), up to rounding; `size` is the largest of all |beta_i|,
        if these are only some."""
        size = _largest(beta) if size is None else size
        slack = ROUNDING * np.minimum(self.reach, size)
        return beta <= self.lower + slack, beta >= self.upper - slack

    def conditions(self, beta: FloatArray, size: float | None = None) -> dict[str, Any]:
        """The fields of a certificate that describe how well beta meets its box and its sum."""
        at_lower, at_upper = self.at_bounds(beta, size)
        is_used, inside = beta != 0, ~(at_lower | at_upper)
        return {
            "equality_residual": abs(float(beta.sum())) if self.has_equality else 0.0,
            "box_violation": float(np.max(np.maximum(self.lower - beta, beta - self.upper), initial=0.0)),
            "n_free": int(np.sum(is_used & inside)),
            "n_bounded": int(np.sum(is_used & ~inside)),
            "n_zero": int(np.sum(~is_used)),
        }

    def violation(self, beta: FloatArray, values: FloatArray, size: float | None = None) -> float:
        """Largest violation of the optimality conditions, given f(x_i) for every i."""
        size = _largest(beta) if size is None else size
        at_lower, at_upper = self.at_bounds(beta, size)
        sign = np.where(np.abs(beta) <= ROUNDING * size, 0.0, np.sign(beta))
        gradient = self.linear - values - self.ridge * beta
        rise = gradient - np.where(sign >= 0, self.epsilon, -self.epsilon)
        fall = -gradient - np.where(sign <= 0, self.epsilon, -self.epsilon)
        highest = np.max(rise, initial=0.0, where=~at_upper)
        return float(max(highest, np.max(fall, initial=0.0, where=~at_lower)))

    def feasible(self, beta: FloatArray) -> FloatArray:
        """The nearest starting point in the box; with a free bias the heavier side is scaled down."""
        beta = np.clip(beta, self.lower, self.upper)
        return balanced(beta) if self.has_equality else beta


def _largest(beta: FloatArray) -> float:
    return float(max(np.max(beta, initial=0.0), -np.min(beta, initial=0.0)))


def balanced(beta: FloatArray) -> FloatArray:
    """beta with the heavier of its two signs scaled down, so that the sum is zero."""
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    out = beta.copy()
    if up > down:
        out[beta > 0] *= down / up
    elif down > up:
        out[beta < 0] *= up / down
    return out
