r"""Several classes at once: the classifier of Crammer & Singer (2001).

.. math::
    \min_W\; \tfrac12\sum_m \|w_m\|^2 + \sum_i C_i \max_m\big(e_i^m + \langle w_m - w_{y_i}, x_i\rangle\big),
    \qquad e_i^m = 0 \text{ if } m = y_i \text{ else } 1.

Dual, with :math:`w_m = \sum_i \alpha_i^m x_i`:

.. math::
    \max_\alpha\; -\tfrac12\sum_m\|w_m\|^2 - \sum_{i,m} e_i^m\alpha_i^m
    \quad\text{s.t.}\quad \textstyle\sum_m\alpha_i^m = 0,\quad \alpha_i^m \le C_i \text{ if } m = y_i \text{ else } 0.

A penalised bias is the weight of a constant feature of value s, one for each class.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.dual import ROUNDING

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts


@dataclass(frozen=True)
class CrammerSinger:
    """Codes of the classes, weights C_i (zero for a row that takes no part), the constant feature.

    Attributes
    ----------
    codes : ndarray of int (n,)
    n_classes : int
    C : ndarray (n,)
    scale : float
        s; 0 without a bias.
    """

    codes: np.ndarray
    n_classes: int
    C: np.ndarray
    scale: float = 1.0

    def penalty(self, W: FloatArray, b: FloatArray) -> float:
        """|W|^2/2 and the cost of the biases."""
        bias = float(b @ b) / self.scale**2 if self.scale else 0.0
        return 0.5 * (float(np.sum(W * W)) + bias)

    def primal(self, W: FloatArray, b: FloatArray, values: FloatArray) -> float:
        """Primal objective, given the score of every row for every class."""
        rows = np.arange(len(self.codes))
        margins = 1.0 + values - values[rows, self.codes][:, None]
        margins[rows, self.codes] -= 1.0
        return self.penalty(W, b) + float(self.C @ margins.max(axis=1))

    def dual(self, alpha: FloatArray, W: FloatArray) -> float:
        """Dual objective, given W = X^T alpha."""
        rows = np.arange(len(self.codes))
        linear = float(alpha.sum() - alpha[rows, self.codes].sum())
        return -self.penalty(W, self.scale**2 * alpha.sum(axis=0)) - linear

    def upper(self) -> FloatArray:
        """Bounds of alpha."""
        bounds = np.zeros((len(self.codes), self.n_classes))
        bounds[np.arange(len(self.codes)), self.codes] = self.C
        return bounds

    def certificate(self, products: "RowProducts", W: FloatArray, b: FloatArray, alpha: FloatArray) -> Certificate:
        """The certificate of the (K, d) weights W, the biases b and the (n, K) coefficients alpha."""
        values = np.column_stack([products.dots(w) for w in W]) + b
        sums = np.array([products.combination(np.ascontiguousarray(column)) for column in alpha.T])
        primal_value, dual_value = self.primal(W, b, values), self.dual(alpha, sums)
        return Certificate.of(
            primal_value,
            dual_value,
            kkt_violation=self._violation(values, alpha),
            equality_residual=float(np.abs(alpha.sum(axis=1)).max(initial=0.0)),
            **self._box_conditions(alpha),
        )

    def _box_conditions(self, alpha: FloatArray) -> dict[str, Any]:
        """The fields of a certificate that say how alpha stands to its box."""
        used, own = np.any(alpha != 0, axis=1), alpha[np.arange(len(self.codes)), self.codes]
        at_bound = used & (own >= self.C)
        return {
            "box_violation": float(max(0.0, (alpha - self.upper()).max(initial=0.0))),
            "n_free": int(np.sum(used & ~at_bound)),
            "n_bounded": int(np.sum(at_bound)),
            "n_zero": int(np.sum(~used)),
        }

    def _violation(self, values: FloatArray, alpha: FloatArray) -> float:
        """Largest g_i^m over all m, minus smallest over those that may shrink, with g = scores + e."""
        gradient = values + 1.0
        gradient[np.arange(len(self.codes)), self.codes] -= 1.0
        inside = alpha < self.upper() - ROUNDING * self.C[:, None]
        smallest = np.where(inside, gradient, np.inf).min(axis=1)
        spread = gradient.max(axis=1) - smallest
        return float(np.max(spread, initial=0.0, where=(self.C > 0) & np.isfinite(spread)))
