r"""Convex quadratic programs of moderate size, by Clarabel's interior point.

.. math:: \min_u\; \tfrac12 u^T Q u + p^T u \quad\text{s.t.}\quad A u \ge c

Method (Goulart & Chen 2024): a primal-dual interior point with a homogeneous embedding; some
twenty iterations whatever the data, each a factorisation, so the cost grows as the cube of the
size where Q is dense. Needs Q positive semidefinite. It gives ten digits where the program is
well scaled, and shares nothing with the other solvers.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer.solvers.result import Status

TOLERANCE = 1e-11
MOST_ITERATIONS = 200
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
    """u, the multipliers of its constraints (not negative for inequalities), the value, the
    status, and how many iterations it took."""

    u: np.ndarray
    multipliers: np.ndarray
    value: float
    status: Status
    iterations: int


def solve_quadratic_program(Q, p, A, c, n_equalities=0, time_limit=None, max_iter=MOST_ITERATIONS, stop=None):
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
        Asked after every iteration; a true answer ends the work (INTERRUPTED).

    Examples
    --------
    The toy set of Magdon-Ismail's notes: X = (0,0), (2,2), (2,0), (3,0) and y = -, -, +, +.

    >>> import numpy as np
    >>> from mercer.solvers.quadratic_program import solve_quadratic_program
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> signed = y[:, None] * np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    >>> A = np.vstack([y, np.eye(4)])
    >>> found = solve_quadratic_program(signed @ signed.T, -np.ones(4), A, np.zeros(5), n_equalities=1)
    >>> (abs(found.u.round(6)) + 0.0).tolist()
    [0.5, 0.5, 1.0, 0.0]
    """
    import clarabel  # a compiled library that most fits never need

    p, c = np.asarray(p, dtype=np.float64), np.asarray(c, dtype=np.float64)
    rows = sparse.csc_matrix(A, dtype=np.float64)
    cones = [clarabel.ZeroConeT(n_equalities)] if n_equalities else []
    cones.append(clarabel.NonnegativeConeT(len(c) - n_equalities))
    upper = sparse.triu(sparse.csc_matrix(Q, dtype=np.float64), format="csc")
    # Clarabel's constraints read A u + s = c with s in the cone, hence the signs.
    solver = clarabel.DefaultSolver(upper, p, -rows, -c, cones, _settings(clarabel, time_limit, max_iter))
    if stop is not None:
        solver.set_termination_callback(lambda _: stop())
    found = solver.solve()
    status = _STATUSES.get(str(found.status))
    if status is None:
        raise DataError(f"the quadratic program has no solution: Clarabel ends with {found.status}")
    return QuadraticSolution(np.array(found.x), np.array(found.z), float(found.obj_val), status, found.iterations)


def _settings(clarabel, time_limit, max_iter):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = max_iter
    # One thread, and so the same bits whatever else the machine does.
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    if time_limit is not None:
        settings.time_limit = float(time_limit)
    return settings
