r"""The version space: all weight vectors that classify every training row correctly.

With :math:`z_i = y_i \psi(x_i) / \|\psi(x_i)\|`, the unit normals of its walls,

.. math::
    V = \{ w : \|w\| = 1,\; \langle w, z_i \rangle > 0 \text{ for all } i \},

a convex piece of the sphere. Each row is a wall, and the length of a row does not matter. Any
point of V is a perfect classifier of the training rows; its *centres* are safer choices than its
corners:

* the **ball centre** is as far from the nearest wall as possible: the hard margin on rows of
  length 1,
* the **analytic centre** has the largest product of distances to all walls,
* the **centre of mass** is the mean of V, the classifier closest to a vote of all of V; the
  Bayes point machine samples it.

The cone has no bias: a penalised bias is a feature that is 1 for every row (s = 1).
With a *slack* :math:`\lambda > 0`, added to the diagonal of the kernel matrix, every row gets a
coordinate of its own of length :math:`\sqrt\lambda`, so that V is never empty and walls give
way where rows contradict each other (the soft boundary of Herbrich, Graepel & Campbell 2001).

The analytic centre, with weights c_i and :math:`M = \sum_i c_i`, in convex form:

.. math::
    \min_w\; F(w) = -\sum_i c_i \log \langle w, z_i\rangle + \tfrac M2 \|w\|^2.

Along a ray F is smallest at length 1, so its minimiser is the centre on the sphere. Dual, with
:math:`w = \tfrac1M \sum_i \alpha_i z_i`:

.. math::
    \max_{\alpha > 0}\; \sum_i c_i \Bigl(1 + \log\frac{\alpha_i}{c_i}\Bigr) - \tfrac{M}{2} \|w\|^2,
    \qquad \alpha_i \langle w, z_i\rangle = c_i \text{ at the optimum.}

With :math:`t_i = \alpha_i \langle w, z_i\rangle / c_i` the gap is
:math:`\sum_i c_i (t_i - 1 - \log t_i)`.
"""

from dataclasses import dataclass

import numpy as np

from mercer._errors import DataError
from mercer._types import FloatArray
from mercer.problems.certificate import Certificate


@dataclass(frozen=True)
class CenterCertificate(Certificate):
    """The certificate of an analytic centre.

    `kkt_violation` is the largest distance of a t_i from 1; every row is free. Nothing comes
    from the solver.

    Attributes
    ----------
    newton_decrement : float
        An upper bound on the length of the next Newton step in the norm of the
        Hessian. If it is below 1, self-concordance bounds the distance to the minimum by it alone.
    decrement_bound : float
        That bound on F - min F; infinite if the decrement is not below 1.
    smallest_margin : float
        Smallest y_i f(x_i), including the slack: positive inside the version space.
    """

    newton_decrement: float
    decrement_bound: float
    smallest_margin: float

    def __str__(self) -> str:
        return (
            f"{super().__str__()}\n"
            f"Newton decrement at most {self.newton_decrement:.2e}, so within {self.decrement_bound:.2e} "
            f"of the minimum  smallest margin {self.smallest_margin:.3g}"
        )


@dataclass(frozen=True)
class VersionSpace:
    """The version space of a two-class problem.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    weights : ndarray (n,)
        c_i, all positive; only the analytic centre uses them.
    slack : float
        lambda, added to the diagonal of the kernel matrix (divided by the weight of the row).
    bias : {"penalized", "none"}
    """

    signs: np.ndarray
    weights: np.ndarray
    slack: float = 0.0
    bias: str = "penalized"

    @property
    def _shift(self) -> float:
        return 1.0 if self.bias == "penalized" else 0.0

    @property
    def _slacks(self) -> FloatArray:
        """lambda / c_i: a row of weight two is two rows, each with a coordinate of its own."""
        return self.slack / self.weights

    def walls(self, K: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(<z_i, z_j> for all i, j, and y_i / |psi(x_i)|); the kernel matrix K is overwritten."""
        K += self._shift
        K.flat[:: len(K) + 1] += self._slacks
        squares = K.diagonal().copy()
        if not squares.min() > 0:
            row = int(squares.argmin())
            raise DataError(
                f"k(x, x) must be positive, got {squares[row]:.3g} for row {row}: a row without length lies on every "
                'boundary through the origin; bias="penalized" or slack=1.0 gives it one'
            )
        factors = self.signs / np.sqrt(squares)
        K *= factors
        K *= factors[:, None]
        K.flat[:: len(K) + 1] = 1.0
        return K, factors

    def intercept(self, beta: FloatArray, free_bias: float | FloatArray) -> float:
        """b of the decision function: the weight of the feature that is 1."""
        return float(beta.sum()) if self.bias == "penalized" else 0.0

    def margins(self, beta: FloatArray, projections: FloatArray) -> FloatArray:
        """y_i f(x_i) with the slack, given sum_j beta_j k(x_j, x_i)."""
        return self.signs * (projections + self._shift * beta.sum() + self._slacks * beta)

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> CenterCertificate:
        """The certificate of an analytic centre; parameters as in `SoftMargin.certificate`."""
        margins, c = self.margins(beta, projections), self.weights
        total = float(c.sum())
        alpha = total * self.signs * beta
        half_norm = 0.5 * float(alpha @ margins)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = bool((margins > 0).all())
            primal = float(half_norm - c @ np.log(margins)) if inside else np.inf
            dual = float(c @ (1.0 + np.log(alpha / c)) - half_norm) if (alpha > 0).all() else -np.inf
        excess = alpha * margins / c - 1.0
        gap = float(c @ (excess - np.log1p(excess))) if inside and np.isfinite(dual) else np.inf
        decrement = decrement_from_excess(excess, c)
        return CenterCertificate(
            primal=primal,
            dual=dual,
            gap=gap,
            relative_gap=gap / max(1.0, abs(primal)) if np.isfinite(gap) else np.inf,
            kkt_violation=float(np.abs(excess).max(initial=0.0)),
            equality_residual=0.0,
            box_violation=float(np.max(-alpha, initial=0.0)),
            n_free=int(np.sum(beta != 0)),
            n_bounded=0,
            n_zero=int(np.sum(beta == 0)),
            newton_decrement=decrement,
            decrement_bound=suboptimality(decrement, c),
            smallest_margin=float(margins.min()),
        )


def decrement_from_excess(excess: FloatArray, c: FloatArray) -> float:
    r"""An upper bound of the Newton decrement of F / min(c), from t_i - 1 alone.

    The gradient is sum_i e_i z_i with e_i = alpha_i - c_i / s_i, and the Hessian is at least
    sum_i (c_i / s_i^2) z_i z_i^T; hence its squared length in the inverse of the Hessian is at
    most sum_i e_i^2 s_i^2 / c_i = sum_i c_i (t_i - 1)^2.
    """
    return float(np.sqrt(c @ excess**2 / c.min()))


def suboptimality(decrement: float, c: FloatArray) -> float:
    """F - min F is at most this (Nesterov & Nemirovskii 1994: F / min(c) is self-concordant)."""
    return float(-c.min() * (decrement + np.log1p(-decrement))) if decrement < 1.0 else np.inf
