r"""Leave-one-out estimates that need no second fit.

The leave-one-out error of a rule over m rows is the fraction of rows that it gets wrong when it
is trained on the m - 1 others. Over random samples its expectation is the expected error of the
rule on m - 1 rows (Luntz & Brailovsky 1969), so a bound on the first estimates the second.

Why alpha and xi are enough: let W be the largest value of the dual, and W_t that without row t. Taking
alpha_t back to 0 costs at most :math:`\alpha_t\xi_t + \tfrac12\alpha_t^2 D_t`; giving row t its
alpha_t, if it is an error when left out, gains at least :math:`\alpha_t - \tfrac12\alpha_t^2 D_t`.
Both are bounds on W - W_t, so an error implies :math:`\alpha_t D_t + \xi_t \ge 1`. Without an
equality :math:`D_t = k(x_t, x_t)`; with one, another row on the margin must move along, and
:math:`D_t = \|\psi(x_t) - \psi(x_r)\|^2`.

The span is sharper: if leaving row p out moves the other rows on the margin but none off or onto it, its
decision value falls by exactly :math:`\alpha_p S_p^2`, where :math:`S_p` is the distance of
:math:`\psi(x_p)` from the combinations of the other rows on the margin (with sum one if the bias is free).
"""

from typing import cast

import numpy as np

from mercer._errors import DataError
from mercer._types import ArrayLike, BoolArray, FloatArray
from mercer.theory.arguments import places_of, require_count, require_not_negative


def support_vector_bound(n_support: float, m: int) -> float:
    """Upper bound on the leave-one-out error of a support vector machine: support vectors over m.

    Leaving out a row with alpha = 0 does not change the solution, so only support vectors can become
    errors (Vapnik 1995). This holds at the optimum for every kernel, C, and kind of bias.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.support_vector_bound(n_support=3, m=100)
    0.03
    """
    require_count(m=m)
    require_not_negative(n_support=n_support)
    if n_support > m:
        raise DataError(f"n_support must be at most m = {m}, got {n_support!r}")
    return float(n_support) / m


def xi_alpha_bound(
    alpha: ArrayLike, slack: ArrayLike, spread: ArrayLike, bias: str = "free", loss: str = "hinge"
) -> float:
    """The xi-alpha estimate of Joachims (2000): an upper bound on the leave-one-out error.

    For a free bias, the fraction of rows with 2 alpha_i R^2 + xi_i >= 1, where R^2 is an upper bound on k(x, x) - k(x,
    x') over all rows. It holds for *stable* machines: after a row is left out, support vectors inside the box still
    have room to take over its alpha. Without a bias, or with a penalised one, which adds no constraint, the fraction
    with alpha_i k(x_i, x_i) + xi_i >= 1, without conditions (Jaakkola & Haussler 1999). Never more than
    `support_vector_bound`.

    Parameters
    ----------
    alpha : array (m,)
        Nonnegative dual variables of a solved problem.
    slack : array (m,)
        xi_i = max(0, 1 - y_i f(x_i)).
    spread : float or array (m,)
        R^2 for a free bias; else k(x_i, x_i), with 1 added for a penalised bias.
    bias : {"free", "penalized", "none"}
    loss : {"hinge", "squared_hinge"}
        The squared hinge adds xi_i / alpha_i to the diagonal of the kernel, so with a free bias
        its slack counts twice.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer import theory
    >>> theory.xi_alpha_bound(alpha=[0.0, 0.2, 1.0, 1.0], slack=[0.0, 0.0, 0.1, 1.5], spread=1.0)
    0.5
    """
    return float(np.mean(xi_alpha_rows(alpha, slack, spread, bias, loss)))


