"""Any quadratic program over a box, with a fixed sum or without, handed to Clarabel.

minimise β'Kβ / 2 - p'β  subject to  lower <= β <= upper, and Σ β = 0 where the bias is free.
"""

import clarabel
import numpy as np
from scipy import sparse


def solve(K, p, lower, upper, has_equality):
    """(β, maximum of p'β - β'Kβ / 2)."""
    n = len(p)
    rows, bounds = [sparse.identity(n), -sparse.identity(n)], [upper, -lower]
    cones = [clarabel.NonnegativeConeT(2 * n)]
    if has_equality:
        rows.append(sparse.csc_matrix(np.ones((1, n))))
        bounds.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    quadratic = sparse.triu(sparse.csc_matrix(K), format="csc")
    constraint = sparse.vstack(rows, format="csc")
    found = clarabel.DefaultSolver(quadratic, -p, constraint, np.concatenate(bounds), cones, settings).solve()
    assert str(found.status) == "Solved"
    return np.array(found.x), -found.obj_val
