"""Which coordinates to work on next, and which can be left alone for now.

If more coordinates violate the KKT conditions than a working set can hold, most of it is a
random sample of them, which represents the problem; the worst ones alone would pull the
solution to one side and the rest would have to pull it back.
"""

import numpy as np

from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.problems.svm.signed_dual import DualProblem


def room_for_free(largest: int) -> int:
    """Most free coordinates in a working set: half of it."""
    return max(1, largest // 2)


class Violations:
    """How far each coordinate is from where the KKT conditions let it stay.

    Parameters
    ----------
    problem : DualProblem
    beta, gradient : ndarray
    bias : float, or ndarray (2,) for two groups
        The common value of g on free coordinates (0 without an equality constraint).
    """

    def __init__(self, problem: DualProblem, beta: FloatArray, gradient: FloatArray, bias: float | FloatArray) -> None:
        level = problem.thresholds(bias)
        self.free = problem.is_free(beta)
        self.upward = problem.upward(beta, gradient) - level
        self.downward = level - problem.downward(beta, gradient)

    def choose(self, size: int, near: float, largest: int, rng: np.random.Generator) -> IndexArray:
        """Positions of the free coordinates, of violators on both sides, and of bounded ones within `near` of
        violating; about `size` in addition to the free ones."""
        free = np.flatnonzero(self.free)
        if len(free) > room_for_free(largest):
            free = rng.permutation(free)[: room_for_free(largest)]
        bounded_up = np.flatnonzero(~self.free & (self.upward > -near))
        bounded_down = np.flatnonzero(~self.free & (self.downward > -near))
        size = min(size, largest - len(free))
        # Each side gets half, plus what the other side does not use.
        for_up = min(len(bounded_up), max(size // 2, size - len(bounded_down)))
        rising = _pick(bounded_up, self.upward, for_up, rng)
        falling = _pick(bounded_down, self.downward, size - for_up, rng)
        # With the maximal violating pair in every working set, the rounds converge (Keerthi & Gilbert 2002).
        pair = [self.upward.argmax(), self.downward.argmax()]
        chosen = np.zeros(len(self.free), bool)
        chosen[np.concatenate([free, rising, falling, pair])] = True
        return np.flatnonzero(chosen)

    def settled(self, slack: float) -> BoolArray:
        """Bounded coordinates further than `slack` from violating."""
        return ~self.free & (np.maximum(self.upward, self.downward) < -slack)


def _pick(candidates: IndexArray, violation: FloatArray, count: int, rng: np.random.Generator) -> IndexArray:
    """`count` candidates: the worst violators; or, if there are too many, a sixteenth of the places for the worst and a
    random choice of the others."""
    if len(candidates) <= count or count <= 0:
        return candidates[:count]
    found = violation[candidates]
    violating = candidates[found > 0]
    if len(violating) <= count:
        return candidates[np.argpartition(-found, count - 1)[:count]]
    worst, far = count // 16, -violation[violating]
    violating = violating[np.argpartition(far, worst)]
    return np.concatenate([violating[:worst], rng.permutation(violating[worst:])[: count - worst]])
