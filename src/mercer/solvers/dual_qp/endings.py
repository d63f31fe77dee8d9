"""Duals that end short of the tolerance: what counts as accurate, as stuck, and as unbounded."""

import numpy as np

from mercer.problems.svm.signed_dual import DualProblem

# Curvature below this, relative to the diagonal, is not rounding: the kernel is indefinite.
NEGATIVE_CURVATURE = -1e-4
ROUNDS_WITHOUT_PROGRESS = 12
# Where max_iter sets no bound, this does: what is not solved by then will not be. A box so large
# that it never binds may hide a dual without a maximum (data that cannot be separated), and gets
# fewer steps to show it.
MOST_STEPS = 2_000_000
MOST_STEPS_UNBOUNDED = 1_000_000
NEVER_BINDS = 1e50


class Diverged(Exception):
    """Coefficients grow without bound: the dual has no maximum. The last ones are kept."""


class Progress:
    """Whether rounds still bring something: a smaller violation, or a larger dual."""

    def __init__(self) -> None:
        self.least, self.dual, self.idle_rounds = np.inf, -np.inf, 0

    def has_ended(self, violation: float, dual: float, turns: int) -> bool:
        """Whether many rounds have brought nothing; asked once a round.

        Where a working set has no room for all the free coordinates, each has its turn in one of `turns` rounds.
        """
        if violation < 0.9 * self.least or dual > self.dual + 1e-9 * abs(dual):
            self.least, self.dual, self.idle_rounds = min(violation, self.least), dual, 0
            return False
        self.idle_rounds += 1
        return self.idle_rounds >= turns * ROUNDS_WITHOUT_PROGRESS

    def forgive(self) -> None:
        """Begin to count again: the goal has moved, or entries have more digits."""
        self.least, self.idle_rounds = np.inf, 0


def reach_of(problem: DualProblem) -> float:
    """How far from zero the box goes."""
    return max(float(problem.upper.max()), -float(problem.lower.min()))


def most_steps(problem: DualProblem) -> int:
    """Steps after which a problem is given up, where nobody else sets a bound."""
    return max(MOST_STEPS_UNBOUNDED if reach_of(problem) > NEVER_BINDS else MOST_STEPS, 100 * len(problem))
