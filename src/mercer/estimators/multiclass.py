"""From several classes to two-class problems and back: one-vs-one and one-vs-rest."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BinaryTask:
    """One two-class problem: which points take part, and which are positive."""

    indices: np.ndarray
    signs: np.ndarray
    label: tuple


def binary_task(codes):
    """Two classes: the second one is positive."""
    return [BinaryTask(np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0), (1, 0))]


def one_vs_one(codes, n_classes):
    """A problem for each pair i < j, in which class i is positive."""
    members = [np.flatnonzero(codes == c) for c in range(n_classes)]
    return [_pair(members, i, j) for i, j in pairs(n_classes)]


def _pair(members, i, j):
    signs = np.concatenate([np.ones(len(members[i])), -np.ones(len(members[j]))])
    return BinaryTask(np.concatenate([members[i], members[j]]), signs, (i, j))


def one_vs_rest(codes, n_classes):
    """A problem for each class, in which it is positive and all others are negative."""
    everything = np.arange(len(codes))
    return [BinaryTask(everything, np.where(codes == c, 1.0, -1.0), (c,)) for c in range(n_classes)]


def pairs(n_classes):
    """The pairs (i, j), i < j, in scikit-learn's order."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def votes(decisions, n_classes):
    """How many pairs each class wins, shape (n, n_classes)."""
    counted = np.zeros((len(decisions), n_classes), dtype=np.int64)
    for column, (i, j) in enumerate(pairs(n_classes)):
        first_wins = decisions[:, column] > 0
        counted[:, i] += first_wins
        counted[:, j] += ~first_wins
    return counted


def ovr_from_ovo(decisions, n_classes):
    """One score a class from pair decisions: the votes, with ties broken by confidence.

    The summed confidences are squeezed into (-1/3, 1/3), so they never outweigh a vote.
    """
    confidence = np.zeros((len(decisions), n_classes))
    for column, (i, j) in enumerate(pairs(n_classes)):
        confidence[:, i] += decisions[:, column]
        confidence[:, j] -= decisions[:, column]
    return votes(decisions, n_classes) + confidence / (3.0 * (np.abs(confidence) + 1.0))


def pair_row(own, other):
    """The row of scikit-learn's dual_coef_ that holds class `own` against class `other`."""
    return other - 1 if other > own else other


def pair_columns(own, n_classes):
    """For each row of dual_coef_ of a vector of class `own`, the column of its pair."""
    place = {pair: column for column, pair in enumerate(pairs(n_classes))}
    others = [other for other in range(n_classes) if other != own]
    return np.array([place[min(own, other), max(own, other)] for other in others])
