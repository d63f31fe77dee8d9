"""The dual of some of the points, and the dual among more points than may move.

Folds and paths solve many problems over one kernel matrix; these functions express one in terms of another.
"""

from dataclasses import replace

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.problems.svm.signed_dual import DualProblem


def narrowed(problem: DualProblem, rows: IndexArray) -> DualProblem:
    """The problem of some coordinates, where the others are zero."""
    ridge = None if problem.ridge is None else problem.ridge[rows]
    return replace(
        problem, linear=problem.linear[rows], lower=problem.lower[rows], upper=problem.upper[rows], ridge=ridge
    )


def widened(problem: DualProblem, rows: IndexArray, n: int) -> DualProblem:
    """The problem among n coordinates of which only `rows` may leave zero.

    Points with identical rows become one coordinate, the sum of theirs: its box is the sum of theirs,
    and each gets an equal part of it, which minimises the cost of their ridges.
    """
    times = np.bincount(rows, minlength=n)[rows]

    def spread(values: FloatArray) -> FloatArray:
        out = np.zeros(n)
        out[rows] = values
        return out

    return replace(
        problem,
        linear=spread(problem.linear),
        lower=spread(times * problem.lower),
        upper=spread(times * problem.upper),
        ridge=None if problem.ridge is None else spread(problem.ridge / times),
    )
