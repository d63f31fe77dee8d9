"""What a fit will take, and what to know of the data before it: measured on small samples, in a second or two.

The time is not computed from constants but measured: fits of the estimator itself on samples of growing
size, until the time allowed is used up or the sample is everything. The growth between the last of them
is carried on to all rows.
"""

import time
import warnings
from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from mercer._errors import DataError, MercerError, ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting.auto_strength import is_auto
from mercer.estimators.fitting.inputs import takes_items
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.weights import row_weights
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.notation.sklearn_names import resolve
from mercer.selection.preflight import findings as data_findings
from mercer.selection.preflight.findings import Finding
from mercer.selection.preflight.memory import bytes_of_fit
from mercer.selection.preflight.sample import (
    countable,
    holds_matrices,
    is_gram,
    last_step,
    part_of,
    seen_by_last_step,
    weights_of,
)
from mercer.selection.preflight.timer import CoreTimer
from mercer.solvers.dual_qp import policy

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.selection.preflight.sample import Seen


# Samples grow by this factor.
GROWTH = 2.0
FIRST_ROWS = 250
WARM_UP_ROWS = 60
# A fit that takes no more than this share of the time is measured twice; the faster one counts.
AGAIN = 0.4
# Growth of the time with the number of rows that is believed: a fit reads every row, and no solver here is worse.
LEAST_EXPONENT, MOST_EXPONENT = 1.0, 2.5
# A fit that takes longer than this deserves advice.
LONG = 60.0
MANY_ROWS = 20_000
GROWS = "whose time grows as n"


