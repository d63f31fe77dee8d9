r"""The representer theorem as a problem: any convex loss, any kernel.

Primal, over w in the feature space (and b), with a loss :math:`\varphi` of
:math:`z_i = s_i f(x_i) - o_i`, where :math:`f(x) = \langle w, \psi(x)\rangle + b`:

.. math::
    \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i\, \varphi(z_i).

A loss of the margin has :math:`s_i = y_i,\ o_i = 0`, a loss of the residual
:math:`s_i = 1,\ o_i = y_i`. The minimiser is :math:`w = \sum_i \beta_i \psi(x_i)` (Schölkopf, Herbrich & Smola
2001), and with Fenchel's conjugate the dual is

.. math::
    \max_\beta\; -\tfrac12 \beta^T (K + t\,11^T)\,\beta + \sum_i \beta_i s_i o_i
    - \sum_i C_i\, \varphi^*(-s_i \beta_i / C_i), \qquad \textstyle\sum_i \beta_i = 0 \text{ if b is free},

t = 1 for a penalised bias. At the optimum :math:`\beta_i = -C_i s_i \varphi'(z_i)`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._types import Array, FloatArray, IndexArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.losses.margin_losses import Loss
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.signed_risk import WithBias, dual_of

# Rows of a factor that are scaled at a time: a copy of all of them may be larger than the factor.
PANEL = 1024


def every_few(targets: Array, share: int) -> IndexArray:
    """Every `share`-th of the points in the order of their targets, so that the whole range is represented."""
    return np.sort(np.argsort(targets, kind="stable")[share // 2 :: share])


@dataclass(frozen=True)
class KernelRisk(WithBias):
    """Targets, a weight C_i for each point, a loss and a kind of bias.

    Attributes
    ----------
    targets : ndarray (n,)
        +1 or -1 for a loss of the margin, any numbers for a loss of the residual.
    C : ndarray (n,)
        C times the weight of each point; all positive and finite.
    loss : Loss
    bias : {"free", "penalized", "none"}
    """

    targets: np.ndarray
    C: np.ndarray
    loss: Loss
    bias: str = "free"

    # f(x) is one number; `mercer.problems.kernel_methods.multinomial` has several.
    n_functions = 1

    @property
    def signs(self) -> FloatArray:
        """s."""
        return self.targets if self.loss.of == "margin" else np.ones(len(self.targets))

    @property
    def linear(self) -> FloatArray:
        """s o: the gain of the dual from each coefficient."""
        return np.zeros(len(self.targets)) if self.loss.of == "margin" else self.targets

    def arguments(self, f: FloatArray) -> FloatArray:
        """z."""
        return self.targets * f if self.loss.of == "margin" else f - self.targets

    def risk(self, f: FloatArray) -> float:
        """Sum of C_i loss(z_i)."""
        return float(self.C @ self.loss.value(self.arguments(f)))

    def response(self, f: FloatArray) -> FloatArray:
        """The coefficients that correspond to the derivative of the loss at predictions f."""
        return -self.C * self.signs * self.loss.derivative(self.arguments(f))

    def curvature(self, f: FloatArray) -> FloatArray:
        """Second derivative of each point's loss in f."""
        return self.C * self.loss.curvature(self.arguments(f))

    def root(self, f: FloatArray) -> "DiagonalRoot":
        """The square root of the Hessian in f, as an operator."""
        return DiagonalRoot(np.sqrt(self.curvature(f)))

    def sample(self, share: int) -> "tuple[IndexArray, KernelRisk] | None":
        """(rows, problem) of every `share`-th row by target, each of `share` times the weight; None if one
        side has none."""
        chosen = every_few(self.targets, share)
        part = replace(self, targets=self.targets[chosen], C=share * self.C[chosen])
        is_whole = self.loss.of == "residual" or len(np.unique(part.targets)) == len(np.unique(self.targets))
        return (chosen, part) if is_whole else None

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i."""
        return self.half_norm(beta, projections, intercept) + self.risk(projections + intercept)

    def dual_value(self, beta: FloatArray, projections: FloatArray) -> float:
        """Dual objective; minus infinity if beta is outside the domain of the conjugate."""
        paid = self.C * self.loss.conjugate(-self.signs * beta / self.C)
        half = 0.5 * float(beta @ projections)
        if self.bias == "penalized":
            half += 0.5 * float(beta.sum()) ** 2
        return float(beta @ self.linear - paid.sum()) - half

    def gap(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Relative duality gap."""
        return relative_gap(self.primal(beta, projections, intercept), self.dual_value(beta, projections))

    def box(self) -> tuple[FloatArray, FloatArray]:
        """(lower, upper) bounds of beta: where the conjugate is finite."""
        return self.loss.bounds(self.signs, self.C)

    def feasible(self, beta: FloatArray) -> FloatArray:
        """Coefficients feasible for the dual, approximately the nearest."""
        lower, upper = self.box()
        return DualProblem(self.linear, lower, upper, self.bias == "free").feasible(beta)

    def stationarity(self, beta: FloatArray, f: FloatArray) -> float:
        """Largest difference between beta and its value from the loss at f, as a fraction of C."""
        return float(np.max(np.abs(beta - self.response(f)) / self.C, initial=0.0))

    def quadratic(self) -> DualProblem:
        """The dual as a `DualProblem`, of a loss whose conjugate is quadratic."""
        return dual_of(self.loss, self.targets, self.C, self.bias)

    # --- the certificate --------------------------------------------------------------------

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution.

        Parameters
        ----------
        beta : ndarray (n,)
            Coefficients.
        projections : ndarray (n,)
            <w, psi(x_i)> = sum_j beta_j k(x_j, x_i), computed in double precision.
        intercept : float
        """
        with np.errstate(over="ignore", invalid="ignore"):
            primal, dual = self.primal(beta, projections, intercept), self.dual_value(beta, projections)
            conditions = self._conditions(beta, projections, intercept)
        return Certificate.of(primal, dual, **conditions)

    def _conditions(self, beta: FloatArray, projections: FloatArray, intercept: float) -> dict[str, Any]:
        lower, upper = self.box()
        plain = DualProblem(self.linear, lower, upper, self.bias == "free")
        found = dual_conditions(plain, beta, np.zeros(len(beta)))
        if self.loss.form is None:
            found["kkt_violation"] = self.stationarity(beta, projections + intercept)
            return found
        program = self.quadratic()
        found["kkt_violation"] = program.violation(beta, program.gradient_of(beta, projections))
        return found


@dataclass(frozen=True)
class DiagonalRoot:
    """A = diag(h)^(1/2): H = A A'."""

    values: np.ndarray

    def part(self, rows: slice) -> "DiagonalRoot":
        """The same for some of the points."""
        return DiagonalRoot(self.values[rows])

    def in_single(self) -> "DiagonalRoot":
        """The same in single precision."""
        return DiagonalRoot(self.values.astype(np.float32))

    def times(self, x: FloatArray) -> FloatArray:
        """A x."""
        return self.values[:, None] * x

    transposed_times = times

    def applied(self, values: FloatArray) -> FloatArray:
        """H times values."""
        return np.square(self.values)[:, None] * values

    def blocks(self, factor: FloatArray) -> FloatArray:
        """factor' H factor, in the precision of the factor."""
        out = np.zeros((factor.shape[1], factor.shape[1]), factor.dtype)
        for begin in range(0, len(factor), PANEL):
            part = slice(begin, begin + PANEL)
            scaled = self.values[part].astype(factor.dtype)[:, None] * factor[part]
            out += scaled.T @ scaled
        return out

    @property
    def largest(self) -> float:
        """No eigenvalue of the Hessian is larger."""
        return float(np.square(self.values).max(initial=0.0))

    @property
    def total(self) -> FloatArray:
        """Sum of the points' Hessians, shape (1, 1)."""
        return np.array([[float(self.values @ self.values)]])
