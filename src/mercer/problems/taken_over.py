r"""A certificate of a large solution that does not recompute everything.

A solver ends with the gradient g of every row. Whatever h it uses for :math:`K\beta`, the gap between primal and dual
is a sum of nonnegative terms, one for each row (`DualProblem.gains`), and the term of a row at a bound is zero as
long as g has the right sign there. So few rows decide: those inside their box, and those whose sign an error could
change. They are recomputed from scratch in double precision, after rows drawn at random have shown how large errors
are. The others are taken over, and the numbers are widened by the largest error e seen anywhere:

- the violation counts each row taken over at the worst of :math:`g \pm e`;
- the gap grows by the increase of its terms at the worst of :math:`g \pm e`;
- primal and dual move together, by at most :math:`\tfrac12 e \sum |\beta_i|` over the rows taken over.

How certain this is: if a fraction q of all rows were off by more than e, a sample of s rows would miss them all with
probability at most :math:`(1 - q)^s`. So q is below :math:`1 - (1 - c)^{1/s}` with certainty c. This says nothing about
how far off those few are; only recomputing everything does.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.problems.certificate import EVERYTHING, Certificate
from mercer.problems.svm.signed_dual import DualProblem

# Rows drawn at random, at most; at most one row in this many is recomputed at first, and one in twice as many is drawn.
SAMPLE, ONE_IN = 2048, 16
# And this many at most: the work of a fit grows by less than the square of its rows.
MOST = 8192
# The certainty of the bound on the fraction of rows with larger errors.
CERTAINTY = 0.999
# Rows are undecided if an error this many times the largest seen so far could change their side.
CAUTION = 2.0
SEED = 20


def allows(problem: Any, beta: FloatArray) -> bool:
    """Whether a certificate of these coefficients can take over a solver's gradient."""
    has_sum_of_gains = hasattr(problem, "times_dual") and beta.ndim == 1 and len(beta) >= 2 * ONE_IN
    weights = getattr(problem, "C", getattr(problem, "costs", 0.0))
    return bool(has_sum_of_gains and np.isfinite(weights).all())


