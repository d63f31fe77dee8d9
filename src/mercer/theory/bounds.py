"""Norm-based bounds: what Hard-SVM and Soft-SVM guarantee without looking at the dimension.

Theorem 15.4 and Corollary 15.7 of Shalev-Shwartz & Ben-David (2014), the form of the first
in the slides, and the bound by the ramp loss that section 15.2.3 points to (26.3). All are about
homogeneous halfspaces in a feature space, which includes linear ones.
A bound on an error is *vacuous* if it is 1 or more: then it says nothing.
"""

import math

from mercer._errors import ParameterError
from mercer.theory.arguments import require_count, require_not_negative, require_positive, require_share


def hard_svm_bound(m: int, gamma: float, rho: float, delta: float = 0.05) -> float:
    """Theorem 15.4: sqrt(4 (rho/gamma)^2 / m) + sqrt(2 log(2/delta) / m).

    Let the distribution be separable with a (gamma, rho)-margin by a homogeneous halfspace
    (Definition 15.3, see `is_separable_with_margin`). Then with probability at least 1 - delta over
    a training set of m independent rows, the 0-1 error of the output of Hard-SVM is at most this.
    gamma and rho belong to the distribution. With values measured on a sample, the result is what
    would hold if all new rows satisfied them too.

    Parameters
    ----------
    m : int
        Rows of the training set.
    gamma : float
        Margin.
    rho : float
        Largest norm of a row.
    delta : float
        Probability with which the bound may fail.

    Returns
    -------
    float
        1 or more is vacuous.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.hard_svm_bound(m=10_000, gamma=0.1, rho=1.0), 4)
    0.2272
    >>> theory.hard_svm_bound(m=100, gamma=0.1, rho=1.0) > 1  # vacuous
    True
    """
    require_count(m=m)
    require_positive(gamma=gamma)
    require_not_negative(rho=rho)
    require_share(delta=delta)
    return 2.0 * (rho / gamma) / math.sqrt(m) + math.sqrt(2.0 * math.log(2.0 / delta) / m)


def hard_svm_sample_size(epsilon: float, delta: float, gamma: float, rho: float, form: str = "slides") -> int | float:
    """m(epsilon, delta): rows with which Hard-SVM errs at most epsilon, with probability 1 - delta.

    Under the conditions of `hard_svm_bound`. The slides give the form
    (8 / epsilon^2) (2 (rho/gamma)^2 + log(2/delta)). It follows from Theorem 15.4 by
    (p + q)^2 <= 2 p^2 + 2 q^2, and is twice as large as necessary;
    ``form="theorem"`` is the smallest m for which the theorem itself gives epsilon.

    Parameters
    ----------
    epsilon, delta : float
        Between 0 and 1.
    gamma, rho : float
    form : {"slides", "theorem"}

    Returns
    -------
    int
        Infinite if it is too large for a floating-point number.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.hard_svm_sample_size(epsilon=0.1, delta=0.05, gamma=0.5, rho=1.0)
    9352
    >>> theory.hard_svm_sample_size(epsilon=0.1, delta=0.05, gamma=0.5, rho=1.0, form="theorem")
    4511
    """
    require_share(epsilon=epsilon, delta=delta)
    require_positive(gamma=gamma)
    require_not_negative(rho=rho)
    ratio, confidence = rho / gamma, math.log(2.0 / delta)
    if form == "slides":
        rows = 8.0 * (2.0 * ratio * ratio + confidence) / epsilon**2
    elif form == "theorem":
        root = (2.0 * ratio + math.sqrt(2.0 * confidence)) / epsilon
        rows = root * root
    else:
        raise ParameterError(f"form must be 'slides' or 'theorem', got {form!r}")
    return math.ceil(rows) if math.isfinite(rows) else math.inf


def soft_svm_bound(m: int, lam: float, rho: float, norm: float = 0.0, hinge: float = 0.0) -> float:
    """Corollary 15.7: hinge + lam norm^2 + 2 rho^2 / (lam m).

    Let every row have norm at most rho, and let Soft-SVM minimise lam |w|^2 + mean hinge loss over
    homogeneous halfspaces (15.6; note that it is lam, not lam/2). Then for every fixed u, with
    norm = |u| and hinge = its expected hinge loss, the *expected* hinge loss of the solution,
    over training sets of m independent rows, is at most this; and so is its expected 0-1 error.
    The last term bounds by how much the expected loss on new rows exceeds that on the
    training rows; with norm and hinge 0, it is the whole result.

    Parameters
    ----------
    m : int
    lam : float
        Weight of |w|^2; positive. For `SVC(C)` it is 1 / (2 C m).
    rho : float
    norm, hinge : float
        Of the halfspace u to compare with.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.soft_svm_bound(m=10_000, lam=0.01, rho=1.0, norm=2.0, hinge=0.1), 6)
    0.16
    """
    require_count(m=m)
    require_positive(lam=lam)
    require_not_negative(rho=rho, norm=norm, hinge=hinge)
    return hinge + lam * norm**2 + 2.0 * rho**2 / (lam * m)


