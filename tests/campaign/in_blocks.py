"""Rows that come in blocks, for seeds from four million on: a machine is that of the same rows in memory.

They are drawn by a generator of their own, so that a smaller seed is the problem that it always was.
"""

import warnings
from itertools import pairwise

import numpy as np
from scipy import sparse

import mercer
from mercer import Status
from mercer.io import Blocks
from tests.campaign.rows import choose

FROM = 4_000_000
NAMES = ("LinearSVC", "LinearSVR")
# Newton steps over blocks end where rounding is larger than what is left to gain: columns that differ by more than
# this, or a larger C times the square of the longest row, are not compared with the solvers in memory.
WIDEST, LARGEST = 1e3, 1e9


def divide(problem):
    """Give the rows of `problem` in blocks, if its seed says so; whether it does."""
    rng = np.random.default_rng([20, problem.seed])
    options = problem.options
    is_possible = problem.name in NAMES and options.get("penalty") != "l1" and "multi_class" not in options
    if problem.seed < FROM or not is_possible or rng.random() < 0.2:
        return False
    options.pop("solver", None)
    n = problem.X.shape[0]
    if choose(rng, pieces=1, slices=1) == "slices" and problem.weights is None:
        problem.source = Blocks((problem.X, problem.y), block_rows=int(rng.integers(1, n + 1)))
    else:
        cuts = np.unique([0, *rng.integers(0, n, size=rng.integers(0, 5)), n])
        weights = np.ones(n) if problem.weights is None else problem.weights
        problem.source = Blocks([(problem.X[a:b], problem.y[a:b], weights[a:b]) for a, b in pairwise(cuts)])
    return True


def as_in_memory(problem, model):
    """The objective is that of a fit to the same rows in memory, and the end is no worse."""
    other = getattr(mercer, problem.name)(**problem.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.fit(problem.X, problem.y, sample_weight=problem.weights)
    if other.status_ != Status.OPTIMAL:
        return
    if model.status_ != Status.OPTIMAL:
        if _is_moderate(problem):
            yield f"{model.status_.name} over blocks, OPTIMAL in memory"
        return
    pairs = ([each] if not isinstance(each, list) else each for each in (model.certificate_, other.certificate_))
    for own, theirs in zip(*pairs, strict=True):
        if own.primal - theirs.primal > own.gap + 1e-9 * max(1.0, abs(theirs.primal)):
            yield f"the primal over blocks is {own.primal:.10g}, in memory {theirs.primal:.10g}, gap {own.gap:.1e}"


def _is_moderate(problem):
    rows = problem.X.toarray() if sparse.issparse(problem.X) else np.asarray(problem.X)
    spread = np.abs(rows - rows.mean(axis=0)).max(axis=0)
    spread = spread[spread > 0]
    C = problem.options["C"] * (1.0 if problem.weights is None else problem.weights.max())
    longest = float((rows.astype(np.float64) ** 2).sum(axis=1).max(initial=0.0))
    return bool(len(spread)) and spread.max() <= WIDEST * spread.min() and C * longest <= LARGEST
