r"""The perceptron as a convex program, and the bound on its updates.

Primal (Gordon's slides), over w, b and slacks s:

.. math::
    \min \sum_i c_i s_i \quad\text{s.t.}\quad y_i(\langle w, x_i\rangle + b) + s_i \ge 1, \quad s \ge 0,

with weights :math:`c_i` of the points. Dual, with :math:`z_i = y_i x_i`:

.. math::
    \max \sum_i a_i \quad\text{s.t.}\quad \sum_i a_i z_i = 0, \quad \sum_i a_i y_i = 0, \quad 0 \le a_i \le c_i,

the second equality only if there is a bias. The minimum is zero if a hyperplane separates; any
feasible a with a positive sum proves that none does.

In the features of a kernel, :math:`w = \sum_j \beta_j \psi(x_j)` is no restriction (a part orthogonal to all
:math:`\psi(x_j)` changes no value), and the sum of :math:`a_i y_i \psi(x_i)` is zero if and only if all
:math:`\sum_j k(x_i, x_j) a_j y_j` are: both programs are those of points with the rows of the kernel matrix as
coordinates. A bias is 1 added to the kernel.

The rule of the perceptron makes at most :math:`(\rho/\gamma)^2` updates on points of norm at most
:math:`\rho` that a homogeneous halfspace separates with margin :math:`\gamma` (Novikoff 1962;
Shalev-Shwartz & Ben-David 2014, theorem 9.1 and remark 15.1). A bias is one more coordinate, of value 1.
Steps of sizes between t and 1 multiply the bound by :math:`1/t^2`.
"""

from dataclasses import dataclass

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate


@dataclass(frozen=True)
class PerceptronProgram:
    """Labels and weights of the points.

    Attributes
    ----------
    signs : ndarray (n,)
        Labels, +1 or -1.
    weights : ndarray (n,)
        c, all positive.
    """

    signs: np.ndarray
    weights: np.ndarray

    def primal(self, margins: FloatArray) -> float:
        """The objective of the best multiple of (w, b), given y_i (<w, x_i> + b)."""
        return float(self.weights @ np.maximum(0.0, 1.0 - self._best_factor(margins) * margins))

    def _best_factor(self, margins: FloatArray) -> float:
        """t >= 0 that minimises sum c_i max(0, 1 - t m_i): where the slope changes its sign."""
        rising = margins > 0
        # Between two breakpoints 1 / m_i the slope is minus the sum of c_i m_i over what still has slack.
        order = np.argsort(-margins[rising])
        gains = (self.weights * margins)[rising][order]
        cost = -float((self.weights * margins)[~rising].sum())
        left = np.cumsum(gains[::-1])[::-1] - gains
        if not gains.sum() > cost:
            return 0.0
        return float(1.0 / margins[rising][order][np.flatnonzero(left <= cost)[0]])

    def certificate(
        self, margins: FloatArray, multipliers: FloatArray | None = None, residual: float = 0.0
    ) -> Certificate:
        """The certificate of (w, b) and of dual variables.

        Parameters
        ----------
        margins : ndarray (n,)
            y_i (<w, x_i> + b).
        multipliers : ndarray (n,), optional
            a; zero if there are none.
        residual : float
            Largest absolute value of sum_i a_i z_i and sum_i a_i y_i.
        """
        a = np.zeros(len(margins)) if multipliers is None else multipliers
        slack = 1.0 - self._best_factor(margins) * margins
        primal, dual = self.primal(margins), float(a.sum())
        # Slack only where a is at its bound, none where a is positive below it.
        violation = np.maximum(np.where(a < self.weights, slack, 0.0), np.where(a > 0, -slack, 0.0))
        return Certificate.of(
            primal,
            dual,
            kkt_violation=float(max(0.0, violation.max(initial=0.0))),
            equality_residual=residual,
            box_violation=float(max(0.0, np.max(np.maximum(-a, a - self.weights), initial=0.0))),
            n_free=int(np.sum((a > 0) & (a < self.weights))),
            n_bounded=int(np.sum(a >= self.weights)),
            n_zero=int(np.sum(a <= 0)),
        )


@dataclass(frozen=True)
class MistakeBound:
    """The updates of a perceptron and the bound on them.

    Attributes
    ----------
    updates : int
        The number of updates.
    radius, margin : float
        rho and gamma; the margin is zero if nothing separates.
    smallest_step : float
        The smallest fraction of `eta0` that an update may take; 1 unless weights are fractions.

    Examples
    --------
    >>> from mercer.problems.version_space.perceptron import MistakeBound
    >>> MistakeBound(updates=7, radius=3.0, margin=0.5).bound
    36.0
    """

    updates: int
    radius: float
    margin: float
    smallest_step: float = 1.0

    @property
    def bound(self) -> float:
        """(rho / gamma)^2, divided by the square of the smallest step; infinite without a margin."""
        return float((self.radius / (self.margin * self.smallest_step)) ** 2) if self.margin > 0.0 else np.inf

    @property
    def holds(self) -> bool:
        """Whether the updates are at most the bound."""
        return bool(self.updates <= self.bound)

    def __str__(self) -> str:
        ratio = f"({self.radius:.4g}/{self.margin:.4g})^2"
        return f"{self.updates} updates, at most (rho/gamma)^2 = {ratio} = {self.bound:.6g}"
