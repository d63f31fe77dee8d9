"""A working set: some coordinates of a dual problem with their own small matrix in memory."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._jit.scratch import Buffers, scratch
from mercer._jit.threads import thread_count
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Stop
from mercer.kernels.evaluation.row_cache import add_weighted_rows
from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix, is_ordered, padded
from mercer.kernels.gram.near_rows import NearRows
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.copied_rows import CopiedRows, copy_all
from mercer.solvers.dual_qp.face_newton import newton_on_face
from mercer.solvers.dual_qp.near_pair_steps import near_pair_steps
from mercer.solvers.dual_qp.pair_steps import MASK, Groups, grouped_pair_steps, pair_steps, single_steps
from mercer.solvers.limits import SLICE_SECONDS, Limits

# Steps without a smaller violation after which a working set gives up.
PATIENCE = 100_000
MOST_RESCUES = 50
# Relative drift of a sum that is tolerated before it is corrected.
DRIFT = 1e-12


class WorkingSet:
    """Chosen coordinates, solved among themselves while the others are held fixed.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    indices : ndarray of int
        The coordinates, sorted.
    beta, gradient : ndarray
        Current values for all coordinates.
    bias : float, or ndarray (2,), optional
        About what free gradients have in common: taken off before they are rounded to single
        precision, where it may be thousands of times their differences.
    buffers : Buffers, optional
        Where a large matrix is built, so that the next working set finds the memory again.
    near : NearRows, optional
        Of a stored matrix without a ridge, for all coordinates: steps then read nothing else of it.
    """

    def __init__(
        self,
        problem: DualProblem,
        matrix: KernelMatrix,
        indices: IndexArray,
        beta: FloatArray,
        gradient: FloatArray,
        buffers: Buffers | None = None,
        stop: Stop | None = None,
        bias: float | FloatArray = 0.0,
        near: NearRows | None = None,
    ) -> None:
        self.problem, self._near = problem, near
        self.indices, self.split = _by_group(problem, indices)
        self._copied: CopiedRows | None = None
        self._values = self._matrix(problem, matrix, buffers, stop)
        self.start = beta[self.indices]
        self.beta = self.start.copy()
        self.lower = np.maximum(problem.lower[self.indices], -UNBOUNDED)
        self.upper = np.minimum(problem.upper[self.indices], UNBOUNDED)
        self.bias = bias
        self.gradient = self._padded(gradient[self.indices] - problem.thresholds(bias, self.indices), 0.0)
        self.diag = self._padded(self._values.diagonal(), 1.0) if self._copied is None else self._copied.diag
        self._set_masks()
        self._scores = np.empty_like(self.gradient)
        self._extremes = np.zeros((2, 2))
        self._steps = self._chosen_steps()
        self.highest = self.lowest = 0.0
        self.curvature = 1.0
        self.is_stalled = False

    def _chosen_steps(self) -> Callable[..., tuple[int, float, float, float]]:
        if self._near is not None:
            return near_pair_steps
        if not self.problem.has_equality:
            return single_steps
        return pair_steps if self.split is None else self._grouped_steps

    def _grouped_steps(self, *arguments: Any) -> tuple[int, float, float, float]:
        matrix, gradient, beta, lower, upper, kink, diag, rise, fall, tol, max_steps, scores = arguments
        groups = Groups(cast(int, self.split), self._extremes)
        return grouped_pair_steps(
            matrix, gradient, beta, (lower, upper), kink, diag, rise, fall, groups, tol, max_steps, scores
        )

    def _matrix(self, problem: DualProblem, matrix: KernelMatrix, buffers: Buffers | None, stop: Stop | None) -> Array:
        """K + s 11' + R among the chosen coordinates, rows padded with zeros."""
        m = len(self.indices)
        plain = not problem.shift and problem.ridge is None
        if plain and m == matrix.n and matrix.is_stored and is_ordered(self.indices):
            return cast(StoredMatrix, matrix).values
        values = scratch("working set", (m, padded(m)), matrix.dtype, buffers)
        if m and matrix.is_stored and not problem.shift and problem.has_equality and self.split is None:
            self._copied = self._on_demand(values, cast(StoredMatrix, matrix))
            return values
        values[:, m:] = 0.0
        matrix.submatrix(self.indices, values, stop)
        if problem.shift:
            values[:, :m] += values.dtype.type(problem.shift)
        if problem.ridge is not None:
            values[np.arange(m), np.arange(m)] += problem.ridge[self.indices].astype(values.dtype)
        return values

    def _on_demand(self, values: Array, matrix: StoredMatrix) -> CopiedRows:
        diag = np.ones(values.shape[1], values.dtype)
        diag[: len(values)] = matrix.values[self.indices, self.indices]
        if self.problem.ridge is not None:
            diag[: len(values)] += self.problem.ridge[self.indices].astype(values.dtype)
        return CopiedRows(values, np.zeros(len(values), bool), matrix.values, self.indices, diag)

    @property
    def values(self) -> Array:
        """K + s 11' + R among the chosen coordinates, rows padded with zeros."""
        if self._copied is not None:
            copy_all(*self._copied)
        return self._values

    def _set_masks(self) -> None:
        kink = self.problem.kink
        rise, fall = np.where(self.beta < 0, kink, -kink), np.where(self.beta > 0, -kink, kink)
        self.rise = self._padded(np.where(self.beta < self.upper, rise, -MASK), -MASK)
        self.fall = self._padded(np.where(self.beta > self.lower, fall, MASK), MASK)

    def _padded(self, values: Array, filler: float) -> Array:
        out = np.full(self._values.shape[1], filler, self._values.dtype)
        out[: len(values)] = values
        return out

    @property
    def violation(self) -> float:
        return float(self.highest) - float(self.lowest)

    @property
    def middle(self) -> float | FloatArray:
        """The bias of each group, halfway between the gradients that may rise and those that may fall."""
        if self.split is None:
            return self.bias + 0.5 * (float(self.highest) + float(self.lowest))
        # A group without members here, or with none that may move, keeps its bias.
        known = np.abs(self._extremes).max(axis=1) < 0.5 * MASK
        return self.bias + np.where(known, self._extremes.mean(axis=1), 0.0)

    def run(self, tol: float, limits: Limits, iterations_done: int) -> int:
        """Take steps until the violation is `tol`, a limit is reached, or many steps have made no progress (then
        `is_stalled`); returns their number."""
        taken = self._run(tol, limits, iterations_done)
        if self.problem.has_equality:
            m = len(self.indices)
            groups = [slice(0, m)] if self.split is None else [slice(0, self.split), slice(self.split, m)]
            moved = [self._put_right(group) for group in groups]
            if any(moved):
                self._set_masks()
                self._slice(tol, 0)  # no step, only the violation
        return taken

    def _put_right(self, group: slice) -> bool:
        """Restore the initial sum of a group of coefficients; True if they were moved.

        Each step keeps the sum up to the rounding of its two coefficients. After a bad step these may reach 1e15 and
        later return to 10, with a rounding error as large as they are.
        """
        beta, lower, upper = self.beta[group], self.lower[group], self.upper[group]
        excess, size = float(beta.sum() - self.start[group].sum()), np.abs(beta)
        if not DRIFT * float(size.sum()) < abs(excess) < UNBOUNDED:
            return False
        room = np.minimum(beta - lower if excess > 0 else upper - beta, abs(excess))
        # Free coefficients absorb it in proportion to their size, or if they lack room, all in proportion to theirs.
        shares = np.minimum(room, np.where((beta > lower) & (beta < upper), size, 0.0))
        shares = shares if shares.sum() >= abs(excess) else room
        if not shares.sum() >= abs(excess):
            return False
        step = shares * (-excess / shares.sum())
        self.beta[group] = np.clip(beta + step, lower, upper)
        self.gradient -= (step @ self.values[group]).astype(self.gradient.dtype)
        return True

    def _run(self, tol: float, limits: Limits, iterations_done: int) -> int:
        taken, pace, fruitless, rescues, best = 0, self._first_pace(), 0, 0, np.inf
        # The number of steps in a slice depends on the clock; decisions and their timing must not.
        patience = max(PATIENCE, 50 * len(self.indices))
        between = patience // 16
        while True:
            allowed = min(pace, between - taken % between, limits.iterations_left(iterations_done + taken))
            if allowed <= 0:
                self._slice(tol, 0)  # no step, only the violation
                return taken
            begin = limits.seconds
            steps = self._slice(tol, allowed)
            taken += steps
            if steps < allowed or limits.stop():
                return taken
            pace = max(64, int(steps * min(4.0, SLICE_SECONDS / max(limits.seconds - begin, 1e-6))))
            if taken % between:
                continue
            fruitless = 0 if self.violation < 0.99 * best else fruitless + between
            best = min(best, self.violation)
            if fruitless >= patience:
                self.is_stalled = True
                return taken
            if fruitless >= patience // 4 and rescues < MOST_RESCUES and self.newton(limits.stop):
                fruitless, rescues = 0, rescues + 1

    def newton(self, stop: Stop) -> bool:
        """Try Newton steps on the free coordinates; True if the dual grew."""
        if self.split is not None:
            return False
        beta, gradient = self.beta.copy(), self.gradient.copy()
        piece = Piece(self.problem, self.beta, self.lower, self.upper, gradient[: len(beta)])
        self.gradient[: len(beta)] -= piece.slope
        gain = newton_on_face(
            self.values, self.gradient, self.beta, piece.lower, piece.upper, self.problem.has_equality, stop
        )
        self.gradient[: len(beta)] += piece.slope
        if not gain > 0:
            self.beta, self.gradient = beta, gradient
        self._set_masks()
        return gain > 0

    def _first_pace(self) -> int:
        # About 1 ns per entry of the rows that a step reads, on a slow machine.
        return max(64, int(SLICE_SECONDS * 1e9 / (4.0 * self._values.shape[1] + 1000.0)))

    def _readable(self) -> Array | CopiedRows | NearRows:
        """What steps read of the matrix."""
        if self._near is not None:
            return self._near
        return self._values if self._copied is None else self._copied

    def _slice(self, tol: float, max_steps: int) -> int:
        steps, self.highest, self.lowest, curvature = self._steps(
            self._readable(),
            self.gradient,
            self.beta,
            self.lower,
            self.upper,
            float(self.problem.kink),
            self.diag,
            self.rise,
            self.fall,
            self._values.dtype.type(tol),
            max_steps,
            self._scores,
        )
        self.curvature = min(self.curvature, curvature)
        return steps

    def change(self) -> tuple[IndexArray, FloatArray]:
        """(coordinates that moved, their changes)."""
        moved = self._moved
        return self.indices[moved], self.beta[moved] - self.start[moved]

    @property
    def _moved(self) -> IndexArray:
        return np.flatnonzero(self.beta != self.start)

    def own_product(self, n_jobs: int | None) -> FloatArray:
        """(K + s 11' + R) among the chosen coordinates times the change, from the stored entries."""
        moved, out = self._moved, np.zeros(len(self.indices))
        add_weighted_rows(self._values, moved, self.beta[moved] - self.start[moved], out, thread_count(n_jobs))
        return out


class Piece:
    """The part of the box around a point where the dual is quadratic: all of it, or one side of each kink.

    `slope` is what the kink subtracts from the gradient there. A coordinate at its kink gets the side its gradient
    points to.
    """

    def __init__(
        self,
        problem: DualProblem,
        beta: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        gradient: Array,
        bias: float | FloatArray = 0.0,
    ) -> None:
        self.lower, self.upper, self.slope = lower, upper, np.zeros(len(beta), gradient.dtype)
        if problem.kink:
            is_positive = np.where(beta != 0, beta > 0, gradient > bias)
            self.lower = np.where(is_positive, np.maximum(lower, 0.0), lower)
            self.upper = np.where(is_positive, upper, np.minimum(upper, 0.0))
            self.slope = np.where(is_positive, problem.kink, -problem.kink).astype(gradient.dtype)


def _by_group(problem: DualProblem, indices: IndexArray) -> tuple[IndexArray, int | None]:
    """The coordinates with those of the first group first, and where the second begins."""
    if problem.groups is None:
        return indices, None
    own = problem.groups[indices]
    return indices[np.argsort(own, kind="stable")], int(np.count_nonzero(own == 0))
