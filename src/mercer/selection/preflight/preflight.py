"""What a fit will take, and what to know about the data beforehand: measured on small samples, in a second or two.

The time is not computed from constants but measured: fits of the estimator itself on samples of growing
size, until the time allowed is used up or the sample is everything. The growth between the last of them
is extrapolated to all rows.
"""

from collections.abc import Sized
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, IndexArray, Labels, Rows
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.weights import row_weights
from mercer.kernels.base.kernel import Kernel
from mercer.selection.preflight import findings as data_findings
from mercer.selection.preflight.advice import advice, spectrum
from mercer.selection.preflight.certificate import CertificateForecast, forecast
from mercer.selection.preflight.finding import Finding
from mercer.selection.preflight.leaks import leaks
from mercer.selection.preflight.measuring import carried_on, fair_order, measure
from mercer.selection.preflight.memory import bytes_of_fit
from mercer.selection.preflight.sample import (
    countable,
    holds_matrices,
    is_gram,
    last_step,
    seen_by_last_step,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.selection.preflight.sample import Seen


@dataclass(frozen=True)
class Preflight:
    """What `preflight` found: print it, or take it as a dictionary by `as_dict`.

    Attributes
    ----------
    n_rows, n_columns : int
        `n_columns` is 0 if items are not rows.
    seconds, bytes : float, int
        Predicted time and additional memory of the fit.
    exponent : float
        Here the time grows as rows ** exponent.
    measured : list of (rows, seconds)
        The fits behind that.
    is_measured : bool
        Whether the last of them was the whole fit.
    refusal : str
        What `fit` says if it refuses a sample; there are no predictions then.
    findings : list of Finding
    advice : {"exact", "linear", "low-rank", "cluster"}
    reason : str
    certificate : CertificateForecast or None
        Seconds for the certificate, and whether everything will be recomputed for it.
    """

    n_rows: int
    n_columns: int
    seconds: float
    bytes: int
    exponent: float
    measured: list
    is_measured: bool
    advice: str
    reason: str
    findings: list = field(default_factory=list)
    refusal: str = ""
    certificate: CertificateForecast | None = None

    @property
    def problems(self) -> list[Finding]:
        """The findings that something should be done about."""
        return [each for each in self.findings if each.is_problem]

    def __getitem__(self, subject: str) -> Finding:
        for each in self.findings:
            if each.subject == subject:
                return each
        raise KeyError(
            f"nothing was found about {subject!r}; the findings are {[each.subject for each in self.findings]}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        columns = f" of {self.n_columns} columns" if self.n_columns else ""
        return "\n".join(
            [
                f"{self.n_rows:,} rows{columns}: {self._prediction}",
                f"advice: {self.advice}, because {self.reason}",
                *map(str, self.findings),
            ]
        )

    __repr__ = __str__

    @property
    def _prediction(self) -> str:
        if not self.measured:
            return f"fit refuses a sample of the rows: {self.refusal}"
        how = "measured" if self.is_measured else f"predicted, growing as n^{self.exponent:.2f}"
        certificate = "" if self.certificate is None else f"; {self.certificate}"
        return f"a fit takes about {self.seconds:.3g} s ({how}) and {self.bytes / 2**20:.0f} MiB{certificate}"


def preflight(
    estimator: "BaseEstimator",
    X: Rows,
    y: Labels | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    seconds: float = 1.5,
) -> Preflight:
    """Look at the data and predict the time and memory of ``estimator.fit(X, y)`` without fitting everything.

    Parameters
    ----------
    estimator : estimator
        One of Mercer's, or any with scikit-learn's `fit`; it is not changed. A pipeline is timed as a whole, and its
        last step is examined, with the data as the steps before it produce them.
    X, y
        What would be passed to `fit`.
    sample_weight : array-like, optional
    seconds : float, default=1.5
        About how much time to spend measuring; compilation, once per machine, is not counted.

    Returns
    -------
    Preflight

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, preflight
    >>> X, y = load_iris(return_X_y=True)
    >>> record = preflight(SVC(), X, y)
    >>> record.advice, record["duplicates"].message
    ('exact', '1 of 150 rows are copies of others; a weight of two would do the same')
    """
    require_number("seconds", seconds, above=0.0)
    if not hasattr(estimator, "fit"):
        raise ParameterError(f"estimator must have a fit method, got {estimator!r}")
    last = last_step(estimator)
    X, n, d = countable(X, holds_matrices(last))
    if y is not None and len(cast(Sized, y)) != n:
        raise DataError(f"X and y must have the same length, got {n} and {len(cast(Sized, y))}")
    if sample_weight is not None:
        row_weights(sample_weight, n)
        sample_weight = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n)
    y = None if y is None else np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True) if y is not None and is_classifier(estimator) else (None, None)
    order = fair_order(n, codes)
    seen = seen_by_last_step(estimator, X, y, order, d)
    findings = _findings(last, X, seen, y, classes, codes)
    measured, fitted, refusal = measure(estimator, X, y, sample_weight, order, seconds, codes)
    predicted, exponent = carried_on(measured, n)
    kernel = spectrum(last, seen, fitted)
    findings += kernel.findings()
    advised, reason = advice(last, seen, n, fitted, predicted, kernel)
    bytes_needed = 0 if seen is None else bytes_of_fit(last, seen.X, n, seen.n_columns, fitted, seen.is_transformed)
    return Preflight(
        n, d, predicted, bytes_needed, exponent, measured, bool(measured) and measured[-1][0] == n, advised, reason,
        findings, refusal, forecast(n, d if seen is None else seen.n_columns, fitted),
    )  # fmt: skip


