"""The perceptron's convex program, solved as a linear program by HiGHS.

Method (Huangfu & Hall 2018): the dual simplex method on the dual program, which has a column for each
point and a row for each feature; the multipliers of its rows are (w, b). Needs: rows, weights.

HiGHS cannot be asked to pause, so it runs in a thread of its own. When a limit is reached, its result is
no longer waited for.
"""

import threading

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from mercer.solvers.limits import SLICE_SECONDS
from mercer.solvers.perceptron import Trained
from mercer.solvers.result import Status


def solve_program(X, signs, weights, with_bias, limits):
    """Minimise sum_i c_i s_i subject to y_i (<w, x_i> + b) + s_i >= 1, s >= 0.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d)
    signs, weights : ndarray (n,)
        y and c.
    with_bias : bool
    limits : Limits

    Returns
    -------
    Trained
    """
    d = X.shape[1]
    rows = sparse.csr_array(sparse.diags_array(signs) @ X).T if sparse.issparse(X) else (X * signs[:, None]).T
    if with_bias:
        stack = sparse.vstack if sparse.issparse(rows) else np.vstack
        rows = stack([rows, signs[None, :]])
    options = {"presolve": True}
    if limits.deadline is not None:
        options["time_limit"] = max(1e-3, limits.deadline - limits.begin - limits.seconds)
    found = _in_a_thread(
        lambda: linprog(
            -np.ones(len(signs)),
            A_eq=rows,
            b_eq=np.zeros(rows.shape[0]),
            bounds=np.stack([np.zeros(len(signs)), weights], axis=1),
            method="highs",
            options=options,
        ),
        limits,
    )
    if found is None or found.x is None or found.status not in (0, 4):
        status = limits.reached() or (Status.TIME_LIMIT if limits.deadline is not None else Status.STALLED)
        return Trained(np.zeros(d), 0.0, status, 0, 0, multipliers=np.zeros(len(signs)))
    normal = -np.asarray(found.eqlin.marginals)
    status = Status.OPTIMAL if found.status == 0 else Status.OPTIMAL_INACCURATE
    multipliers = np.clip(found.x, 0.0, weights)
    bias = float(normal[d]) if with_bias else 0.0
    return Trained(normal[:d], bias, status, 0, int(found.nit), multipliers=multipliers)


def residual(X, signs, multipliers, with_bias):
    """Largest absolute value of sum_i a_i z_i, and of sum_i a_i y_i where there is a bias."""
    coefficients = signs * multipliers
    largest = float(np.abs(coefficients @ X).max(initial=0.0))
    return max(largest, abs(float(coefficients.sum()))) if with_bias else largest


def _in_a_thread(work, limits):
    """The result of work(), or None if a limit is reached before; its error is raised."""
    outcome = {}

    def run():
        try:
            outcome["result"] = work()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            outcome["error"] = error

    thread = threading.Thread(target=run, name="highs", daemon=True)
    thread.start()
    while thread.is_alive() and not limits.stop():
        thread.join(SLICE_SECONDS)
    if "error" in outcome:
        raise outcome["error"]
    return outcome.get("result")
