"""Worked example 12: the bounds, by hand, with their conditions and where they say nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import SVC, ParameterError, Regularization, theory

RATIOS = st.floats(1.0, 1e3)
SHARES = st.floats(1e-6, 0.999)
COUNTS = st.integers(1, 10**9)


def test_theorem_15_4_by_hand():
    # (rho/gamma)^2 = 25, m = 10,000, delta = 2/e^2: sqrt(100/10,000) + sqrt(4/10,000).
    assert theory.hard_svm_bound(10_000, 0.2, 1.0, 2.0 / math.e**2) == pytest.approx(0.1 + 0.02)


@given(COUNTS, RATIOS, SHARES)
def test_only_the_ratio_of_radius_and_margin_counts(m, ratio, delta):
    by_ten = theory.hard_svm_bound(m, 10.0, 10.0 * ratio, delta)
    assert by_ten == pytest.approx(theory.hard_svm_bound(m, 1.0, ratio, delta))


@given(SHARES, SHARES, RATIOS)
def test_so_many_rows_are_enough_and_one_less_is_not(epsilon, delta, ratio):
    smallest = theory.hard_svm_sample_size(epsilon, delta, 1.0, ratio, form="theorem")
    assert theory.hard_svm_bound(smallest, 1.0, ratio, delta) <= epsilon * (1 + 1e-9)
    if smallest > 1:
        assert theory.hard_svm_bound(smallest - 1, 1.0, ratio, delta) > epsilon * (1 - 1e-9)


@given(SHARES, SHARES, RATIOS)
def test_the_slides_ask_for_at_least_what_the_theorem_needs(epsilon, delta, ratio):
    slides = theory.hard_svm_sample_size(epsilon, delta, 1.0, ratio)
    assert slides >= theory.hard_svm_sample_size(epsilon, delta, 1.0, ratio, form="theorem")
    assert slides == pytest.approx(8 / epsilon**2 * (2 * ratio**2 + math.log(2 / delta)), rel=1e-12, abs=1.0)


@given(COUNTS, st.floats(0.01, 1e3), st.floats(0.01, 1e3), st.floats(0.0, 10.0))
def test_the_lambda_of_corollary_15_7_is_the_best_one(m, rho, B, hinge):
    lam = theory.soft_svm_lambda(m, rho, B)
    best = theory.soft_svm_bound_for_norm(m, rho, B, hinge)
    assert theory.soft_svm_bound(m, lam, rho, norm=B, hinge=hinge) == pytest.approx(best)
    for other in (0.5 * lam, 0.99 * lam, 1.01 * lam, 2.0 * lam):
        assert theory.soft_svm_bound(m, other, rho, norm=B, hinge=hinge) >= best * (1 - 1e-12)


def test_a_margin_of_next_to_nothing_asks_for_infinitely_much():
    assert theory.hard_svm_bound(10, 1e-300, 1.0) > 1e200
    assert theory.hard_svm_sample_size(0.1, 0.1, 1e-300, 1.0) == math.inf
    assert theory.margin_vc_dimension(1.0, 1e-300) == math.inf
    assert theory.margin_vc_dimension(1.0, 1e-300, d=7) == 8


def test_corollary_15_7_by_hand():
    assert theory.soft_svm_lambda(m=200, rho=1.0, B=1.0) == pytest.approx(0.1)
    assert theory.soft_svm_bound(m=200, lam=0.1, rho=1.0, norm=1.0) == pytest.approx(0.1 + 0.1)
    assert theory.soft_svm_bound_for_norm(m=200, rho=1.0, B=1.0) == pytest.approx(0.2)


def test_the_expected_excess_of_soft_svm_is_below_the_corollary():
    """A coin with known hinge losses: rows x = ±1/2 and labels right nine times in ten."""
    rng, m, rho, trials = np.random.default_rng(3), 40, 0.5, 40
    B = 2.0
    lam = theory.soft_svm_lambda(m, rho, B)
    losses = []
    for _ in range(trials):
        x = np.where(np.arange(m) % 2, 0.5, -0.5)
        y = np.sign(x) * np.where(rng.uniform(size=m) < 0.9, 1, -1)
        model = SVC(kernel="linear", bias="none", C=Regularization.from_lambda(lam), tol=1e-8).fit(x[:, None], y)
        w = model.coef_[0, 0]
        losses.append(0.9 * max(0.0, 1 - 0.5 * w) + 0.1 * max(0.0, 1 + 0.5 * w))
    smallest = min(0.9 * max(0.0, 1 - 0.5 * w) + 0.1 * max(0.0, 1 + 0.5 * w) for w in np.linspace(-B, B, 401))
    assert np.mean(losses) <= theory.soft_svm_bound_for_norm(m, rho, B, smallest)
    assert np.mean(losses) >= smallest - 1e-9


def test_without_a_ramp_loss_it_is_theorem_15_4():
    for m, gamma, rho, delta in ((10, 0.3, 2.0, 0.1), (12_345, 0.02, 1.0, 0.001)):
        assert theory.ramp_bound(m, rho, 1.0 / gamma, 0.0, delta) == pytest.approx(
            theory.hard_svm_bound(m, gamma, rho, delta)
        )


def test_the_ramp_bound_by_hand():
    # 0.25 + 2 * 3 * 2 / 100 + sqrt(4 / 10,000).
    assert theory.ramp_bound(10_000, 3.0, 2.0, 0.25, 2.0 / math.e**2) == pytest.approx(0.25 + 0.12 + 0.02)


@pytest.mark.parametrize("B", [1.0, 4.0])
def test_the_ramp_bound_fails_for_no_w_at_all_more_often_than_delta(B):
    """Rows ±1 with labels right four times in five: the error of every w at once, beside its ramp loss on m rows."""
    rng, m, delta, trials = np.random.default_rng(5), 400, 0.1, 400
    weights = np.linspace(-B, B, 161)
    error = np.where(weights > 0, 0.2, np.where(weights < 0, 0.8, 1.0))
    failed = 0
    for _ in range(trials):
        right = rng.binomial(m, 0.8) / m
        ramp = theory.LOSSES["ramp"].value
        on_rows = right * ramp(weights) + (1.0 - right) * ramp(-weights)
        bounds = [theory.ramp_bound(m, 1.0, B, float(min(1.0, loss)), delta) for loss in on_rows]
        failed += bool((error > np.array(bounds)).any())
    assert failed / trials <= delta


@given(COUNTS, st.floats(0.01, 1e3), st.floats(0.0, 1e3), SHARES)
def test_the_bound_for_a_fit_is_one_for_a_norm_that_covers_it(m, rho, norm, delta):
    found = theory.ramp_bound_for_fit(m, rho, norm, 0.1, delta)
    assert found >= theory.ramp_bound(m, rho, norm, 0.1, delta)
    i = next(i for i in range(1, 60) if 2.0**i >= rho * norm)
    assert found == pytest.approx(theory.ramp_bound(m, 1.0, 2.0**i, 0.1, delta / (i * (i + 1))))


def test_the_shares_of_delta_add_up_to_it():
    assert sum(1.0 / (i * (i + 1)) for i in range(1, 10**5)) == pytest.approx(1.0, abs=1e-4)


def test_it_is_vacuous_until_there_are_rows_enough():
    assert theory.ramp_bound(100, 1.0, 5.0) > 1.0
    assert theory.ramp_bound(300, 1.0, 5.0) < 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.hard_svm_bound(0, 1.0, 1.0), "m must be a positive whole number, got 0"),
        (lambda: theory.hard_svm_bound(2.5, 1.0, 1.0), "m must be a positive whole number, got 2.5"),
        (lambda: theory.hard_svm_bound(10, 0.0, 1.0), "gamma must be a positive, finite number"),
        (lambda: theory.hard_svm_bound(10, math.nan, 1.0), "gamma must be a positive, finite number, got nan"),
        (lambda: theory.hard_svm_bound(10, 1.0, 1.0, delta=0.0), "delta must lie strictly between 0 and 1"),
        (lambda: theory.hard_svm_bound(10, 1.0, 1.0, delta=1.0), "delta must lie strictly between 0 and 1"),
        (lambda: theory.hard_svm_sample_size(2.0, 0.1, 1.0, 1.0), "epsilon must lie strictly between 0 and 1"),
        (lambda: theory.hard_svm_sample_size(0.1, 0.1, 1.0, 1.0, form="book"), "form must be 'slides' or 'theorem'"),
        (lambda: theory.soft_svm_bound(10, -1.0, 1.0), "lam must be a positive, finite number, got -1.0"),
        (lambda: theory.soft_svm_lambda(10, 1.0, True), "B must be a positive, finite number, got True"),
        (lambda: theory.ramp_bound(10, 1.0, 1.0, ramp=1.5), "ramp must lie between 0 and 1, got 1.5"),
        (lambda: theory.ramp_bound(10, 1.0, -1.0), "B must be a finite, nonnegative number"),
        (lambda: theory.vc_bound(10, 3, delta=2.0), "delta must lie"),
        (lambda: theory.margin_vc_dimension(1.0, -1.0), "gamma must be a positive"),
        (lambda: theory.margin_vc_dimension(1.0, 1.0, d=-1), "d must not be negative, got -1"),
    ],
)
def test_what_they_need(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
