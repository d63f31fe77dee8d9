r"""Small Lagrange problems, solved: points, multipliers, and how well the KKT conditions hold.

:math:`\min f(u)` subject to :math:`h_j(u) = 0` and :math:`g_i(u) \le 0`, in a few variables. Method: sequential
quadratic programming (Kraft 1988, SciPy's SLSQP) from several starts; then Newton's method on
:math:`\nabla_u L = 0` with the active constraints, and multipliers by least squares, nonnegative for
inequalities. Verdicts do not trust the solver: the residuals are computed at the point, and the curvature of the
Lagrangian along the active constraints tells a minimum from a saddle.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from scipy import optimize
from scipy.linalg import null_space

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike, BoolArray, FloatArray
from mercer.theory.arguments import require_count, require_positive
from mercer.theory.differences import gradient_of, hessian_of
from mercer.theory.lagrange import KKTResiduals, kkt_residuals

NEWTON_STEPS = 20
# Curvature this far below 0, relative to the largest, is downhill; nearer to 0 it is inconclusive.
FLAT = 1e-5


@dataclass(frozen=True)
class LagrangePoint:
    """A point, its multipliers, and how far the KKT conditions hold there.

    Attributes
    ----------
    u : ndarray (d,)
    value : float
        f(u), for the function as given.
    multipliers : ndarray
        Of the equalities, then of the inequalities, in L = f + sum a_i g_i for a minimum and L = -f + sum a_i g_i
        for a maximum.
    residuals : KKTResiduals
    verdict : str
        "strict local optimum": the conditions hold and every feasible direction is uphill to second order.
        "KKT point": they hold, but second order is inconclusive. "saddle": they hold, and a feasible
        direction improves f. "infeasible": a constraint is violated. "no multipliers": the point is feasible, but
        no multipliers balance the gradient: f can still be improved, or the active constraints are
        degenerate (then Fritz John's lemma holds with a weight of 0 on f).
    holds : bool
        Whether the KKT conditions hold.
    """

    u: np.ndarray
    value: float
    multipliers: np.ndarray
    residuals: KKTResiduals
    verdict: str

    @property
    def holds(self) -> bool:
        """Whether the KKT conditions hold here."""
        return self.verdict in ("strict local optimum", "KKT point", "saddle")

    def __str__(self) -> str:
        u, a = (", ".join(f"{entry:.6g}" for entry in each + 0.0) for each in (self.u, self.multipliers))
        return f"({u}): value {self.value:.6g}, multipliers ({a}), {self.verdict}"


@dataclass(frozen=True)
class LagrangeSolution:
    """The distinct points that the starts led to, best first, infeasible ones last.

    Attributes
    ----------
    points : list of LagrangePoint
    best : LagrangePoint
    """

    points: list[LagrangePoint] = field(default_factory=list)

    @property
    def best(self) -> LagrangePoint:
        """The first of the points."""
        return self.points[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.points))


def minimize(
    f: Callable[[FloatArray], Any],
    start: ArrayLike,
    *,
    equalities: Iterable[Callable[[FloatArray], Any]] = (),
    inequalities: Iterable[Callable[[FloatArray], Any]] = (),
    n_starts: int = 8,
    tol: float = 1e-6,
    random_state: int = 0,
) -> LagrangeSolution:
    """Minimise f subject to h_j(u) = 0 and g_i(u) <= 0; gives points with multipliers and KKT verdicts.

    For a few variables and smooth functions. If f and the g_i are convex and the h_j linear, a point where
    the conditions hold is the optimum; otherwise it is a local one, and more starts
    may find better ones.

    Parameters
    ----------
    f : callable
        Takes an array (d,), returns a number. Derivatives are taken by differences.
    start : array-like of shape (d,), or (k, d) for several
    equalities, inequalities : sequence of callables
        h_j and g_i, of the same kind as f.
    n_starts : int
        Number of starts; those beyond the given ones are drawn around them.
    tol : float
        Residuals up to this count as 0, relative to the size of f and its gradient.
    random_state : int

    Returns
    -------
    LagrangeSolution

    Examples
    --------
    The point of x + y = 1 nearest to the origin:

    >>> from mercer import theory
    >>> found = theory.minimize(lambda u: u @ u, [0.0, 0.0], equalities=[lambda u: u[0] + u[1] - 1.0])
    >>> print(found.best)
    (0.5, 0.5): value 0.5, multipliers (-1), strict local optimum
    """
    return _Problem(f, tuple(equalities), tuple(inequalities), 1.0, tol).solve(start, n_starts, random_state)


def maximize(
    f: Callable[[FloatArray], Any],
    start: ArrayLike,
    *,
    equalities: Iterable[Callable[[FloatArray], Any]] = (),
    inequalities: Iterable[Callable[[FloatArray], Any]] = (),
    n_starts: int = 8,
    tol: float = 1e-6,
    random_state: int = 0,
) -> LagrangeSolution:
    """Maximise f: like `minimize` for -f, and the multipliers are those of -f.

    Parameters
    ----------
    f, start, equalities, inequalities, n_starts, tol, random_state
        As in `minimize`.

    Returns
    -------
    LagrangeSolution

    Examples
    --------
    The largest 6x + 8y on the unit disc, from Gordon's slides, with the constraint the right way round:

    >>> from mercer import theory
    >>> found = theory.maximize(lambda u: 6 * u[0] + 8 * u[1], [0.0, 0.0], inequalities=[lambda u: u @ u - 1.0])
    >>> print(found.best)
    (0.6, 0.8): value 10, multipliers (5), strict local optimum
    """
    return _Problem(f, tuple(equalities), tuple(inequalities), -1.0, tol).solve(start, n_starts, random_state)


@dataclass(frozen=True)
class _Problem:
    """min sign * f over h = 0, g <= 0."""

    f: object
    equalities: tuple
    inequalities: tuple
    sign: float
    tol: float

    def __post_init__(self) -> None:
        require_positive(tol=self.tol)
        for name, functions in (("equalities", self.equalities), ("inequalities", self.inequalities)):
            if not all(map(callable, functions)):
                raise ParameterError(f"{name} must be a sequence of functions of u, got {functions!r}")
        if not callable(self.f):
            raise ParameterError(f"f must be a function of u, got {self.f!r}")

    def objective(self, u: FloatArray) -> float:
        return self.sign * float(cast(Callable[[FloatArray], Any], self.f)(u))

    def constraints(self, u: FloatArray) -> FloatArray:
        """h(u), then g(u)."""
        return np.array([float(each(u)) for each in (*self.equalities, *self.inequalities)])

    def solve(self, start: ArrayLike, n_starts: int, random_state: int) -> LagrangeSolution:
        found = [self._point(self._polished(self._descend(u))) for u in _starts(start, n_starts, random_state)]
        ranked = sorted(
            found, key=lambda point: (not point.holds, point.verdict == "infeasible", self.sign * point.value)
        )
        points = []
        for point in ranked:
            near = 1e-4 * max(1.0, float(np.abs(point.u).max()))
            if all(np.abs(point.u - other.u).max() > near for other in points):
                points.append(point)
        return LagrangeSolution(points)

    def _descend(self, u: FloatArray) -> FloatArray:
        """SLSQP, whose inequalities are to be >= 0."""
        kinds = [("eq", 1.0, each) for each in self.equalities] + [("ineq", -1.0, each) for each in self.inequalities]
        constraints = [{"type": kind, "fun": lambda v, s=s, each=each: s * float(each(v))} for kind, s, each in kinds]
        options = {"maxiter": 500, "ftol": 1e-14}
        with np.errstate(all="ignore"):
            end = optimize.minimize(self.objective, u, method="SLSQP", constraints=constraints, options=options).x
        return end if np.isfinite(end).all() and np.isfinite(self.objective(end)) else u

    def _polished(self, u: FloatArray) -> FloatArray:
        """Newton steps on the gradient of the Lagrangian and the active constraints, while they help."""
        best, worth = u, self._distance(u)
        for _ in range(NEWTON_STEPS):
            step = self._newton_step(u)
            if step is None:
                break
            u = u + step
            distance = self._distance(u)
            if not distance < worth:
                break
            best, worth = u, distance
        return best

    def _newton_step(self, u: FloatArray) -> FloatArray | None:
        a = self._multipliers(u)
        active = self._active(u)
        A = self._slopes(u)[active]
        curvature = hessian_of(lambda v: self._lagrangian(v, a), u)
        system = np.block([[curvature, A.T], [A, np.zeros((len(A), len(A)))]])
        right = -np.concatenate([gradient_of(lambda v: self._lagrangian(v, a), u), self.constraints(u)[active]])
        if not (np.isfinite(system).all() and np.isfinite(right).all()):
            return None
        return np.linalg.lstsq(system, right, rcond=1e-10)[0][: len(u)]

    def _lagrangian(self, u: FloatArray, a: FloatArray) -> float:
        return self.objective(u) + float(a @ self.constraints(u))

    def _slopes(self, u: FloatArray) -> FloatArray:
        """Gradients of the constraints, a row each."""
        rows = [gradient_of(each, u) for each in (*self.equalities, *self.inequalities)]
        return np.array(rows).reshape(len(rows), len(u))

    def _active(self, u: FloatArray) -> BoolArray:
        """Whether each constraint is at its bound, at a nearly solved point."""
        active = np.ones(len(self.equalities) + len(self.inequalities), dtype=bool)
        k = len(self.equalities)
        active[k:] = self.constraints(u)[k:] >= -max(self.tol, 1e-8)
        return active

    def _multipliers(self, u: FloatArray) -> FloatArray:
        """The multipliers that balance the gradient best; nonnegative for inequalities, 0 for inactive ones."""
        active, gradient = np.flatnonzero(self._active(u)), gradient_of(self.objective, u)
        a = np.zeros(len(self.equalities) + len(self.inequalities))
        if len(active):
            low = np.where(active < len(self.equalities), -np.inf, 0.0)
            a[active] = optimize.lsq_linear(self._slopes(u)[active].T, -gradient, (low, np.inf), method="bvls").x
        return a

    def _residuals(self, u: FloatArray, a: FloatArray) -> KKTResiduals:
        gradient, values = gradient_of(self.objective, u), self.constraints(u)
        return kkt_residuals(gradient, values, self._slopes(u), a, len(self.equalities))

    def _distance(self, u: FloatArray) -> float:
        residuals = self._residuals(u, self._multipliers(u))
        return max(residuals.stationarity, residuals.infeasibility, residuals.complementarity)

    def _point(self, u: FloatArray) -> LagrangePoint:
        a = self._multipliers(u)
        residuals = self._residuals(u, a)
        return LagrangePoint(
            u, float(cast(Callable[[FloatArray], Any], self.f)(u)), a, residuals, self._verdict(u, a, residuals)
        )

    def _verdict(self, u: FloatArray, a: FloatArray, residuals: KKTResiduals) -> str:
        size = max(1.0, float(np.linalg.norm(gradient_of(self.objective, u))))
        if not residuals.infeasibility <= self.tol * max(1.0, float(np.abs(u).max())):
            return "infeasible"
        # Unbounded multipliers balance the gradient only in the limit: the constraint's own gradient is 0 there.
        unbounded = float(np.abs(a).max(initial=0.0)) > size / self.tol
        if unbounded or not max(residuals.stationarity, residuals.complementarity) <= self.tol * size:
            return "no multipliers"
        binding = (a > self.tol * size) | (np.arange(len(a)) < len(self.equalities))
        curvature = hessian_of(lambda v: self._lagrangian(v, a), u)
        # Constraints active without a multiplier bar some directions, so a saddle cannot be ruled out.
        lowest, scale = _lowest_curvature(curvature, self._slopes(u)[self._active(u)])
        if lowest < -FLAT * scale:
            return "saddle"
        lowest, scale = _lowest_curvature(curvature, self._slopes(u)[binding])
        return "strict local optimum" if lowest > FLAT * scale else "KKT point"


def _lowest_curvature(curvature: FloatArray, slopes: FloatArray) -> tuple[float, float]:
    """The smallest eigenvalue along the directions in which no constraint changes, and the scale of all of them."""
    along = null_space(slopes) if len(slopes) else np.eye(len(curvature))
    scale = max(1.0, float(np.abs(curvature).max(initial=0.0)))
    if along.shape[1] == 0:
        return np.inf, scale
    return float(np.linalg.eigvalsh(along.T @ curvature @ along)[0]), scale


def _starts(start: ArrayLike, n_starts: int, random_state: int) -> FloatArray:
    """The given points, and others around them."""
    require_count(n_starts=n_starts)
    given = np.atleast_2d(np.asarray(start, dtype=np.float64))
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise DataError(f"start must be finite numbers of shape (d,) or (k, d), got {start!r}")
    more = max(0, n_starts - len(given))
    chosen = given[np.arange(more) % len(given)]
    away = np.random.default_rng(random_state).normal(size=chosen.shape) * np.maximum(1.0, np.abs(chosen))
    return np.concatenate([given, chosen + away])
