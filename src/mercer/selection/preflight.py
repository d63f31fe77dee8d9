"""What a fit will take, and what to know of the data before it: measured on small samples, in a second or two.

The time is not computed from constants but measured: fits of the estimator itself on samples of growing
size, until the time allowed is used up or the sample is everything. The growth between the last of them
is carried on to all rows.
"""

import time
import warnings
from dataclasses import asdict, dataclass, field

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor

from mercer._errors import DataError, MercerError, ParameterError
from mercer.estimators.automatic import is_auto
from mercer.estimators.inputs import is_precomputed, takes_items
from mercer.estimators.parameters import require_number
from mercer.estimators.training import STORED_SIZE
from mercer.kernels.base import Kernel
from mercer.kernels.names import resolve
from mercer.selection import data_findings
from mercer.selection.core_time import CoreTimer
from mercer.selection.data_findings import Finding
from mercer.selection.predicted_memory import bytes_of_fit
from mercer.solvers import small

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
    def problems(self):
        """The findings that ask for something to be done."""
        return [each for each in self.findings if each.is_problem]

    def __getitem__(self, subject):
        for each in self.findings:
            if each.subject == subject:
                return each
        raise KeyError(f"nothing was found about {subject!r}; there are {[each.subject for each in self.findings]}")

    def as_dict(self):
        """The fields, for JSON."""
        return asdict(self)

    def __str__(self):
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
    def _prediction(self):
        if not self.measured:
            return f"fit refuses a sample of them: {self.refusal}"
        how = "measured" if self.is_measured else f"predicted, growing as n^{self.exponent:.2f}"
        return f"about {self.seconds:.3g} s ({how}) and {self.bytes / 2**20:.0f} MiB"


