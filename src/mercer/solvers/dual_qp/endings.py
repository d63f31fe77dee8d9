"""Duals that end short of the tolerance: what counts as accurate, as stuck, and as unbounded."""

import numpy as np

from mercer.problems.svm.signed_dual import DualProblem

# Curvature below this, relative to the diagonal, exceeds rounding: the kernel is indefinite.
NEGATIVE_CURVATURE = -1e-4
ROUNDS_WITHOUT_PROGRESS = 12
# Bound on the steps where max_iter sets none; a problem unsolved by then will stay so. A box too large ever to bind may
# hide an unbounded dual (data that cannot be separated), so it gets fewer.
MOST_STEPS = 2_000_000
MOST_STEPS_UNBOUNDED = 1_000_000
NEVER_BINDS = 1e50


class Diverged(Exception):
    """Coefficients grow without bound: the dual is unbounded. The last ones are kept."""


class Progress:
    """Tracks whether rounds make progress: a smaller violation, or a larger dual."""

    def __init__(self) -> None:
        self.least, self.dual, self.idle_rounds = np.inf, -np.inf, 0

    def has_ended(self, violation: float, dual: float, turns: int) -> bool:
        """Whether many rounds have made no progress; called once per round.

        If a working set cannot hold all free coordinates, each takes part in one of `turns` rounds.
        """
        if violation < 0.9 * self.least or dual > self.dual + 1e-9 * abs(dual):
            self.least, self.dual, self.idle_rounds = min(violation, self.least), dual, 0
            return False
        self.idle_rounds += 1
        return self.idle_rounds >= turns * ROUNDS_WITHOUT_PROGRESS

    def forgive(self) -> None:
        """Reset the count: the target has moved, or entries have become more accurate."""
        self.least, self.idle_rounds = np.inf, 0


def reach_of(problem: DualProblem) -> float:
    """The largest absolute bound."""
    return max(float(problem.upper.max()), -float(problem.lower.min()))


def most_steps(problem: DualProblem) -> int:
    """Steps after which a problem is abandoned if nothing else sets a bound."""
    return max(MOST_STEPS_UNBOUNDED if reach_of(problem) > NEVER_BINDS else MOST_STEPS, 100 * len(problem))
