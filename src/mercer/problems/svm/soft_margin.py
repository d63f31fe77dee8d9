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
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from mercer._types import BoolArray, FloatArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.svm.signed_dual import DualProblem

if TYPE_CHECKING:
    from mercer.problems.losses.margin_losses import Hinge, SquaredHinge


BIASES = ("free", "penalised", "none")


@dataclass(frozen=True)
class SoftMargin:
    """A two-class problem: signs, a weight C_i for each point, a loss and a kind of bias.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    C : ndarray (n,)
        C times the weight of each point; all positive.
    loss : {"hinge", "squared_hinge"}
    bias : {"free", "penalised", "none"}
    """

    # Primal and dual values are this many times those of `dual()`.
    times_dual: ClassVar[float] = 1.0

    signs: np.ndarray
    C: np.ndarray
    loss: str = "hinge"
    bias: str = "free"

    @property
    def _loss(self) -> "type[Hinge] | type[SquaredHinge]":
        return MARGIN_LOSSES[self.loss]

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        reach = self.signs * self._loss.box(self.C)
        return DualProblem(
            linear=self.signs.astype(np.float64),
            lower=np.minimum(reach, 0.0),
            upper=np.maximum(reach, 0.0),
            has_equality=self.bias == "free",
            ridge=self._loss.ridge(self.C),
            shift=1.0 if self.bias == "penalised" else 0.0,
        )

    def without(self, held: BoolArray) -> "tuple[SoftMargin, DualProblem]":
        """(problem, dual) in which the masked points take no part: their boxes are closed."""
        dual = self.dual()
        return self, replace(dual, lower=np.where(held, 0.0, dual.lower), upper=np.where(held, 0.0, dual.upper))

    def decision_values(self, projections: FloatArray, beta: FloatArray, free_bias: float | FloatArray) -> FloatArray:
        """f, from <w, psi(x)>."""
        return projections + self.intercept(beta, free_bias)

    def intercept(self, beta: FloatArray, free_bias: float | FloatArray) -> float:
        """b of the decision function: that of the dual if it is free, otherwise what w implies."""
        return cast(float, {"free": free_bias, "penalised": float(beta.sum()), "none": 0.0}[self.bias])

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i.

        Points of infinite weight (hard margin) allow no loss at all: if they fall short of
        the margin, the objective is that of the nearest multiple of (w, b) for which none does.
        """
        half_norm = 0.5 * float(beta @ projections)
        if self.bias == "penalised":
            half_norm += 0.5 * intercept**2
        margins = self.signs * (projections + intercept)
        hard = np.isinf(self.C)
        shortest = margins[hard].min(initial=1.0)
        if shortest <= 0:
            return float("inf")
        losses = self._loss.value(margins / shortest)[~hard]
        return float(half_norm / shortest**2 + self.C[~hard] @ losses)

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap from a gradient that is known for every point."""
        dual = self.dual()
        projections = dual.projections_of(beta, gradient)
        primal = self.primal(beta, projections, self.intercept(beta, dual.bias(beta, gradient)))
        return relative_gap(primal, dual.objective(beta, gradient))

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution.

        Parameters
        ----------
        beta : ndarray (n,)
            Signed dual coefficients y_i alpha_i.
        projections : ndarray (n,)
            <w, psi(x_i)> = sum_j beta_j k(x_j, x_i), computed in double precision.
        intercept : float
        """
        with np.errstate(over="ignore", invalid="ignore"):  # an unbounded dual may leave huge numbers
            return self._certificate(beta, projections, intercept)

    def _certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        dual = self.dual()
        gradient = dual.gradient_of(beta, projections)
        primal_value = self.primal(beta, projections, intercept)
        dual_value = dual.objective(beta, gradient)
        return Certificate(
            primal=primal_value,
            dual=dual_value,
            gap=primal_value - dual_value,
            relative_gap=relative_gap(primal_value, dual_value),
            **dual_conditions(dual, beta, gradient),
        )
