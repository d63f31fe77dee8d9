"""Which support vectors are free and which are bounded, for drawing.

At the optimum y f(x) = 1 where 0 < alpha < C, and y f(x) <= 1 where alpha = C; for a detector f(x) = 0 and
f(x) <= 0. The certificate has counted the bounded ones, taking every weight into account, so they
are that many support vectors with the smallest y f(x).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.plot.drawing.plane import dense


def free_support(estimator: Any) -> NDArray[np.bool_] | None:
    """A mask over `support_vectors_`; None if a vector serves several problems, or none."""
    certificate = getattr(estimator, "certificate_", None)
    if certificate is None or len(getattr(estimator, "classes_", (-1, 1))) != 2:
        return None
    if isinstance(certificate, list | tuple):
        (certificate,) = certificate
    if not hasattr(certificate, "n_bounded"):
        return None
    signs = np.sign(np.ravel(dense(estimator.dual_coef_)))
    margins = signs * estimator.decision_function(estimator.support_vectors_)
    free = np.ones(len(margins), bool)
    free[np.argsort(margins, kind="stable")[: certificate.n_bounded]] = False
    return free
