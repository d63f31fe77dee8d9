"""The kernel for a table, by its columns and its target: what is jointly alike, what counts and how much.

Numbers, dates and labels become one vector (`Encoded`), compared jointly by exp(-r), the roughest of Matern's family,
and one by one by a plane in the same vector; texts, trees and graphs have a kernel each, beside it. How much a column
counts, and how much each part, is learnt from a few hundred rows: by the error of ridge regression on rows left out
(`mercer.solvers.relevance`). Without a target all columns count the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.auto.text_kernel import learnt_text_kernel
from mercer.kernels.algebra.sum_product import Sum
from mercer.kernels.table.coding import measured
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import Frame, as_frame
from mercer.kernels.table.infer_coding import Reading, reading_of
from mercer.kernels.table.on import On
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.matern import Matern
from mercer.kernels.vector.rbf import RBF
from mercer.solvers.relevance import Relevances, learn_relevances

if TYPE_CHECKING:
    from mercer.kernels._types import ColumnName
    from mercer.kernels.base.kernel import Kernel

# Most and fewest rows from which relevances are learnt.
MOST_ROWS, FEWEST_ROWS = 400, 12
# With fewer rows per reading than this, or more readings than this, there is one relevance for all columns.
ROWS_A_READING, MOST_READINGS = 1.0, 200
# Rows that decide whether a logarithm or ranks suit a long tail.
TAIL_ROWS = 300
# The weight of columns one by one, and of texts, if nothing can be learnt: against 1 for all jointly.
USUAL_PLANE, USUAL_BESIDE = 0.05, 0.5
# A part of less weight than this is left out.
NO_WEIGHT = 1e-3
# Steps of the search for relevances.
STEPS = 12
_SHAPES: dict[str, "Kernel"] = {"rough": Matern(nu=0.5), "once smooth": Matern(nu=1.5), "gaussian": RBF(gamma=1.0)}


def never() -> bool:
    """Never stop."""
    return False


@dataclass(frozen=True, eq=False)
class TableKernel:
    """What was chosen for a table.

    Attributes
    ----------
    kernel : Kernel
        Not bound yet: what it measures, it measures on the rows of each fit.
    left_out : dict
        Columns that the kernel does not read, and why.
    learnt : Relevances or None
        None where there was no target, or too few rows.
    """

    kernel: "Kernel"
    left_out: "dict[ColumnName, str]"
    learnt: Relevances | None


def table_kernel(
    X: Rows,
    y: Array | None = None,
    *,
    is_quantity: bool = False,
    weights: FloatArray | None = None,
    shape: str = "rough",
    stop: Callable[[], bool] = never,
) -> TableKernel:
    """The kernel for a table, learnt from its rows and their targets where they are given.

    Parameters
    ----------
    X : table
        A data frame, a list of dictionaries, or an array.
    y : array (n,), optional
        Classes, or quantities.
    is_quantity : bool
        Whether the targets are quantities.
    weights : array (n,), optional
        Rows of weight 0 take no part; others count once, whatever their weight.
    shape : {"rough", "once smooth", "gaussian"}
        Of the joint part.
    stop : callable
        Called now and then; a true return value ends the learning with what there is.

    Examples
    --------
    >>> from mercer.estimators.auto.table_kernel import table_kernel
    >>> rows = [{"age": 20 + k, "town": "Ulm" if k % 2 else "Bonn", "note": None} for k in range(10)]
    >>> found = table_kernel(rows)
    >>> found.kernel.columns, found.left_out
    ({'age': 'number', 'town': 'category'}, {'note': 'no value'})
    """
    frame = as_frame(X)
    readings = {name: reading_of(frame.column(name)) for name in frame.names}
    if not any(reading.ways or reading.kernel is not None for reading in readings.values()):
        raise DataError(
            f"X must have a column with values to compare, got {len(frame)} rows of {len(frame.names)} columns"
        )
    used = np.arange(len(frame)) if weights is None else np.flatnonzero(weights > 0)
    if y is None or len(used) < FEWEST_ROWS:
        return _built(readings, None, shape)
    rows = used[sample_of(len(used), MOST_ROWS)]
    part, Y = frame[rows], targets_of(np.asarray(y)[rows], is_quantity)
    readings = _with_texts(part, _with_tails(part, readings, Y), Y, stop)
    learnt = _learnt(part, readings, Y, shape, stop, None if weights is None else weights[rows]) if Y.any() else None
    return _built(readings, learnt, shape)


def sample_of(n: int, most: int, seed: int = 0) -> IndexArray:
    """Positions of at most `most` of n rows, drawn by lot and in order."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).permutation(n)[:most])


def targets_of(y: Array, is_quantity: bool) -> FloatArray:
    """What ridge regression learns of targets: quantities as they are, classes by an indicator each; of mean 0."""
    if is_quantity:
        Y = y.astype(np.float64)[:, None]
    else:
        labels = np.unique(y)
        Y = (y[:, None] == labels[1:] if len(labels) == 2 else y[:, None] == labels).astype(np.float64)
    return Y - Y.mean(axis=0)


