"""The dual of the soft margin handed to Clarabel, an interior-point solver that shares nothing with SMO.

minimise β'(K + s 11' + R)β / 2 - y'β  over the box, with Σ β = 0 for a free bias.
"""

import clarabel
import numpy as np
from scipy import sparse


def solve(K, signs, C, loss="hinge", bias="free"):
    """(β, dual objective), to the last few digits that an interior point gives."""
    n = len(signs)
    Q = K + (1.0 if bias == "penalized" else 0.0)
    rows = [sparse.diags(-signs)]  # β_i y_i >= 0
    bounds = [np.zeros(n)]
    if loss == "hinge":
        rows.append(sparse.diags(signs))  # β_i y_i <= C_i
        bounds.append(C)
    else:
        Q = Q + np.diag(0.5 / C)
    cones = [clarabel.NonnegativeConeT(n * len(rows))]
    if bias == "free":
        rows.append(sparse.csc_matrix(np.ones((1, n))))
        bounds.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    constraint = sparse.vstack(rows, format="csc")
    upper = sparse.triu(sparse.csc_matrix(Q), format="csc")
    found = clarabel.DefaultSolver(upper, -signs, constraint, np.concatenate(bounds), cones, _settings()).solve()
    assert str(found.status) == "Solved"
    return np.array(found.x), -found.obj_val


def _settings():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    return settings
