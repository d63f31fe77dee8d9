"""Dimension-based bounds, with which those of the norm are compared, and the VC dimension of a margin."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from mercer._errors import ParameterError
from mercer.theory.arguments import require_count, require_not_negative, require_positive, require_share


def vc_dimension(d, homogeneous=False):
    """VC dimension of halfspaces in d dimensions: d + 1, or d if they pass through the origin.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.vc_dimension(2), theory.vc_dimension(2, homogeneous=True)
    (3, 2)
    """
    return d if homogeneous else d + 1


def margin_vc_dimension(radius, gamma, d=math.inf):
    """d_vc(gamma) <= min(ceil(R^2 / gamma^2), d) + 1, of hyperplanes with a margin gamma.

    Vapnik (1995); Magdon-Ismail's notes give it without d. Of points in a ball of radius R
    (around any centre: see `smallest_ball`), hyperplanes that keep a distance of at least gamma
    from each cannot realise every labelling of more than so many. In many dimensions, infinitely
    many included, only the margin counts.

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
    # A ratio that is whole but for rounding is not rounded up to the next.
    points = min(math.ceil(ratio * (1.0 - 1e-12)) if math.isfinite(ratio) else ratio, d)
    return points + 1 if math.isinf(points) else int(points) + 1


def growth_function(m, d_vc):
    """The logarithm of Sauer's bound on the labellings of m points: log sum_{i <= d_vc} C(m, i).

    Exact, in the logarithm, so that it does not overflow; m log 2 where d_vc is m or more.

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


def vc_bound(m, d_vc, delta=0.05, training_error=0.0):
    """The VC bound: training_error + sqrt((8/m) log(4 growth(2m) / delta)).

    With probability at least 1 - delta over m independent rows, *every* classifier of a family
    of VC dimension d_vc has at most this error on new ones (Vapnik & Chervonenkis 1971). No
    assumption is made on the distribution; the price is that it grows as sqrt(d_vc / m), and that
    d_vc must be known before the rows are seen.

    Parameters
    ----------
    m : int
    d_vc : float
        Infinite, or 2m and more: vacuous.
    delta : float
    training_error : float
        Share of the training rows on the wrong side.

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
