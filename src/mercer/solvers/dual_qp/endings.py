"""Duals that end short of the tolerance: what counts as accurate, as stuck, and as unbounded."""

import numpy as np

from mercer.problems.svm.signed_dual import DualProblem

# Curvature below this, relative to the diagonal, exceeds rounding: the kernel is indefinite.
NEGATIVE_CURVATURE = -1e-4
ROUNDS_WITHOUT_PROGRESS = 12
# Where max_iter sets no bound, the gap must fall to a share in so many steps, and so often at the most: else the fit
# is abandoned. A box too large ever to bind may hide an unbounded dual (data that cannot be separated), and gets fewer.
MOST_STEPS = 2_000_000
MOST_STEPS_UNBOUNDED = 1_000_000
ENOUGH, MOST_STRETCHES = 0.5, 12
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


class Patience:
    """Whether a fit without a bound on its steps is worth going on with: its relative duality gap must fall by half in
    every stretch of steps."""

    def __init__(self, most: int) -> None:
        self.most, self.begun, self.stretches, self.gap = most, 0, 0, 1.0

    def is_over(self, steps: int, gap: float) -> bool:
        """Called once per round, with the number of steps so far."""
        if steps - self.begun < self.most:
            return False
        if not gap <= ENOUGH * self.gap or self.stretches == MOST_STRETCHES:
            return True
        self.begun, self.gap, self.stretches = steps, gap, self.stretches + 1
        return False

    def renew(self, steps: int) -> None:
        """Begin a stretch: entries have become more accurate."""
        self.begun, self.gap = steps, 1.0


def reach_of(problem: DualProblem) -> float:
    """The largest absolute bound."""
    return max(float(problem.upper.max(initial=0.0)), -float(problem.lower.min(initial=0.0)))


def most_steps(problem: DualProblem) -> int:
    """Steps in which a problem must have come nearer to its end, if nothing else sets a bound."""
    return max(MOST_STEPS_UNBOUNDED if reach_of(problem) > NEVER_BINDS else MOST_STEPS, 100 * len(problem))