def preflight(estimator, X, y=None, *, sample_weight=None, seconds=1.5):
    """Look at the data and predict time and memory of ``estimator.fit(X, y)`` without fitting all of it.

    Parameters
    ----------
    estimator : estimator
        Of Mercer, or any with scikit-learn's `fit`; it is not changed.
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
    X, n, d = _rows(X)
    if y is not None and len(y) != n:
        raise DataError(f"X and y must have the same length, got {n} and {len(y)}")
    y = None if y is None else np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True) if y is not None and is_classifier(estimator) else (None, None)
    findings = _findings(estimator, X, y, classes, codes, d)
    order = _order(n, codes)
    measured, fitted, refusal = _measure(estimator, X, y, sample_weight, order, seconds, codes)
    predicted, exponent = _carried_on(measured, n)
    bytes_needed = bytes_of_fit(estimator, X, n, d, fitted)
    rank, of = _rank(estimator, X, order)
    if rank is not None:
        findings.append(Finding("rank", f"{rank} dimensions hold 99 % of the variance of {of} rows in feature space"))
    advice, reason = _advice(estimator, X, n, d, predicted, rank, of)
    return Preflight(
        n, d, predicted, bytes_needed, exponent, measured, bool(measured) and measured[-1][0] == n, advice, reason,
        findings, refusal,
    )  # fmt: skip


def _rows(X):
    """(rows that can be chosen by position, how many, columns)."""
    if sparse.issparse(X):
        return X.tocsr(), X.shape[0], X.shape[1]
    if hasattr(X, "iloc") or hasattr(X, "columns"):
        return X, len(X), len(X.columns)
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple, np.ndarray)):
        X = np.asarray(X)
    if hasattr(X, "ndim") and X.ndim == 2:
        return np.asarray(X), X.shape[0], X.shape[1]
    X = list(X)
    if not X:
        raise DataError("X must have at least one row, got none")
    return X, len(X), 0


def _is_numbers(X):
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")


def _findings(estimator, X, y, classes, codes, d):
    found = []
    is_gram = is_precomputed(getattr(estimator, "kernel", None))
    if _is_numbers(X):
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values).all():
            wrong = int(np.sum(~np.isfinite(values)))
            return [Finding("numbers", f"{wrong} entries are NaN or infinite; fit will refuse them", is_problem=True)]
        if not is_gram and d:
            targets = codes if codes is not None else y
            found += [*data_findings.scaling(X), *data_findings.repetitions(X, targets)]
    if classes is not None:
        if len(classes) < 2:
            return [
                *found,
                Finding("balance", f"every label is {classes[0]!r}; fit needs two classes", is_problem=True),
            ]
        found += data_findings.balance(classes, codes)
        if hasattr(estimator, "nu"):
            found += data_findings.nu_is_feasible(estimator.nu, classes, codes)
    elif hasattr(estimator, "nu"):
        is_fine = 0 < estimator.nu <= 1
        message = f"nu={estimator.nu:g} is {'feasible' if is_fine else 'not in (0, 1]'}"
        found.append(Finding("nu", message, is_problem=not is_fine))
    return found


def _order(n, codes):
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


def _part(X, rows):
    if isinstance(X, list):
        return [X[i] for i in rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def _measure(estimator, X, y, sample_weight, order, seconds, codes):
    """((rows, seconds) of fits on growing samples, (rows, model) of each, what fit said where it refused)."""
    is_gram, n, waited = is_precomputed(getattr(estimator, "kernel", None)), len(order), 0.0

    def fit(m):
        rows = np.sort(order[:m])
        part = X[np.ix_(rows, rows)] if is_gram else _part(X, rows)
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[rows]}
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
            fitted.append((m, model))
            # A machine that is busy may make it take twice as long, not for ever.
            left = seconds - (time.perf_counter() - begin - min(waited, seconds))
            is_long = took * GROWTH**1.5 > (2.0 * seconds if _goes_another_way(estimator, codes, m, n) else left)
            if m == n or is_long:
                return measured, fitted, ""
            sizes.append(min(n, int(GROWTH * m)))
    except (MercerError, ValueError, TypeError) as error:
        return measured, fitted, str(error)


def _goes_another_way(estimator, codes, m, n):
    """Whether m rows are fitted in another way than all are: the time for the one says little of the time for the
    other. All of a small kernel matrix is computed; pairs of small classes are solved to rounding error."""
    is_stored = hasattr(estimator, "kernel") and m <= STORED_SIZE < n
    return is_stored or _are_pairs_small(estimator, codes, m, n)


def _are_pairs_small(estimator, codes, m, n):
    """Whether pairs of classes are solved to rounding error on m rows, but not on all."""
    if codes is None or getattr(estimator, "multi_class", "ovr") != "ovo" or len(np.bincount(codes)) < 3:
        return False
    pair = 2.0 * float(np.median(np.bincount(codes)))
    return pair * m / n <= small.LARGEST < pair


def _carried_on(measured, n):
    """(seconds for n rows, exponent) from the fits measured."""
    if not measured:
        return np.nan, np.nan
    rows, took = (np.array(each, dtype=np.float64) for each in zip(*measured, strict=True))
    if len(rows) < 2 or rows[-1] == n:
        return float(took[-1] * (n / rows[-1]) ** 2), 2.0 if len(rows) < 2 else _exponent(rows, took)
    exponent = _exponent(rows, took)
    return float(took[-1] * (n / rows[-1]) ** exponent), exponent


def _exponent(rows, took):
    """Slope of log time on log rows over the last three fits."""
    slope = np.polyfit(np.log(rows[-3:]), np.log(took[-3:]), 1)[0]
    return float(np.clip(slope, LEAST_EXPONENT, MOST_EXPONENT))


def _rank(estimator, X, order):
    kernel = getattr(estimator, "kernel", None)
    if kernel is None or is_auto(kernel) or is_precomputed(kernel) or not (_is_numbers(X) or isinstance(X, list)):
        return None, 0
    if not isinstance(kernel, (str, Kernel)) or (isinstance(X, list) and not takes_items(kernel)):
        return None, 0
    try:
        parameters = {key: getattr(estimator, key) for key in ("gamma", "degree", "coef0") if hasattr(estimator, key)}
        parameters = {key: value for key, value in parameters.items() if value is not None}
        return data_findings.kernel_rank(resolve(kernel, **parameters), X, order)
    except (MercerError, ValueError, TypeError):
        return None, 0


def _advice(estimator, X, n, d, seconds, rank, of):
    """("exact", "linear" or "low-rank", why)."""
    is_linear = not hasattr(estimator, "kernel")
    kernel = getattr(estimator, "kernel", None)
    if is_linear:
        return "linear", "the estimator is linear"
    is_named_linear = (isinstance(kernel, str) and kernel == "linear") or type(kernel).__name__ == "Linear"
    if is_named_linear and n > d:
        return "linear", f"a linear kernel on {n} rows of {d} columns is LinearSVC's problem, whose time grows as n"
    if sparse.issparse(X) and d > n:
        return "linear", f"sparse rows of {d} columns, more than the {n} rows, are told apart by planes"
    if np.isnan(seconds):
        return "exact", "nothing could be measured that speaks against it"
    if not seconds > LONG:
        return "exact", f"the fit takes about {seconds:.2g} s"
    if rank is not None and rank < of // 4:
        return "low-rank", f"the fit takes about {seconds:.3g} s, and {rank} dimensions hold 99 % of the variance"
    if n > MANY_ROWS and is_regressor(estimator) is False:
        return "exact", f"the fit takes about {seconds:.3g} s, and the kernel has no low rank here"
    return "exact", f"the fit takes about {seconds:.3g} s; a time_limit keeps the best model so far"
