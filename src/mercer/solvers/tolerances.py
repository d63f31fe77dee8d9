"""Numbers that several solvers judge by, each defined once. What one method alone needs stands in its file."""

from mercer.solvers.result import Status

# A tolerance that no kernel value in single precision reaches: whoever asks for it has entries in double.
IN_DOUBLE = 1e-12
# A violation, or a relative gap, this small counts as solved where rounding ends progress.
INACCURATE = 1e-6
# The relative gap to which scores are accurate enough that are compared, or feed a function of two numbers.
SCORE_GAP = 1e-3
# Curvature below this is treated as this (LIBSVM's tau), so that a step is never infinite.
SMALLEST_CURVATURE = 1e-12
# A step of Newton's method is taken where the objective falls by this share of what its slope promises (Armijo),
SUFFICIENT = 1e-4
# and one this short means that rounding errors decide.
SHORTEST = 1e-8
# What changes an objective by less than this share of it, its rounding may hide.
UNSEEN = 1e-13


def ended_by_rounding(distance: float) -> Status:
    """How a solver ends that makes no progress any more, at this violation or relative gap."""
    return Status.OPTIMAL_INACCURATE if distance <= INACCURATE else Status.STALLED