def _with_tails(frame: Frame, readings: "dict[ColumnName, Reading]", Y: FloatArray) -> "dict[ColumnName, Reading]":
    """For each long tail the logarithm or the ranks, whichever by itself says more about the target."""
    found = dict(readings)
    rows = sample_of(len(frame), TAIL_ROWS, seed=1)
    target = Y[rows] @ Y[rows].T
    for name, reading in readings.items():
        if reading.has_long_tail:
            column = frame[rows].column(name)
            if column.missing.all():
                continue
            scores = [_alignment(measured(way, column).numbers_of(column), target) for way in ("rank", "log")]
            found[name] = Reading(("log",) if scores[1] > scores[0] else ("rank",), has_long_tail=True)
    return found


def _with_texts(
    frame: Frame, readings: "dict[ColumnName, Reading]", Y: FloatArray, stop: Callable[[], bool]
) -> "dict[ColumnName, Reading]":
    """For each column of texts the kernel that by itself says most about the target."""
    found = dict(readings)
    for name, reading in readings.items():
        column = frame.column(name)
        if reading.kernel is not None and column.kind == "text" and not column.missing.all():
            there = ~column.missing
            own = Y[there] - Y[there].mean(axis=0)
            found[name] = Reading(kernel=learnt_text_kernel(column.items(there), own, stop))
    return found


def _alignment(numbers: FloatArray, target: FloatArray) -> float:
    """How well a kernel of one column agrees with that of the target: centred alignment (Cortes et al. 2012)."""
    norms = (numbers**2).sum(axis=1)
    K = np.exp(-np.sqrt(np.maximum(norms[:, None] + norms - 2.0 * numbers @ numbers.T, 0.0)))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return float(np.vdot(K, target) / np.linalg.norm(K))


def _learnt(
    frame: Frame,
    readings: "dict[ColumnName, Reading]",
    Y: FloatArray,
    shape: str,
    stop: Callable[[], bool],
    weights: FloatArray | None,
) -> Relevances:
    beside = [On(name, each.kernel).bind(frame)(frame, dtype=np.float64)
              for name, each in readings.items() if each.kernel is not None]  # fmt: skip
    columns = _columns(readings)
    if columns:
        bound = Encoded(columns, Linear()).bind(frame, weights)
        Z, groups = bound.vectors(frame, is_weighed=False), bound.groups
    else:
        Z, groups = np.zeros((len(frame), 1)), np.zeros(1, np.intp)
    n_readings = int(groups.max()) + 1
    is_shared = n_readings > min(MOST_READINGS, ROWS_A_READING * len(frame))
    shared = np.zeros_like(groups) if is_shared else groups
    once = _distinct(Z, Y, beside)
    beside = [K[np.ix_(once, once)] for K in beside]
    # Of mean 0 over these rows: the mean over all depends on how often each occurs.
    targets = Y[once] - Y[once].mean(axis=0)
    found = learn_relevances(Z[once], shared, targets, beside, shape=shape, steps=STEPS, stop=stop)
    if not is_shared:
        return found
    same = np.full(n_readings, found.relevance[0])
    return Relevances(same, found.plane, found.beside, found.ridge, found.explained)


def _distinct(Z: FloatArray, Y: FloatArray, beside: list[FloatArray]) -> IndexArray:
    """Positions of rows that differ, in an order of their own.

    A row that occurs twice is never left out while its twin stays; so neither the order of rows nor whether they are
    repeated or weighted changes what is learnt.
    """
    sums = [K.sum(axis=1) for K in beside]
    return np.unique(np.column_stack([Z, Y, *sums]).round(9), axis=0, return_index=True)[1]


def _columns(readings: "dict[ColumnName, Reading]") -> "dict[ColumnName, Any]":
    return {name: each.ways if len(each.ways) > 1 else each.ways[0] for name, each in readings.items() if each.ways}


def _built(readings: "dict[ColumnName, Reading]", learnt: Relevances | None, shape: str) -> TableKernel:
    """The kernel of these readings and relevances."""
    left_out = {name: each.why_not for name, each in readings.items() if each.why_not}
    columns = _columns(readings)
    parts: list[Kernel] = []
    if columns:
        plane = USUAL_PLANE if learnt is None else learnt.plane
        own = _SHAPES[shape] + _rounded(plane) * Linear() if plane >= NO_WEIGHT else _SHAPES[shape]
        parts.append(Encoded(columns, own, None if learnt is None else _relevance(columns, learnt.relevance)))
    for place, (name, each) in enumerate((name, each) for name, each in readings.items() if each.kernel is not None):
        weight = USUAL_BESIDE if learnt is None else float(learnt.beside[place])
        if weight < NO_WEIGHT and (parts or len(readings) > len(left_out) + 1):
            left_out[name] = "says nothing about the target that the other columns do not"
        else:
            parts.append(_rounded(weight) * On(name, cast("Kernel", each.kernel)))
    return TableKernel(parts[0] if len(parts) == 1 else Sum(tuple(parts)), left_out, learnt)


def _relevance(columns: "dict[ColumnName, Any]", found: FloatArray) -> "dict[ColumnName, Any]":
    values = iter(map(_rounded, found.tolist()))
    return {
        name: next(values) if isinstance(ways, str) else tuple(next(values) for _ in ways)
        for name, ways in columns.items()
    }


def _rounded(value: float) -> float:
    """Three digits: what was learnt is no surer, and a kernel is read by people."""
    return float(f"{value:.3g}")
