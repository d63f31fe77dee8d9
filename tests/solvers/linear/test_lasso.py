"""The lasso of a proximal Newton step: solved however correlated its features are."""

import numpy as np
import pytest

from mercer.solvers.linear.lasso import SHARE, least, violation, within_signs


def a_lasso(seed, m=12, rank=7):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(rank, m)) * 10.0 ** rng.uniform(-1.0, 1.0, m)
    prices = np.append(np.ones(m - 1), rng.integers(0, 2))
    return Z.T @ Z, prices, Z.T @ rng.normal(size=rank) * 5.0, rng.normal(size=m) * (rng.random(m) < 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_point_of_a_model_has_almost_no_violation_however_correlated_its_features_are(seed):
    G, prices, linear, start = a_lasso(seed)
    x = least(G, prices, linear - G @ start, start, lambda: False)
    fall, before = linear - G @ x, linear - G @ start
    assert violation(prices, fall, x) <= SHARE * violation(prices, before, start) + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_newton_steps_on_the_weights_change_no_sign_and_never_raise_the_model(seed):
    G, prices, linear, start = a_lasso(seed)
    face = np.flatnonzero(start)
    H, signed = G[np.ix_(face, face)], prices[face] != 0
    fall = (linear - G @ start - prices * np.sign(start))[face]
    x = within_signs(H, fall, start[face], signed)
    move = x - start[face]
    assert (x * start[face] >= 0)[signed].all()
    assert 0.5 * move @ H @ move - fall @ move <= 1e-9
