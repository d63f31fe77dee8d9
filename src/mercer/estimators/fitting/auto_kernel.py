"""Which kernel suits data, by what they are: what `kernel="auto"` stands for, in Python, in the command and in the
Studio.

Tables and rows of numbers get the kernel of `table_kernel`: columns on one scale, compared jointly and one by one. If
there are more columns than rows, they get a plane: a kernel of distances sees all rows as about equally far apart, and
on counts of words it is right two times in five where a plane is right in seven of ten.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._types import Array, FloatArray, Rows
from mercer.estimators.auto.table_kernel import MOST_ROWS, TableKernel, never, sample_of, table_kernel, targets_of
from mercer.estimators.auto.text_kernel import learnt_text_kernel
from mercer.kernels.graph.graph import Graph
from mercer.kernels.graph.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.kernels.table.infer_kernel import has_words, text_kernel
from mercer.kernels.tree.subset_tree import SubsetTree
from mercer.kernels.tree.tree import Tree
from mercer.kernels.vector.linear import Linear

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


# Sparse rows with more columns than this are texts, or similar.
MANY_COLUMNS = 1_000


def kernel_for(
    X: Rows,
    y: Any = None,
    *,
    is_quantity: bool = False,
    weights: FloatArray | None = None,
    stop: Callable[[], bool] = never,
) -> "tuple[str | Kernel, str]":
    """(kernel or its name, why) for data as they are.

    Parameters
    ----------
    X : table, rows or items
    y : array-like (n,), optional
        Targets, from which a table's columns get their weights; what cannot be used is left aside.
    is_quantity : bool
        Whether the targets are quantities rather than classes.
    weights : ndarray (n,), optional
        Of the rows.
    stop : callable
        True when it is time to come to an end.

    Examples
    --------
    >>> from mercer.estimators.fitting.auto_kernel import kernel_for
    >>> kernel_for(["a b", "b c"])[1]
    'the items are texts'
    """
    targets = _usable(y, is_quantity)

    def of_table(table: Rows) -> TableKernel:
        own = targets if targets is not None and len(targets) == len(as_frame(table)) else None
        return table_kernel(table, own, is_quantity=is_quantity, weights=weights, stop=stop)

    if is_data_frame(X) or _is_list_of(X, Mapping):
        found = of_table(X)
        return _plane_if_wide(found, len(as_frame(X)))
    if sparse.issparse(X):
        return _for_sparse(*cast(tuple[int, int], X.shape))
    items = X if isinstance(X, (list, tuple)) else np.asarray(X)
    if getattr(items, "ndim", 2) == 2 and not _is_list_of(items, (str, Tree, Graph)):
        return _for_rows(X, of_table)
    if _is_list_of(items, str):
        own = targets if targets is not None and len(targets) == len(items) else None
        return _for_texts([str(text) for text in items], own, is_quantity, weights, stop)
    if _is_list_of(items, Tree):
        return SubsetTree().normalized(), "the items are trees"
    if _is_list_of(items, Graph):
        return WeisfeilerLehman().normalized(), "the items are graphs"
    return "rbf", "one-dimensional data, which fit will examine"


def _usable(y: Any, is_quantity: bool) -> Array | None:
    """Targets as an array, or None if they are unusable; the fit reports why."""
    if y is None:
        return None
    try:
        targets = np.asarray(y)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if is_quantity and targets.dtype.kind != "c":
            targets = targets.astype(np.float64)
        elif targets.dtype.kind == "O":
            targets = targets.astype(str)
    except (TypeError, ValueError):
        return None
    if targets.ndim != 1 or targets.dtype.kind not in "biufUS":
        return None
    if targets.dtype.kind == "f" and not (np.abs(targets) < 1e100).all():
        return None
    return targets


def _for_texts(
    texts: Sequence[str], y: Array | None, is_quantity: bool, weights: FloatArray | None, stop: Callable[[], bool]
) -> "tuple[Kernel, str]":
    if not has_words(texts):
        return text_kernel(texts), "the items are texts of one word each: sequences of letters"
    if y is None:
        return text_kernel(texts), "the items are texts"
    used = np.arange(len(texts)) if weights is None else np.flatnonzero(weights > 0)
    rows = used[sample_of(len(used), MOST_ROWS)]
    kernel = learnt_text_kernel([texts[k] for k in rows], targets_of(y[rows], is_quantity), stop)
    return kernel, "the items are texts: whichever of words, letters and pairs of words best predicts texts left out"


def _is_list_of(X: Rows, kind: type | tuple[type, ...]) -> bool:
    is_flat = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1)
    return is_flat and len(X) > 0 and all(isinstance(each, kind) for each in X)


def _for_rows(X: Rows, of_table: Callable[[Rows], TableKernel]) -> "tuple[str | Kernel, str]":
    """For rows in an array or a list of lists; anything but a table of finite numbers or labels is left to the fit."""
    unknown = "rbf", "rows that fit will examine"
    try:
        rows = np.asarray(X)
    except ValueError:
        return unknown
    if rows.ndim != 2 or rows.dtype.kind == "c" or 0 in rows.shape:
        return unknown
    if rows.dtype.kind in "OUS":
        try:
            rows = rows.astype(np.float64)
        except (TypeError, ValueError):
            # Rows with labels among them: columns are numbered.
            return Columns.infer(X), "rows that are not all numbers: a kernel for each column, averaged"
    with np.errstate(over="ignore", invalid="ignore"):
        is_usual = bool(np.isfinite(rows).all()) and float(np.abs(rows).max()) < 1e100 and rows.std(axis=0).any()
    return _plane_if_wide(of_table(rows.astype(np.float64)), len(rows)) if is_usual else unknown


def _plane_if_wide(found: TableKernel, n: int) -> "tuple[Kernel, str]":
    kernel = found.kernel
    if isinstance(kernel, Encoded) and len(kernel.columns) >= n:
        told = f"{len(kernel.columns)} columns for {n} rows: a plane separates nearly anything"
        return Encoded(kernel.columns, Linear()), told
    return kernel, _told(found)


def _told(found: TableKernel) -> str:
    how = "each with the weight that best predicts rows left out" if found.learnt is not None else "all alike"
    left_out = ", ".join(f"{name!r} ({why})" for name, why in list(found.left_out.items())[:8])
    told = f"columns on one scale, compared jointly and one by one, {how}"
    return told + (f"; left out: {left_out}" if left_out else "")


def _for_sparse(n: int, d: int) -> tuple[str, str]:
    if d > MANY_COLUMNS:
        return "linear", f"sparse rows of {d} columns, such as texts: a plane is enough, and fast"
    if d >= n:
        return "linear", f"{d} columns for {n} rows: a plane separates nearly anything"
    return "rbf", f"sparse rows of {d} numbers, fewer than the {n} rows: a plane may not be enough"
