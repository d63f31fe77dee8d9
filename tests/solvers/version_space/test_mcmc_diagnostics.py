import numpy as np
import pytest

from mercer.solvers.version_space.mcmc_diagnostics import (
    ChainDiagnostics,
    _autocovariance,
    effective_sample_size,
    r_hat,
    split_chains,
)


def autoregressive(rho, chains=4, m=4000, q=3, seed=0):
    """Chains with autocorrelation rho^t: an effective sample size of N (1 - rho) / (1 + rho)."""
    rng = np.random.default_rng(seed)
    draws = np.empty((chains, m, q))
    draws[:, 0] = rng.normal(size=(chains, q))
    for t in range(1, m):
        draws[:, t] = rho * draws[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=(chains, q))
    return draws


def plain_r_hat(draws):
    """The textbook formula for one quantity, draw by draw."""
    half = draws.shape[1] // 2
    parts = [chain[:half] for chain in draws] + [chain[-half:] for chain in draws]
    means = [np.mean(part) for part in parts]
    W = np.mean([np.sum((part - mean) ** 2) / (half - 1) for part, mean in zip(parts, means, strict=True)])
    B = half * np.sum((np.array(means) - np.mean(means)) ** 2) / (len(parts) - 1)
    return np.sqrt(((half - 1) / half * W + B / half) / W)


def test_r_hat_is_the_textbook_formula():
    draws = autoregressive(0.8, m=101)
    np.testing.assert_allclose(r_hat(draws), [plain_r_hat(draws[..., k]) for k in range(3)])


def test_independent_draws_are_worth_what_they_are():
    draws = np.random.default_rng(0).normal(size=(4, 2000, 5))
    assert (np.abs(r_hat(draws) - 1.0) < 0.005).all()
    np.testing.assert_allclose(effective_sample_size(draws), 8000, rtol=0.15)


@pytest.mark.parametrize("rho", [0.5, 0.9, 0.97])
def test_correlated_draws_are_worth_less(rho):
    sizes = effective_sample_size(autoregressive(rho))
    np.testing.assert_allclose(sizes, 16_000 * (1 - rho) / (1 + rho), rtol=0.3)


def test_draws_that_avoid_each_other_are_worth_more():
    assert (effective_sample_size(autoregressive(-0.5)) > 20_000).all()


def test_chains_in_different_places_disagree():
    draws = autoregressive(0.3)
    draws[0] += 3.0
    assert (r_hat(draws) > 1.5).all()
    assert (effective_sample_size(draws) < 20).all()


def test_a_chain_that_drifts_disagrees_with_itself():
    draws = autoregressive(0.3) + np.linspace(0.0, 4.0, 4000)[:, None]
    assert (r_hat(draws) > 1.3).all()


def test_what_never_changes_has_converged():
    draws = np.full((4, 100, 2), 0.3)
    np.testing.assert_array_equal(r_hat(draws), 1.0)
    np.testing.assert_array_equal(effective_sample_size(draws), 400)
    draws[0, :, 1] = 0.5
    assert r_hat(draws)[1] == np.inf


def test_an_odd_draw_in_the_middle_is_left_out():
    draws = np.arange(5.0)[None, :, None]
    np.testing.assert_array_equal(split_chains(draws)[..., 0], [[0.0, 1.0], [3.0, 4.0]])


def test_a_verdict_needs_both():
    fine = ChainDiagnostics(1.005, 500.0, 0.01, 4, 2000, 1000)
    assert fine.has_converged()
    assert not fine.has_converged(tol=0.001)
    assert not fine.has_converged(min_ess=600)
    assert not ChainDiagnostics.of_nothing(4).has_converged(tol=1e9, min_ess=1e-9)
    assert "R-hat 1.0050  effective sample size 500 of 2000 draws" in str(fine)
    assert fine.as_dict()["steps"] == 1000


def test_neither_units_nor_an_offset_change_what_draws_are_worth():
    draws = autoregressive(0.5, m=400)
    np.testing.assert_allclose(r_hat(5.0 + 1e-6 * draws), r_hat(draws), rtol=1e-6)
    np.testing.assert_allclose(effective_sample_size(5.0 + 1e-6 * draws), effective_sample_size(draws), rtol=1e-6)


def test_an_autocovariance_is_the_sum_of_products_at_every_lag(rng):
    parts = rng.normal(size=(2, 7, 3))
    centred = parts - parts.mean(axis=1, keepdims=True)
    expected = [np.sum(centred[:, : 7 - lag] * centred[:, lag:], axis=1) / 7 for lag in range(7)]
    np.testing.assert_allclose(_autocovariance(parts), np.stack(expected, axis=1), atol=1e-12)


def test_no_draws_are_worth_nothing():
    nothing = ChainDiagnostics.of_nothing(4, 7)
    assert (nothing.effective_sample_size, nothing.n_draws, nothing.steps) == (0.0, 0, 7)
    assert nothing.r_hat == nothing.angle_error == np.inf
