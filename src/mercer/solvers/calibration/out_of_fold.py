"""Decision values of rows that took no part in the fit, without refitting.

The rows of a fold are left out by closing their box: their coefficients stay zero, and the solver
continues, over the same kernel matrix, from the solution for all rows. Its gradient at the rows left
out gives their decision values. Most coefficients hardly change, so a fold costs a few steps.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.kernels._types import Features
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers._types import MarginProblem
    from mercer.solvers.result import Solution

# Following Platt (2000). More folds give scores slightly closer to the model's, at a higher cost.
FOLDS = 3
# The scores only fit a function of two parameters, so they need less accuracy than a solution.
SCORE_TOL = 0.02
# Rows whose keys differ by less than this share of the largest count as equal.
_EQUAL = 1e-9
_SMALLEST = float(np.finfo(np.float64).tiny)


def projected(X: "Features", rng: np.random.Generator | None = None) -> FloatArray:
    """A number for each row that depends on its contents alone, and almost never coincides for two.

    The projection is fixed, or drawn by `rng`.
    """
    largest = np.asarray(abs(X).max(axis=0).toarray() if sparse.issparse(X) else np.abs(X).max(axis=0)).ravel()
    # Multiples of the golden ratio, so that no two columns have the same weight.
    weights = 0.5 + (np.arange(1, X.shape[1] + 1) * 0.6180339887498949) % 1.0
    weights = weights if rng is None else rng.uniform(-1.0, 1.0, X.shape[1])
    # Floor at the smallest normal number, since the inverse of a subnormal overflows.
    scaled = weights / np.maximum(np.where(largest > 0, largest, 1.0).astype(np.float64), _SMALLEST)
    return np.asarray(X @ scaled, dtype=np.float64).ravel()


def assign_folds(codes: IndexArray, keys: FloatArray, n_folds: int = FOLDS) -> IndexArray:
    """The fold of each row, or -1 for the only row of its class, which cannot be held out.

    The rows of a class are dealt out in order of their keys, equal keys together, so folds depend neither on the order
    of rows nor on whether a row is repeated or weighted.
    """
    folds = np.full(len(codes), -1)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        order = members[np.argsort(keys[members], kind="stable")]
        step = np.diff(keys[order]) > _EQUAL * float(np.abs(keys[order]).max(initial=0.0))
        rank = np.concatenate([[0], np.cumsum(step)])
        if rank[-1] > 0:
            # Each class starts at a different fold, or small classes would all land in the first.
            folds[order] = (rank + code) % n_folds
    return folds


def out_of_fold_scores(
    problem: "MarginProblem",
    matrix: "KernelMatrix",
    solution: "Solution",
    folds: IndexArray,
    solve: "Callable[[DualProblem, KernelMatrix, FloatArray], Solution]",
) -> tuple[FloatArray, Status]:
    """(decision values, worst status) of all rows, each by a solution that has not seen it.

    Parameters
    ----------
    problem : SoftMargin or NuMargin
    matrix : KernelMatrix
    solution : Solution
        For all rows; also what says the values of rows that cannot be left out.
    folds : ndarray of int (n,)
    solve : callable
        ``solve(dual, matrix, start)``.
    """
    everything = np.arange(len(folds))
    scores, status = _scores(problem, problem.dual(), matrix, solution, everything), Status.OPTIMAL
    for fold in np.unique(folds[folds >= 0]):
        held = folds == fold
        part, dual = problem.without(held)
        found = solve(dual, matrix, start_without(dual, solution.beta, held, _known_gradient(solution)))
        scores[held] = _scores(part, dual, matrix, found, np.flatnonzero(held))
        status = Status.worst([status, found.status])
    return scores, status


def _known_gradient(solution: "Solution") -> FloatArray | None:
    return solution.gradient if solution.is_gradient_complete else None


def start_without(
    dual: "DualProblem", beta: FloatArray, held: BoolArray, gradient: FloatArray | None = None
) -> FloatArray:
    """`beta` without the held-out rows, with its sums restored by changing as few other coefficients as possible.

    Free coordinates are changed first: they move anyway, while bounded ones mostly stay. If the sums are not zero,
    those with the largest gain are, judged by the previous gradient.
    """
    beta = np.where(held, 0.0, beta)
    if dual.has_total:
        return dual.feasible(beta) if gradient is None else dual.topped_up(beta, gradient)
    excess = float(beta.sum())
    if not dual.has_equality or excess == 0.0:
        return beta
    side = np.flatnonzero(beta * excess > 0)
    bounded = (beta[side] == dual.upper[side]) | (beta[side] == dual.lower[side])
    order = side[np.argsort(bounded, kind="stable")]
    before = np.concatenate([[0.0], np.cumsum(np.abs(beta[order]))[:-1]])
    given = np.clip(abs(excess) - before, 0.0, np.abs(beta[order]))
    beta[order] -= np.sign(excess) * given
    return beta


def _scores(
    problem: "MarginProblem", dual: "DualProblem", matrix: "KernelMatrix", solution: "Solution", rows: IndexArray
) -> FloatArray:
    """f at some rows, from the gradient where it is complete."""
    if solution.is_gradient_complete:
        projections = dual.linear[rows] - solution.gradient[rows] - dual.shift * solution.beta.sum()
        if dual.ridge is not None:
            projections = projections - dual.ridge[rows] * solution.beta[rows]
    else:
        support = np.flatnonzero(solution.beta)
        projections = matrix.product(support, solution.beta[support], rows) if len(support) else np.zeros(len(rows))
    return problem.decision_values(projections, solution.beta, solution.bias)
