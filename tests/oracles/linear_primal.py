"""Primal programs of linear machines handed to Clarabel, which shares nothing with the solvers tested."""

import clarabel
import numpy as np
from scipy import sparse


def optimum(X, targets, C, loss, penalty="l2", bias="penalized", scale=1.0, epsilon=0.0):
    """The optimal value of the primal with these losses, as a quadratic program in (w, b, slack).

    Classification: slack_i >= 1 - y_i f(x_i); regression: slack_i >= |y_i - f(x_i)| - epsilon; slack >= 0.
    An L1 penalty has further unknowns t >= |w|.
    """
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    n = len(X)
    features = {
        "none": X,
        "free": np.column_stack([X, np.ones(n)]),
        "penalized": np.column_stack([X, scale * np.ones(n)]),
    }[bias]
    k = features.shape[1]
    penalised = np.ones(k)
    if bias == "free":
        penalised[-1] = 0.0
    rows = [np.hstack([-part @ features, -np.eye(n)]) for part in _sides(targets, loss)]
    bounds = list(_limits(targets, loss, epsilon))
    rows.append(np.hstack([np.zeros((n, k)), -np.eye(n)]))
    bounds.append(np.zeros(n))
    squared = "squared" in loss
    quadratic = np.concatenate([penalised * (penalty == "l2"), 2.0 * C * squared])
    linear = np.concatenate([np.zeros(k), C * (not squared)])
    if penalty == "l1":
        rows = [np.hstack([row, np.zeros((len(row), k))]) for row in rows]
        for sign in (1.0, -1.0):
            rows.append(np.hstack([sign * np.eye(k), np.zeros((k, n)), -np.eye(k)]))
            bounds.append(np.zeros(k))
        quadratic, linear = np.append(quadratic, np.zeros(k)), np.append(linear, penalised)
    A, b = sparse.csc_matrix(np.vstack(rows)), np.concatenate(bounds)
    P = sparse.diags(quadratic, format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(P, linear, A, b, [clarabel.NonnegativeConeT(len(b))], settings).solve()
    assert str(found.status) == "Solved"
    return found.obj_val


def _sides(targets, loss):
    if "hinge" in loss:
        return [np.diag(targets)]
    return [np.eye(len(targets)), -np.eye(len(targets))]


def _limits(targets, loss, epsilon):
    if "hinge" in loss:
        return [-np.ones(len(targets))]
    return [-(targets - epsilon), targets + epsilon]
