"""Newton's systems over blocks: solved as they are, damped where rounding leaves no solution."""

import numpy as np
import pytest

from mercer.solvers.blocks.penalty import Penalty


def system(rng, m=4):
    A = rng.normal(size=(m + 1, m + 1))
    return A @ A.T, rng.normal(size=m + 1), np.tril(rng.normal(size=(m, m))) + 3.0 * np.eye(m)


@pytest.mark.parametrize("has_factor", [True, False])
@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_a_step_solves_its_system(has_factor, weight, rng):
    H, g, L = system(rng)
    factor = L if has_factor else None
    whole = H.copy()
    whole[:-1, :-1] += L @ L.T if has_factor else np.eye(4)
    whole[-1, -1] += weight
    before = H.copy()
    np.testing.assert_allclose(Penalty(4, factor).step(H, g, 2.0, weight), np.linalg.solve(whole, g))
    np.testing.assert_array_equal(H, before)


def test_without_a_constant_feature_its_weight_stays():
    rng = np.random.default_rng(0)
    H, g, _ = system(rng)
    H[-1] = H[:, -1] = 0.0
    step = Penalty(4, None).step(H, g, 0.0, 5.0)
    assert step[-1] == 0.0
    np.testing.assert_allclose(step[:-1], np.linalg.solve(H[:-1, :-1] + np.eye(4), g[:-1]))


def test_a_free_bias_that_no_row_holds_is_a_system_of_its_own(rng):
    H, g, _ = system(rng)
    H[-1] = H[:, -1] = 0.0
    step = Penalty(4, None).step(H, g, 1.0, 0.0)
    np.testing.assert_allclose(step[:-1], np.linalg.solve(H[:-1, :-1] + np.eye(4), g[:-1]))
    assert step[-1] == pytest.approx(g[-1])


def test_a_matrix_that_rounding_has_made_indefinite_is_damped(rng):
    _, g, _ = system(rng)
    H = np.diag([1e8, 0.0, 0.0, 0.0, 1e8])
    H[0, -1] = H[-1, 0] = 1e8 * (1.0 + 1e-4)
    penalty = Penalty(4, None)
    step = penalty.step(H, g, 1.0, 0.0)
    assert np.isfinite(step).all()
    assert g @ step > 0.0
    assert penalty.step(H, g, 1.0, 0.0, is_damped=False) is None


def test_where_nothing_helps_the_step_is_the_scaled_slope():
    H = np.full((3, 3), -1.0)
    H[np.diag_indices(3)] = [9.0, 9.0, 1e-3]
    H[0, 1] = H[1, 0] = 1e6
    np.testing.assert_allclose(Penalty(2, None).step(H, np.ones(3), 1.0, 0.0), [0.1, 0.1, 1e3])


def test_lengths_are_those_of_weights(rng):
    _, g, L = system(rng)
    penalty, v = Penalty(4, L), g[:4]
    np.testing.assert_allclose(penalty.times(v), L @ L.T @ v)
    np.testing.assert_allclose(penalty.weights(v), L.T @ v)
    np.testing.assert_allclose(penalty.coefficients(L.T @ v), v)
    np.testing.assert_allclose(penalty.whitened(L @ v), v)
    plain = Penalty(4, None)
    for same in (plain.times, plain.weights, plain.coefficients, plain.whitened):
        assert same(v) is v
