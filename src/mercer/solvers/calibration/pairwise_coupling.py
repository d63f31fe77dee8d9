r"""Probabilities of several classes from those of all pairs.

Given :math:`r_{ij}`, an estimate of P(class i | class i or j), the probabilities p minimise

.. math:: \sum_i \sum_{j \ne i} (r_{ji}\, p_i - r_{ij}\, p_j)^2, \qquad \textstyle\sum_i p_i = 1

(Wu, Lin & Weng 2004, their second method): a linear system of k + 1 unknowns for each row, with a unique
solution, which is positive if all r are. Cost: k^3 / 3 per row.
"""

import numpy as np

from mercer._types import FloatArray

# Estimates are clipped this far from 0 and 1.
LEAST = 1e-7
# Entries of the linear systems held at once.
_AT_ONCE = 2**22


def couple(pairwise: FloatArray, n_classes: int) -> FloatArray:
    """Probabilities, shape (n, n_classes).

    Parameters
    ----------
    pairwise : ndarray (n, n_classes (n_classes - 1) / 2)
        P(i | i or j) of the pairs i < j in order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.calibration.pairwise_coupling import couple
    >>> couple(np.array([[0.5, 0.5, 0.5], [0.8, 2 / 3, 1 / 3]]), 3).round(3)
    array([[0.333, 0.333, 0.333],
           [0.571, 0.143, 0.286]])
    """
    out = np.empty((len(pairwise), n_classes))
    block = max(1, _AT_ONCE // (n_classes + 1) ** 2)
    for begin in range(0, len(pairwise), block):
        out[begin : begin + block] = _couple(pairwise[begin : begin + block], n_classes)
    return out


def _couple(pairwise: FloatArray, k: int) -> FloatArray:
    first, second = np.triu_indices(k, 1)
    r = np.zeros((len(pairwise), k, k))
    r[:, first, second] = np.clip(pairwise, LEAST, 1.0 - LEAST)
    r[:, second, first] = 1.0 - r[:, first, second]
    system = np.ones((len(pairwise), k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, k, k] = 0.0
    right = np.zeros((k + 1, 1))
    right[k] = 1.0
    p = np.maximum(np.linalg.solve(system, np.broadcast_to(right, (len(system), k + 1, 1)))[:, :k, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
