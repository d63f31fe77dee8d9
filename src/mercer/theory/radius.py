"""How large a sample is in feature space: about the origin, and about the best centre."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, NotPositiveSemidefiniteError
from mercer._jit.memory import available_bytes
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray, Rows
from mercer.kernels.base.mercer_condition import mercer_check
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.items.prepare_rows import numeric_matrix
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.vector.linear import Linear
from mercer.problems.svm.enclosing_ball import EnclosingBall
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program
from mercer.solvers.result import Status
from mercer.theory.arguments import require_positive

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

# Up to this many points the dual goes to an interior point method, whose cost grows as the cube.
INTERIOR_POINT_SIZE = 200
# Below this fraction of the largest, a weight is where an interior point method stops short of zero.
NEGLIGIBLE = 1e-7

# Rows on which a kernel that is not valid by construction is checked.
PSD_SAMPLE = 300
# Initial size of a core set, how often it grows by a quarter of that, and the gap at which it stops.
CORE, CORE_STEPS, CORE_GAP = 400, 4, 1e-2
# Kernel values processed together: 64 MB.
ENTRIES_AT_ONCE = 8_000_000


@dataclass(frozen=True, eq=False)
class Ball:
    """The smallest ball around points in feature space, with a proof of how small it is.

    Attributes
    ----------
    radius : float
        Of a ball that encloses every point, in double precision.
    lower : float
        No smaller ball does: the square root of the dual value.
    weights : ndarray (n,)
        The centre is the sum of these times psi(x_i); nonnegative, with sum 1.
    support : ndarray
        Points with positive weight, on the sphere.
    status : Status
        How the solver ended.
    """

    radius: float
    lower: float
    weights: np.ndarray = field(repr=False)
    status: Status = Status.OPTIMAL

    @property
    def support(self) -> IndexArray:
        """Rows with a positive weight."""
        return np.flatnonzero(self.weights)

    @property
    def gap(self) -> float:
        """How far the radius can be above the smallest."""
        return self.radius - self.lower

    def __str__(self) -> str:
        return (
            f"radius {self.radius:.10g}, at most {self.gap:.1e} above the smallest; "
            f"{len(self.support)} of {len(self.weights)} points on the sphere"
        )


def radius_about_origin(X: Rows, kernel: "Kernel | str | Callable[..., Any]" = "linear") -> float:
    """rho, the largest norm of a point in feature space: the square root of max k(x, x).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or items of the kernel
    kernel : str, Kernel or callable
        A name such as "rbf", an expression such as "rbf + 2*linear", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.radius_about_origin([[3.0, 4.0], [1.0, 0.0]])
    5.0
    >>> theory.radius_about_origin([[3.0, 4.0], [1.0, 0.0]], kernel="rbf")
    1.0
    """
    diag = resolve(kernel, X=X).diag(X)
    if len(diag) == 0:
        raise DataError("X must have at least one row, got none")
    if not diag.min() >= 0.0:
        raise NotPositiveSemidefiniteError(f"k(x, x) must not be negative, got {diag.min():.3g}: no feature space")
    return float(np.sqrt(diag.max()))


def kernel_spread(X: Rows, kernel: "Kernel | str | Callable[..., Any]" = "linear", n_jobs: int | None = None) -> float:
    """R^2 of the xi-alpha estimate: the largest k(x, x) minus the smallest k(x, x') of the sample.

    Examines every pair of rows, a block at a time.

    Examples
    --------
    >>> from mercer import theory
    >>> theory.kernel_spread([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    5.0
    """
    points = _Points(X, kernel, n_jobs)
    diag, n = points.ball.diag, points.matrix.n
    step = max(1, ENTRIES_AT_ONCE // n)
    smallest = min(float(points.matrix.rows(np.arange(i, min(i + step, n))).min()) for i in range(0, n, step))
    return float(diag.max()) - min(smallest, float(diag.min()))


def smallest_ball(
    X: Rows,
    kernel: "Kernel | str | Callable[..., Any]" = "linear",
    *,
    tol: float = 1e-8,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Ball:
    """The smallest ball that encloses the points psi(x_i) of the feature space of a kernel.

    This is a convex program (see `mercer.problems.svm.enclosing_ball`), solved by an interior point method for few
    points and by SMO for many, and certified in double precision either way. A time limit or
    Ctrl-C leaves the best ball so far, with its gap.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or items of the kernel
    kernel : str, Kernel or callable
        A name such as "rbf", an expression such as "rbf + 2*linear", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows; it must be positive semidefinite on X.
    tol : float
        Relative gap of the squared radius at which SMO stops.
    time_limit : float, optional
        Seconds.
    n_jobs : int, optional

    Returns
    -------
    Ball

    Examples
    --------
    Three corners of a square: the ball's diameter is the diagonal.

    >>> from mercer import theory
    >>> ball = theory.smallest_ball([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> round(ball.radius, 6), ball.gap < 1e-6
    (1.414214, True)
    """
    require_positive(tol=tol)
    limits = Limits(time_limit=time_limit)
    with limits.in_force():
        points = _Points(X, kernel, n_jobs, may_move=True)
        return points.certified(*points.solve(tol, limits))


def enclosing_ball(X: Rows, kernel: "Kernel | str | Callable[..., Any]" = "linear", n_jobs: int | None = None) -> Ball:
    """A ball that encloses the points, nearly the smallest, without examining every pair of them.

    Starts from the smallest ball of a few hundred points, enlarged to reach the farthest of all; that point and
    the next farthest join the few, and so on (Badoiu & Clarkson 2003). Radius and gap are certified as in
    `smallest_ball`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.theory.radius import enclosing_ball
    >>> angles = np.linspace(0.0, 2.0 * np.pi, 5000)
    >>> ball = enclosing_ball(np.column_stack([np.cos(angles), np.sin(angles)]))
    >>> 1.0 <= ball.radius < 1.01, ball.gap < 0.01
    (True, True)
    """
    points = _Points(X, kernel, n_jobs, may_move=True)
    points._require_psd()
    n = points.matrix.n
    chosen, best = np.unique(np.linspace(0, n - 1, min(n, CORE)).astype(np.intp)), None
    for _ in range(CORE_STEPS):
        weights = np.zeros(n)
        weights[chosen] = points.weights_among(chosen)
        ball = points.certified(weights, Status.OPTIMAL)
        best = ball if best is None or ball.radius < best.radius else best
        if best.gap <= CORE_GAP * best.radius:
            break
        chosen = np.union1d(chosen, np.argsort(-points.squares(weights), kind="stable")[: CORE // 4])
    return cast(Ball, best)  # CORE_STEPS is not 0


class _Points:
    """Points with their kernel matrix in double precision; `may_move` if only distances matter."""

    def __init__(
        self, X: Rows, kernel: "Kernel | str | Callable[..., Any]", n_jobs: int | None, may_move: bool = False
    ) -> None:
        self.kernel = resolve(kernel, X=X)
        self.items = self.kernel.prepare(_centred(X, self.kernel) if may_move else X, np.float64)
        if len(self.items) == 0:
            raise DataError("X must have at least one row, got none")

        def prepare(_dtype: DTypeLike, indices: IndexArray | None = None) -> Any:
            return self.items if indices is None else self.items.take(indices)

        self.matrix = EvaluatedMatrix(self.kernel, prepare, np.float64, available_bytes() // 4, n_jobs)
        self.ball = EnclosingBall(self.matrix.diag)

    def solve(self, tol: float, limits: Limits) -> tuple[FloatArray, Status]:
        """Weights of the centre, and how the solver ended."""
        n = self.matrix.n
        self._require_psd()
        if n > INTERIOR_POINT_SIZE:
            return self._by_smo(tol, limits)
        K = self.matrix.rows(np.arange(n))
        A = sparse.vstack([np.ones((1, n)), sparse.eye_array(n)])
        limit = limits.deadline and max(1e-3, limits.deadline - limits.begin)
        # Divided by its size, so that the solver's tolerances mean the same at any scale.
        scale = max(float(np.abs(K).max()), 1e-300)
        found = solve_quadratic_program(
            2.0 * K / scale, -self.ball.diag / scale, A, np.append(1.0, np.zeros(n)), n_equalities=1, time_limit=limit
        )
        return _on_simplex(found.u, NEGLIGIBLE), found.status

    def weights_among(self, chosen: IndexArray) -> FloatArray:
        """Weights of the smallest ball of some of the points."""
        part, own = self.matrix.view(chosen).stored(), EnclosingBall(self.ball.diag[chosen])
        found = solve_dual(
            own.dual(), part, tol=1e-4 * max(float(own.diag.max()), 1e-300), limits=Limits(), convex=True
        )
        part.release()
        return _on_simplex(found.beta, 0.0)

    def squares(self, weights: FloatArray) -> FloatArray:
        """Squared distances from the centre of these weights, up to a constant."""
        support = np.flatnonzero(weights)
        return self.ball.diag - 2.0 * self.matrix.product(support, weights[support])

    def _require_psd(self) -> None:
        """Refuse a kernel that is indefinite on a sample of rows, which proves it for all."""
        if self.kernel.is_psd:
            return
        n = self.matrix.n
        some = np.unique(np.linspace(0, n - 1, min(n, PSD_SAMPLE)).astype(np.intp))
        K = self.matrix.rows(some)[:, some]
        verdict = mercer_check(Precomputed(), 0.5 * (K + K.T))
        if not verdict:
            raise NotPositiveSemidefiniteError(_NO_BALL.format(self.kernel), witness=verdict.witness)

    def _by_smo(self, tol: float, limits: Limits) -> tuple[FloatArray, Status]:
        start, squared = self._first_ball()
        matrix = self.matrix.stored() if self.matrix.n <= policy.DIRECT_SIZE else self.matrix
        try:
            found = solve_dual(
                self.ball.dual(),
                matrix,
                tol=max(0.25 * tol * squared, np.finfo(np.float64).tiny),
                limits=limits,
                start=start,
                gap=self._relative_gap,
                gap_tol=tol,
                convex=self.kernel.is_psd is True,
            )
        except Stopped:
            return start, limits.reached()
        finally:
            if isinstance(matrix, StoredMatrix):
                matrix.release()
        if found.status == Status.NOT_CONVEX:
            raise NotPositiveSemidefiniteError(_NO_BALL.format(self.kernel))
        return _on_simplex(found.beta, 0.0), found.status

    def _relative_gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """(upper - lower) / upper of the squared radius; g_i is half of K_ii - 2 <c, psi(x_i)>."""
        centre = float(beta @ (self.ball.diag - 2.0 * gradient)) / 2.0
        upper, lower = 2.0 * float(gradient.max()) + centre, 2.0 * float(beta @ gradient) + centre
        return (upper - lower) / upper if upper > 0 else 0.0

    def _first_ball(self) -> tuple[FloatArray, float]:
        """Two distant points with half the weight each, and the squared radius they prove."""
        far = int(np.argmax(self._squares_from(0)))
        squares = self._squares_from(far)
        other = int(np.argmax(squares))
        start = np.zeros(self.matrix.n)
        start[[far, other]] = 1.0 if far == other else 0.5
        return start, max(float(squares[other]) / 4.0, 0.0)

    def _squares_from(self, i: int) -> FloatArray:
        row = self.matrix.rows(np.array([i]))[0]
        return self.ball.diag - 2.0 * row + self.ball.diag[i]

    def certified(self, weights: FloatArray, status: Status) -> Ball:
        """The ball of these weights, with both bounds recomputed from the kernel."""
        support = np.flatnonzero(weights)
        projections = self.matrix.product_in_double(support, weights[support], np.arange(self.matrix.n))
        lower, upper = self.ball.bounds(weights, projections)
        radius = float(np.sqrt(max(upper, 0.0)))
        return Ball(radius, min(radius, float(np.sqrt(max(lower, 0.0)))), weights, status)


_NO_BALL = "{0!r} is not positive semidefinite on X, so there are no points for a ball to enclose; see mercer_check"


def _centred(X: Rows, kernel: "Kernel") -> Rows:
    """Rows shifted to mean 0, if the ball may shift with them: this saves digits."""
    moves_along = isinstance(kernel, Linear) or kernel.is_translation_invariant
    if not moves_along or sparse.issparse(X) or len(X) == 0:
        return X
    # NaN and infinity are reported when the rows are prepared.
    with np.errstate(invalid="ignore", over="ignore"):
        means = numeric_matrix(X).mean(axis=0, dtype=np.float64)
    return np.asarray(X, dtype=np.float64) - means if np.isfinite(means).all() else X


def _on_simplex(weights: FloatArray, negligible: float) -> FloatArray:
    """Weights with the solver's near-zeros removed, scaled to sum 1."""
    weights = np.where(weights > negligible * weights.max(), weights, 0.0)
    return weights / weights.sum()
