"""The distance of a machine over landmarks: exact, and as a bound by rows drawn at random."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.problems.distance import Distance
from mercer.solvers.low_rank import distance
from mercer.solvers.low_rank.basis import Basis
from mercer.solvers.low_rank.distance import (
    ABOVE,
    PILOT,
    RISK_OF_EXCESS,
    STAKE,
    PreparedSupport,
    by_lengths,
    half_energy,
    left_of_rows,
    upper_bound,
)

X = np.random.default_rng(0).normal(size=(3000, 4))
KERNEL = RBF(gamma=0.3)
BASIS = Basis(KERNEL, lambda dtype: KERNEL.prepare(X[::30], dtype))
POINTS = KERNEL.prepare(X)


def energy(beta, entries, rng):
    """`half_energy` of the rows that have coefficients."""
    beta = beta.reshape(len(beta), -1)
    some = np.flatnonzero(beta.any(axis=1))
    points = POINTS.take(some)
    support = PreparedSupport(KERNEL, points)
    return half_energy(BASIS, support, beta[some], BASIS.weights(points, beta[some]), entries, rng)


def true_value(beta):
    across = KERNEL(X, X[::30])
    spanned = across @ np.linalg.solve(BASIS.factor @ BASIS.factor.T, across.T)
    return 0.5 * float(np.sum(beta * ((KERNEL(X) - spanned) @ beta)))


def coefficients(signs):
    rng = np.random.default_rng(1)
    return np.where(rng.random(3000) < 0.5, rng.random(3000), 0.0) * (signs(X) if signs else 1.0)


@pytest.mark.parametrize("k", [1, 3])
def test_all_rows_give_the_quadratic_form(k):
    beta = np.random.default_rng(1).normal(size=(3000, k))
    value, method, confidence, rows = energy(beta, 1e9, np.random.default_rng(0))
    assert (method, confidence, rows) == ("exact", 1.0, 3000)
    assert value == pytest.approx(true_value(beta), rel=1e-8)


def test_nothing_has_no_distance():
    assert energy(np.zeros(3000), 1e9, np.random.default_rng(0))[0] == 0.0


def test_landmarks_alone_have_a_distance_of_the_jitter():
    beta = np.zeros(3000)
    beta[::30] = 1.0
    assert energy(beta, 1e9, np.random.default_rng(0))[0] < 1e-9


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_what_is_left_of_a_landmark_is_a_share_of_its_kernel_value(factor):
    kernel = factor * KERNEL
    basis = Basis(kernel, lambda dtype: kernel.prepare(X[::30], dtype))
    left = left_of_rows(basis, kernel.prepare(X[:60]), None)
    np.testing.assert_allclose(left[::30], distance.ROUNDING * factor)
    across = kernel(X[:60], X[::30])
    exact = factor - np.einsum("ij,ji->i", across, np.linalg.solve(basis.factor @ basis.factor.T, across.T))
    np.testing.assert_allclose(left, np.maximum(exact, distance.ROUNDING * factor), rtol=1e-5)


@pytest.mark.parametrize("signs", [None, lambda rows: np.sign(np.sin(3 * rows[:, 0]) - rows[:, 1])])
def test_a_sample_is_a_bound_as_often_as_it_says(signs, monkeypatch):
    beta = coefficients(signs)
    true, support = true_value(beta), np.count_nonzero(beta)
    monkeypatch.setattr(distance, "WORTH_ALL", 0.0)
    found = [energy(beta, 300 * support, np.random.default_rng(seed)) for seed in range(60)]
    assert {method for _, method, _, _ in found} == {"sampled"}
    assert np.mean([value >= true for value, _, _, _ in found]) >= found[0][2]


def test_lengths_alone_are_a_bound():
    beta = coefficients(None)
    assert by_lengths(KERNEL.diag_of(POINTS), beta) >= true_value(beta)


def test_more_rows_give_a_closer_bound(monkeypatch):
    monkeypatch.setattr(distance, "WORTH_ALL", 0.0)
    beta = coefficients(None)
    true, support = true_value(beta), np.count_nonzero(beta)

    def bound(rows):
        return np.median([energy(beta, rows * support, np.random.default_rng(s))[0] for s in range(9)])

    few, many = bound(200), bound(700)
    assert true <= many < few


def test_a_bound_of_constants_is_little_more_than_they_are():
    assert 1.0 <= upper_bound(np.ones(100_000), 2.0) <= 1.01


def test_a_bound_is_near_the_mean_of_many_samples():
    # Two thousand of a deviation three times their mean: the normal approximation says 1.11.
    found = [upper_bound(np.random.default_rng(seed).normal(1.0, 3.0, 2000), 30.0) for seed in range(30)]
    assert 1.0 < np.mean(found) < 1.35


def test_rare_large_values_are_allowed_for():
    # Once in a thousand times 500: a sample of 400 often meets none, and its mean is then half of the true one.
    rng, total = np.random.default_rng(0), 1000.0
    assert total * np.sqrt(1.0) >= 500.0
    found = [upper_bound(np.where(rng.random(400) < 0.001, 500.5, 0.5), total) for _ in range(200)]
    assert np.mean([value >= 1.0 for value in found]) >= 0.95


def test_a_distance_says_how_it_was_found():
    exact = Distance(3.0, 0.03, "exact", 1.0, 100)
    sampled = Distance(3.0, 0.03, "sampled", 0.95, 200)
    assert str(exact) == "distance 3 (relative 3.0e-02), exact"
    assert str(sampled) == "distance at most 3 (relative 3.0e-02), from 200 sampled rows, with confidence 95%"
    assert "lengths alone" in str(Distance(3.0, 0.03, "bounded", 1.0, 0))
    assert float(exact) == 3.0
    assert exact.as_dict()["method"] == "exact"


@pytest.mark.parametrize("factor", [1e-6, 1e4])
def test_a_bound_is_in_the_units_of_its_samples(factor):
    """Samples of a quadratic form that is so many times as large, whose lengths grow as its root."""
    samples = np.random.default_rng(3).exponential(size=1000)
    expected = factor * upper_bound(samples, 30.0)
    assert upper_bound(factor * samples, np.sqrt(factor) * 30.0) == pytest.approx(expected)


def test_a_higher_confidence_is_a_higher_bound():
    samples = np.random.default_rng(3).exponential(size=1000)
    bounds = [upper_bound(samples, 30.0, confidence) for confidence in (0.5, 0.95, 0.999)]
    assert samples.mean() < bounds[0] < bounds[1] < bounds[2] < 30.0**2


def test_lengths_bound_the_norm_of_several_functions_together(rng):
    X, beta = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    K = X @ X.T
    energy = 0.5 * np.sum(beta * (K @ beta))
    bound = by_lengths(K.diagonal(), beta)
    assert bound >= energy
    # One row alone has no other to differ from.
    assert by_lengths(K.diagonal()[:1], beta[:1]) == pytest.approx(0.5 * np.sum(beta[:1] ** 2) * K[0, 0])
    assert by_lengths(K.diagonal(), beta[:, 0]) == pytest.approx(by_lengths(K.diagonal(), beta[:, :1]))
    # A fit that ends before its first step has no row with a coefficient.
    assert by_lengths(K.diagonal()[:0], beta[:0]) == 0.0


def test_the_bound_of_samples_that_are_equal_is_that_of_the_papers():
    """The supposed mean at which a constant bet multiplies the capital to one over its share of the risk
    (Waudby-Smith & Ramdas 2023), and Clopper & Pearson's bound of no event in n."""
    total, risk, n = 50.0, 0.05, 300 - int(PILOT * 300)
    q = upper_bound(np.full(300, 2.0), total, 0.95)
    bet = STAKE / (2.0 * ABOVE)
    inside = 2.0 + (((1.0 - RISK_OF_EXCESS) * risk) ** (-1.0 / n) - 1.0) / bet
    beyond = 1.0 - (RISK_OF_EXCESS * risk) ** (1.0 / n)
    assert q == pytest.approx(inside + beyond * total * np.sqrt(q))
    assert upper_bound(np.full(300, 1e9), 3.0) == 9.0
