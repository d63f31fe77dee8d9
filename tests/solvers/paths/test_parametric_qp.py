"""Solutions that are led along, and a rough point made exact."""

import numpy as np
import pytest

from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.paths.parametric_qp import Homotopy
from tests.oracles import clarabel_qp


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
@pytest.mark.parametrize("roughness", [0.0, 1e-3, 0.3])
def test_a_rough_solution_becomes_exact(kernel, roughness):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    signs = np.where(X[:, 0] + rng.normal(size=50) > 0, 1.0, -1.0)
    K, C = kernel(X), np.full(50, 2.0)
    best, value = clarabel_qp.solve(K, signs, C)
    rough = SoftMargin(signs, C).dual().feasible(best + roughness * rng.normal(size=50))
    found = Homotopy(StoredMatrix.of(K).values, signs, signs, C, True).settle(rough)
    beta = found.beta
    assert abs(beta.sum()) < 1e-9
    assert signs @ beta - 0.5 * beta @ K @ beta == pytest.approx(value, rel=1e-9)
    certificate = SoftMargin(signs, C).certificate(beta, K @ beta, found.bias)
    assert certificate.kkt_violation < 1e-8


def test_a_copy_may_be_led_elsewhere():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    signs = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    K, C = RBF(0.5)(X), np.full(30, 1.0)
    whole = Homotopy(StoredMatrix.of(K).values, signs, signs, C, True).settle(clarabel_qp.solve(K, signs, C)[0])
    before = whole.beta.copy()
    point = int(np.flatnonzero(before)[0])
    part = whole.copy()
    part.take_back(point)
    assert np.array_equal(whole.beta, before)
    assert part.beta[point] == 0
    kept = np.delete(np.arange(30), point)
    _, value = clarabel_qp.solve(K[np.ix_(kept, kept)], signs[kept], C[kept])
    assert signs @ part.beta - 0.5 * part.beta @ K @ part.beta == pytest.approx(value, rel=1e-9)


def test_a_tableau_that_rounding_has_spoilt_is_swept_anew():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    K, C = StoredMatrix.of(RBF(0.5)(X)).values, np.full(60, 3.0)
    found = Homotopy(K, signs, signs, C, True).settle(clarabel_qp.solve(K[:, :60], signs, C)[0])
    found.drive(np.ones(60))
    rates = found.track.rate.copy()
    found.track.tableau.matrix[:] *= 1.0 + 1e-6 * rng.normal(size=found.track.tableau.matrix.shape)
    found.renew()
    assert np.allclose(found.track.rate, rates, atol=1e-10 * np.abs(rates).max())
