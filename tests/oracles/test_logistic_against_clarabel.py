"""Kernel logistic regression handed to Clarabel as a cone program: an independent judge."""

import clarabel
import numpy as np
import pytest
from scipy import sparse

from mercer import KernelLogisticRegression
from mercer.kernels import RBF


def clarabel_logistic(K, signs, C):
    """Minimum of b'Kb/2 + C sum log(1 + exp(-y f)), f = Kb + d, over (b, d, t, u, v).

    t_i >= log(1 + exp(-z_i)) means u_i + v_i <= 1 with u_i >= exp(-z_i - t_i), v_i >= exp(-t_i).
    """
    n = len(signs)
    eye, empty, one = sparse.eye_array(n), sparse.csr_array((n, n)), np.ones((n, 1))
    P = sparse.block_diag([sparse.csc_array(np.triu(K)), sparse.csc_array((3 * n + 1, 3 * n + 1))], format="csc")
    q = np.concatenate([np.zeros(n + 1), C * np.ones(n), np.zeros(2 * n)])
    rows, right, cones = [], [], []
    rows.append(sparse.hstack([empty, sparse.csr_array((n, 1)), empty, eye, eye]))
    right.append(np.ones(n))
    cones.append(clarabel.NonnegativeConeT(n))
    margin = sparse.hstack([sparse.csr_array(signs[:, None] * K), sparse.csr_array(signs[:, None] * one)])
    blank = sparse.csr_array((n, n + 1))
    for head, tail in ((margin, 3), (blank, 4)):
        exponent = sparse.hstack([head, eye, empty, empty]).tocsr()
        value = sparse.hstack([blank, empty, -eye if tail == 3 else empty, -eye if tail == 4 else empty]).tocsr()
        nothing = sparse.csr_array((1, 4 * n + 1))
        for i in range(n):
            rows += [exponent[[i]], nothing, value[[i]]]
            right.append(np.array([0.0, 1.0, 0.0]))
            cones.append(clarabel.ExponentialConeT())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sparse.csc_matrix(sparse.vstack(rows))
    found = clarabel.DefaultSolver(sparse.csc_matrix(P), q, A, np.concatenate(right), cones, settings).solve()
    return found.obj_val


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_the_optimum_lies_between_primal_and_dual(C, rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=30) > 0).astype(int)
    judge = clarabel_logistic(RBF(gamma=0.5)(X), 2.0 * y - 1.0, C)
    certificate = KernelLogisticRegression(C=C, gamma=0.5, tol=1e-9).fit(X, y).certificate_
    assert certificate.primal == pytest.approx(judge, rel=1e-6)
    assert certificate.dual == pytest.approx(judge, rel=1e-6)
