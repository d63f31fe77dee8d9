"""Steps within one working set: one row at a time, and Newton steps on the free coefficients.

Cost of a step of a row: q K multiplications for q rows in the set and K classes, and as many to choose the next
one; of a Newton step, the solution of a system with as many unknowns as there are free coefficients.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import UNBOUNDED, jit
from mercer._types import Array, FloatArray, IndexArray
from mercer.solvers.crammer_singer.linear import project, settle

if TYPE_CHECKING:
    from mercer.kernels._types import Stop

# Most Newton steps, and most free coefficients for which they are tried.
NEWTON_STEPS, LARGEST_FACE = 30, 800


@jit
def _row_violation(scores: FloatArray, alpha: FloatArray, code: int, C: float) -> float:
    """Largest score (plus 1 for other classes) minus the smallest of those that may still rise."""
    largest, smallest = -UNBOUNDED, UNBOUNDED
    for m in range(scores.shape[0]):
        value = scores[m] if m == code else scores[m] + 1.0
        largest = max(largest, value)
        if alpha[m] < (C if m == code else 0.0) - 1e-13 * C:
            smallest = min(smallest, value)
    return largest - smallest if smallest < UNBOUNDED else 0.0


@jit
def row_steps(
    matrix: Array,
    codes: IndexArray,
    C: FloatArray,
    alpha: FloatArray,
    scores: FloatArray,
    violations: FloatArray,
    tol: float,
    max_steps: int,
) -> tuple[int, float]:
    """Steps until no row violates by more than `tol`; (number of steps, largest violation)."""
    n, n_classes = alpha.shape
    B, goal, change = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for r in range(n):
        violations[r] = _row_violation(scores[r], alpha[r], codes[r], C[r])
    for step in range(max_steps + 1):
        i = 0
        for r in range(1, n):
            if violations[r] > violations[i]:
                i = r
        if violations[i] <= tol or step == max_steps:
            return step, violations[i]
        curvature = max(np.float64(matrix[i, i]), 1e-12)
        for m in range(n_classes):
            B[m] = scores[i, m] + (0.0 if m == codes[i] else 1.0) - curvature * alpha[i, m]
        project(B, codes[i], C[i], curvature, goal)
        settle(goal, codes[i], C[i])
        for m in range(n_classes):
            change[m] = goal[m] - alpha[i, m]
            alpha[i, m] = goal[m]
        row = matrix[i]
        for r in range(n):
            entry = np.float64(row[r])
            for m in range(n_classes):
                scores[r, m] += entry * change[m]
            violations[r] = _row_violation(scores[r], alpha[r], codes[r], C[r])
    return max_steps, violations[0]


@jit
def settle_rows(codes: IndexArray, C: FloatArray, alpha: FloatArray) -> None:
    """Restore zero sums within the bounds; the linear system keeps them only as well as its condition allows."""
    for r in range(alpha.shape[0]):
        settle(alpha[r], codes[r], C[r])


def newton_on_rows(
    K: FloatArray, codes: IndexArray, C: FloatArray, alpha: FloatArray, scores: FloatArray, stop: "Stop"
) -> None:
    """Newton steps on the coefficients away from their bounds; alpha and scores are updated.

    The coefficients of a row keep their sum. A step ends at the first bound it meets; `stop` is called before each.
    """
    upper = np.zeros_like(alpha)
    upper[np.arange(len(codes)), codes] = C
    for _ in range(NEWTON_STEPS):
        free = alpha < upper - 1e-12 * C[:, None]
        free[free.sum(axis=1) < 2] = False
        rows, classes = np.nonzero(free)
        if not 0 < len(rows) <= LARGEST_FACE or stop():
            return
        step = _on_face(K, rows, classes, scores[rows, classes] + (classes != codes[rows]))
        room = upper[rows, classes] - alpha[rows, classes]
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(step > 0, room / step, np.inf)
        first = int(np.argmin(lengths))
        length = min(1.0, float(lengths[first]))
        change = np.zeros_like(alpha)
        change[rows, classes] = length * step
        if not np.isfinite(change).all():
            return
        alpha += change
        if length < 1.0:
            alpha[rows[first], classes[first]] = upper[rows[first], classes[first]]
        scores += K @ change
        if length == 1.0:
            return


def _on_face(K: FloatArray, rows: IndexArray, classes: IndexArray, gradient: FloatArray) -> FloatArray:
    """The step to the optimum of the free coefficients with zero sum in every row."""
    f, (_, owner) = len(rows), np.unique(rows, return_inverse=True)
    H = K[np.ix_(rows, rows)].astype(np.float64) * (classes[:, None] == classes)
    H[np.diag_indices(f)] += 1e-12 * np.abs(H.diagonal()).mean()
    sums = (owner == np.arange(owner.max() + 1)[:, None]).astype(np.float64)
    system = np.block([[H, sums.T], [sums, np.zeros((len(sums), len(sums)))]])
    return np.linalg.solve(system, np.concatenate([-gradient, np.zeros(len(sums))]))[:f]
