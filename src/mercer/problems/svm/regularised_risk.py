r"""Soft-SVM as the regularised mean of losses (Shalev-Shwartz & Ben-David 2014, 15.12).

.. math::
    f(w) = \tfrac\lambda2 \|w\|^2 + \tfrac1S \sum_i s_i c_i \max\big(0,\, 1 - y_i \langle w, \psi(x_i)\rangle\big),
    \qquad S = \textstyle\sum_i s_i,

where s_i is the multiplicity of row i and c_i is the weight of its class; a penalised bias is the
weight of a feature that is 1 everywhere. Divided by lambda this is `SoftMargin` with
C_i = s_i c_i / (lambda S), and so is its dual. Values here are those of f.

Stochastic gradient descent with steps 1 / (lambda (t + 1)) from w = 0, which is the algorithm of
section 15.5, has for any u the regret

.. math::
    \tfrac\lambda2\|u\|^2 + \tfrac{1}{2\lambda}\sum_{t=1}^T \frac{\|v_t + \lambda w^{(t)}\|^2}{t+1},

v_t a subgradient of the loss. Rows are drawn in proportion to s_i c_i, so a step's loss has the
weight c, the mean of the c_i, and |v_t| <= rho = c max |psi(x_i)|. And lambda |w(t)| <= q with
q = rho, or after projections the smaller of rho and sqrt(lambda c); the minimiser u obeys
lambda |u| <= q too. With G = rho + q the regret is at most G^2 (1/4 + ln(T + 1)) / (2 lambda), and
so at most G^2 (1 + ln T) / (2 lambda): Theorem 14.11 of the same book holds for these steps.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate, dual_conditions
from mercer.problems.svm.soft_margin import SoftMargin

THEOREM = "Theorem 14.11 of Shalev-Shwartz and Ben-David (2014)"


@dataclass(frozen=True)
class ExpectedBound:
    """What the theorem guarantees for the mean of the iterates.

    Attributes
    ----------
    theorem : str
    value : float or None
        Bound on the expectation of f(mean of the iterates) - min f; None if the theorem does not
        apply, and then `reason` says why.
    reason : str
    rho : float
        Measured: the largest c |psi(x_i)|, which bounds every step's subgradient of the loss.
    gradient_bound : float
        G, the bound on |v_t + lambda w(t)|.
    steps : int
        T.
    """

    theorem: str
    value: float | None
    reason: str
    rho: float
    gradient_bound: float
    steps: int

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        if self.value is None:
            return f"no bound: {self.reason} (rho = {self.rho:.4g}, T = {self.steps})"
        return (
            f"E[f(mean) - min f] <= {self.value:.4g} = G^2 (1 + ln T) / (2 lambda T), G = {self.gradient_bound:.4g}, "
            f"rho = {self.rho:.4g}, T = {self.steps} ({self.theorem})"
        )


def expected_bound(
    lam: float, steps: int, rho: float, mean_weight: float = 1.0, projected: bool = False, reason: str = ""
) -> ExpectedBound:
    """The bound after `steps` steps; `reason`, if given, says why the theorem does not apply.

    Examples
    --------
    >>> from mercer.problems.svm.regularised_risk import expected_bound
    >>> round(expected_bound(lam=0.1, steps=1000, rho=1.0).value, 4)
    0.1582
    """
    G = rho + (min(rho, np.sqrt(lam * mean_weight)) if projected else rho)
    if steps < 1:
        reason = reason or "no step has been taken"
    value = None if reason else float(G**2 * (1.0 + np.log(steps)) / (2.0 * lam * steps))
    return ExpectedBound(THEOREM, value, reason, float(rho), float(G), int(steps))


@dataclass(frozen=True)
class RegularisedRisk:
    """f of one two-class problem.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    lam : float
    loss_weights : ndarray (n,)
        c_i.
    counts : ndarray (n,)
        s_i, all positive.
    bias : {"none", "penalized"}
    """

    signs: np.ndarray
    lam: float
    loss_weights: np.ndarray
    counts: np.ndarray
    bias: str = "none"

    def soft_margin(self) -> SoftMargin:
        """The same problem divided by lambda, with a weight C_i for each row."""
        C = self.counts * self.loss_weights / (self.lam * self.counts.sum())
        return SoftMargin(self.signs, C, "hinge", self.bias)

    def primal(self, squared_norm: float, values: FloatArray) -> float:
        """f, given |w|^2 including the bias and the predictions <w, psi(x_i)> + b."""
        losses = np.maximum(0.0, 1.0 - self.signs * values)
        return float(0.5 * self.lam * squared_norm + np.average(self.loss_weights * losses, weights=self.counts))

    def certificate(
        self, squared_norm: float, values: FloatArray, beta: FloatArray, dual_values: FloatArray
    ) -> Certificate:
        """What a feasible point of the dual proves about any w.

        Parameters
        ----------
        squared_norm, values
            Of w, as in `primal`.
        beta : ndarray (n,)
            Signed dual coefficients in the box of `soft_margin`; they need not be those of w.
        dual_values : ndarray (n,)
            sum_j beta_j k(x_j, x_i), including the bias, in double precision.
        """
        dual = self.soft_margin().dual()
        primal_value = self.primal(squared_norm, values)
        dual_value = self.lam * dual.objective(beta, dual.linear - dual_values)
        return Certificate.of(primal_value, dual_value, **dual_conditions(dual, beta, dual.linear - values))
