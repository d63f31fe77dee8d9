"""A working set: some coordinates of a dual problem with their own small matrix in memory."""

import numpy as np

from mercer._jit.compile import announce_compilation
from mercer._jit.scratch import scratch
from mercer.kernels.matrix import StoredMatrix, padded
from mercer.solvers.face import newton_on_face
from mercer.solvers.limits import SLICE_SECONDS
from mercer.solvers.smo_steps import MASK, pair_steps, single_steps

# Infinite bounds enter compiled code as this.
UNBOUNDED = 1e300
# Steps without a smaller violation after which a working set gives up.
PATIENCE = 100_000
MOST_RESCUES = 50


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
    buffers : Buffers, optional
        Where a large matrix is built, so that the next working set finds the memory again.
    """

    def __init__(self, problem, matrix, indices, beta, gradient, buffers=None, stop=None):
        self.indices = indices
        self.values = self._matrix(problem, matrix, buffers, stop)
        self.start = beta[indices]
        self.beta = self.start.copy()
        self.lower = problem.lower[indices]
        self.upper = np.minimum(problem.upper[indices], UNBOUNDED)
        self.gradient = self._padded(gradient[indices], 0.0)
        self.diag = self._padded(self.values.diagonal(), 1.0)
        self._set_masks()
        self._steps = pair_steps if problem.has_equality else single_steps
        self._scores = np.empty_like(self.gradient)
        self.highest = self.lowest = 0.0
        self.curvature = 1.0
        self.is_stalled = False

    def _matrix(self, problem, matrix, buffers, stop):
        """K + s 11' + R among the chosen coordinates, rows padded with zeros."""
        m = len(self.indices)
        plain = not problem.shift and problem.ridge is None
        if plain and m == matrix.n and isinstance(matrix, StoredMatrix):
            return matrix.values
        values = scratch("working set", (m, padded(m)), matrix.dtype, buffers)
        values[:, m:] = 0.0
        matrix.submatrix(self.indices, values, stop)
        if problem.shift:
            values[:, :m] += values.dtype.type(problem.shift)
        if problem.ridge is not None:
            values[np.arange(m), np.arange(m)] += problem.ridge[self.indices].astype(values.dtype)
        return values

    def _set_masks(self):
        self.rise = self._padded(np.where(self.beta < self.upper, 0.0, -MASK), -MASK)
        self.fall = self._padded(np.where(self.beta > self.lower, 0.0, MASK), MASK)

    def _padded(self, values, filler):
        out = np.full(self.values.shape[1], filler, self.values.dtype)
        out[: len(values)] = values
        return out

    @property
    def violation(self):
        return float(self.highest) - float(self.lowest)

    def run(self, tol, limits, iterations_done):
        """Take steps until the violation is `tol`, a limit is reached, or many steps have
        brought nothing (then `is_stalled`); returns their number."""
        announce_compilation()
        taken, pace, fruitless, rescues, best = 0, self._first_pace(), 0, 0, np.inf
        # How many steps make a slice depends on the clock; what is decided, and when, must not.
        patience = max(PATIENCE, 50 * len(self.indices))
        between = patience // 16
        while True:
            allowed = min(pace, between - taken % between, limits.iterations_left(iterations_done + taken))
            if allowed <= 0:
                self._slice(tol, 0)  # no step, but the violation is known
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

    def newton(self, stop):
        """Try Newton steps on the free coordinates; True if the dual grew."""
        beta, gradient = self.beta.copy(), self.gradient.copy()
        has_equality = self._steps is pair_steps
        gain = newton_on_face(self.values, self.gradient, self.beta, self.lower, self.upper, has_equality, stop)
        if not gain > 0:
            self.beta, self.gradient = beta, gradient
        self._set_masks()
        return gain > 0

    def _first_pace(self):
        # About 1 ns for each entry of the rows that a step reads, on a slow day.
        return max(64, int(SLICE_SECONDS * 1e9 / (4.0 * self.values.shape[1] + 1000.0)))

    def _slice(self, tol, max_steps):
        steps, self.highest, self.lowest, curvature = self._steps(
            self.values,
            self.gradient,
            self.beta,
            self.lower,
            self.upper,
            self.diag,
            self.rise,
            self.fall,
            self.values.dtype.type(tol),
            max_steps,
            self._scores,
        )
        self.curvature = min(self.curvature, curvature)
        return steps

    def change(self):
        """(coordinates that moved, by how much)."""
        moved = np.flatnonzero(self.beta != self.start)
        return self.indices[moved], self.beta[moved] - self.start[moved]
