"""Solutions that are led along: the factor, and a rough point made exact."""

import numpy as np
import pytest

from mercer.kernels import RBF, Linear
from mercer.kernels.matrix import StoredMatrix
from mercer.problems.soft_margin import SoftMargin
from mercer.solvers.homotopy import Homotopy
from mercer.solvers.homotopy_state import TAKEN, border, solve_free, step_with_newcomer, unborder
from tests.oracles import clarabel_qp


def test_the_factor_follows_points_in_and_out():
    rng = np.random.default_rng(0)
    K = StoredMatrix.of(RBF(0.3)(rng.normal(size=(20, 3)))).values
    factor, places, room, ones = np.zeros((24, 24)), np.zeros(24, np.int64), np.zeros(24), np.zeros(24)
    for f, point in enumerate([3, 7, 11, 2, 19, 5]):
        assert border(K, factor, places, f, 0.5, point, room, ones) == TAKEN
    unborder(factor, places, 6, 1, ones)
    unborder(factor, places, 5, 4, ones)
    assert places[:4].tolist() == [3, 11, 2, 19]
    expected = K[np.ix_(places[:4], places[:4])] + 0.5
    assert np.allclose(factor[:4, :4].T @ factor[:4, :4], expected, atol=1e-13)
    assert np.allclose(factor[:4, :4].T @ ones[:4], 1.0, atol=1e-13)
    right, step = rng.normal(size=24), np.zeros(24)
    bias = solve_free(factor, 4, right, 0.7, True, step, ones)
    assert np.allclose(expected @ step[:4] + bias, right[:4], atol=1e-12)
    assert step[:4].sum() == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("has_equality", [True, False])
def test_rates_after_a_point_joined_are_those_computed_afresh(has_equality):
    rng = np.random.default_rng(1)
    K = StoredMatrix.of(RBF(0.3)(rng.normal(size=(20, 3)))).values
    factor, places, column, ones = np.zeros((24, 24)), np.zeros(24, np.int64), np.zeros(24), np.zeros(24)
    shift, drive = 0.5 * has_equality, rng.normal(size=20)
    for f, point in enumerate([3, 7, 11, 2]):
        border(K, factor, places, f, shift, point, column, ones)
    step, total = np.zeros(24), 0.7
    bias = solve_free(factor, 4, -drive[places], total, has_equality, step, ones) + shift * total
    # Point 5 joins, whose coefficient did not move until now.
    slope = -drive[5] - K[5, places[:4]] @ step[:4]
    assert border(K, factor, places, 4, shift, 5, column, ones) == TAKEN
    bias += step_with_newcomer(factor, 5, column, has_equality, step, ones, slope - bias, 0.0)
    afresh = np.zeros(24)
    expected = solve_free(factor, 5, -drive[places], total, has_equality, afresh, ones) + shift * total
    assert np.allclose(step[:5], afresh[:5], atol=1e-11)
    assert bias == pytest.approx(expected, abs=1e-11)


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
