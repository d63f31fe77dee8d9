"""Rows to learn from and rows to score on.

The rows are those that scikit-learn's ``train_test_split`` holds out for the same seed, each class in proportion; but
its package imports all searches, metrics and statistics, which would take a command longer than the fit itself.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def hold_out(y: NDArray[Any], share: float, seed: int, is_stratified: bool = True) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positions to learn from, and positions held out, both in order.

    Parameters
    ----------
    y : array (n,)
    share : float
        The share of rows held out, above 0 and below 1; their number is rounded up.
    seed : int
    is_stratified : bool
        Whether each class is on both sides in proportion. Has no effect if a class has only one row, or if there are
        more classes than rows on one side.

    Returns
    -------
    learnt, held : ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.workflow.hold_out import hold_out
    >>> learnt, held = hold_out(np.repeat(["a", "b"], [6, 4]), 0.5, seed=0)
    >>> learnt.tolist(), held.tolist()
    ([1, 2, 5, 6, 9], [0, 3, 4, 7, 8])
    """
    n, rng = len(y), np.random.RandomState(seed)
    n_held = math.ceil(share * n)
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    if not is_stratified or counts.min() < 2 or len(counts) > min(n_held, n - n_held):
        order = rng.permutation(n)
        return np.sort(order[n_held:]), np.sort(order[:n_held])
    learn = _apportioned(counts, n - n_held, rng)
    hold = _apportioned(counts - learn, n_held, rng)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    drawn = [each[rng.permutation(len(each))] for each in rows]
    learnt = [each[:count] for each, count in zip(drawn, learn, strict=True)]
    held = [each[a : a + b] for each, a, b in zip(drawn, learn, hold, strict=True)]
    return np.sort(np.concatenate(learnt)), np.sort(np.concatenate(held))


def _apportioned(counts: NDArray[Any], total: int, rng: np.random.RandomState) -> NDArray[Any]:
    """How many of each class, `total` in all: by largest remainder, with ties drawn by lot."""
    exact = counts / counts.sum() * total
    seats = np.floor(exact)
    left = int(total - seats.sum())
    for remainder in np.unique(exact - seats)[::-1]:
        if not left:
            break
        alike = np.flatnonzero(exact - np.floor(exact) == remainder)
        lucky = rng.choice(alike, size=min(len(alike), left), replace=False)
        seats[lucky] += 1
        left -= len(lucky)
    return seats.astype(int)
