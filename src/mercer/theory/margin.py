"""Distances to a hyperplane and the margins of a sample (section 15.1 of Shalev-Shwartz & Ben-David 2014)."""

import numpy as np

from mercer._types import ArrayLike, FloatArray, Labels, Rows
from mercer.theory.arguments import normal_of, require_not_negative, require_positive, rows_of, signs_of


def distance_to_hyperplane(X: Rows, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """The distance from each row to the hyperplane <w, v> + b = 0.

    Claim 15.1: for ``norm(w) = 1`` it is abs(<w, x> + b). Any other normal vector is divided by
    its norm first, and b with it, which leaves the hyperplane where it is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    w : array-like of shape (d,)
        Not zero.
    b : float

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from mercer import theory
    >>> theory.distance_to_hyperplane([[3.0, 4.0], [0.0, 0.0]], w=[3.0, 4.0], b=-5.0)
    array([4., 1.])
    """
    X = rows_of(X)
    w = normal_of(w, X.shape[1])
    return np.abs(X @ w + b) / np.linalg.norm(w)


def functional_margin(X: Rows, y: Labels, w: ArrayLike, b: float = 0.0) -> float:
    """min_i y_i (<w, x_i> + b): positive if (w, b) separates the sample; it scales with w.

    Examples
    --------
    >>> from mercer import theory
    >>> X, y = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1]
    >>> theory.functional_margin(X, y, w=[1.0, -1.0], b=-1.0)
    1.0
    >>> theory.functional_margin(X, y, w=[2.0, -2.0], b=-2.0)
    2.0
    """
    X = rows_of(X)
    signs = signs_of(y, X.shape[0])
    return float(np.min(signs * (X @ normal_of(w, X.shape[1]) + b)))


def geometric_margin(X: Rows, y: Labels, w: ArrayLike, b: float = 0.0) -> float:
    """The functional margin of (w, b) divided by norm(w): the distance of the closest row.

    It is negative if a row lies on the wrong side. For the Hard-SVM solution (w0, b0) it is
    1 / norm(w0), and no halfspace has a larger one (Lemma 15.2).

    Examples
    --------
    >>> from mercer import theory
    >>> X, y = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1]
    >>> round(theory.geometric_margin(X, y, w=[1.0, -1.0], b=-1.0), 6)
    0.707107
    """
    return functional_margin(X, y, w, b) / float(np.linalg.norm(normal_of(w, rows_of(X).shape[1])))


def is_separable_with_margin(X: Rows, y: Labels, w: ArrayLike, b: float = 0.0, *, gamma: float, rho: float) -> bool:
    """Whether (w, b) is a witness that the sample is separable with a (gamma, rho)-margin.

    This is Definition 15.3 for a sample: with (w*, b*) = (w, b) / norm(w), every
    row has y (<w*, x> + b*) >= gamma and norm(x) <= rho. (The slides print 1 instead of
    gamma, which would make the definition depend on the scale of w.) A distribution has the
    property if the condition holds with probability 1; a sample can refute that but never prove it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        +1 or -1.
    w : array-like of shape (d,)
        Any length except zero.
    b : float
        0 for a homogeneous halfspace.
    gamma : float
        Positive.
    rho : float
        Not negative.

    Examples
    --------
    >>> from mercer import theory
    >>> X, y = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1]
    >>> theory.is_separable_with_margin(X, y, [1.0, -1.0], -1.0, gamma=0.7, rho=3.0)
    True
    >>> theory.is_separable_with_margin(X, y, [1.0, -1.0], -1.0, gamma=0.75, rho=3.0)
    False
    """
    require_positive(gamma=gamma)
    require_not_negative(rho=rho)
    X = rows_of(X)
    longest = float(np.sqrt((X * X).sum(axis=1).max()))
    # Norms and margins that differ from the given ones only by rounding still count.
    slack = 8.0 * np.finfo(np.float64).eps
    return bool(geometric_margin(X, y, w, b) >= gamma * (1.0 - slack) and longest <= rho * (1.0 + slack))