@dataclass(frozen=True)
class Preflight:
    """What `preflight` found: print it, or take it by `as_dict`.

    Attributes
    ----------
    n_rows, n_columns : int
        `n_columns` is 0 where items are not rows.
    seconds, bytes : float, int
        Predicted time and additional memory of the fit.
    exponent : float
        The time grows as rows ** exponent, here.
    measured : list of (rows, seconds)
        The fits behind that.
    is_measured : bool
        Whether the last of them was the whole fit.
    refusal : str
        What `fit` says to a sample, where it refuses it: there are no predictions then.
    findings : list of Finding
    advice : {"exact", "linear", "low-rank"}
    reason : str
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

    @property
    def problems(self) -> list[Finding]:
        """The findings that ask for something to be done."""
        return [each for each in self.findings if each.is_problem]

    def __getitem__(self, subject: str) -> Finding:
        for each in self.findings:
            if each.subject == subject:
                return each
        raise KeyError(f"nothing was found about {subject!r}; there are {[each.subject for each in self.findings]}")

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        columns = f" x {self.n_columns}" if self.n_columns else ""
        return "\n".join(
            [
                f"{self.n_rows}{columns}: {self._prediction}",
                f"advice: {self.advice}, because {self.reason}",
                *map(str, self.findings),
            ]
        )

    __repr__ = __str__

    @property
    def _prediction(self) -> str:
        if not self.measured:
            return f"fit refuses a sample of them: {self.refusal}"
        how = "measured" if self.is_measured else f"predicted, growing as n^{self.exponent:.2f}"
        return f"about {self.seconds:.3g} s ({how}) and {self.bytes / 2**20:.0f} MiB"


def preflight(
    estimator: "BaseEstimator",
    X: Rows,
    y: Labels | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    seconds: float = 1.5,
) -> Preflight:
    """Look at the data and predict time and memory of ``estimator.fit(X, y)`` without fitting all of it.

    Parameters
    ----------
    estimator : estimator
        Of Mercer, or any with scikit-learn's `fit`; it is not changed. Of a pipeline the whole is timed, and the last
        step looked at, with the data as the steps before it turn them out.
    X, y
        What would be given to `fit`.
    sample_weight : array-like, optional
    seconds : float, default=1.5
        Time to spend on measuring, about; compilation, once a machine, is not counted.

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
    ('exact', '1 of 150 rows are copies of others; a weight of two is the same')
    """
    require_number("seconds", seconds, above=0.0)
    if not hasattr(estimator, "fit"):
        raise ParameterError(f"estimator must have fit, got {estimator!r}")
    last = last_step(estimator)
    X, n, d = countable(X, holds_matrices(last))
    if y is not None and len(cast(Sized, y)) != n:
        raise DataError(f"X and y must have the same length, got {n} and {len(cast(Sized, y))}")
    if sample_weight is not None:
        row_weights(sample_weight, n)
        sample_weight = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n)
    y = None if y is None else np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True) if y is not None and is_classifier(estimator) else (None, None)
    order = _order(n, codes)
    seen = seen_by_last_step(estimator, X, y, order, d)
    findings = _findings(last, X, seen, y, classes, codes)
    measured, fitted, refusal = _measure(estimator, X, y, sample_weight, order, seconds, codes)
    predicted, exponent = _carried_on(measured, n)
    rank, of = _rank(last, seen, fitted)
    if rank is not None:
        findings.append(Finding("rank", f"{rank} dimensions hold 99 % of the variance of {of} rows in feature space"))
    advice, reason = _advice(last, seen, n, fitted, predicted, rank, of)
    bytes_needed = 0 if seen is None else bytes_of_fit(last, seen.X, n, seen.n_columns, fitted, seen.is_transformed)
    return Preflight(
        n, d, predicted, bytes_needed, exponent, measured, bool(measured) and measured[-1][0] == n, advice, reason,
        findings, refusal,
    )  # fmt: skip


def _findings(
    last: "BaseEstimator",
    X: Rows,
    seen: "Seen | None",
    y: Array | None,
    classes: Array | None,
    codes: IndexArray | None,
) -> list[Finding]:
    """What can be said of the rows X and their targets, and of what the estimator is given for them."""
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
    if classes is not None and len(classes) < 2:
        return [*found, Finding("balance", f"every label is {classes[0]!r}; fit needs two classes", is_problem=True)]
    return [
        *found,
        *([] if classes is None else data_findings.balance(classes, cast(IndexArray, codes))),
        *_nu(last, classes, codes),
    ]


def _takes_tables(last: "BaseEstimator") -> bool:
    """Whether every column has a kernel of its own, so that their scales do not meet."""
    kernel = getattr(last, "kernel", None)
    return isinstance(kernel, Kernel) and bool(kernel.takes_tables)


def _targets(last: "BaseEstimator", y: Array | None, codes: IndexArray | None) -> Array | None:
    """A number for each different target; None where nothing is learnt from targets."""
    if codes is not None:
        return codes
    return np.unique(y, axis=0, return_inverse=True)[1].ravel() if y is not None and is_regressor(last) else None


def _nu(last: "BaseEstimator", classes: Array | None, codes: IndexArray | None) -> list[Finding]:
    # Others, such as scikit-learn's SVC, have an attribute of that name that is no parameter.
    if "nu" not in _parameters(last):
        return []
    if classes is not None:
        return data_findings.nu_is_feasible(last.nu, classes, cast(IndexArray, codes))
    is_fine = 0 < last.nu <= 1
    message = f"nu={last.nu:g} is {'feasible' if is_fine else 'not in (0, 1]'}"
    return [Finding("nu", message, is_problem=not is_fine)]


def _parameters(estimator: "BaseEstimator") -> dict[str, Any]:
    return estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}


def _order(n: int, codes: IndexArray | None) -> IndexArray:
    """All rows, so that the first of them are a fair sample of every class."""
    shuffled = np.random.default_rng(0).permutation(n)
    if codes is None:
        return shuffled
    # The k-th of c rows of a class comes at k / c: every beginning has the shares of the whole.
    codes = codes[shuffled]
    counts = np.bincount(codes)
    by_class = np.argsort(codes, kind="stable")
    within = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.empty(n)
    at[by_class] = (within + 0.5) / counts[codes[by_class]]
    return shuffled[np.argsort(at, kind="stable")]


def _measure(
    estimator: "BaseEstimator",
    X: Rows,
    y: Any,
    sample_weight: ArrayLike | None,
    order: IndexArray,
    seconds: float,
    codes: IndexArray | None,
) -> tuple[list[tuple[int, float]], list[tuple[int, Any]], str]:
    """((rows, seconds) of fits on growing samples, (rows, last step) of each, what fit said where it refused)."""
    last, n, waited = last_step(estimator), len(order), 0.0
    is_matrix = is_gram(last)

    def fit(m: int) -> tuple[float, Any]:
        rows = np.sort(order[:m])
        part = part_of(X, rows, is_matrix)
        weights = weights_of(estimator, None if sample_weight is None else cast(Array, sample_weight)[rows])
        model = clone(estimator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            timer = CoreTimer()
            model.fit(part, None if y is None else y[rows], **weights)
            took, idle = timer.seconds()
        nonlocal waited
        waited += idle
        return took, model

    sizes = [min(n, FIRST_ROWS)]
    measured, fitted, begin = [], [], None
    try:
        fit(min(n, WARM_UP_ROWS))
        fit(sizes[0])
        begin, waited = time.perf_counter(), 0.0
        while True:
            m = sizes[-1]
            took, model = fit(m)
            is_odd = bool(measured) and took > measured[-1][1] * GROWTH**MOST_EXPONENT
            if took < AGAIN * seconds or is_odd:
                # The first fit of a size may have had code to load or to compile, and other work may have come
                # between: what it took beyond the second is not counted as time for measuring.
                again = fit(m)[0]
                begin, took = begin + max(0.0, took - again), min(took, again)
            measured.append((m, took))
            fitted.append((m, last_step(model)))
            # A machine that is busy may make it take twice as long, not for ever.
            left = seconds - (time.perf_counter() - begin - min(waited, seconds))
            is_long = took * GROWTH**1.5 > (2.0 * seconds if _goes_another_way(last, codes, m, n) else left)
            if m == n or is_long:
                return measured, fitted, ""
            sizes.append(min(n, int(GROWTH * m)))
    except (MercerError, ValueError, TypeError) as error:
        return measured, fitted, str(error)


def _goes_another_way(estimator: "BaseEstimator", codes: IndexArray | None, m: int, n: int) -> bool:
    """Whether m rows are fitted in another way than all are: the time for the one says little of the time for the
    other. All of a small kernel matrix is computed; pairs of small classes are solved to rounding error."""
    is_stored = hasattr(estimator, "kernel") and m <= policy.STORED_SIZE < n
    return is_stored or _are_pairs_small(estimator, codes, m, n)


def _are_pairs_small(estimator: "BaseEstimator", codes: IndexArray | None, m: int, n: int) -> bool:
    """Whether pairs of classes are solved to rounding error on m rows, but not on all."""
    if codes is None or getattr(estimator, "multi_class", "ovr") != "ovo" or len(np.bincount(codes)) < 3:
        return False
    pair = 2.0 * float(np.median(np.bincount(codes)))
    return pair * m / n <= policy.EXACT_SIZE < pair


def _carried_on(measured: Sequence[tuple[int, float]], n: int) -> tuple[float, float]:
    """(seconds for n rows, exponent) from the fits measured."""
    if not measured:
        return np.nan, np.nan
    rows, took = (np.array(each, dtype=np.float64) for each in zip(*measured, strict=True))
    if len(rows) < 2 or rows[-1] == n:
        return float(took[-1] * (n / rows[-1]) ** 2), 2.0 if len(rows) < 2 else _exponent(rows, took)
    exponent = _exponent(rows, took)
    return float(took[-1] * (n / rows[-1]) ** exponent), exponent


def _exponent(rows: FloatArray, took: FloatArray) -> float:
    """Slope of log time on log rows over the last three fits."""
    slope = np.polyfit(np.log(rows[-3:]), np.log(took[-3:]), 1)[0]
    return float(np.clip(slope, LEAST_EXPONENT, MOST_EXPONENT))


def _rank(last: "BaseEstimator", seen: "Seen | None", fitted: Sequence[Any]) -> tuple[int | None, int]:
    """(dimensions that count in feature space, of how many rows); (None, 0) where that cannot be said."""
    kernel = _kernel_of(last, fitted)
    X = None if seen is None else seen.X if isinstance(seen.X, list) else seen.numbers
    if X is None or is_gram(last) or not isinstance(kernel, (str, Kernel)) or is_auto(kernel):
        return None, 0
    if isinstance(X, list) and not takes_items(kernel):
        return None, 0
    try:
        parameters = {key: getattr(last, key) for key in ("gamma", "degree", "coef0") if hasattr(last, key)}
        parameters = {key: value for key, value in parameters.items() if value is not None}
        return data_findings.kernel_rank(resolve(kernel, **parameters), X, cast("Seen", seen).order)
    except (MercerError, ValueError, TypeError):
        return None, 0


def _kernel_of(last: "BaseEstimator", fitted: Sequence[Any]) -> Any:
    """The kernel that is asked for; of several, their sum with the weights that a sample taught."""
    if isinstance(last, WeightedKernelModel):
        return fitted[-1][1].kernel_ if fitted else None
    return getattr(last, "kernel", None)


def _advice(
    last: "BaseEstimator", seen: "Seen | None", n: int, fitted: Sequence[Any], seconds: float, rank: int | None, of: int
) -> tuple[str, str]:
    """("exact", "linear" or "low-rank", why)."""
    kernel = getattr(last, "kernel", None)
    if kernel is None and (not fitted or hasattr(fitted[-1][1], "coef_")):
        return "linear", "the estimator is linear"
    d = 0 if seen is None else seen.n_columns
    is_named_linear = (isinstance(kernel, str) and kernel == "linear") or type(kernel).__name__ == "Linear"
    if is_named_linear and n > d and _linear_rival(last):
        return "linear", f"a linear kernel on {n} rows of {d} columns is {_linear_rival(last)} problem, {GROWS}"
    if kernel is not None and seen is not None and sparse.issparse(seen.X) and d > n:
        return "linear", f"sparse rows of {d} columns, more than the {n} rows, are told apart by planes"
    if np.isnan(seconds):
        return "exact", "nothing could be measured that speaks against it"
    if not seconds > LONG:
        return "exact", f"the fit takes about {seconds:.2g} s"
    if rank is not None and rank < of // 4:
        return "low-rank", f"the fit takes about {seconds:.3g} s, and {rank} dimensions hold 99 % of the variance"
    if n > MANY_ROWS and is_regressor(last) is False:
        return "exact", f"the fit takes about {seconds:.3g} s, and the kernel has no low rank here"
    return "exact", f"the fit takes about {seconds:.3g} s; a time_limit keeps the best model so far"


def _linear_rival(last: "BaseEstimator") -> str | None:
    """Whose problem that of a linear kernel is; None where nobody is known."""
    if is_classifier(last):
        return "LinearSVC's"
    if "Ridge" in type(last).__name__:
        return "ridge regression's (scikit-learn's Ridge)"
    return "LinearSVR's" if is_regressor(last) else None
