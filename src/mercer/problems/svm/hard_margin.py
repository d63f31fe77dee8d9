r"""Hard-SVM, and the proof if it has no solution.

Primal, over w in the feature space (and b):

.. math::
    \min \tfrac12\|w\|^2 \;[+ \tfrac12 b^2] \quad\text{s.t.}\quad y_i(\langle w, \psi(x_i)\rangle + b) \ge 1

with b free, penalised by the bracketed term, or absent (the homogeneous case). The solution
:math:`(w_0, b_0)` divided by :math:`\|w_0\|` has the largest margin, :math:`1/\|w_0\|`.

Up to scale, the dual asks for the nearest points of two convex hulls:

.. math::
    \min_a \tfrac12 \Big\|\sum_i a_i z_i\Big\|^2 \quad\text{s.t.}\quad a \ge 0,\;
    \sum_{i \in g} a_i = 1 \text{ for each group } g, \qquad z_i = y_i \psi(x_i).

With a free bias the classes are the two groups, and z is the difference of a point of each hull.
Without one, all points are one group, and z is the point of the hull of the
:math:`y_i\psi(x_i)` nearest to the origin; a penalised bias is one more feature, of value 1.
With :math:`m_g = \min_{i \in g} \langle z_i, z\rangle` and :math:`\kappa = G / \sum_g m_g`, G the number
of groups, :math:`w_0 = \kappa z` and :math:`\alpha = \kappa a`. If z = 0 nothing separates, and a is
the proof (Farkas; Shalev-Shwartz & Ben-David 2014, section 15.1).
"""

from dataclasses import dataclass

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.problems.certificate import Certificate

# A distance between the hulls below this fraction of the radius counts as none.
PROVEN = 1e-8
# Kernel values give its square, with errors of a few units in the last place: no better than this.
PROVEN_BY_VALUES = 5e-8
# A mean that consists of one row, up to this, is that row.
TWINS = 1e-6


@dataclass(frozen=True)
class HardMargin:
    """A two-class problem without slack.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    bias : {"free", "penalized", "none"}
    """

    signs: np.ndarray
    bias: str = "free"

    @property
    def groups(self) -> IndexArray:
        """The group of each point, whose weights sum to one."""
        return (self.signs > 0).astype(np.intp) if self.bias == "free" else np.zeros(len(self.signs), np.intp)

    @property
    def shift(self) -> float:
        """The constant added to every kernel value."""
        return 1.0 if self.bias == "penalized" else 0.0

    def scale(self, square: float, lows: FloatArray) -> float:
        """kappa of w_0 = kappa z; that of the optimum if z does not separate (yet)."""
        reach = float(lows.sum())
        return len(lows) / (reach if reach > 0.0 else max(square, np.finfo(np.float64).tiny))

    def beta(self, members: IndexArray, weights: FloatArray, scale: float) -> FloatArray:
        """Signed dual coefficients of all points."""
        beta = np.zeros(len(self.signs))
        beta[members] = scale * self.signs[members] * weights
        return beta

    def free_bias(self, lows: FloatArray, scale: float) -> float:
        """The b_0 with the same distance to both groups; groups are (negative, positive)."""
        return 0.5 * scale * float(lows[0] - lows[1]) if self.bias == "free" else 0.0

    def margin(self, square: float, lows: FloatArray) -> float:
        """1 / |w_0|: the distance to the nearest point; nonpositive if z does not separate."""
        return float(lows.sum()) / (len(lows) * np.sqrt(square)) if square > 0.0 else 0.0

    def certificate(
        self, beta: FloatArray, projections: FloatArray, intercept: float, norms: tuple[float, float]
    ) -> Certificate:
        """The certificate of (w, b) and of the multipliers.

        Parameters
        ----------
        beta : ndarray (n,)
            Signed dual coefficients y_i alpha_i.
        projections : ndarray (n,)
            <w, psi(x_i)>.
        intercept : float
        norms : (float, float)
            Squared norms of w and of sum_i beta_i psi(x_i), which are equal up to rounding.
        """
        lifts = (intercept**2, float(beta.sum()) ** 2) if self.bias == "penalized" else (0.0, 0.0)
        slack = 1.0 - self.signs * (projections + intercept)
        shortest = 1.0 - float(slack.max())
        primal = 0.5 * (norms[0] + lifts[0]) / shortest**2 if shortest > 0.0 else np.inf
        dual = float(np.abs(beta).sum()) - 0.5 * (norms[1] + lifts[1])
        support = beta != 0.0
        return Certificate.of(
            primal,
            dual,
            kkt_violation=float(max(slack.max(), np.abs(slack[support]).max(initial=0.0), 0.0)),
            equality_residual=abs(float(beta.sum())) if self.bias == "free" else 0.0,
            box_violation=max(0.0, float(np.max(-self.signs * beta))),
            n_free=int(support.sum()),
            n_bounded=0,
            n_zero=int((~support).sum()),
        )


