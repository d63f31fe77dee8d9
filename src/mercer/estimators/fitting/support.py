"""Support vectors of several two-class solutions, laid out as scikit-learn does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.tasks import pair_columns, pair_row
from mercer.kernels.base.expansion import Group

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import Setup
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.kernels.base.expansion import Expansion


class Support:
    """The union of support vectors, grouped by class, with the dual coefficients.

    Attributes
    ----------
    indices : ndarray
        Positions in the training data, by class and then in order.
    counts : ndarray
        Support vectors of each class.
    dual_coef : ndarray
        (n_classes - 1, n_support) for one-vs-one, (n_problems, n_support) otherwise.
    """

    def __init__(self, indices: IndexArray, counts: IndexArray, dual_coef: FloatArray, has_pairs: bool) -> None:
        self.indices, self.counts = indices.astype(np.int32), counts.astype(np.int32)
        self.dual_coef, self.has_pairs = dual_coef, has_pairs

    @classmethod
    def of_tasks(cls, setup: "Setup", betas: Sequence[FloatArray]) -> Self:
        """From the coefficients of each two-class problem."""
        codes, tasks = setup.codes, setup.tasks
        if setup.has_pairs:
            table = _pairwise_rows(codes, setup.n_classes, tasks, betas)
        else:
            table = _rows(len(codes), tasks, betas)
        chosen = cast(Array, table.any(axis=0)).nonzero()[0]
        own = codes[chosen]
        order = chosen[own.argsort(kind="stable")]
        return cls(order, np.bincount(own, minlength=setup.n_classes), table[:, order], setup.has_pairs)

    @classmethod
    def of_table(cls, order: IndexArray, edges: IndexArray, table: FloatArray) -> Self:
        """From the coefficients of pairs in scikit-learn's layout, of points sorted by class."""
        chosen = cast(Array, table.any(axis=0)).nonzero()[0]
        return cls(order[chosen], np.diff(chosen.searchsorted(edges)), table[:, chosen], has_pairs=True)

    def groups(self) -> list[Group]:
        """The coefficients as groups of an `Expansion`."""
        if not self.has_pairs:
            outputs = np.arange(len(self.dual_coef))
            return [Group(0, len(self.indices), self.dual_coef.T, outputs)]
        ends, n_classes = np.cumsum(self.counts).tolist(), len(self.counts)
        return [
            Group(begin, end, self.dual_coef[:, begin:end].T, pair_columns(c, n_classes))
            for c, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))
            if begin < end
        ]


def _rows(n: int, tasks: "Sequence[BinaryTask]", betas: Sequence[FloatArray]) -> FloatArray:
    rows = np.zeros((len(tasks), n))
    for row, task, beta in zip(rows, tasks, betas, strict=True):
        row[task.indices] = beta
    return rows


def _pairwise_rows(
    codes: IndexArray, n_classes: int, tasks: "Sequence[BinaryTask]", betas: Sequence[FloatArray]
) -> FloatArray:
    rows = np.zeros((n_classes - 1, len(codes)))
    for task, beta in zip(tasks, betas, strict=True):
        own = codes[task.indices]
        for side, other in (task.label, task.label[::-1]):
            members = own == side
            rows[pair_row(side, other), task.indices[members]] = beta[members]
    return rows


def linear_coefficients(expansion: "Expansion") -> FloatArray | Any:
    """w for each decision function: the weighted sum of the support vectors; not writeable."""
    rows = []
    for output in range(expansion.n_functions):
        total = np.zeros(expansion.vectors.shape[1])
        for group in expansion.groups:
            for place in np.flatnonzero(group.outputs == output):
                total = total + group.coefficients[:, place] @ expansion.vectors[group.begin : group.end]
        rows.append(total)
    coefficients = np.vstack(rows)
    if sparse.issparse(expansion.vectors):
        coefficients = type(expansion.vectors)(coefficients)
        coefficients.data.flags.writeable = False
    else:
        coefficients.flags.writeable = False
    return coefficients
