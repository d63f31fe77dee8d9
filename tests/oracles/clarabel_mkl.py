"""The dual of machines with kernel weights handed to Clarabel as a cone program.

maximise p'β - ε|β| - s/2  where s is at least the dual norm of the t_m, and t_m >= β'K_m β,
over the box, with the sum of β fixed. Nothing is shared with the search for weights.
"""

import clarabel
import numpy as np
from scipy import sparse


def solve(grams, dual, p):
    """(β, dual objective) of a `DualProblem` with a fixed sum, over kernel weights of p-norm 1."""
    n, M = len(dual), len(grams)
    # Variables: β, a >= |β|, s, t_m, r_m.
    s, t, r = 2 * n, 2 * n + 1 + np.arange(M), 2 * n + 1 + M + np.arange(M)
    width = 2 * n + 1 + 2 * M
    rows, bounds, cones = [], [], []

    def add(block, bound, cone):
        rows.append(sparse.csc_matrix(block))
        bounds.append(np.asarray(bound, dtype=float))
        cones.append(cone)

    def zeros(count):
        return np.zeros((count, width))

    total = zeros(1)
    total[0, :n] = 1.0
    add(total, [dual.total], clarabel.ZeroConeT(1))
    for sign, bound in ((1.0, dual.upper), (-1.0, -dual.lower)):
        block = zeros(n)
        block[:, :n] = sign * np.eye(n)
        add(block, bound, clarabel.NonnegativeConeT(n))
        block = zeros(n)
        block[:, :n], block[:, n : 2 * n] = sign * np.eye(n), -np.eye(n)
        add(block, np.zeros(n), clarabel.NonnegativeConeT(n))
    for m, K in enumerate(grams):
        values, vectors = np.linalg.eigh(K)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        # |(2 L'β, t - 1)| <= t + 1
        block = zeros(n + 2)
        block[0, t[m]], block[1, t[m]], block[2:, :n] = -1.0, -1.0, -2.0 * factor.T
        add(block, np.concatenate([[1.0, -1.0], np.zeros(n)]), clarabel.SecondOrderConeT(n + 2))
    if p == 2:
        block = zeros(M + 1)
        block[0, s], block[1 + np.arange(M), t] = -1.0, -1.0
        add(block, np.zeros(M + 1), clarabel.SecondOrderConeT(M + 1))
    for m in range(M):
        if p == 1:
            block = zeros(1)
            block[0, t[m]], block[0, s] = 1.0, -1.0
            add(block, [0.0], clarabel.NonnegativeConeT(1))
        elif p != 2:
            # t_m <= r_m^(1/q) s^(1 - 1/q), and the r_m add up to at most s.
            block = zeros(3)
            block[0, r[m]], block[1, s], block[2, t[m]] = -1.0, -1.0, -1.0
            add(block, np.zeros(3), clarabel.PowerConeT((p - 1.0) / p))
    block = zeros(1)
    block[0, r], block[0, s] = 1.0, -1.0
    add(block, [0.0], clarabel.NonnegativeConeT(1))
    linear = np.zeros(width)
    linear[:n], linear[n : 2 * n], linear[s] = -dual.linear, dual.kink, 0.5
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)),
        linear,
        sparse.vstack(rows, format="csc"),
        np.concatenate(bounds),
        cones,
        settings,
    ).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    return np.array(found.x)[:n], -found.obj_val
