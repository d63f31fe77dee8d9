"""Families of kernels for texts, trees, graphs and tables."""

from collections.abc import Sequence
from typing import Any

from mercer._errors import DataError
from mercer._types import FloatArray, Rows
from mercer.estimators.auto.table_kernel import table_kernel
from mercer.estimators.auto.text_kernel import LETTERS, are_long
from mercer.estimators.fitting.auto_kernel import kernel_for
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.graph.graph import Graph
from mercer.kernels.graph.label_path import LabelPath
from mercer.kernels.graph.shortest_path import ShortestPath
from mercer.kernels.graph.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.string.mismatch import Mismatch
from mercer.kernels.string.spectrum import Spectrum
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.infer_kernel import has_words
from mercer.kernels.tree.partial_tree import PartialTree
from mercer.kernels.tree.subset_tree import SubsetTree
from mercer.kernels.tree.subtree import Subtree
from mercer.kernels.tree.tree import Tree
from mercer.selection.families.family import Family, by_length, by_width
from mercer.selection.families.learnt_table import learnt, with_width

# How the joint part of a table's kernel falls with the distance.
SHAPES = ("rough", "once smooth", "gaussian")


def item_families(X: Rows, weights: FloatArray | None = None) -> tuple[Family, ...]:
    """Families that may suit items other than rows of numbers, judged by the first of them.

    Examples
    --------
    >>> from mercer.selection.families.items import item_families
    >>> [family.name for family in item_families(["acgt", "ccgt", "ttga"])]
    ['spectrum', 'up_to', 'mismatch']
    """
    first = next(iter(X), None) if isinstance(X, list) or getattr(X, "ndim", 0) == 1 else None
    if isinstance(first, str):
        return text_families([str(text) for text in X])
    if isinstance(first, Tree):
        return _OF_TREES
    if isinstance(first, Graph):
        return _OF_GRAPHS
    return table_families(X, weights)


def text_families(texts: Sequence[str]) -> tuple[Family, ...]:
    """Words and letters, with rare ones counting more, if there are words; otherwise plain runs of letters."""
    if has_words(texts):
        words = by_length("words", lambda most: _of_words(most).bind(texts), (1, 2), 4)
        if are_long(texts):
            return (words,)
        letters = LETTERS.bind(texts)
        return (
            words,
            by_length("letters", lambda most: _of_letters(most).bind(texts), (3, 5), 8, 2),
            by_length("words+letters", lambda most: 0.5 * _of_words(most).bind(texts) + 0.5 * letters, (1, 2), 3),
        )
    up_to = by_length("up_to", lambda most: Spectrum(length=(1, most)).normalized(), (3, 5), 12)
    return (
        by_length("spectrum", lambda length: Spectrum(length=length).normalized(), (2, 3, 4, 5), 12),
        up_to,
        by_length("mismatch", lambda length: Mismatch(length, 1).normalized(), (4, 5), 7, 2),
    )


def _of_words(most: int) -> Kernel:
    return Spectrum(length=(1, most), tokenizer="words", weighting="tf-idf", lowercase=True).normalized()


def _of_letters(most: int) -> Kernel:
    return Spectrum(length=(2, most), weighting="tf-idf", lowercase=True).normalized()


_OF_GRAPHS = (
    by_length("weisfeiler_lehman", lambda depth: WeisfeilerLehman(iterations=depth).normalized(), (1, 3, 5), 10),
    Family("shortest_path", lambda _: ShortestPath().normalized()),
    by_length("label_path", lambda length: LabelPath(length=length).normalized(), (2, 3), 5),
)
_OF_TREES = (
    Family("subset_tree", lambda decay: SubsetTree(decay=decay).normalized(), (0.1, 0.2, 0.4, 0.8), "decay"),
    Family("partial_tree", lambda decay: PartialTree(decay=decay).normalized(), (0.2, 0.4), "decay"),
    Family("subtree", lambda decay: Subtree(decay=decay).normalized(), (0.4, 0.8), "decay"),
)


def table_families(X: Any, weights: FloatArray | None = None) -> tuple[Family, ...]:
    """The kernel chosen for tables by rule, in three shapes and several widths, and a kernel for each column.

    "rough", "once_smooth" and "gaussian" have a weight for each column, learnt from the labels; in "table" all columns
    count equally.
    """
    whole, _ = kernel_for(X)
    if not isinstance(whole, Kernel):
        raise DataError(f"X must be rows of numbers, texts, trees, graphs or a table, got {type(X).__name__}")
    shapes = [by_width(shape.replace(" ", "_"), learnt(shape), 0.5, 1.0, 2.0) for shape in SHAPES]
    alike = by_width("table", lambda width: with_width(table_kernel(X).kernel.bind(X, weights), width), 0.5, 1.0, 2.0)
    each = Columns.infer(X, combine="mean").bind(X, weights)
    return (*shapes, alike, by_width("additive", lambda width: with_width(each, width), 0.5, 1.0))
