"""The steps with kernels, and what a budget does to them."""

import numpy as np
import pytest

from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic.kernel_pegasos import KernelIterate
from mercer.solvers.stochastic.pegasos import LinearIterate, Steps, run_steps
from mercer.solvers.stochastic.pegasos_steps import NORM
from mercer.solvers.stochastic.visit_order import Sampler


def run(K, signs, steps, T, budget=None, strategy="merging", seed=0):
    iterate = KernelIterate(len(signs), steps, budget, strategy)
    run_steps(iterate, StoredMatrix.of(K), signs, np.ones(len(signs)), Sampler(len(signs), seed), T, Limits())
    return iterate


@pytest.fixture
def ring(rng):
    X = rng.normal(size=(60, 2))
    return X, np.where((X**2).sum(axis=1) < 1.4, 1.0, -1.0)


def plain_beta(K, signs, lam, order):
    """The algorithm of the slides, one step after the other: (beta, mean of alpha)."""
    beta, total = np.zeros(len(signs)), np.zeros(len(signs))
    for t, i in enumerate(order, start=1):
        alpha = beta / (lam * t)
        total += alpha
        if signs[i] * (K[i] @ alpha) < 1:
            beta[i] += signs[i]
    return beta, total / len(order)


def test_beta_and_the_mean_of_alpha_are_those_of_the_slides(ring):
    X, signs = ring
    K, T = RBF(gamma=1.0)(X), 700
    beta, mean = plain_beta(K, signs, 0.01, Sampler(60, 0).draw(0, T))
    found = run(K, signs, Steps(0.01), T)
    assert (found.beta == beta).all()
    assert found.mean() == pytest.approx(mean)


@pytest.mark.parametrize("steps", [Steps(0.05), Steps(0.05, 3), Steps(0.05, 2, 2.0), Steps(0.05, has_bias=True)])
def test_the_alpha_form_is_the_w_form(rng, steps):
    X = rng.normal(size=(50, 5))
    signs = np.where(X[:, 0] > 0.1 * rng.normal(size=50), 1.0, -1.0)
    linear = LinearIterate(5, steps)
    run_steps(linear, X, signs, np.ones(50), Sampler(50, 9), 600, Limits())
    kernel = run(Linear()(X), signs, steps, 600, seed=9)
    w, b = linear.weights()
    assert kernel.coefficients() @ X == pytest.approx(w, abs=1e-9)
    assert steps.has_bias * kernel.coefficients().sum() == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("strategy", ["merging", "removal"])
@pytest.mark.parametrize("batch", [1, 4])
def test_a_budget_holds_and_the_norm_stays_known(ring, strategy, batch):
    X, signs = ring
    K = RBF(gamma=1.0)(X)
    found = run(K, signs, Steps(0.01, batch), 900, budget=12, strategy=strategy)
    assert np.count_nonzero(found.beta) <= 12
    assert len(found.support()) <= 12
    assert found.clock[NORM] == pytest.approx(found.beta @ K @ found.beta)


def test_a_budget_that_is_never_reached_changes_nothing(ring):
    X, signs = ring
    K = RBF(gamma=1.0)(X)
    assert run(K, signs, Steps(0.01), 500, budget=60).mean() == pytest.approx(run(K, signs, Steps(0.01), 500).mean())


def test_merging_into_an_equal_item_loses_nothing():
    # Items 0, 1 and 2, 3 are equal: a budget of two is enough for all four.
    X = np.array([[0.0], [0.0], [3.0], [3.0]])
    K, signs = RBF(gamma=1.0)(X), np.array([1.0, 1.0, -1.0, -1.0])
    free, tight = run(K, signs, Steps(0.1), 400), run(K, signs, Steps(0.1), 400, budget=2)
    assert K @ tight.mean() == pytest.approx(K @ free.mean())
    assert K @ run(K, signs, Steps(0.1), 400, budget=2, strategy="removal").mean() != pytest.approx(K @ free.mean())


def test_merging_keeps_more_of_the_decision_function_than_removal(ring):
    X, signs = ring
    K = RBF(gamma=1.0)(X)
    full = K @ run(K, signs, Steps(0.01), 2000).mean()
    error = {
        s: np.abs(K @ run(K, signs, Steps(0.01), 2000, 20, s).mean() - full).mean() for s in ("merging", "removal")
    }
    assert error["merging"] < error["removal"]


def test_the_last_iterate_is_that_of_the_slides(ring):
    X, signs = ring
    K, T, lam = RBF(gamma=1.0)(X), 200, 0.05
    iterate = run(K, signs, Steps(lam, averaged=False), T)
    beta, _ = plain_beta(K, signs, lam, Sampler(len(signs), 0).draw(0, T))
    np.testing.assert_allclose(iterate.coefficients(), beta / (lam * (T + 1)))
