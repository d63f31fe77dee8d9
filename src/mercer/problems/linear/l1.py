r"""Two classes, the squared hinge, and an L1 penalty, which sets most weights to zero.

.. math::
    \min_{w,b}\; \|w\|_1 \;[+ |b|/s]\; + \sum_i C_i \max(0, 1 - y_i(\langle w, x_i\rangle + b))^2

Dual, with :math:`\beta_i = y_i\alpha_i`, :math:`\alpha_i \ge 0`:

.. math::
    \max_\beta\; y^T\beta - \sum_i \frac{\beta_i^2}{4 C_i}
    \quad\text{s.t.}\quad \Big|\sum_i \beta_i x_{ij}\Big| \le 1 \text{ for every feature } j,

for a penalised bias also :math:`s|\sum_i\beta_i| \le 1` (the constant feature is one of the features, as in
LIBLINEAR), for a free one :math:`\sum_i\beta_i = 0`. Any beta becomes feasible if it is scaled down.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.dual import balanced

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts


@dataclass(frozen=True)
class SparseMargin:
    """A two-class problem: signs, weights C_i (zero for a row that takes no part) and the kind of bias.

    Attributes
    ----------
    signs, C : ndarray (n,)
    bias : {"free", "penalized", "none"}
    scale : float
        s of a penalised bias.
    """

    signs: np.ndarray
    C: np.ndarray
    bias: str = "penalized"
    scale: float = 1.0

    @property
    def bias_weight(self) -> float:
        """The cost of |b|."""
        return 1.0 / self.scale if self.bias == "penalized" else 0.0

    def primal(self, w: FloatArray, b: float, values: FloatArray) -> float:
        """Primal objective, given f(x_i) for every i."""
        slack = np.maximum(0.0, 1.0 - self.signs * values)
        return float(np.abs(w).sum() + self.bias_weight * abs(b) + self.C @ slack**2)

    def response(self, values: FloatArray) -> FloatArray:
        """The beta that corresponds to these values at the optimum: 2 C_i times the slack, with its sign."""
        return 2.0 * self.C * self.signs * np.maximum(0.0, 1.0 - self.signs * values)

    def dual(self, beta: FloatArray) -> float:
        """The dual objective."""
        used = self.C > 0
        return float(self.signs @ beta - 0.25 * np.sum(beta[used] ** 2 / self.C[used]))

    def correlations(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Largest |sum beta_i x_ij|, including the constant feature."""
        largest = np.max(np.abs(gradient), initial=0.0)
        return float(max(largest, self.scale * abs(beta.sum())) if self.bias == "penalized" else largest)

    def feasible(self, beta: FloatArray, gradient: FloatArray) -> FloatArray:
        """The best feasible multiple of beta, given sum beta_i x_ij for every j."""
        linear, square = self.signs @ beta, 4.0 * (self.signs @ beta - self.dual(beta))
        best = 2.0 * linear / square if square > 0 else 0.0
        largest = self.correlations(beta, gradient)
        # Slightly below the bound, so that rounding does not make it infeasible.
        return beta * min(best, (1.0 - 1e-15) / largest if largest > 0 else best)

    def certificate(self, products: "RowProducts", w: FloatArray, b: float, beta: FloatArray) -> Certificate:
        """The certificate of (w, b) and a feasible beta; "free" rows have a loss, none is bounded."""
        values = products.dots(w) + b
        primal_value, dual_value = self.primal(w, b, values), self.dual(beta)
        gradient = products.combination(beta)
        return Certificate.of(
            primal_value,
            dual_value,
            kkt_violation=self._violation(w, b, products.combination(self.response(values)), values),
            equality_residual=abs(float(beta.sum())) if self.bias == "free" else 0.0,
            box_violation=max(0.0, self.correlations(beta, gradient) - 1.0, float(-(self.signs * beta).min())),
            n_free=int(np.count_nonzero(beta)),
            n_bounded=0,
            n_zero=int(np.sum(beta == 0)),
        )

    def _violation(self, w: FloatArray, b: float, gradient: FloatArray, values: FloatArray) -> float:
        """How far 0 is from the subdifferential of the primal, feature by feature."""
        found = np.where(w == 0, np.abs(gradient) - 1.0, np.abs(np.sign(w) - gradient)).max(initial=0.0)
        balance = self.response(values).sum()
        weight = self.bias_weight
        at_zero = max(0.0, abs(balance) - weight)
        bias = {"none": 0.0, "free": abs(balance)}.get(
            self.bias, at_zero if b == 0 else abs(weight * np.sign(b) - balance)
        )
        return float(max(found, bias))

    def even(self, beta: FloatArray) -> FloatArray:
        """beta or, with a free bias, beta with its heavier side scaled down so that the sum is zero."""
        return balanced(beta) if self.bias == "free" else beta
