r"""Lagrange multipliers: the conditions for an optimum, checked and solved.

For :math:`\min f(u)` subject to :math:`g_i(u) \le 0` (or :math:`= 0`), with the Lagrangian
:math:`L(u, a) = f(u) + \sum_i a_i g_i(u)`, the conditions of Karush, Kuhn and Tucker for an optimum are that
:math:`\nabla_u L = 0`, that u is feasible, that :math:`a_i \ge 0` for inequalities, and that
:math:`a_i g_i(u) = 0`. Fritz John's lemma (15.9) is the part that names the active constraints.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from mercer._errors import DataError
from mercer._types import ArrayLike, FloatArray, Labels, Rows
from mercer.theory.arguments import normal_of, require_positive, rows_of, signs_of


@dataclass(frozen=True)
class KKTResiduals:
    """By how much each condition fails at a point; all four are 0 at an optimum.

    Attributes
    ----------
    stationarity : float
        Norm of the gradient of the Lagrangian.
    infeasibility : float
        Largest violation of a constraint.
    sign : float
        Largest negative part of an inequality's multiplier.
    complementarity : float
        Largest abs(a_i g_i).
    """

    stationarity: float
    infeasibility: float
    sign: float
    complementarity: float

    def hold(self, tol: float = 1e-9) -> bool:
        """Whether all conditions hold to within `tol`."""
        return max(self.stationarity, self.infeasibility, self.sign, self.complementarity) <= tol


def kkt_residuals(
    gradient: ArrayLike,
    constraints: ArrayLike,
    constraint_gradients: ArrayLike,
    multipliers: ArrayLike,
    n_equalities: int = 0,
) -> KKTResiduals:
    """The KKT conditions of min f(u) subject to g_i(u) <= 0, at one point u.

    Necessary at a minimum if the constraints are well behaved (linear ones are); sufficient
    if f and the g_i are convex. To maximise f, minimise -f.

    Parameters
    ----------
    gradient : array (d,)
        Of f at u.
    constraints : array (k,)
        g_i(u).
    constraint_gradients : array (k, d)
    multipliers : array (k,)
        a_i.
    n_equalities : int
        The first this many constraints are g_i(u) = 0, and their multipliers may have any sign.

    Examples
    --------
    The largest 6x + 8y on the unit disc is at (0.6, 0.8), with the multiplier 5:

    >>> from mercer import theory
    >>> theory.kkt_residuals([-6.0, -8.0], [0.6**2 + 0.8**2 - 1.0], [[1.2, 1.6]], [5.0]).hold()
    True
    """
    values = np.atleast_1d(np.asarray(constraints, dtype=np.float64))
    a = np.atleast_1d(np.asarray(multipliers, dtype=np.float64))
    slope = np.asarray(gradient, dtype=np.float64)
    slopes = np.asarray(constraint_gradients, dtype=np.float64).reshape(len(values), len(slope))
    if len(a) != len(values):
        raise DataError(f"there must be a multiplier for each of {len(values)} constraints, got {len(a)}")
    beyond = np.concatenate([np.abs(values[:n_equalities]), np.maximum(0.0, values[n_equalities:])])
    return KKTResiduals(
        stationarity=float(np.linalg.norm(slope + a @ slopes)),
        infeasibility=float(beyond.max(initial=0.0)),
        sign=float(np.maximum(0.0, -a[n_equalities:]).max(initial=0.0)),
        complementarity=float(np.abs(a * values).max(initial=0.0)),
    )


def fritz_john_multipliers(X: Rows, y: Labels, w: ArrayLike, tol: float = 1e-6) -> tuple[FloatArray, float]:
    """Theorem 15.8: alpha >= 0 with w = sum_i alpha_i y_i x_i, over the rows with y_i <w, x_i> = 1 only.

    If w solves Hard-SVM for homogeneous halfspaces (15.3), such multipliers exist: w is supported by
    the rows on the margin. They are found by non-negative least squares, without the dual.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        +1 or -1.
    w : array-like of shape (d,)
    tol : float
        A row is on the margin if y <w, x> differs from 1 by at most this.

    Returns
    -------
    alpha : ndarray (n,)
        0 for rows that are not on the margin.
    residual : float
        norm(w - sum_i alpha_i y_i x_i) / norm(w): 0 up to rounding if w is optimal.

    Examples
    --------
    >>> from mercer import theory
    >>> X, y = [[1.0, 1.0], [-1.0, 1.0], [0.0, 5.0]], [1, 1, 1]
    >>> alpha, residual = theory.fritz_john_multipliers(X, y, w=[0.0, 1.0])
    >>> alpha, residual < 1e-12
    (array([0.5, 0.5, 0. ]), True)
    """
    require_positive(tol=tol)
    X = rows_of(X)
    w, signs = normal_of(w, X.shape[1]), signs_of(y, X.shape[0])
    active = np.flatnonzero(np.abs(signs * (X @ w) - 1.0) <= tol)
    chosen = X[active].toarray() if hasattr(X, "toarray") else X[active]
    alpha, rest = np.zeros(len(signs)), float(np.linalg.norm(w))
    if len(active):
        alpha[active], rest = nnls((signs[active, None] * chosen).T, w)
    return alpha, float(rest / np.linalg.norm(w))
