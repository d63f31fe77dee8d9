r"""One class: a half-space, or a ball, of the feature space that contains most of the points.

Primal of the half-space (Schölkopf, Platt, Shawe-Taylor, Smola & Williamson 2001), in the scale of
LIBSVM, with weights :math:`u_i` and :math:`S = \nu\sum_i u_i`:

.. math::
    \min_{w, \rho}\; \tfrac12 \|w\|^2 - S\rho + \sum_i u_i \max(0, \rho - \langle w, \psi(x_i)\rangle)

Dual: `mercer.problems.svm.signed_dual` with p = 0, the box [0, u_i] and the sum S;
:math:`w = \sum_i \beta_i\psi(x_i)`, and the bias is :math:`-\rho`.

Primal of the ball (Tax & Duin 2004), over its centre c and squared radius, with
:math:`u_i = 1/(\nu n)` for equal weights:

.. math::
    \min_{c, R^2}\; R^2 + \sum_i u_i \max(0, \|\psi(x_i) - c\|^2 - R^2)

Dual: :math:`\max_\beta \sum_i \beta_i K_{ii} - \beta^T K\beta` over :math:`0 \le \beta_i \le u_i`,
:math:`\sum_i\beta_i = 1`, with :math:`c = \sum_i\beta_i\psi(x_i)`: twice the program with
p = diag(K)/2 and the sum 1. With no slack (:math:`u_i \ge 1`) it is the smallest ball around all
points (`mercer.problems.svm.enclosing_ball`); where all :math:`K_{ii}` are equal it is the half-space.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.svm.nu import is_nothing
from mercer.problems.svm.signed_dual import DualProblem

if TYPE_CHECKING:
    from mercer.problems.protocols import DualPoint


# The border belongs to the inside: it is moved outwards by this fraction of its size, so that rounding errors
# do not put points on it outside.
BORDER = 1e-10


@dataclass(frozen=True)
class OneClass:
    """The half-space: a weight for each point, and the fraction of them that may be outside.

    Attributes
    ----------
    weights : ndarray (n,)
        All positive.
    nu : float
        In (0, 1].
    """

    # Primal and dual values are this many times those of `dual()`.
    times_dual: ClassVar[float] = 1.0

    weights: np.ndarray
    nu: float

    @property
    def total(self) -> float:
        """S."""
        return self.nu * float(self.weights.sum())

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        n = len(self.weights)
        return DualProblem(linear=np.zeros(n), lower=np.zeros(n), upper=self.weights, total=self.total)

    def intercept(self, _beta: FloatArray, free_bias: float | FloatArray) -> float:
        """-rho, with the border inside."""
        return float(free_bias) + BORDER * abs(float(free_bias))

    def is_zero(self, solution: "DualPoint", diag: FloatArray) -> bool:
        """Whether the optimum is w = 0 up to rounding; `diag` is k(x_i, x_i)."""
        return is_nothing(solution.beta, -solution.gradient, diag)

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i."""
        outside = np.maximum(0.0, -projections - intercept)
        return 0.5 * float(beta @ projections) + self.total * intercept + float(self.weights @ outside)

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap from a gradient that is known for every point."""
        dual = self.dual()
        primal = self.primal(beta, -gradient, cast(float, dual.bias(beta, gradient)))
        return relative_gap(primal, dual.objective(beta, gradient))

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution; `projections` are <w, psi(x_i)> in double precision."""
        dual = self.dual()
        primal, value = self.primal(beta, projections, intercept), dual.objective(beta, -projections)
        return Certificate.of(primal, value, **dual_conditions(dual, beta, -projections))


@dataclass(frozen=True)
class SoftBall:
    """The ball: k(x_i, x_i), and how much the distance of each point beyond the radius costs.

    Attributes
    ----------
    diag : ndarray (n,)
        k(x_i, x_i).
    costs : ndarray (n,)
        u_i; with sum 1 or more, so that there is a smallest ball.
    """

    # Primal and dual values are this many times those of `dual()`.
    times_dual: ClassVar[float] = 2.0

    diag: np.ndarray
    costs: np.ndarray

    @classmethod
    def with_share(cls, diag: FloatArray, weights: FloatArray, nu: float) -> Self:
        """Costs with which a fraction nu of the weight may be outside; none for nu = 0."""
        total = nu * float(weights.sum())
        return cls(diag, weights / total if total > 0 else np.full(len(weights), np.inf))

    def squared_radius(self, intercept: float, squared_norm: float) -> float:
        """R^2, from half of R^2 - |c|^2 and from |c|^2."""
        return max(0.0, 2.0 * intercept + squared_norm)

    def dual(self) -> DualProblem:
        """Half of the dual above."""
        return DualProblem(
            linear=0.5 * self.diag, lower=np.zeros(len(self.diag)), upper=np.minimum(self.costs, 1.0), total=1.0
        )

    def intercept(self, _beta: FloatArray, free_bias: float | FloatArray) -> float:
        """Half of R^2 - |c|^2, with the border inside."""
        return float(free_bias) + BORDER * float(self.diag.max())

    def distances(self, beta: FloatArray, projections: FloatArray) -> FloatArray:
        """|psi(x_i) - c|^2 for every i."""
        return np.maximum(0.0, self.diag - 2.0 * projections + float(beta @ projections))

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap from a gradient that is known for every point."""
        projections = 0.5 * self.diag - gradient
        primal, dual = self._values(beta, projections, cast(float, self.dual().bias(beta, gradient)))
        return relative_gap(primal, dual)

    def _values(self, beta: FloatArray, projections: FloatArray, intercept: float) -> tuple[float, float]:
        centre, distances = float(beta @ projections), self.distances(beta, projections)
        squared, hard = self.squared_radius(intercept, centre), np.isinf(self.costs)
        # Points that must not be outside are enclosed.
        squared = max(squared, float(distances[hard].max(initial=0.0)))
        outside = np.maximum(0.0, distances - squared)[~hard]
        return squared + float(self.costs[~hard] @ outside), float(beta @ self.diag) - centre

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution; `projections` are <c, psi(x_i)> in double precision."""
        primal, value = self._values(beta, projections, intercept)
        conditions = dual_conditions(self.dual(), beta, 0.5 * self.diag - projections)
        return Certificate.of(primal, value, **conditions)
