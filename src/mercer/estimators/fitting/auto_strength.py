"""What `kernel="auto"` and `C="auto"` stand for, on the training data.

C is chosen by folds of a few hundred rows (`strength_by_folds`), among powers of ten times a unit that follows from the
kernel. C weighs losses against |w|^2, so it has the unit of one over a squared norm in feature space. SVMlight uses
C = 1 / mean k(x, x) (Joachims 1999). A free bias does not notice where the origin is: there the mean squared distance
from the centre is what counts, mean k(x, x) - mean k(x, x'). Then alpha = C moves a function by about 1 at a typical
distance. For regression it is multiplied by three standard deviations of y, the range of the function (after Cherkassky
& Ma 2004).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor

from mercer._errors import DataError, ParameterError
from mercer._jit.waiting import ends_in_force
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.auto.strength_by_folds import strength_by_folds
from mercer.estimators.fitting.given_matrix import count_items
from mercer.estimators.fitting.weights import row_weights
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.notation.sklearn_names import resolve
from mercer.solvers.calibration.out_of_fold import projected
from mercer.solvers.limits import Limits

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.regularization import Regularization


# Most rows whose kernel matrix determines the unit of C.
MOST_ROWS = 1_000
# Shares of a fit's time limit after which "auto" settles for its best: for the kernel, then for C.
KERNEL_SHARE, STRENGTH_SHARE = 0.3, 0.5
# The assumed range of a function, in standard deviations of its values.
DEVIATIONS = 3.0


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to a rule."""
    return isinstance(value, str) and value == "auto"