def soft_svm_lambda(m: int, rho: float, B: float) -> float:
    """sqrt(2 rho^2 / (B^2 m)), the lambda that Corollary 15.7 chooses to compete with norms up to B.

    It makes lam B^2 and 2 rho^2 / (lam m) equal, which makes their sum smallest. Pass it to an
    estimator as ``C=Regularization.from_lambda(lam)``.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.soft_svm_lambda(m=800, rho=1.0, B=5.0), 6)
    0.01
    """
    require_count(m=m)
    require_positive(rho=rho, B=B)
    return math.sqrt(2.0 * rho**2 / (B**2 * m))


def soft_svm_bound_for_norm(m: int, rho: float, B: float, hinge: float = 0.0) -> float:
    """Corollary 15.7 with `soft_svm_lambda`: hinge + sqrt(8 rho^2 B^2 / m).

    `hinge` is the smallest expected hinge loss of a homogeneous halfspace of norm at most B. The
    expected hinge loss, and so the expected 0-1 error, of Soft-SVM is at most this.

    Examples
    --------
    The text of section 15.2.2: at most a hundred words in a document, B^2 = 100.

    >>> from mercer import theory
    >>> theory.soft_svm_bound_for_norm(m=8_000_000, rho=10.0, B=10.0)
    0.1
    """
    require_count(m=m)
    require_not_negative(rho=rho, B=B, hinge=hinge)
    return hinge + math.sqrt(8.0 * rho**2 * B**2 / m)


def ramp_bound(m: int, rho: float, B: float, ramp: float = 0.0, delta: float = 0.05) -> float:
    """The bound by the ramp loss: ramp + 2 rho B / sqrt(m) + sqrt(2 log(2/delta) / m).

    Let every row have norm at most rho. Then with probability at least 1 - delta over m independent rows,
    the 0-1 error of *every* homogeneous halfspace w of norm at most B, however it was found, is at most this, where
    ramp is its mean ramp loss min(1, max(0, 1 - y <w, x>)) on these rows (Shalev-Shwartz & Ben-David 2014, section
    26.3: the ramp is 1-Lipschitz in the margin, at most 1, and nowhere below the error). Unlike
    Corollary 15.7, it holds for the sample at hand and not in expectation, a row far on the wrong side costs 1 and not
    its distance, and the dimension does not appear. With ramp = 0 and B = 1/gamma it is Theorem 15.4.

    B must be fixed before the rows are seen; `ramp_bound_for_fit` takes the norm of a fitted model.

    Parameters
    ----------
    m : int
    rho : float
        Largest norm of a row.
    B : float
        Largest norm of w.
    ramp : float
        Mean ramp loss on the training rows, between 0 and 1.
    delta : float

    Returns
    -------
    float
        1 or more is vacuous, as it is until m exceeds 4 rho^2 B^2.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.ramp_bound(m=10_000, rho=1.0, B=5.0, ramp=0.1), 4)
    0.2272
    >>> theory.ramp_bound(m=100, rho=1.0, B=5.0) > 1  # vacuous
    True
    """
    require_count(m=m)
    require_not_negative(rho=rho, B=B)
    require_share(delta=delta)
    if not 0.0 <= ramp <= 1.0:
        raise ParameterError(f"ramp must lie between 0 and 1, got {ramp!r}")
    return ramp + 2.0 * rho * B / math.sqrt(m) + math.sqrt(2.0 * math.log(2.0 / delta) / m)


def ramp_bound_for_fit(m: int, rho: float, norm: float, ramp: float = 0.0, delta: float = 0.05) -> float:
    """`ramp_bound` for a norm of w that is known only after the fit.

    The bound is taken for rho B = 2, 4, 8, ... at once, the i-th with delta / (i (i + 1)), which adds up
    to delta; the result is the first whose rho B is at least rho norm. This costs a factor of at most two, or as
    much as rho B = 2 does, and a logarithm of a logarithm. rho must be known beforehand.

    Parameters
    ----------
    m : int
    rho : float
        Largest norm of a row.
    norm : float
        Of the fitted w.
    ramp : float
        Its mean ramp loss on the training rows.
    delta : float

    Returns
    -------
    float
        1 or more is vacuous.

    Examples
    --------
    >>> from mercer import theory
    >>> round(theory.ramp_bound_for_fit(m=100_000, rho=1.0, norm=5.0, ramp=0.1), 4)
    0.1617
    """
    require_not_negative(rho=rho, norm=norm)
    require_share(delta=delta)
    i = max(1, math.ceil(math.log2(max(rho * norm, 1.0))))
    return ramp_bound(m, 1.0, 2.0**i, ramp, delta / (i * (i + 1)))
