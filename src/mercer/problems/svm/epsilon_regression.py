r"""Regression with a tube inside which errors cost nothing.

Primal, over w in the feature space (and b), of SVR (Vapnik 1995):

.. math::
    \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i \max(0, |y_i - f(x_i)| - \varepsilon),
    \qquad f(x) = \langle w, \psi(x)\rangle + b

Dual, with :math:`\beta_i = \alpha_i - \alpha_i^*` and :math:`w = \sum_i \beta_i\psi(x_i)`: see
`mercer.problems.svm.signed_dual`, with p = y, the box [-C_i, C_i] and the kink :math:`\varepsilon`.

In the nu-form (Schölkopf, Smola, Williamson & Bartlett 2000) the tube is found instead of given,

.. math::
    \min_{w, b, \varepsilon \ge 0}\; \tfrac12 \|w\|^2
    + \sum_i C_i\big(\nu\varepsilon + \max(0, |y_i - f(x_i)| - \varepsilon)\big),

and its dual has no kink but the bound :math:`\sum_i |\beta_i| \le \nu \sum_i C_i`. As two copies of
each point, one of which only rises from 0 and one only falls, it is a dual with two fixed sums.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.losses.residual_losses import EpsilonInsensitive
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.signed_risk import SignedRisk, dual_of

# Points of infinite weight may be this far outside the tube, relative to the targets.
ROUNDING = 1e-9


@dataclass(frozen=True)
class EpsilonRegression(SignedRisk):
    """A regression: targets, a weight C_i for each point, the tube, and a kind of bias.

    Attributes
    ----------
    targets : ndarray (n,)
    C : ndarray (n,)
        C times the weight of each point; all positive.
    epsilon : float
        Half the width of the tube.
    bias : {"free", "penalized", "none"}
    """

    targets: np.ndarray
    C: np.ndarray
    epsilon: float
    bias: str = "free"

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        return dual_of(EpsilonInsensitive(self.epsilon), self.targets, self.C, self.bias)

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i."""
        outside, hard = _outside(self.targets - projections - intercept, self.epsilon), np.isinf(self.C)
        if np.max(outside[hard], initial=0.0) > ROUNDING * max(1.0, float(np.abs(self.targets).max())):
            return float("inf")
        return self.half_norm(beta, projections, intercept) + float(self.C[~hard] @ outside[~hard])


@dataclass(frozen=True)
class NuRegression:
    """A regression whose tube contains all but a fraction nu of the points.

    Attributes
    ----------
    targets : ndarray (n,)
    C : ndarray (n,)
        C times the weight of each point; all positive.
    nu : float
        In (0, 1]: at most this fraction of the weight is outside the tube, and at least this fraction
        is in support vectors.
    """

    # Primal and dual values are this many times those of `dual()`.
    times_dual: ClassVar[float] = 1.0

    targets: np.ndarray
    C: np.ndarray
    nu: float

    @property
    def side(self) -> float:
        """The sum of beta above zero, and minus that below."""
        return 0.5 * self.nu * float(self.C.sum())

    def dual(self) -> DualProblem:
        """The program over two copies of each point: n that may rise from 0, n that may fall."""
        n, zero = len(self.targets), np.zeros(len(self.targets))
        return DualProblem(
            linear=np.concatenate([self.targets, self.targets]),
            lower=np.concatenate([zero, -self.C]),
            upper=np.concatenate([self.C, zero]),
            total=np.array([self.side, -self.side]),
            groups=np.repeat([0, 1], n),
        )

    def folded(self, copies: FloatArray) -> FloatArray:
        """beta of each point from those of its copies."""
        return copies[: len(self.targets)] + copies[len(self.targets) :]

    def copies(self, beta: FloatArray) -> FloatArray:
        """Coefficients of the copies from those of the points."""
        return np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])

    def intercept(self, _beta: FloatArray, biases: float | FloatArray) -> float:
        """b from the biases of the copies, which are b + epsilon and b - epsilon."""
        return float(np.mean(biases))

    def found_epsilon(self, biases: float | FloatArray) -> float:
        """Half the width of the tube, from the same biases."""
        above, below = np.broadcast_to(biases, 2)
        return max(0.0, 0.5 * float(above - below))

    def epsilon(self, projections: FloatArray, intercept: float) -> float:
        """The tube that is best for this w and b: the residual that a fraction nu exceeds."""
        residuals = np.abs(self.targets - projections - intercept)
        order = np.argsort(-residuals, kind="stable")
        place = int(np.searchsorted(np.cumsum(self.C[order]), 2.0 * self.side * (1.0 - 1e-12)))
        return float(residuals[order[min(place, len(order) - 1)]])

    def gap(self, copies: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap, from the copies and their gradient."""
        beta, projections = self.folded(copies), self.targets - gradient[: len(self.targets)]
        intercept = self.intercept(beta, self.dual().bias(copies, gradient))
        primal, dual = self._values(beta, projections, intercept, self.epsilon(projections, intercept))
        return relative_gap(primal, dual)

    def _values(
        self, beta: FloatArray, projections: FloatArray, intercept: float, epsilon: float
    ) -> tuple[float, float]:
        norm = float(beta @ projections)
        losses = float(self.C @ _outside(self.targets - projections - intercept, epsilon))
        return 0.5 * norm + 2.0 * self.side * epsilon + losses, float(beta @ self.targets) - 0.5 * norm

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution: that of SVR with the tube that is best for it."""
        epsilon = self.epsilon(projections, intercept)
        dual = EpsilonRegression(self.targets, self.C, epsilon).dual()
        primal, value = self._values(beta, projections, intercept, epsilon)
        residuals = self.targets - projections
        conditions = dual_conditions(dual, beta, residuals)
        # With the tube free, like the bias, points above it and points below it have a threshold each.
        conditions["kkt_violation"] = self.dual().violation(self.copies(beta), np.concatenate([residuals, residuals]))
        too_much = float(np.abs(beta).sum()) - 2.0 * self.side
        conditions["equality_residual"] = max(conditions["equality_residual"], too_much)
        return Certificate.of(primal, value, **conditions)


def _outside(residuals: FloatArray, epsilon: float) -> FloatArray:
    """How far residuals are outside the tube."""
    return np.maximum(0.0, np.abs(residuals) - epsilon)
