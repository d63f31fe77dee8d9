"""What `kernel="auto"` and `C="auto"` stand for: fixed rules, applied to the training data.

C weighs losses against |w|^2, so it has the unit of one over a squared norm in feature space. SVMlight
takes C = 1 / mean k(x, x) (Joachims 1999). A free bias does not notice where the origin is: there the
mean squared distance from the centre is what counts, mean k(x, x) - mean k(x, x'). Then alpha = C moves a
function by about 1 at a typical distance. For regression it is times three standard deviations of
y, the range of the function (after Cherkassky & Ma 2004).
"""

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer.estimators.weighting import row_weights
from mercer.kernels.matrix_form import Precomputed
from mercer.kernels.names import resolve

# Rows whose kernel matrix decides C: every k-th, so that the same data give the same number.
MOST_ROWS = 500
# The range of a function in standard deviations of its values.
DEVIATIONS = 3.0


def is_auto(value):
    """Whether a parameter is left to a rule."""
    return isinstance(value, str) and value == "auto"


def choose_kernel(estimator, X):
    """Note on an estimator with kernel="auto" which kernel that is for X, and why."""
    for name in ("kernel_", "kernel_reason_"):
        vars(estimator).pop(name, None)
    if is_auto(estimator.kernel):
        # Kernels of texts, trees, graphs and tables take time to load, and few fits ask.
        from mercer.estimators.kernel_choice import kernel_for

        estimator.kernel_, estimator.kernel_reason_ = kernel_for(X)


def automatic_C(kernel, gamma, degree, coef0, X, bias, sample_weight=None, y=None):
    """The number that C="auto" stands for (see the top of this file).

    Examples
    --------
    >>> from mercer.estimators.automatic import automatic_C
    >>> automatic_C("linear", "scale", 3, 0.0, [[1.0], [-1.0]], "free")
    1.0
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    weights = np.ones(n) if sample_weight is None else row_weights(sample_weight, n)
    used = np.flatnonzero(weights)
    if len(used) == 0:
        # The fit refuses such weights, and says so.
        return 1.0
    used = used[:: -(-len(used) // MOST_ROWS)]
    bound = resolve(kernel, gamma, degree, coef0, X, None if sample_weight is None else weights)
    if isinstance(bound, Precomputed):
        K = np.asarray(X, dtype=np.float64)[np.ix_(used, used)]
    else:
        K = bound([X[i] for i in used] if isinstance(X, list) else X[used], dtype=np.float64)
    share = weights[used] / weights[used].sum()
    spread = float(share @ K.diagonal()) - (float(share @ K @ share) if bias == "free" else 0.0)
    spread += 1.0 if bias == "penalised" else 0.0
    scale = 1.0 if y is None else DEVIATIONS * _deviation(np.asarray(y, dtype=np.float64)[used], share)
    if not np.isfinite(spread):
        raise DataError('C="auto" needs kernel values of a usable size, but they overflow; scale X')
    # Rows that are all the same have no scale, and neither have targets.
    return (scale or 1.0) / spread if spread > 1e-12 * abs(float(share @ K.diagonal())) else 1.0


def _deviation(y, share):
    mean = float(share @ y)
    return float(np.sqrt(share @ (y - mean) ** 2))


class AutomaticC:
    """Adds to an estimator with a parameter `C` its value "auto"; the number is `C_` once fitted."""

    @property
    def _C(self):
        if not is_auto(self.C):
            return self.C
        if "C_" not in vars(self):
            raise ParameterError('C="auto" is fixed by fit; give a number here')
        return self.C_

    def _choose_C(self, X, sample_weight, y=None):
        """Note what "auto" is for checked data."""
        vars(self).pop("C_", None)
        if is_auto(self.C):
            bias = getattr(self, "bias", "free")
            kernel = self.kernel_ if is_auto(self.kernel) else self.kernel
            self.C_ = automatic_C(kernel, self.gamma, self.degree, self.coef0, X, bias, sample_weight, y)