def xi_alpha_rows(
    alpha: ArrayLike, slack: ArrayLike, spread: ArrayLike, bias: str = "free", loss: str = "hinge"
) -> BoolArray:
    """Which rows the estimate counts: those that may become errors when left out.

    The parameters are those of `xi_alpha_bound`, of which this is the numerator.

    Examples
    --------
    >>> from mercer.theory.leave_one_out import xi_alpha_rows
    >>> xi_alpha_rows(alpha=[0.0, 0.2, 1.0, 1.0], slack=[0.0, 0.0, 0.1, 1.5], spread=1.0).tolist()
    [False, False, True, True]
    """
    alpha, slack = np.asarray(alpha, dtype=np.float64), np.asarray(slack, dtype=np.float64)
    if alpha.ndim != 1 or alpha.shape != slack.shape or len(alpha) == 0:
        raise DataError(f"alpha and slack must be one number for each row, got shapes {alpha.shape}, {slack.shape}")
    if not (alpha >= 0).all() or not (slack >= 0).all() or not (np.asarray(spread) >= 0).all():
        raise DataError("alpha, slack and spread must not be negative, nor NaN")
    moved = 2.0 if bias == "free" else 1.0
    doubled = 2.0 if bias == "free" and loss == "squared_hinge" else 1.0
    # A row without alpha may be left out; rounding must not make it an error.
    return (alpha > 0) & (moved * alpha * cast(FloatArray, spread) + doubled * slack >= 1.0 - 1e-9)


def squared_spans(K: ArrayLike, free: ArrayLike, support: ArrayLike, bias: str = "free") -> FloatArray:
    """S_p^2 of the support vectors (Vapnik & Chapelle 2000): how far each is from the span of the others
    on the margin.

    Parameters
    ----------
    K : array (m, m)
        Kernel matrix; with 1 added for a penalised bias.
    free, support : array of int, or of bool (m,)
        Rows strictly inside their box, and all support vectors: their numbers, or masks.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    ndarray
        One number for each of `support`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import theory
    >>> theory.squared_spans(np.eye(3), free=[0, 1], support=[0, 1, 2])
    array([2. , 2. , 1.5])
    """
    K = np.asarray(K, dtype=np.float64)
    free, support = places_of(len(K), free=free, support=support)
    f, has_sum = len(free), bias == "free"
    system = np.zeros((f + has_sum, f + has_sum))
    system[:f, :f] = K[np.ix_(free, free)]
    system[f:, :f] = system[:f, f:] = 1.0
    inverse = np.linalg.pinv(system, hermitian=True)
    columns = np.ones((f + has_sum, len(support)))
    columns[:f] = K[np.ix_(free, support)]
    squares = K[support, support] - np.einsum("ij,ij->j", columns, inverse @ columns)
    place = np.full(len(K), -1)
    place[free] = np.arange(f)
    own = place[support] >= 0
    with np.errstate(divide="ignore"):
        squares[own] = 1.0 / np.maximum(inverse.diagonal()[place[support[own]]], 0.0)
    return np.maximum(squares, 0.0)


def span_estimate(alpha: ArrayLike, margins: ArrayLike, K: ArrayLike, upper: ArrayLike, bias: str = "free") -> float:
    """The span estimate of the leave-one-out error: the fraction of rows with alpha_p S_p^2 >= y_p f(x_p).

    Exact if leaving one row out changes no other row's case; otherwise an estimate, usually a close one.

    Parameters
    ----------
    alpha, margins, upper : array (m,)
        Dual variables, y_i f(x_i), and the bound of each dual variable.
    K, bias
        As in `squared_spans`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import theory
    >>> theory.span_estimate([0.4, 0.4], [1.0, 1.0], np.eye(2), [1.0, 1.0])
    0.0
    """
    alpha, margins, upper = (np.asarray(each, dtype=np.float64) for each in (alpha, margins, upper))
    support = np.flatnonzero(alpha > 0)
    free = np.flatnonzero((alpha > 0) & (alpha < upper * (1.0 - 1e-8)))
    fall = np.zeros(len(alpha))
    spans = squared_spans(K, free, support, bias)
    fall[support] = np.where(np.isfinite(spans), alpha[support] * spans, np.inf)
    return float(np.mean(margins - fall <= 0))
