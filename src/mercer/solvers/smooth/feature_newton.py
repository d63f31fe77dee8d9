r"""Newton's method in coordinates of the feature space, for small problems and any C.

With K = L L', row i of L stands for :math:`\psi(x_i)`, and the problem is one of :math:`w = L^T\beta` and b:

.. math:: \min_{w, b}\; \tfrac12 \|w\|^2 + \mathrm{risk}(L w + 1 b),

smooth, strictly convex in w and without constraints, so a line search cannot fail except for rounding. The
coefficients follow from the derivatives of the losses, so they never leave their box, whatever C is. If C k(x, x) is
large, coefficients are large too and cancel; :math:`\|w\|` and the values here do not come from such sums.

With pivots, the columns of L decrease, and so do rows and columns of the Hessian :math:`I + L^T H L`: its Cholesky
factor is as accurate as that of the matrix scaled to a diagonal of ones (Demmel 1989). If that is not enough, the
factor comes from a QR decomposition of :math:`A^T L` on top of I, which squares nothing.

Cost of a step: k^2 n r^2 / 2 + (k r)^3 / 3 for k functions and r coordinates.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, lapack, qr

from mercer._types import FloatArray
from mercer.solvers.linalg.pivoted_cholesky import NEGLIGIBLE, dense_factor
from mercer.solvers.result import Status
from mercer.solvers.smooth.newton_reports import early_end, gap, parts, report
from mercer.solvers.smooth.optimal_bias import best_bias, flat
from mercer.solvers.tolerances import INACCURATE, SUFFICIENT, UNSEEN

if TYPE_CHECKING:
    from mercer.solvers._types import Candidate, HessianRoot, NewtonSystem, SmoothRisk
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import TracePoint

DOUBLE = float(np.finfo(np.float64).eps)
# Largest difference between L L' and K, relative to its largest entry, if K has no negative eigenvalue.
DESCRIBED = 1e-9
# Steps shorter than this are decided by rounding errors; below `SHORT` the direction is poor.
SHORTEST, SHORT = 1e-10, 1e-3
# Relative violation below which a step made real progress.
POOR = 0.5
MOST_STEPS = 300
# Share of the error that a step may leave at most, and of the goal that one which can reach it may leave.
FORCING, LANDING = 0.3, 0.1
MOST_CORRECTIONS = 10
# Points whose rows of all functions are in memory at a time.
ROWS_OF_A_PART = 1000
# A violation counts as explained by rounding up to this multiple of it, if the gap shows a usable model.
EXPLAINED, OF_USE = 100.0, 1e-2


def coordinates(K: FloatArray, is_definite: bool) -> FloatArray | None:
    """L with L L' = K, shape (n, r), by Cholesky with pivots; None where K has none.

    Parameters
    ----------
    K : ndarray (n, n)
    is_definite : bool
        Whether K is known to be positive semidefinite, so that a residual can only be rounding.
    """
    scale = float(np.max(K.diagonal(), initial=0.0))
    if not np.isfinite(K).all():
        return None
    factor, _ = dense_factor(K, NEGLIGIBLE * scale)
    if not is_definite and np.abs(factor @ factor.T - K).max(initial=0.0) > DESCRIBED * scale:
        return None
    return factor


class CoordinateSteps:
    """The steps. All arrays of points have a column for each function.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
        With a smooth loss.
    K : ndarray (n, n)
        With 11' added where the bias is penalised.
    factor : ndarray (n, r)
        L.
    tol, gap_tol, limits
        As in `newton.solve`.
    start : ndarray (n, k)
        Feasible coefficients.
    system : NewtonSystem, optional
        What solves the linear systems; by default a factorisation.
    """

    best: "Candidate"
    begin: "Candidate"
    w: FloatArray
    b: FloatArray
    trace: "list[TracePoint]"

    def __init__(
        self,
        problem: "SmoothRisk",
        K: FloatArray,
        factor: FloatArray,
        tol: float,
        gap_tol: float | None,
        limits: "Limits",
        start: FloatArray,
        system: "NewtonSystem | None" = None,
    ) -> None:
        self.problem, self.K, self.L = problem, K, factor
        self.tol, self.gap_tol, self.limits = tol, gap_tol, limits
        self.has_bias = problem.bias == "free"
        self.system = FactoredSystem(factor, self.has_bias) if system is None else system
        self.goal, self.is_careful = tol, False
        self.iterations, self.trace = 0, []
        self.w = factor.T @ start
        self.b = best_bias(problem, factor @ self.w, np.zeros(start.shape[1]))
        self._see()
        self.best = np.inf, start, K @ start, self.b
        self.begin = self._kept(start)

    def run(self) -> Status:
        """A `Status`; afterwards `beta`, `image` and `b` are those of the best coefficients."""
        while True:
            if self._violation <= self.goal:
                if self._is_reached():
                    status: Status | Any = Status.OPTIMAL
                    break
                self.goal *= 0.1
            status = early_end(self.limits, self.iterations, MOST_STEPS)
            if status == Status.STALLED or (status is None and not self._step()):
                status = self._corrected()
                break
            if status is not None:
                self._is_reached()
                break
            self._record()
        # If rounding dominates, the starting point may still be the best.
        if status != Status.OPTIMAL and not self._primal(self.best) <= self._primal(self.begin):
            self.best = self.begin
        _, self.beta, self.image, self.b = self.best
        return status

    # --- a point ------------------------------------------------------------------------------

    def _see(self) -> None:
        """Compute values at w and b, the responses of the losses there, and the violation of those responses."""
        self.values = self.L @ self.w + self.b
        self.response = self._asked(self.values)
        self._towards = self.L.T @ self.response
        self._image = self.L @ self._towards
        self._violation = self._distance(self.response, self._image + self.b)

    def _asked(self, values: FloatArray) -> FloatArray:
        return self.problem.response(flat(values)).reshape(values.shape)

    def _distance(self, beta: FloatArray, values: FloatArray) -> float:
        found = np.max(np.abs(self._asked(values) - beta) / self.problem.C[:, None], initial=0.0)
        return float(found) if np.isfinite(found) else np.inf

    def _objective(self, w: FloatArray, values: FloatArray) -> float:
        value = 0.5 * float(np.sum(w * w)) + self.problem.risk(flat(values))
        return value if np.isfinite(value) else np.inf

    # --- a step -------------------------------------------------------------------------------

    def _step(self) -> bool:
        """A Newton step with a line search; whether it made progress."""
        self.iterations += 1
        length = self._search()
        if length < SHORT and not self.is_careful:
            self.is_careful = True
            length = max(length, self._search())
        return length > 0.0

    def _search(self) -> float:
        """Line search; the step length, or 0 if none was taken."""
        slope_w, slope_b = self.w - self._towards, -self.response.sum(axis=0)
        found = self._solved(self.problem.root(flat(self.values)), -slope_w, -slope_b, self._violation)
        if found is None:
            return 0.0
        dw, db = found
        moved = self.L @ dw + db
        slope = float(np.sum(dw * slope_w)) + (float(db @ slope_b) if self.has_bias else 0.0)
        now, length = self._objective(self.w, self.values), 1.0
        if not slope < 0.0:
            return 0.0
        # A step whose gain rounding may hide would be repeated for ever.
        while length >= SHORTEST and -length * slope > UNSEEN * abs(now):
            if self._objective(self.w + length * dw, self.values + length * moved) <= now + SUFFICIENT * length * slope:
                self.w, self.b = self.w + length * dw, self.b + length * db
                self._see()
                return length
            length *= 0.5
        return self._take_if_closer(dw, db)

    def _solved(
        self, root: "HessianRoot", right_w: FloatArray, right_b: FloatArray, violation: float
    ) -> tuple[FloatArray, FloatArray] | None:
        """A Newton step, more accurate the smaller the violation (superlinear), but no more so than the goal needs."""
        share = min(FORCING, max(violation, LANDING * self.goal / max(violation, self.goal)))
        return self.system.solved(root, right_w, right_b, self.is_careful, share)

    def _take_if_closer(self, dw: FloatArray, db: FloatArray) -> float:
        """If rounding hides a decrease of the objective, the violation decides."""
        before, violation = (self.w, self.b), self._violation
        self.w, self.b = self.w + dw, self.b + db
        self._see()
        if self._violation <= POOR * violation:
            return 1.0
        self.w, self.b = before
        self._see()
        return 0.0

    # --- coefficients -------------------------------------------------------------------------

    def _is_reached(self) -> bool:
        """Whether the responses are a solution; they are kept if they are the best so far."""
        return self._is_solution(self._kept(self.response))

    def _kept(self, beta: FloatArray) -> "Candidate":
        """A candidate made of the nearest feasible coefficients, kept if it is the best so far."""
        beta = self.problem.feasible(flat(beta)).reshape(beta.shape)
        image = self.K @ beta
        b = best_bias(self.problem, image, self.b)
        point = self._distance(beta, image + b), beta, image, b
        if point[0] < self.best[0]:
            self.best = point
        return point

    def _is_solution(self, point: "Candidate") -> bool:
        if self.gap_tol is not None:
            return self._gap(point) <= self.gap_tol
        return point[0] <= self.tol and self._gap(point) <= self.tol

    def _primal(self, point: "Candidate") -> float:
        _, beta, image, b = point
        return self.problem.primal(flat(beta), *parts(self.problem, beta, image, b))

    def _gap(self, point: "Candidate") -> float:
        return abs(gap(self.problem, *point[1:]))

    def _corrected(self) -> Status:
        """The status after correction steps on the coefficients themselves, with values recomputed from K."""
        self._is_reached()
        for _ in range(MOST_CORRECTIONS):
            violation, beta, image, b = self.best
            if self._is_solution(self.best) or (found := self._correction(beta, image, b)) is None:
                break
            if not self._kept(found)[0] <= POOR * violation:
                break
        if self._is_solution(self.best):
            return Status.OPTIMAL
        return Status.OPTIMAL_INACCURATE if self._is_explained() else Status.STALLED

    def _correction(self, beta: FloatArray, image: FloatArray, b: FloatArray) -> FloatArray | None:
        values = image + b
        rho, root = self._asked(values) - beta, self.problem.root(flat(values))
        found = self._solved(root, self.L.T @ rho, rho.sum(axis=0), self.best[0])
        if found is None:
            return None
        dw, db = found
        return beta + rho - root.times(root.transposed_times(self.L @ dw + db))

    def _is_explained(self) -> bool:
        """Whether rounding explains the remaining violation."""
        violation, beta, image, b = self.best
        apart = self._gap(self.best)
        if violation <= INACCURATE or apart <= INACCURATE or apart > OF_USE:
            return apart <= OF_USE
        uncertain = DOUBLE * (np.abs(self.K) @ np.abs(beta) + np.abs(image + b))
        curvature = self.problem.root(flat(image + b)).largest
        return violation <= EXPLAINED * curvature * float(np.max(uncertain / self.problem.C[:, None], initial=0.0))

    def _record(self) -> None:
        found = self._violation, self.response, self._image
        self.trace.append(report(self.problem, self.limits, self.iterations, *found))


class FactoredSystem:
    """Newton systems solved by factoring their Hessian, whatever share of the error a step might leave."""

    def __init__(self, factor: FloatArray, has_bias: bool) -> None:
        self.factor, self.has_bias = factor, has_bias

    def solved(
        self, root: "HessianRoot", right_w: FloatArray, right_b: FloatArray, is_careful: bool, share: float
    ) -> tuple[FloatArray, FloatArray] | None:
        """(dw, db) that solve the Newton system; None if rounding makes it unsolvable."""
        return _Hessian(root, self.factor, self.has_bias, is_careful).solved(right_w, right_b)


class _Hessian:
    """The factored Hessian in (w, b), function by function, w before b."""

    def __init__(self, root: "HessianRoot", factor: FloatArray, has_bias: bool, is_careful: bool) -> None:
        self.root, self.r, self.has_bias = root, factor.shape[1], has_bias
        self.inside = np.column_stack([factor, np.ones(len(factor))]) if has_bias else factor
        total = root.total
        self.k, self.width = len(total), self.inside.shape[1]
        # A common shift of all biases changes nothing, so it gets a curvature of its own.
        self.shift = max(float(np.trace(total)), 1e-300) / self.k if has_bias and self.k > 1 else 0.0
        self.upper = self._by_rows() if is_careful else self._by_blocks()

    def _penalty(self) -> FloatArray:
        """The part of the diagonal that w has and b lacks."""
        own = np.ones(self.width)
        own[self.r :] = 0.0
        return np.tile(own, self.k)

    def _by_blocks(self) -> FloatArray | None:
        matrix = self.root.blocks(self.inside)
        matrix[np.diag_indices_from(matrix)] += self._penalty()
        if self.shift:
            matrix[self.r :: self.width, self.r :: self.width] += self.shift / self.k
        found, failed = lapack.dpotrf(matrix, lower=0, clean=1)
        return None if failed else found

    def _by_rows(self) -> FloatArray | None:
        own = np.diag(self._penalty())[self._penalty() > 0]
        across = np.zeros((1, self.k * self.width))
        across[0, self.r :: self.width] = (self.shift / self.k) ** 0.5
        upper = np.concatenate([own, across])
        # Rows of all functions are many more than the columns, so they join the triangle a few at a time.
        for begin in range(0, len(self.inside), ROWS_OF_A_PART):
            upper = np.concatenate([self._stacked(slice(begin, begin + ROWS_OF_A_PART)), upper])
            try:
                (upper,) = qr(upper, mode="r", overwrite_a=True, check_finite=False)
            except (LinAlgError, ValueError):
                return None
            upper = upper[: self.k * self.width]
        return upper

    def _stacked(self, part: slice) -> FloatArray:
        """A' of the values in (w, b) of some points, a row for each point and function."""
        inside, root = self.inside[part], self.root.part(part)
        units = [np.eye(self.k)[[c]].repeat(len(inside), axis=0) for c in range(self.k)]
        rows = [root.transposed_times(unit)[:, :, None] * inside[:, None, :] for unit in units]
        return np.concatenate(rows, axis=2).reshape(-1, self.k * self.width)

    def solved(self, right_w: FloatArray, right_b: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """(dw, db) that solve the Newton system; None if rounding makes it unsolvable."""
        if self.upper is None:
            return None
        right = np.concatenate([right_w, right_b[None, :]]) if self.has_bias else right_w
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            try:
                x = cho_solve((self.upper, False), right.T.ravel(), check_finite=False)
            except LinAlgError:
                return None
        if not np.isfinite(x).all():
            return None
        x = x.reshape(self.k, self.width).T
        return x[: self.r], x[self.r] if self.has_bias else np.zeros(self.k)