@dataclass(frozen=True)
class NotSeparableProof:
    """Weights of a point that lies in both convex hulls, or of the origin.

    With a free bias, the rows of each class have nonnegative weights that sum to one, and the two
    weighted means are the same point of the feature space: no hyperplane has it on both sides.
    Without one, the weighted mean of the y_i psi(x_i) is the origin: no halfspace through it
    contains them all. Anyone with the data can check that
    ``weights[signs > 0] @ X[positive]`` and ``weights[signs < 0] @ X[negative]`` are equal.

    Attributes
    ----------
    indices : ndarray of int
        Rows of the training data.
    weights : ndarray
        Their weights.
    signs : ndarray
        Their labels, +1 or -1.
    bias : {"free", "penalized", "none"}
    features : ndarray or None
        psi of the rows, if it can be computed.
    gram : ndarray
        Their kernel values; rows that are the same item have the same values.
    radius : float
        The largest norm of a training point in the feature space, from their mean if the bias is free.
    is_exact : bool
        Whether the data prove it by themselves: by coordinates, or by rows that are equal. Otherwise it is
        what double precision can show. Kernel values determine squared lengths, so two points closer than
        5e-8 of the radius have the same ones; a different kernel may still separate them.
    """

    indices: np.ndarray
    weights: np.ndarray
    signs: np.ndarray
    bias: str
    features: np.ndarray | None
    gram: np.ndarray
    radius: float
    is_exact: bool = True

    @property
    def positive(self) -> IndexArray:
        """Rows of the positive class."""
        return self.indices[self.signs > 0]

    @property
    def negative(self) -> IndexArray:
        """Rows of the negative class."""
        return self.indices[self.signs < 0]

    @property
    def twins(self) -> tuple[int, int] | None:
        """The row of each class that makes up nearly all of its mean, if there are such rows; otherwise None.

        They have different labels, and differ by no more than rounding.
        """
        heavy = self.weights > 1.0 - TWINS
        if self.bias != "free" or not (heavy[self.signs > 0].any() and heavy[self.signs < 0].any()):
            return None
        return int(self.indices[heavy & (self.signs > 0)][0]), int(self.indices[heavy & (self.signs < 0)][0])

    @property
    def point(self) -> FloatArray | None:
        """The common point of the two hulls (the mean of both sides' means); None without features."""
        if self.features is None:
            return None
        if self.bias != "free":
            return np.zeros(self.features.shape[1])
        return 0.5 * (self.weights @ self.features)

    @property
    def distance(self) -> float:
        """The distance between the two weighted means, or of the mean from the origin."""
        coefficients = self.signs * self.weights
        if self.features is not None:
            # Weights with equal sums do not depend on the origin, but rounding errors do.
            parts = coefficients @ (self.features - self.features[0] if self.bias == "free" else self.features)
            lift = coefficients.sum() if self.bias == "penalized" else 0.0
            return float(np.sqrt(parts @ parts + lift**2))
        # Kernel values give only the square of the distance: extended precision for its sum.
        long = coefficients.astype(np.longdouble)
        square = long @ self.gram.astype(np.longdouble) @ long
        return float(np.sqrt(max(square + (long.sum() ** 2 if self.bias == "penalized" else 0.0), 0.0)))

    @property
    def tolerance(self) -> float:
        """The distance, as a fraction of the radius, that counts as none: 1e-8 in coordinates."""
        return PROVEN if self.features is not None else PROVEN_BY_VALUES

    def check(self, tol: float | None = None) -> bool:
        """Whether the weights are those of convex combinations that meet.

        `tol` is the distance allowed, as a fraction of `radius`; `tolerance` by default.
        """
        tol = self.tolerance if tol is None else tol
        sides = [self.signs > 0, self.signs < 0] if self.bias == "free" else [np.ones(len(self.signs), bool)]
        sums = np.array([self.weights[side].sum() for side in sides])
        is_convex = (self.weights >= 0.0).all() and (np.abs(sums - 1.0) <= 1e-12).all()
        return bool(is_convex and self.distance <= tol * self.radius)

    def __str__(self) -> str:
        rows = " + ".join(f"{w:.6g} x[{i}]" for i, w in zip(self.positive, self.weights[self.signs > 0], strict=True))
        others = " + ".join(f"{w:.6g} x[{i}]" for i, w in zip(self.negative, self.weights[self.signs < 0], strict=True))
        equals = "=" if self.is_exact else "~"
        if self.bias == "free":
            return f"{rows} {equals} {others} (to {self.distance:.1e})"
        return f"{rows or 0} - ({others or 0}) {equals} 0 (to {self.distance:.1e})"
