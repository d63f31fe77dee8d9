"""Support vectors of several two-class solutions, laid out as scikit-learn does."""

import numpy as np
from scipy import sparse

from mercer.estimators.multiclass import pair_columns, pair_row
from mercer.kernels.expansion import Group


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

    def __init__(self, codes, n_classes, tasks, betas, one_vs_one):
        if one_vs_one:
            coefficients = _pairwise_rows(codes, n_classes, tasks, betas)
        else:
            coefficients = _rows(len(codes), tasks, betas)
        chosen = coefficients.any(axis=0).nonzero()[0]
        own = codes[chosen]
        self.indices = chosen[own.argsort(kind="stable")].astype(np.int32)
        self.counts = np.bincount(own, minlength=n_classes).astype(np.int32)
        self.dual_coef = coefficients[:, self.indices]
        self.one_vs_one = one_vs_one

    def groups(self):
        """The coefficients as groups of an `Expansion`."""
        if not self.one_vs_one:
            outputs = np.arange(len(self.dual_coef))
            return [Group(0, len(self.indices), self.dual_coef.T, outputs)]
        edges = np.concatenate([[0], np.cumsum(self.counts)])
        return [
            Group(
                edges[c], edges[c + 1], self.dual_coef[:, edges[c] : edges[c + 1]].T, pair_columns(c, len(self.counts))
            )
            for c in range(len(self.counts))
            if self.counts[c]
        ]


def _rows(n, tasks, betas):
    rows = np.zeros((len(tasks), n))
    for row, task, beta in zip(rows, tasks, betas, strict=True):
        row[task.indices] = beta
    return rows


def _pairwise_rows(codes, n_classes, tasks, betas):
    rows = np.zeros((n_classes - 1, len(codes)))
    for task, beta in zip(tasks, betas, strict=True):
        own = codes[task.indices]
        for side, other in (task.label, task.label[::-1]):
            members = own == side
            rows[pair_row(side, other), task.indices[members]] = beta[members]
    return rows


def linear_coefficients(expansion):
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
