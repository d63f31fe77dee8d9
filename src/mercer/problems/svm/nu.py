r"""The nu-form of Soft-SVM (Schölkopf, Smola, Williamson & Bartlett 2000).

Primal, in the scale of LIBSVM, with weights :math:`u_i` and :math:`S = \tfrac\nu2\sum_i u_i`:

.. math::
    \min_{w, b, \rho}\; \tfrac12 \|w\|^2 - 2 S\rho
    + \sum_i u_i \max\big(0, \rho - y_i(\langle w, \psi(x_i)\rangle + b)\big)

Dual, with :math:`\beta_i = y_i\alpha_i`: `mercer.problems.svm.signed_dual` with p = 0, the box between 0 and
y_i u_i, and two fixed sums, S over the positive points and -S over the negative ones. Their biases
are :math:`b - \rho` and :math:`b + \rho`. The classifier is :math:`(w, b) / \rho`, whose margin
is 1, as that of Soft-SVM with :math:`C = 1/\rho`.

Such a point exists only if neither class weighs less than S: nu is at most
:math:`2 \min(W_+, W_-) / (W_+ + W_-)` (Crisp & Burges 1999).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mercer._jit.once import computed_once
from mercer._types import BoolArray, FloatArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.svm.signed_dual import DualProblem

if TYPE_CHECKING:
    from mercer.problems.protocols import DualPoint


# A margin below this fraction of the biases counts as none, as does one that nothing can be divided by.
NO_MARGIN, SMALLEST = 1e-12, 1e-290
# A squared norm below this fraction of what its coefficients could make it is rounding: w is zero.
NO_LENGTH = 1e-14
# Possible error of k(x, y), as a fraction of the norms of psi(x) and psi(y) (docs/kernels.md).
ENTRY = 1e-12
# A margin below this many tolerances is not known well enough to divide by.
RESOLVED = 10.0


def is_nothing(beta: FloatArray, projections: FloatArray, diag: FloatArray) -> bool:
    """Whether w = sum_i beta_i psi(x_i) is zero up to rounding, relative to the data.

    `projections` are <w, psi(x_i)> and `diag` k(x_i, x_i), for all points. w is zero if it is tiny relative to
    what its coefficients could make it, or if rounding accounts for every projection, as when points at zero have most
    of the coefficients, and others what a cancellation left. Points without a coefficient contribute no rounding,
    however large they are. The gap does not show this: w = 0 may well be the optimum.
    """
    lengths = np.sqrt(np.maximum(diag, 0.0))
    reach = float(np.abs(beta) @ lengths) ** 2
    noise = ENTRY * float(np.abs(beta).sum()) * float(lengths[beta != 0.0].max(initial=0.0)) * lengths
    return bool(float(beta @ projections) <= NO_LENGTH * reach or (np.abs(projections) <= noise).all())


@dataclass(frozen=True)
class NuMargin:
    """A two-class problem: signs, weights, the fraction nu, and the factor of each class.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    weights : ndarray (n,)
        All positive; nu is a fraction of their sum.
    nu : float
    factors : ndarray (n,)
        Of the classes: they multiply the weights in the box. If they leave a class less weight than nu
        requires, all of that class is required. Its side of the margin can then be anywhere beyond
        its points, and is set farther away by the factor by which nu requires more than there is.
    """

    # Primal and dual values are this many times those of `dual()`.
    times_dual: ClassVar[float] = 1.0

    signs: np.ndarray
    weights: np.ndarray
    nu: float
    factors: np.ndarray

    @property
    def side(self) -> float:
        """S."""
        return 0.5 * self.nu * float(self.weights.sum())

    @property
    def largest_nu(self) -> float:
        """The largest feasible nu, with the factors of the classes and without them."""
        return max(
            2.0 * self._smaller(each) / float(each.sum()) for each in (self.weights, self.weights * self.factors)
        )

    def _smaller(self, weights: FloatArray) -> float:
        """The weight of the lighter class."""
        positive = self.signs > 0
        return float(min(weights[positive].sum(), weights[~positive].sum()))

    @property
    def box(self) -> FloatArray:
        """u: the weights times the factors, scaled so that the sums are S whatever the factors are."""
        raw = self.weights * self.factors
        asked = max(float(self.weights.sum() / raw.sum()), self.side / self._smaller(raw))
        return raw * asked

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        reach = self.signs * self.box
        return DualProblem(
            linear=np.zeros(len(reach)),
            lower=np.minimum(reach, 0.0),
            upper=np.maximum(reach, 0.0),
            total=np.array([self.side, -self.side]),
            groups=np.where(self.signs > 0, 0, 1),
        )

    def without(self, held: BoolArray) -> "tuple[NuMargin, DualProblem]":
        """(problem, dual) in which the masked points take no part; nu is a fraction of the others."""
        part = replace(self, weights=np.where(held, 0.0, self.weights))
        return part, part.dual()

    def decision_values(self, projections: FloatArray, beta: FloatArray, biases: float | FloatArray) -> FloatArray:
        """f of the classifier, from <w, psi(x)> before it is divided by the margin."""
        rho, middle = self._line(biases)
        return projections / rho + middle / rho

    def margin(self, biases: float | FloatArray) -> float:
        """rho; 1 if there is no margin (w = 0), so that dividing by it changes nothing."""
        return self._line(biases)[0]

    def has_margin(self, biases: float | tuple[float, float] | FloatArray) -> bool:
        """Whether rho is more than rounding of the biases, so that one can divide by it."""
        low, high = _both(biases)
        return 0.5 * float(high - low) > max(NO_MARGIN * max(abs(low), abs(high)), SMALLEST)

    def is_zero(self, solution: "DualPoint", diag: FloatArray) -> bool:
        """Whether the optimum is w = 0 up to rounding, or there is no margin to divide by; `diag` is k(x_i, x_i)."""
        return not self.has_margin(solution.bias) or is_nothing(solution.beta, -solution.gradient, diag)

    def is_resolved(self, biases: float | FloatArray, tol: float) -> bool:
        """Whether rho, which a solution to `tol` determines to about that, is large enough to divide by."""
        low, high = _both(biases)
        return 0.5 * (high - low) >= RESOLVED * tol

    def finest(self, largest: float) -> float:
        """The tolerance below which the margin is zero, if k(x, x) is at most `largest`.

        At the optimum |w|² is at most 2 S rho (the primal value equals the dual one, and losses are nonnegative), and
        below NO_LENGTH (2 S)² `largest` it is rounding.
        """
        return NO_LENGTH / RESOLVED * 2.0 * self.side * largest

    def intercept(self, _beta: FloatArray, biases: float | FloatArray) -> float:
        """b / rho of the classifier."""
        rho, middle = self._line(biases)
        return middle / rho

    def _line(self, biases: float | FloatArray) -> tuple[float, float]:
        """(rho, b) of the classifier; rho is 1 if there is no margin."""
        low, high = self._widened(biases)
        return 0.5 * (high - low) if self.has_margin((low, high)) else 1.0, 0.5 * (low + high)

    def _widened(self, biases: float | FloatArray) -> tuple[float, float]:
        """The biases of both classes, with that of a fully required class moved away."""
        low, high = _both(biases)
        asked = self._asked
        if asked <= 1.0 or low >= high:
            return low, high
        raw, width = self.weights * self.factors, asked * (high - low)
        is_positive_lighter = raw[self.signs > 0].sum() < raw[self.signs < 0].sum()
        return (high - width, high) if is_positive_lighter else (low, low + width)

    @computed_once
    def _asked(self) -> float:
        """What nu requires of the lighter class, as a multiple of its weight."""
        raw = self.weights * self.factors
        return 0.5 * self.nu * float(raw.sum()) / self._smaller(raw)

    def _primal(self, beta: FloatArray, projections: FloatArray, biases: FloatArray) -> float:
        b, rho = 0.5 * float(np.sum(biases)), 0.5 * float(biases[1] - biases[0])
        short = np.maximum(0.0, rho - self.signs * (projections + b))
        return 0.5 * float(beta @ projections) - 2.0 * self.side * rho + float(self.box @ short)

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap from a gradient that is known for every point."""
        dual = self.dual()
        return relative_gap(
            self._primal(beta, -gradient, cast(FloatArray, dual.bias(beta, gradient))), dual.objective(beta, gradient)
        )

    def certificate(self, beta: FloatArray, projections: FloatArray, _intercept: float) -> Certificate:
        """The certificate of a solution, before it is divided by the margin; b and rho are
        recomputed from the `projections` <w, psi(x_i)>."""
        dual = self.dual()
        primal = self._primal(beta, projections, cast(FloatArray, dual.bias(beta, -projections)))
        value = dual.objective(beta, -projections)
        return Certificate.of(primal, value, **dual_conditions(dual, beta, -projections))


def _both(biases: float | tuple[float, float] | FloatArray) -> tuple[float, float]:
    """The biases of the two classes: a fit that was stopped at once has one number for both."""
    low, high = cast(Any, biases if np.ndim(biases) else (biases, biases))
    return float(low), float(high)
