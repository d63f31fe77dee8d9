"""Fits of growing samples, and what their times say about all rows."""

import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from mercer._errors import MercerError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.fitting.tasks import strategy_of
from mercer.selection.preflight.sample import is_gram, last_step, part_of, weights_of
from mercer.selection.preflight.timer import CoreTimer
from mercer.solvers.dual_qp import policy

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# Samples grow by this factor.
GROWTH = 2.0
FIRST_ROWS = 250
WARM_UP_ROWS = 60
# Rows of every class in the smallest sample.
FIRST_OF_CLASS = 2
# A fit that takes no more than this share of the time is measured twice; the faster one counts.
AGAIN = 0.4
# Plausible growth of the time with the number of rows: a fit reads every row, and no solver here is worse.
LEAST_EXPONENT, MOST_EXPONENT = 1.0, 2.5


def fair_order(n: int, codes: IndexArray | None) -> IndexArray:
    """All rows, in an order in which the first of them are a fair sample of every class."""
    shuffled = np.random.default_rng(0).permutation(n)
    if codes is None:
        return shuffled
    # The k-th of c rows of a class comes at k / c: every beginning has the shares of the whole.
    codes = codes[shuffled]
    counts = np.bincount(codes)
    by_class = np.argsort(codes, kind="stable")
    within = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.empty(n)
    # But the first of a class come first of all: a fit refuses rows without one.
    at[by_class] = np.where(within < FIRST_OF_CLASS, within - FIRST_OF_CLASS, (within + 0.5) / counts[codes[by_class]])
    return shuffled[np.argsort(at, kind="stable")]


def measure(
    estimator: "BaseEstimator",
    X: Rows,
    y: Any,
    sample_weight: ArrayLike | None,
    order: IndexArray,
    seconds: float,
    codes: IndexArray | None,
) -> tuple[list[tuple[int, float]], list[tuple[int, Any]], str]:
    """((rows, seconds) of fits on growing samples, (rows, last step) of each, what fit said if it refused)."""
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
            # On a busy machine it may take twice as long, but not forever.
            left = seconds - (time.perf_counter() - begin - min(waited, seconds))
            is_long = took * GROWTH**1.5 > (2.0 * seconds if _goes_another_way(last, codes, m, n) else left)
            if m == n or is_long:
                return measured, fitted, ""
            sizes.append(min(n, int(GROWTH * m)))
    except (MercerError, ValueError, TypeError) as error:
        return measured, fitted, str(error)


def _goes_another_way(estimator: "BaseEstimator", codes: IndexArray | None, m: int, n: int) -> bool:
    """Whether m rows are fitted in a different way from all rows, so that one time says little about the other. All of
    a small kernel matrix is computed; pairs of small classes are solved to rounding error."""
    is_stored = hasattr(estimator, "kernel") and m <= policy.STORED_SIZE < n
    return is_stored or are_pairs_small(estimator, codes, m, n)


def are_pairs_small(estimator: "BaseEstimator", codes: IndexArray | None, m: int, n: int) -> bool:
    """Whether pairs of classes are solved to rounding error on m rows, but not on all."""
    if codes is None or strategy_of(estimator) != "ovo" or len(np.bincount(codes)) < 3:
        return False
    pair = 2.0 * float(np.median(np.bincount(codes)))
    return pair * m / n <= policy.EXACT_SIZE < pair


def carried_on(measured: Sequence[tuple[int, float]], n: int) -> tuple[float, float]:
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
