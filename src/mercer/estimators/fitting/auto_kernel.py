"""Which kernel suits data, by what they are: what `kernel="auto"` stands for, in Python, in the command and in the
Studio.

Rows of more columns than rows get a plane. There a Gaussian kernel of the usual width sees all rows as about equally
far from each other: on counts of words it is right two times in five where a plane is right in seven of ten.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy import sparse

from mercer._types import Array, Rows
from mercer.kernels.graph.graph import Graph
from mercer.kernels.graph.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.string.spectrum import Spectrum
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.kernels.tree.subset_tree import SubsetTree
from mercer.kernels.tree.tree import Tree

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


# Sparse rows of more columns than this are texts, or like them.
MANY_COLUMNS = 1_000
_TABLE = "a table with columns that are not all numbers: a kernel for each column, averaged"


def kernel_for(X: Rows) -> "tuple[str | Kernel, str]":
    """(kernel or its name, why) for data as they are.

    Examples
    --------
    >>> from mercer.estimators.fitting.auto_kernel import kernel_for
    >>> kernel_for([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    ('rbf', 'rows of 2 numbers, fewer than the 3 rows: planes may not do')
    """
    if is_data_frame(X) or _is_list_of(X, Mapping):
        return _for_table(X)
    if sparse.issparse(X):
        return _for_numbers(*cast(tuple[int, int], X.shape), is_sparse=True)
    items = X if isinstance(X, (list, tuple)) else np.asarray(X)
    if getattr(items, "ndim", 2) == 2 and not _is_list_of(items, (str, Tree, Graph)):
        return _for_rows(X)
    if _is_list_of(items, str):
        return _for_texts(items)
    if _is_list_of(items, Tree):
        return SubsetTree().normalized(), "the items are trees"
    if _is_list_of(items, Graph):
        return WeisfeilerLehman().normalized(), "the items are graphs"
    return "rbf", "one-dimensional data, which fit will look at"


def _for_texts(items: Sequence[str] | Array) -> "tuple[Kernel, str]":
    """Words and pairs of words; letters where there are no words, as in sequences of proteins."""
    n_of_words = sum(len(text.split(None, 1)) > 1 for text in items)
    if 2 * n_of_words >= len(items):
        return Spectrum(length=(1, 2), tokenizer="words").normalized(), "the items are texts"
    return Spectrum().normalized(), "the items are texts of one word each: sequences of letters"


def _is_list_of(X: Rows, kind: type | tuple[type, ...]) -> bool:
    is_flat = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1)
    return is_flat and len(X) > 0 and all(isinstance(each, kind) for each in X)


def _for_table(X: Rows) -> "tuple[str | Kernel, str]":
    frame = as_frame(X)
    columns = [frame.column(name) for name in frame.names]
    if is_data_frame(X) and all(column.kind == "number" and not column.missing.any() for column in columns):
        return _for_numbers(len(frame), len(frame.names))
    return Columns.infer(X), _TABLE


def _for_rows(X: Rows) -> "tuple[str | Kernel, str]":
    try:
        rows = np.asarray(X)
    except ValueError:
        return "rbf", "rows that fit will look at"
    if rows.ndim == 2 and rows.dtype.kind in "OUS":
        try:
            rows = rows.astype(np.float64)
        except (TypeError, ValueError):
            return Columns.infer(X), _TABLE
    return _for_numbers(*rows.shape) if rows.ndim == 2 else ("rbf", "rows that fit will look at")


def _for_numbers(n: int, d: int, is_sparse: bool = False) -> tuple[str, str]:
    if is_sparse and d > MANY_COLUMNS:
        return "linear", f"sparse rows of {d} columns, such as texts: a plane does, and is fast"
    if d >= n:
        return "linear", f"{d} columns for {n} rows: a plane separates nearly anything"
    return "rbf", f"rows of {d} numbers, fewer than the {n} rows: planes may not do"
