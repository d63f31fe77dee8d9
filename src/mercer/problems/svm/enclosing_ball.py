r"""The smallest ball around points of a feature space.

Primal, over the centre c:

.. math::
    R^2 = \min_c\, \max_i\; \|\psi(x_i) - c\|^2

Dual (Schölkopf & Smola 2002, section 8.3; Tax & Duin 1999 without slack), over weights of the points:

.. math::
    \max_\beta\; \sum_i \beta_i K_{ii} - \beta^T K \beta
    \quad\text{s.t.}\quad \beta_i \ge 0,\qquad \textstyle\sum_i \beta_i = 1,
    \qquad c = \textstyle\sum_i \beta_i\, \psi(x_i)

It is twice the program of `mercer.problems.svm.signed_dual` with p = diag(K) / 2, the box [0, 1] and c = 1.
"""

from dataclasses import dataclass

import numpy as np

from mercer._types import FloatArray
from mercer.problems.svm.signed_dual import DualProblem


@dataclass(frozen=True)
class EnclosingBall:
    """Points known only through their kernel.

    Attributes
    ----------
    diag : ndarray (n,)
        k(x_i, x_i).
    """

    diag: np.ndarray

    def dual(self) -> DualProblem:
        """Half of the dual above."""
        n = len(self.diag)
        return DualProblem(linear=0.5 * self.diag, lower=np.zeros(n), upper=np.ones(n), total=1.0)

    def bounds(self, weights: FloatArray, projections: FloatArray) -> tuple[float, float]:
        """(lower, upper) bound on R^2 that feasible weights prove.

        Parameters
        ----------
        weights : ndarray (n,)
            Nonnegative, with sum 1.
        projections : ndarray (n,)
            <c, psi(x_i)> = sum_j beta_j k(x_j, x_i), computed in double precision.

        Returns
        -------
        lower : float
            The dual value: no ball is smaller.
        upper : float
            The squared distance from c to the farthest point: this ball encloses them.
        """
        centre = float(weights @ projections)
        squares = self.diag - 2.0 * projections + centre
        return float(weights @ squares), float(squares.max(initial=0.0))
