"""The analytic centre handed to Clarabel as a program with exponential cones.

minimise -Σ c_i t_i + (M/2)|w|²  subject to  exp(t_i) <= <w, z_i>,  with M = Σ c_i.
"""

import clarabel
import numpy as np
from scipy import sparse


def solve(walls, weights):
    """(w, the value of F) for walls z_i as rows."""
    n, d = walls.shape
    total = weights.sum()
    quadratic = sparse.diags(np.concatenate([np.full(d, total), np.zeros(n)]), format="csc")
    linear = np.concatenate([np.zeros(d), -weights])
    # Slack (t_i, 1, <w, z_i>) = b - A (w, t) for each i.
    A, b = sparse.lil_matrix((3 * n, d + n)), np.zeros(3 * n)
    for i in range(n):
        A[3 * i, d + i] = -1.0
        b[3 * i + 1] = 1.0
        A[3 * i + 2, :d] = -walls[i]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.ExponentialConeT() for _ in range(n)]
    found = clarabel.DefaultSolver(sparse.triu(quadratic, format="csc"), linear, A.tocsc(), b, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    return np.array(found.x[:d]), found.obj_val
