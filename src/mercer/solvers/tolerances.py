"""Tolerances that several solvers share, each defined once; those of a single method are in its own file."""

from mercer.solvers.result import Status

# A tolerance out of reach of single precision: asking for it makes a solver use double.
IN_DOUBLE = 1e-12
# A violation or relative gap this small counts as solved if rounding ends progress.
INACCURATE = 1e-6
# The relative gap at which scores are accurate enough to be compared, or to fit a function of two parameters.
SCORE_GAP = 1e-3
# Smaller curvatures are replaced by this (LIBSVM's tau), so that a step is never infinite.
SMALLEST_CURVATURE = 1e-12
# A Newton step is accepted if the objective falls by this share of what its slope predicts (Armijo),
SUFFICIENT = 1e-4
# and a step this short means that rounding errors decide.
SHORTEST = 1e-8
# Relative changes of an objective below this may be hidden by rounding.
UNSEEN = 1e-13


def ended_by_rounding(distance: float) -> Status:
    """The status of a solver that no longer makes progress, given its violation or relative gap."""
    return Status.OPTIMAL_INACCURATE if distance <= INACCURATE else Status.STALLED
