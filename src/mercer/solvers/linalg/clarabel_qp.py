r"""Convex quadratic programs of moderate size, by Clarabel's interior point.

.. math:: \min_u\; \tfrac12 u^T Q u + p^T u \quad\text{s.t.}\quad A u \ge c

Method (Goulart & Chen 2024): a primal-dual interior point with a homogeneous embedding; some
twenty iterations whatever the data, each a factorisation, so the cost grows as the cube of the
size if Q is dense. Needs Q positive semidefinite. It gives ten digits if the program is
well scaled, and shares nothing with the other solvers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Array, FloatArray
from mercer.solvers import other_process
from mercer.solvers.other_process import matrix_arrays, matrix_of, numbers_in
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.kernels._types import Features, Sparse, Stop
    from mercer.solvers.other_process import Arrays

TOLERANCE = 1e-11
MOST_ITERATIONS = 200
# A program with up to this many entries in both matrices takes some hundredths of a second; larger ones run in another
# process.
AT_ONCE = 300_000
_STATUSES = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.OPTIMAL_INACCURATE,
    "MaxIterations": Status.ITERATION_LIMIT,
    "MaxTime": Status.TIME_LIMIT,
    "InsufficientProgress": Status.STALLED,
    "NumericalError": Status.STALLED,
    "CallbackTerminated": Status.INTERRUPTED,
}


@dataclass(frozen=True)
class QuadraticSolution:
    """u, the multipliers of its constraints (non-negative for inequalities), the value, the status and the number of
    iterations."""

    u: np.ndarray
    multipliers: np.ndarray
    value: float
    status: Status
    iterations: int


def solve_quadratic_program(
    Q: "Features",
    p: FloatArray,
    A: "Features",
    c: FloatArray,
    n_equalities: int = 0,
    time_limit: float | None = None,
    max_iter: int = MOST_ITERATIONS,
    stop: "Stop | None" = None,
) -> QuadraticSolution:
    """Minimise u'Qu/2 + p'u where A u >= c; the first rows of A may hold with equality.

    Parameters
    ----------
    Q : array or sparse matrix (n, n)
        Positive semidefinite; only its upper triangle is read.
    p : array (n,)
    A : array or sparse matrix (k, n)
    c : array (k,)
    n_equalities : int
        So many of the first rows read A u = c.
    time_limit : float, optional
        Seconds.
    max_iter : int
    stop : callable, optional
        Asked after every iteration; a true answer ends the work (INTERRUPTED). A large program is
        solved in another process, and then asked all the while; an early end is `Stopped`.

    Examples
    --------
    The toy set of Magdon-Ismail's notes: X = (0,0), (2,2), (2,0), (3,0) and y = -, -, +, +.

    >>> import numpy as np
    >>> from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> signed = y[:, None] * np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    >>> A = np.vstack([y, np.eye(4)])
    >>> found = solve_quadratic_program(signed @ signed.T, -np.ones(4), A, np.zeros(5), n_equalities=1)
    >>> (abs(found.u.round(6)) + 0.0).tolist()
    [0.5, 0.5, 1.0, 0.0]
    """
    p, c = np.asarray(p, dtype=np.float64), np.asarray(c, dtype=np.float64)
    options: dict[str, Any] = {"n_equalities": n_equalities, "time_limit": time_limit, "max_iter": int(max_iter)}
    if stop is None or numbers_in(Q) + numbers_in(A) <= AT_ONCE:
        found = _solve(Q, p, sparse.csc_matrix(A, dtype=np.float64), c, stop=stop, **options)
    else:
        arrays = {"p": p, "c": c, **matrix_arrays("Q", Q), **matrix_arrays("A", A)}
        found = other_process.call(solve_arrays, stop, arrays, **options)
    status = _STATUSES.get(str(found["status"]))
    if status is None:
        raise DataError(f"the quadratic program has no solution: Clarabel ends with {found['status']}")
    iterations = int(found["iterations"])
    return QuadraticSolution(found["u"], found["multipliers"], float(found["value"]), status, iterations)


def solve_arrays(
    p: FloatArray, c: FloatArray, n_equalities: int, time_limit: float | None, max_iter: int, **arrays: Array
) -> "Arrays":
    """The program whose matrices are given as `matrix_arrays` has them; its solution as arrays."""
    A = sparse.csc_matrix(matrix_of("A", arrays))
    return _solve(matrix_of("Q", arrays), p, A, c, n_equalities, time_limit, max_iter)


def _solve(
    Q: "Features",
    p: FloatArray,
    A: "Features",
    c: FloatArray,
    n_equalities: int,
    time_limit: float | None,
    max_iter: int,
    stop: "Stop | None" = None,
) -> "Arrays":
    import clarabel  # a compiled library that few fits need

    cones = [clarabel.ZeroConeT(n_equalities)] if n_equalities else []
    cones.append(clarabel.NonnegativeConeT(len(c) - n_equalities))
    upper = _upper_triangle(Q)
    # Clarabel's constraints read A u + s = c with s in the cone, hence the signs.
    solver = clarabel.DefaultSolver(upper, p, -A, -c, cones, _settings(clarabel, time_limit, max_iter))
    if stop is not None:
        solver.set_termination_callback(lambda _: stop())
    found = solver.solve()
    return {
        "u": np.array(found.x),
        "multipliers": np.array(found.z),
        "value": np.array(found.obj_val),
        "status": np.array(str(found.status)),
        "iterations": np.array(found.iterations),
    }


def _upper_triangle(Q: "Features") -> "Sparse":
    """The upper triangle of a symmetric matrix in CSC form; a dense one is packed directly."""
    if sparse.issparse(Q) or 2 * np.count_nonzero(Q) < np.size(Q):
        return sparse.triu(sparse.csc_matrix(Q, dtype=np.float64), format="csc")
    n = len(Q)
    Q = np.asarray(Q, dtype=np.float64)
    data = np.concatenate([Q[: j + 1, j] for j in range(n)])
    indices = np.concatenate([np.arange(j + 1, dtype=np.int32) for j in range(n)])
    ends = np.cumsum(np.arange(n + 1, dtype=np.int32))
    return sparse.csc_matrix((data, indices, ends), shape=(n, n))


def _settings(clarabel: Any, time_limit: float | None, max_iter: int) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iter
    # One thread, so that the bits do not depend on the load of the machine.
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    if time_limit is not None:
        settings.time_limit = float(time_limit)
    return settings