def certificate(
    problem: Any,
    beta: FloatArray,
    gradient: FloatArray,
    intercept: float,
    tol: float,
    recompute: Callable[[IndexArray], FloatArray],
    likely: IndexArray,
) -> Certificate:
    """The certificate of a solution whose gradient a solver has left.

    Parameters
    ----------
    problem : problem with `times_dual`
    beta, gradient : ndarray (n,)
        Signed coefficients, and p - Q beta as the solver has it.
    intercept : float
    tol : float
        The required violation: if only errors make it larger, more is recomputed.
    recompute : callable
        ``recompute(rows)`` is <w, psi(x_i)> at some rows, from scratch and in double precision.
    likely : ndarray of int
        Rows whose entries suffer most from rounding: they are recomputed in addition to the sample.
    """
    n = len(beta)
    known = np.zeros(n, bool)
    projections = _projections(problem, beta, gradient)
    drawn = np.random.default_rng(SEED).choice(n, min(SAMPLE, max(1, n // (2 * ONE_IN))), replace=False)
    first = np.union1d(drawn, likely)
    error = _recomputed(projections, first, recompute, known)
    is_open = _is_open(problem, beta, projections, CAUTION * error) & ~known
    waiting, room = np.flatnonzero(is_open), max(0, min(n // ONE_IN, MOST) - len(first))
    while True:
        wanted = _worst(problem, beta, projections, waiting, room)
        error = max(error, _recomputed(projections, wanted, recompute, known))
        waiting = waiting[~known[waiting]]
        plain, violation, more = _widening(problem, beta, projections, np.where(known, 0.0, error))
        if len(waiting) == 0 or violation <= tol or plain > tol:
            break
        # Only rows counted as off speak against it: more of these are recomputed, before everything is.
        room = len(first) + 2 * len(wanted)
    found = problem.certificate(beta, projections, intercept)
    gap = found.gap + more
    accuracy = 0.5 * problem.times_dual * error * float(np.abs(beta[~known]).sum())
    return replace(
        found,
        gap=gap,
        relative_gap=gap / max(1.0, abs(found.primal)) if np.isfinite(found.primal) else np.inf,
        kkt_violation=violation,
        accuracy=accuracy,
        basis=_words(n, known, len(drawn), len(waiting), error, accuracy),
    )


def _projections(problem: Any, beta: FloatArray, gradient: FloatArray) -> FloatArray:
    """K beta, as the solver has it."""
    dual, times, point = _point(problem, beta)
    return dual.projections_of(point, np.tile(gradient, times))[: len(beta)]


def _point(problem: Any, beta: FloatArray) -> tuple[DualProblem, int, FloatArray]:
    """The dual, how many copies of each row it has, and its coefficients."""
    dual = problem.dual()
    times = len(dual) // len(beta)
    return dual, times, beta if times == 1 else problem.copies(beta)


def _recomputed(
    projections: FloatArray, rows: IndexArray, recompute: Callable[[IndexArray], FloatArray], known: BoolArray
) -> float:
    """Recompute some of the projections; the largest error of those that were there."""
    if len(rows) == 0:
        return 0.0
    exact = recompute(rows)
    error = float(np.abs(projections[rows] - exact).max())
    projections[rows] = exact
    known[rows] = True
    return error if np.isfinite(error) else np.inf


def _is_open(problem: Any, beta: FloatArray, projections: FloatArray, slack: float) -> BoolArray:
    """Rows whose term of the gap is nonzero, or would be if their gradient were off by `slack`."""
    dual, times, point = _point(problem, beta)
    gradient = dual.gradient_of(point, np.tile(projections, times))
    widest = _widest(dual, point, gradient, dual.bias(point, gradient), np.full(len(point), slack))
    return (widest != 0.0).reshape(times, -1).any(axis=0)


def _worst(problem: Any, beta: FloatArray, projections: FloatArray, rows: IndexArray, room: int) -> IndexArray:
    """The rows that violate the conditions most, as many as there is room for: they determine the violation, and
    the others are far enough from it that an error does not matter."""
    if len(rows) <= room:
        return rows
    dual, times, point = _point(problem, beta)
    gradient = dual.gradient_of(point, np.tile(projections, times))
    level = dual.thresholds(dual.bias(point, gradient))
    violations = np.maximum(dual.upward(point, gradient) - level, level - dual.downward(point, gradient))
    order = np.argsort(-violations.reshape(times, -1).max(axis=0)[rows], kind="stable")
    return np.sort(rows[order[:room]])


def _widest(
    dual: DualProblem, beta: FloatArray, gradient: FloatArray, bias: float | FloatArray, errors: FloatArray
) -> FloatArray:
    """The terms of the gap at the worst of g - errors and g + errors: they are convex in g."""
    return np.maximum(*(dual.gains(beta, gradient + sign * errors, bias) for sign in (-1.0, 1.0)))


def _widening(
    problem: Any, beta: FloatArray, projections: FloatArray, errors: FloatArray
) -> tuple[float, float, float]:
    """(the violation, what it is if each gradient is off by its error at the worst, what that adds to the gap)."""
    dual, times, point = _point(problem, beta)
    gradient, errors = dual.gradient_of(point, np.tile(projections, times)), np.tile(errors, times)
    bias = dual.bias(point, gradient)
    highest, lowest = dual.extremes(point, gradient + errors)[0], dual.extremes(point, gradient - errors)[1]
    more = _widest(dual, point, gradient, bias, errors) - dual.gains(point, gradient, bias)
    widened = dual.violation_between(highest, lowest)
    return dual.violation(point, gradient), widened, problem.times_dual * float(more.sum())


def _words(n: int, known: BoolArray, drawn: int, left: int, error: float, accuracy: float) -> str:
    if known.all():
        return EVERYTHING
    share = 1.0 - (1.0 - CERTAINTY) ** (1.0 / drawn)
    deciding = "all that decide" if left == 0 else f"all but {left} that decide"
    return (
        f"{int(known.sum())} of {n} rows recomputed in double precision: {deciding}, and {drawn} at random. For "
        f"these the solver's gradient was off by at most {error:.1e}; for the others it is reused, and counted as off "
        f"by as much, so primal and dual may be off by {accuracy:.1e} (with {100 * CERTAINTY:g}% certainty, fewer "
        f"than {100 * share:.2g}% of the rows are off by more)"
    )
