r"""The one quadratic program behind every support vector machine here.

In the signed variables :math:`\beta_i = y_i \alpha_i`,

.. math::
    \min_\beta\; \tfrac12 \beta^T (K + s\,11^T + R)\,\beta - p^T\beta
    \quad\text{s.t.}\quad l_i \le \beta_i \le u_i,\qquad \textstyle\sum_i \beta_i = c
    \text{ if the bias is free.}

K is the kernel matrix; R a diagonal (squared losses); s = 1 for a penalised bias. The
negative gradient is :math:`g = p - (K + s 11^T + R)\beta`. Formulations differ in p, l, u,
R, s and c only: they are data, not kinds of solver.
"""

from dataclasses import dataclass

import numpy as np

from mercer._errors import ParameterError


@dataclass(frozen=True)
class DualProblem:
    """Everything of the program but the kernel matrix.

    Attributes
    ----------
    linear : ndarray (n,)
        p.
    lower, upper : ndarray (n,)
        The box; `upper` may be infinite.
    has_equality : bool
        Whether the sum of beta is fixed (a free bias).
    ridge : ndarray (n,) or None
        The diagonal of R.
    shift : float
        s, added to every entry of K.
    total : float
        c: 0 for a free bias, 1 for the weights of a mean.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    has_equality: bool = True
    ridge: np.ndarray | None = None
    shift: float = 0.0
    total: float = 0.0

    def __len__(self):
        return len(self.linear)

    def can_rise(self, beta):
        """Where beta may still grow."""
        return beta < self.upper

    def can_fall(self, beta):
        """Where beta may still shrink."""
        return beta > self.lower

    def quadratic_product(self, matrix, columns, change, rows=None, stop=None):
        """(K + s 11' + R)[rows, columns] @ change, in double precision."""
        out = matrix.product(columns, change, rows, stop)
        if self.shift:
            out += self.shift * change.sum()
        if self.ridge is not None:
            own = np.zeros(len(self))
            own[columns] = self.ridge[columns] * change
            out += own if rows is None else own[rows]
        return out

    def gradient(self, matrix, beta, stop=None):
        """g = p - (K + s 11' + R) beta."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return self.linear.copy()
        return self.linear - self.quadratic_product(matrix, support, beta[support], stop=stop)

    def objective(self, beta, gradient):
        """Value of the dual (to be maximised): p'b - b'Qb/2 = b'(p + g)/2."""
        return 0.5 * float(beta @ (self.linear + gradient))

    def extremes(self, beta, gradient):
        """(largest g that may rise, smallest g that may fall): the maximal violating pair."""
        highest = np.max(gradient, initial=-np.inf, where=self.can_rise(beta))
        lowest = np.min(gradient, initial=np.inf, where=self.can_fall(beta))
        return float(highest), float(lowest)

    def violation(self, beta, gradient):
        """How far the KKT conditions are from holding; LIBSVM's stopping quantity."""
        highest, lowest = self.extremes(beta, gradient)
        if self.has_equality:
            return max(0.0, highest - lowest)
        return max(0.0, highest, -lowest)

    def bias(self, beta, gradient):
        """b such that free points have g = b: their mean, or the middle of what is allowed."""
        if not self.has_equality:
            return 0.0
        free = self.can_rise(beta) & self.can_fall(beta)
        if free.any():
            return float(gradient[free].mean())
        highest, lowest = self.extremes(beta, gradient)
        if not np.isfinite(highest + lowest):
            return highest if np.isfinite(highest) else (lowest if np.isfinite(lowest) else 0.0)
        return 0.5 * (highest + lowest)

    def feasible(self, beta):
        """A starting point near `beta`, in the box and with the right sum where it has to have one."""
        beta = np.clip(beta, self.lower, self.upper)
        if not self.has_equality:
            return beta
        if self.total:
            return self._with_total(beta)
        excess = beta.sum()
        side = beta > 0 if excess > 0 else beta < 0
        total = np.abs(beta[side]).sum()
        if total > 0:
            beta[side] *= 1.0 - abs(excess) / total
        return beta

    def _with_total(self, beta):
        """The nearest point of the box whose sum is `total`: all are moved alike, as far as they go."""

        def moved(step):
            return np.clip(beta + step, self.lower, self.upper)

        if not self.lower.sum() <= self.total <= self.upper.sum():
            raise ParameterError(f"no point of the box has the sum {self.total!r}")
        step = 1.0
        while not moved(-step).sum() <= self.total <= moved(step).sum():
            step *= 2.0
        low, high = -step, step
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (middle, high) if moved(middle).sum() < self.total else (low, middle)
        return moved(high)
