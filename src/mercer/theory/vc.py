"""Dimension-based bounds, upper and lower, to compare with norm-based ones; the VC dimension with a margin."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from mercer._errors import ParameterError
from mercer.theory.arguments import require_count, require_not_negative, require_positive, require_share


def vc_dimension(d: float, homogeneous: bool = False) -> float:
    """VC dimension of halfspaces in d dimensions: d + 1, or d if they pass through the origin.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.vc_dimension(2), theory.vc_dimension(2, homogeneous=True)
    (3, 2)
    """
    return d if homogeneous else d + 1


def margin_vc_dimension(radius: float, gamma: float, d: float = math.inf) -> int | float:
    """d_vc(gamma) <= min(ceil(R^2 / gamma^2), d) + 1, for hyperplanes with margin gamma.

    Vapnik (1995); Magdon-Ismail's notes give it without d. For points in a ball of radius R
    (around any centre: see `smallest_ball`), hyperplanes at a distance of at least gamma
    from each cannot realise every labelling of more than this many. In many dimensions, even infinitely
    many, only the margin counts.

    Parameters
    ----------
    radius : float
        R.
    gamma : float
        Positive.
    d : int or inf
        Dimension of the feature space.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.margin_vc_dimension(radius=1.0, gamma=0.3)
    13
    >>> theory.margin_vc_dimension(radius=1.0, gamma=0.3, d=4)
    5
    """
    require_not_negative(radius=radius)
    require_positive(gamma=gamma)
    if not d >= 0:
        raise ParameterError(f"d must not be negative, got {d!r}")
    ratio = (radius / gamma) * (radius / gamma)
    # A ratio that is whole up to rounding is not rounded up to the next integer.
    points = min(math.ceil(ratio * (1.0 - 1e-12)) if math.isfinite(ratio) else ratio, d)
    return points + 1 if math.isinf(points) else int(points) + 1


def growth_function(m: int, d_vc: float) -> float:
    """The logarithm of Sauer's bound on the labellings of m points: log sum_{i <= d_vc} C(m, i).

    Exact, as a logarithm so that it does not overflow; m log 2 if d_vc is m or more.

    Examples
    --------
    >>> import math
    >>> from mercer import theory
    >>> round(math.exp(theory.growth_function(4, d_vc=3)))
    15
    """
    require_count(m=m)
    require_not_negative(d_vc=d_vc)
    if d_vc >= m:
        return m * math.log(2.0)
    i = np.arange(int(d_vc) + 1)
    return float(logsumexp(gammaln(m + 1.0) - gammaln(i + 1.0) - gammaln(m - i + 1.0)))


def vc_bound(m: int, d_vc: float, delta: float = 0.05, training_error: float = 0.0) -> float:
    """The VC bound: training_error + sqrt((8/m) log(4 growth(2m) / delta)).

    With probability at least 1 - delta over m independent rows, *every* classifier of a family
    of VC dimension d_vc has at most this error on new ones (Vapnik & Chervonenkis 1971). It
    assumes nothing about the distribution; in return it grows as sqrt(d_vc / m), and
    d_vc must be known before the rows are seen.

    Parameters
    ----------
    m : int
    d_vc : float
        Vacuous if infinite, or at least 2m.
    delta : float
    training_error : float
        Fraction of the training rows on the wrong side.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.vc_bound(m=10_000, d_vc=3), 4)
    0.1608
    >>> theory.vc_bound(m=1_000, d_vc=100) > 1  # vacuous
    True
    """
    require_count(m=m)
    require_share(delta=delta)
    require_not_negative(training_error=training_error)
    log_growth = growth_function(2 * m, min(d_vc, 2 * m))
    return training_error + math.sqrt(8.0 / m * (math.log(4.0 / delta) + log_growth))


def vc_lower_bound(m: int, d_vc: float) -> float:
    """Expected error that no algorithm can be guaranteed to beat with m rows: about d_vc / (2 e m).

    For every algorithm there is a distribution that a classifier of the family labels without error, and
    on which the algorithm's expected error, over m independent rows, is at least this. Proof: d_vc points
    can be labelled at will; let k of them have probability q each, and draw their labels by coins. A point that is
    not among the rows, which happens with probability (1 - q)^m, is a coin toss, so the mean over all labellings is
    k q (1 - q)^m / 2, and some labelling has no less. Either k = d_vc and q = 1/k; or k = d_vc - 1, the
    remaining point takes the remaining probability, and q = 1/(m + 1) is best.

    It concerns guarantees for all distributions. One with a wide margin is learnt from
    far fewer rows (`hard_svm_bound`), which is why margins matter.

    Parameters
    ----------
    m : int
    d_vc : float
        VC dimension of the family (see `vc_dimension`); may be infinite.

    Returns
    -------
    float
        Between 0 and 1/2. 0, for d_vc at most 1, is vacuous.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.vc_lower_bound(m=100, d_vc=theory.vc_dimension(1000)), 3)  # m far below d
    0.452
    >>> round(theory.vc_lower_bound(m=100_000, d_vc=theory.vc_dimension(1000)), 4)
    0.0018
    """
    require_count(m=m)
    if not d_vc >= 0:
        raise ParameterError(f"d_vc must not be negative, got {d_vc!r}")
    if d_vc < 1:
        return 0.0
    all_alike = 0.5 * math.exp(m * _log_missed(1.0 / d_vc))
    share = min(1.0 / (m + 1.0), 1.0 / (d_vc - 1.0)) if d_vc > 1 else 0.0
    rare = 0.5 * (d_vc - 1.0) * share * math.exp(m * _log_missed(share)) if share > 0.0 else 0.0
    return max(all_alike, rare)


def vc_sample_size(epsilon: float, d_vc: float, delta: float = 0.05) -> int | float:
    """Rows that any algorithm needs to err at most epsilon with probability 1 - delta: of order d_vc / epsilon.

    With fewer rows than this there is, for every algorithm, a distribution that the family labels without
    error and on which the algorithm's error exceeds epsilon with probability above delta. This puts a number on the
    "m far below d / epsilon" of the fundamental theorem of learning. It is the larger of two:

    - let p be the probability of d_vc - 1 points with labels by coins (see `vc_lower_bound`). An error
      of at most epsilon but with probability delta has a mean of at most epsilon + delta (p - epsilon); so
      m >= log(p / (2 epsilon + 2 delta (p - epsilon))) / -log(1 - p / (d_vc - 1)), for every p up to 1, the best of
      which is taken;
    - one point of probability just above epsilon, with a coin for its label:
      m >= log(1 / (2 delta)) / -log(1 - epsilon).

    (Ehrenfeucht, Haussler, Kearns & Valiant 1989 have the same two terms with smaller constants.)

    Parameters
    ----------
    epsilon, delta : float
        Between 0 and 1.
    d_vc : float
        VC dimension of the family; may be infinite, and then no number of rows is enough.

    Returns
    -------
    int
        0 is vacuous: it forbids nothing, because epsilon and delta are too undemanding, or d_vc is
        below 2.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.vc_sample_size(epsilon=0.01, d_vc=theory.vc_dimension(1000), delta=0.05)
    14714
    >>> theory.vc_sample_size(epsilon=0.6, d_vc=1001, delta=0.5)  # vacuous
    0
    """
    require_share(epsilon=epsilon, delta=delta)
    if not d_vc >= 0:
        raise ParameterError(f"d_vc must not be negative, got {d_vc!r}")
    if d_vc < 2:
        return 0
    p = np.geomspace(min(1.0, 2.0 * epsilon), 1.0, 2001)
    gain = np.log(p / (2.0 * (epsilon + delta * np.maximum(0.0, p - epsilon))))
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(gain > 0, gain / -np.log1p(-p / (d_vc - 1.0)), 0.0)
    needed = max(float(rows.max()), math.log(0.5 / delta) / -math.log1p(-epsilon))
    return math.ceil(needed) if math.isfinite(needed) else math.inf


def _log_missed(share: float) -> float:
    """log(1 - share)."""
    return math.log1p(-share) if share < 1.0 else -math.inf
