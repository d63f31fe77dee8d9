r"""Soft-SVM.

Primal, over w in the feature space (and b):

.. math::
    \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i\, \ell\big(y_i(\langle w, \psi(x_i)\rangle + b)\big)

with the hinge or the squared hinge; b is free, penalised by the bracketed term, or absent.
Dual, with :math:`\beta_i = y_i\alpha_i` and :math:`w = \sum_i \beta_i \psi(x_i)`: see
`mercer.problems.svm.signed_dual`, with p = y, the box between 0 and y_i u_i, R = diag(1/(2 C_i)) for the
squared hinge, s = 1 for a penalised bias.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer._types import BoolArray, FloatArray
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.signed_risk import SignedRisk, dual_of

BIASES = ("free", "penalized", "none")


@dataclass(frozen=True)
class SoftMargin(SignedRisk):
    """A two-class problem: signs, a weight C_i for each point, a loss and a kind of bias.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    C : ndarray (n,)
        C times the weight of each point; all positive.
    loss : {"hinge", "squared_hinge"}
    bias : {"free", "penalized", "none"}
    """

    signs: np.ndarray
    C: np.ndarray
    loss: str = "hinge"
    bias: str = "free"

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        return dual_of(MARGIN_LOSSES[self.loss], self.signs, self.C, self.bias)

    def without(self, held: BoolArray) -> "tuple[SoftMargin, DualProblem]":
        """(problem, dual) in which the masked points take no part: their boxes are closed."""
        dual = self.dual()
        return self, replace(dual, lower=np.where(held, 0.0, dual.lower), upper=np.where(held, 0.0, dual.upper))

    def decision_values(self, projections: FloatArray, beta: FloatArray, free_bias: float | FloatArray) -> FloatArray:
        """f, from <w, psi(x)>."""
        return projections + self.intercept(beta, free_bias)

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i.

        Points of infinite weight (hard margin) allow no loss at all: if they fall short of
        the margin, the objective is that of the nearest multiple of (w, b) for which none does.
        """
        half_norm = self.half_norm(beta, projections, intercept)
        margins = self.signs * (projections + intercept)
        hard = np.isinf(self.C)
        shortest = margins[hard].min(initial=1.0)
        if shortest <= 0:
            return float("inf")
        losses = MARGIN_LOSSES[self.loss].value(margins / shortest)[~hard]
        return float(half_norm / shortest**2 + self.C[~hard] @ losses)
