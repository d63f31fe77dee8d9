r"""The ramp loss: a hinge that stops rising (Collobert, Sinz, Weston & Bottou 2006).

With :math:`H_a(z) = \max(0, a - z)` and a position s < 1,

.. math::
    R_s(z) = \min(1 - s,\; H_1(z)) = H_1(z) - H_s(z),

and the objective, over w in the feature space (and b), is

.. math::
    J(w, b) = \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i\, R_s(z_i),
    \qquad z_i = y_i(\langle w, \psi(x_i)\rangle + b).

s = 0 is the ramp loss min(1, hinge) of Shalev-Shwartz & Ben-David (2014), section 15.2.3;
:math:`s \to -\infty` is the hinge. J is a convex function minus a convex one. With the second
replaced by its tangent at the current point, that is for the set O of *outliers* (z_i < s there),

.. math::
    P_O(w, b) = \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i H_1(z_i) + \sum_{i \in O} C_i (z_i - s)

is convex, nowhere below J, and equal to J where O is the set of points with z_i < s. Its dual is
`mercer.problems.svm.signed_dual` with p = y and, for outliers, the box of :math:`y_i\beta_i` moved from
[0, C_i] to [-C_i, 0], plus the constant :math:`(1 - s)\sum_{i \in O} C_i`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.losses.ramp_kinks import MOST_AT_MARGIN, changes_of_side, steepest_slope
from mercer.problems.svm.signed_risk import WithBias
from mercer.problems.svm.soft_margin import SoftMargin

if TYPE_CHECKING:
    from mercer.problems.svm.signed_dual import DualProblem


def ramp(margins: FloatArray, s: float) -> FloatArray:
    """R_s of each margin."""
    return np.minimum(1.0 - s, np.maximum(0.0, 1.0 - margins))


@dataclass(frozen=True)
class RampCertificate(Certificate):
    """The certificate of the last convex problem, and how well its tangent fits at the solution.

    Primal, dual, gap and KKT conditions are those of the convex problem. The point is
    stationary for the ramp loss if it solves that problem and if the tangent was taken there:
    exactly the outliers have a margin below s. If a margin is exactly at s there are two tangents,
    and the conditions must hold for both (see `mercer.problems.losses.ramp_kinks`).

    Attributes
    ----------
    ramp_objective : float
        J, the nonconvex objective. The primal is never below it.
    linearization_violation : float
        By how much the worst margin lies on the wrong side of s.
    n_outliers : int
        Points on the flat part of the ramp, which do not influence the boundary.
    n_at_kink : int
        Points with a margin at s, which may or may not be counted as outliers.
    kink_slope : float
        The steepest slope down if some of these are counted the other way, as a fraction of the largest that they could
        cause; infinite if it was not computed.
    """

    ramp_objective: float
    linearization_violation: float
    n_outliers: int
    n_at_kink: int = 0
    kink_slope: float = 0.0

    def is_stationary(self, tol: float = 1e-3) -> bool:
        """Whether the convex problem is solved, and linearised at its solution, to `tol`; at a kink, for both sides."""
        return self.is_optimal(tol) and self.linearization_violation <= tol and self.kink_slope <= tol

    def __str__(self) -> str:
        return (
            f"{super().__str__()}\n"
            f"ramp objective {self.ramp_objective:.10g}  outliers {self.n_outliers}  "
            f"linearisation violation {self.linearization_violation:.2e}"
            + (
                f"\n{self.n_at_kink} margins at the kink, slope across it {self.kink_slope:.2e}"
                if self.n_at_kink
                else ""
            )
        )


@dataclass(frozen=True)
class RampMargin(WithBias):
    """A two-class problem with the ramp loss, together with the outliers of its tangent.

    Attributes
    ----------
    signs, C, bias
        As in `SoftMargin`; every C_i is finite.
    s : float
        Where the ramp becomes flat, below 1.
    outliers : ndarray of bool (n,), optional
        O; none is the hinge loss.
    near : float
        A margin this close to s is at the kink.
    """

    signs: np.ndarray
    C: np.ndarray
    s: float = 0.0
    bias: str = "free"
    outliers: np.ndarray | None = None
    near: float = 1e-3

    @property
    def current_outliers(self) -> BoolArray:
        """O as a mask."""
        return np.zeros(len(self.signs), bool) if self.outliers is None else self.outliers

    @property
    def _hinge(self) -> SoftMargin:
        return SoftMargin(self.signs, self.C, "hinge", self.bias)

    def linearised(self, outliers: BoolArray | None) -> "RampMargin":
        """The convex problem whose tangent treats these points as outliers."""
        return replace(self, outliers=outliers)

    def dual(self) -> "DualProblem":
        """The dual of the convex problem."""
        reach = np.where(self.current_outliers, -1.0, 1.0) * self.signs * self.C
        return replace(self._hinge.dual(), lower=np.minimum(reach, 0.0), upper=np.maximum(reach, 0.0))

    def margins(self, projections: FloatArray, intercept: float) -> FloatArray:
        """z_i, given <w, psi(x_i)>."""
        return self.signs * (projections + intercept)

    def objective(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """J, the objective with the ramp loss."""
        losses = ramp(self.margins(projections, intercept), self.s)
        return self.half_norm(beta, projections, intercept) + float(self.C @ losses)

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """P_O, the objective of the convex problem."""
        tangent = self.margins(projections, intercept)[self.current_outliers] - self.s
        return self._hinge.primal(beta, projections, intercept) + float(self.C[self.current_outliers] @ tangent)

    def dual_value(self, beta: FloatArray, gradient: FloatArray) -> float:
        """The dual objective of P_O."""
        return self.dual().objective(beta, gradient) + (1.0 - self.s) * float(self.C[self.current_outliers].sum())

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap of the convex problem, from a gradient that is known for every point."""
        projections = self.projections(beta, gradient)
        primal = self.primal(beta, projections, self.intercept(beta, self.dual().bias(beta, gradient)))
        return relative_gap(primal, self.dual_value(beta, gradient))

    def projections(self, beta: FloatArray, gradient: FloatArray) -> FloatArray:
        """<w, psi(x_i)> from the gradient p - (K + s 11')beta."""
        return self.signs - gradient - self.dual().shift * beta.sum()

    def next_outliers(self, projections: FloatArray, intercept: float) -> BoolArray:
        """Points with a margin below s; at the kink they stay as they were.

        There the flat and the rising part are both tangents, up to `near`.
        """
        distance = self.margins(projections, intercept) - self.s
        return np.where(np.abs(distance) <= self.near, self.current_outliers, distance < 0)

    def at_kink(self, projections: FloatArray, intercept: float) -> IndexArray:
        """Positions of points with a margin at s."""
        return np.flatnonzero(np.abs(self.margins(projections, intercept) - self.s) <= self.near)

    def other_sides(self, places: IndexArray) -> "Iterator[RampMargin]":
        """The same problem with some of the points at `places` counted the other way, in turn."""
        for changed in changes_of_side(places.tolist(), self.current_outliers):
            outliers = self.current_outliers.copy()
            outliers[changed] ^= True
            yield self.linearised(outliers)

    def _kink_slope(
        self,
        beta: FloatArray,
        projections: FloatArray,
        intercept: float,
        gram: Callable[[IndexArray], FloatArray] | None,
    ) -> tuple[float, int]:
        """`RampCertificate.kink_slope`, and how many points are at the kink."""
        places = self.at_kink(projections, intercept)
        if len(places) == 0 or gram is None:
            return (np.inf if len(places) else 0.0), len(places)
        dual, apart = self.dual(), np.abs(self.margins(projections, intercept) - 1.0)
        apart[places] = np.inf
        held = np.argsort(apart, kind="stable")[: min(MOST_AT_MARGIN, int(np.sum(apart <= self.near)))]
        K = gram(np.concatenate([held, places])) + (0.0 if self.bias == "none" else 1.0)
        room = dual.lower[held] - beta[held], dual.upper[held] - beta[held]
        asked = np.where(self.current_outliers, self.signs * self.C, 0.0) - beta
        position = {place: len(held) + k for k, place in enumerate(places.tolist())}
        slopes = [0.0]
        for changed in changes_of_side(places.tolist(), self.current_outliers):
            chosen = np.concatenate([np.arange(len(held)), [position[i] for i in changed]])
            slopes.append(steepest_slope(K[np.ix_(chosen, chosen)], asked[changed], room))
        return max(slopes), len(places)

    def certificate(
        self,
        beta: FloatArray,
        projections: FloatArray,
        intercept: float,
        gram: Callable[[IndexArray], FloatArray] | None = None,
    ) -> RampCertificate:
        """The certificate of a solution; parameters as in `SoftMargin.certificate`.

        ``gram(places)`` gives kernel values among some of the points in double precision. Without it nothing is
        known about the other sides of a kink, and a point on one is not certified.
        """
        dual, outliers = self.dual(), self.current_outliers
        gradient = self.signs - projections - dual.shift * beta.sum()
        primal, value = self.primal(beta, projections, intercept), self.dual_value(beta, gradient)
        distance = self.margins(projections, intercept) - self.s
        kink_slope, n_at_kink = self._kink_slope(beta, projections, intercept, gram)
        return RampCertificate.of(
            primal,
            value,
            **dual_conditions(dual, beta, gradient),
            ramp_objective=self.objective(beta, projections, intercept),
            linearization_violation=max(0.0, float(np.max(np.where(outliers, distance, -distance), initial=0.0))),
            n_outliers=int(outliers.sum()),
            n_at_kink=n_at_kink,
            kink_slope=kink_slope,
        )
