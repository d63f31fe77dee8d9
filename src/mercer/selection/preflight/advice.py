"""Which way to go with a given number of rows: exact, linear, low rank, or on several machines; and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from mercer._errors import MercerError
from mercer.estimators.fitting.auto_strength import is_auto
from mercer.estimators.fitting.inputs import takes_items
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.notation.sklearn_names import resolve
from mercer.selection.preflight import findings as data_findings
from mercer.selection.preflight.finding import Finding
from mercer.selection.preflight.low_rank import USUAL, LowRankLoss, low_rank_loss
from mercer.selection.preflight.sample import is_gram

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.selection.preflight.sample import Seen

# A fit that takes longer than this deserves advice.
LONG = 60.0
GROWS = "whose time grows as n"
# Landmarks that leave out more than this share of a kernel are no answer to a long fit.
TOO_MUCH = 0.1
# What is too long for one machine.
TOO_LONG_FOR_ONE = 1800.0


@dataclass(frozen=True)
class Spectrum:
    """What a sample shows about the kernel.

    Attributes
    ----------
    rank, of : int
        Dimensions that hold 99% of the variance, of how many rows; `rank` is None if that is not known.
    loss : LowRankLoss or None
    """

    rank: int | None = None
    of: int = 0
    loss: LowRankLoss | None = None

    def findings(self) -> list[Finding]:
        """What there is to say about it."""
        found = []
        if self.rank is not None:
            message = f"{self.rank} dimensions hold 99% of the variance of {self.of} rows in feature space"
            found.append(Finding("rank", message))
        if self.loss is not None:
            found.append(Finding("low rank", str(self.loss)))
        return found


def spectrum(last: "BaseEstimator", seen: "Seen | None", fitted: Sequence[Any]) -> Spectrum:
    """What a sample says about the kernel; empty if it says nothing."""
    kernel = _kernel_of(last, fitted)
    X = None if seen is None else seen.X if isinstance(seen.X, list) else seen.numbers
    if X is None or is_gram(last) or not isinstance(kernel, (str, Kernel)) or is_auto(kernel):
        return Spectrum()
    if isinstance(X, list) and not takes_items(kernel):
        return Spectrum()
    try:
        parameters = {key: getattr(last, key) for key in ("gamma", "degree", "coef0") if hasattr(last, key)}
        parameters = {key: value for key, value in parameters.items() if value is not None}
        order, kernel = cast("Seen", seen).order, resolve(kernel, **parameters)
        return Spectrum(*data_findings.kernel_rank(kernel, X, order), low_rank_loss(kernel, X, order))
    except (MercerError, ValueError, TypeError):
        return Spectrum()


def _kernel_of(last: "BaseEstimator", fitted: Sequence[Any]) -> Any:
    """The requested kernel; if there are several, their sum with the weights learnt from a sample."""
    if isinstance(last, WeightedKernelModel):
        return fitted[-1][1].kernel_ if fitted else None
    return getattr(last, "kernel", None)


def advice(
    last: "BaseEstimator", seen: "Seen | None", n: int, fitted: Sequence[Any], seconds: float, found: Spectrum
) -> tuple[str, str]:
    """("exact", "linear", "low-rank" or "cluster", why)."""
    kernel = getattr(last, "kernel", None)
    if kernel is None and (not fitted or hasattr(fitted[-1][1], "coef_")):
        return "linear", "the estimator is linear"
    d = 0 if seen is None else seen.n_columns
    is_named_linear = (isinstance(kernel, str) and kernel == "linear") or type(kernel).__name__ == "Linear"
    if is_named_linear and n > d and _linear_rival(last):
        return "linear", f"a linear kernel on {n} rows of {d} columns is a problem for {_linear_rival(last)}, {GROWS}"
    if kernel is not None and seen is not None and sparse.issparse(seen.X) and d > n:
        return "linear", f"with {d} sparse columns for only {n} rows, a plane can separate the rows"
    if np.isnan(seconds):
        return "exact", "no measurement speaks against it"
    if not seconds > LONG:
        return "exact", f"the fit takes about {seconds:.2g} s"
    return _for_long_fits(n, seconds, found.loss)


def _for_long_fits(n: int, seconds: float, loss: LowRankLoss | None) -> tuple[str, str]:
    takes = f"the fit takes about {seconds:.3g} s"
    if loss is None:
        return "exact", f"{takes}; a time_limit keeps the best model so far"
    if loss.left > TOO_MUCH:
        return (
            "exact",
            f"{takes}, and the kernel does not have low rank here: {loss}; a time_limit keeps the best model so far",
        )
    landmarks = min(loss.enough or USUAL, USUAL)
    restricted = loss.seconds(n, landmarks)
    if restricted > seconds:
        return "exact", f"{takes}, no longer than with low rank (about {restricted:.2g} s)"
    if restricted > TOO_LONG_FOR_ONE:
        return "cluster", f"{takes}, and with low rank still {restricted:.2g} s on one machine: {loss}"
    return "low-rank", f"{takes}, with low rank about {restricted:.2g} s: {loss}"


def _linear_rival(last: "BaseEstimator") -> str | None:
    """The linear machine for the problem of a linear kernel; None if there is none."""
    if is_classifier(last):
        return "LinearSVC"
    if "Ridge" in type(last).__name__:
        return "ridge regression (scikit-learn's Ridge)"
    return "LinearSVR" if is_regressor(last) else None