def choose_kernel(estimator: "BaseEstimator", X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> None:
    """Choose the kernel of an estimator with kernel="auto" for the rows of X of positive weight, with the reason."""
    for name in ("kernel_", "kernel_reason_"):
        vars(estimator).pop(name, None)
    if is_auto(estimator.kernel):
        # Imported here: kernels of texts, trees, graphs and tables take time to load, and few fits need them.
        from mercer.estimators.fitting.auto_kernel import kernel_for
        from mercer.estimators.fitting.inputs import rows_at

        n = count_items(X)
        weights = None if sample_weight is None else row_weights(sample_weight, n)
        used = None if weights is None else np.flatnonzero(weights)
        if weights is not None and used is not None and 0 < len(used) < n:
            X, weights = rows_at(X, used), weights[used]
            y = np.asarray(y)[used] if y is not None and len(np.asarray(y)) == n else None
        estimator.kernel_, estimator.kernel_reason_ = kernel_for(
            X, y, is_quantity=is_regressor(estimator), weights=weights, stop=lambda: is_spent(KERNEL_SHARE)
        )


def is_spent(share: float) -> bool:
    """Whether the limits of the surrounding fit are reached, or this share of its time is used."""
    limits = ends_in_force()
    if not isinstance(limits, Limits):
        return False
    return limits.is_over() or (limits.time_limit is not None and limits.seconds > share * limits.time_limit)


def automatic_C(
    kernel: "str | Kernel | Callable[..., Any]",
    gamma: float | str,
    degree: float,
    coef0: float,
    X: Rows,
    bias: str,
    sample_weight: ArrayLike | None = None,
    y: Array | None = None,
) -> float:
    """The unit in which C="auto" is counted (see the top of this file).

    Examples
    --------
    >>> from mercer.estimators.fitting.auto_strength import automatic_C
    >>> automatic_C("linear", "scale", 3, 0.0, [[1.0], [-1.0]], "free")
    1.0
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    weights = np.ones(n) if sample_weight is None else row_weights(sample_weight, n)
    used = np.flatnonzero(weights)
    if len(used) == 0:
        # The fit refuses such weights with a message.
        return 1.0
    bound = resolve(kernel, gamma, degree, coef0, X, None if sample_weight is None else weights)
    mean, spread = _mean_and_spread(bound, X, used, weights, bias)
    spread += 1.0 if bias == "penalized" else 0.0
    scale = 1.0 if y is None else DEVIATIONS * _deviation(np.asarray(y, dtype=np.float64)[used], _shares(weights, used))
    if not np.isfinite(spread):
        raise DataError('C="auto" needs kernel values of a usable size, but they overflow; scale X')
    # Identical rows, or constant targets, have no scale.
    return (scale or 1.0) / spread if spread > 1e-12 * abs(mean) else 1.0


def _mean_and_spread(
    kernel: "Kernel", X: Rows, used: IndexArray, weights: FloatArray, bias: str
) -> tuple[float, float]:
    """The mean of k(x, x), and the same minus the mean of k(x, x') if the kernel's origin is irrelevant."""
    if bias != "free":
        mean = float(_shares(weights, used) @ _diagonal(kernel, X, used))
        return mean, mean
    # Both means are over the same rows: far from the origin they are large and nearly equal.
    chosen = used if len(used) <= MOST_ROWS else _sampled(kernel, X, used)
    if isinstance(kernel, Precomputed):
        K = np.asarray(X, dtype=np.float64)[np.ix_(chosen, chosen)]
    else:
        K = kernel(_rows(X, chosen), dtype=np.float64)
    share = _shares(weights, chosen)
    mean = float(share @ K.diagonal())
    return mean, mean - float(share @ K @ share)


def _sampled(kernel: "Kernel", X: Rows, used: IndexArray) -> IndexArray:
    """MOST_ROWS of the rows in use, evenly spaced along a projection, so that their order does not matter; items that
    are not numeric rows, evenly spaced by position."""
    if isinstance(kernel, Precomputed):
        used = used[np.argsort(np.asarray(X).sum(axis=1)[used], kind="stable")]
    elif getattr(getattr(X, "dtype", None), "kind", "O") == "f":
        used = used[np.argsort(projected(X)[used], kind="stable")]
    return used[((np.arange(MOST_ROWS) + 0.5) * len(used) / MOST_ROWS).astype(np.intp)]


def _diagonal(kernel: "Kernel", X: Rows, used: IndexArray) -> FloatArray:
    if isinstance(kernel, Precomputed):
        return np.asarray(np.asarray(X).diagonal(), dtype=np.float64)[used]
    return kernel.diag(_rows(X, used))


def _rows(X: Rows, chosen: IndexArray) -> Rows:
    return [X[i] for i in chosen] if isinstance(X, list) else X[chosen]


def _shares(weights: FloatArray, rows: IndexArray) -> FloatArray:
    return weights[rows] / weights[rows].sum()


def _deviation(y: Array, share: FloatArray) -> float:
    mean = float(share @ y)
    return float(np.sqrt(share @ (y - mean) ** 2))


class AutomaticC:
    """Adds the value "auto" to an estimator's parameter `C`; the number is `C_` once fitted."""

    if TYPE_CHECKING:
        # Attributes of the estimator this is mixed into.
        C: Any
        kernel: Any
        kernel_: Any
        gamma: Any
        degree: Any
        coef0: Any

    @property
    def _C(self) -> "float | Regularization":
        if not is_auto(self.C):
            return self.C
        if "C_" not in vars(self):
            raise ParameterError('C="auto" is fixed by fit; give a number here')
        return self.C_

    def _choose_C(self, X: Rows, sample_weight: ArrayLike | None, y: Array) -> None:
        """Resolve "auto" for checked data."""
        for name in ("C_", "multi_class_"):
            vars(self).pop(name, None)
        how = "ovo"
        if is_auto(self.C):
            bias = getattr(self, "bias", "free")
            kernel = self.kernel_ if is_auto(self.kernel) else self.kernel
            n = len(y)
            weights = None if sample_weight is None else row_weights(sample_weight, n)
            if weights is not None and not weights.any():
                # The fit refuses such weights with a message.
                self.C_ = 1.0
                return
            bound = resolve(kernel, self.gamma, self.degree, self.coef0, X, weights)
            quantity = y if is_regressor(self) else None
            unit = automatic_C(bound, self.gamma, self.degree, self.coef0, X, bias, sample_weight, quantity)
            found, how = strength_by_folds(self, bound, X, y, weights, unit, lambda: is_spent(STRENGTH_SHARE))
            self.C_ = unit * found
        if is_auto(getattr(self, "multi_class", None)):
            self.multi_class_ = how