def _findings(
    last: "BaseEstimator",
    X: Rows,
    seen: "Seen | None",
    y: Array | None,
    classes: Array | None,
    codes: IndexArray | None,
) -> list[Finding]:
    """What can be said about the rows X and their targets, and about what the estimator receives for them."""
    numbers = None if seen is None else seen.numbers
    if numbers is not None and not get_tags(last).input_tags.allow_nan:
        wrong = data_findings.not_finite(numbers)
        if wrong:
            return [Finding("numbers", f"{wrong} entries are NaN or infinite; fit will refuse them", is_problem=True)]
    found = []
    if not is_gram(last):
        if numbers is not None and not _takes_tables(last):
            found += data_findings.scaling(numbers)
        found += data_findings.repetitions(X, _targets(last, y, codes))
        if y is not None and y.ndim == 1 and (codes is not None or is_regressor(last)):
            found += leaks(X, y, is_quantity=codes is None)
    if classes is not None and len(classes) < 2:
        return [*found, Finding("balance", f"every label is {classes[0]!r}; fit needs two classes", is_problem=True)]
    return [
        *found,
        *([] if classes is None else data_findings.balance(classes, cast(IndexArray, codes))),
        *_nu(last, classes, codes),
    ]


def _takes_tables(last: "BaseEstimator") -> bool:
    """Whether every column has a kernel of its own, so that their scales are never compared."""
    kernel = getattr(last, "kernel", None)
    return isinstance(kernel, Kernel) and bool(kernel.takes_tables)


def _targets(last: "BaseEstimator", y: Array | None, codes: IndexArray | None) -> Array | None:
    """A number for each different target; None if nothing is learnt from targets."""
    if codes is not None:
        return codes
    return np.unique(y, axis=0, return_inverse=True)[1].ravel() if y is not None and is_regressor(last) else None


def _nu(last: "BaseEstimator", classes: Array | None, codes: IndexArray | None) -> list[Finding]:
    # Others, such as scikit-learn's SVC, have an attribute of that name that is not a parameter.
    if "nu" not in _parameters(last):
        return []
    if classes is not None:
        return data_findings.nu_is_feasible(last.nu, classes, cast(IndexArray, codes))
    is_fine = 0 < last.nu <= 1
    message = f"nu={last.nu:g} is {'feasible' if is_fine else 'not in (0, 1]'}"
    return [Finding("nu", message, is_problem=not is_fine)]


def _parameters(estimator: "BaseEstimator") -> dict[str, Any]:
    return estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
