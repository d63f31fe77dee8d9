import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import SVC, ParameterError, theory


def test_halfspaces_have_their_dimension_and_one_more_for_a_bias():
    assert theory.vc_dimension(5) == 6
    assert theory.vc_dimension(5, homogeneous=True) == 5


@pytest.mark.parametrize(("radius", "gamma", "expected"), [(1.0, 0.5, 5), (1.0, 1.0, 2), (3.0, 1.1, 9), (0.0, 1.0, 1)])
def test_the_dimension_of_a_margin_by_hand(radius, gamma, expected):
    assert theory.margin_vc_dimension(radius, gamma) == expected


def test_a_ratio_that_is_whole_is_not_rounded_up():
    for k in range(1, 40):
        assert theory.margin_vc_dimension(math.sqrt(k), 1.0) == k + 1


def test_few_dimensions_bound_it_too():
    assert theory.margin_vc_dimension(10.0, 0.1, d=2) == 3


@pytest.mark.parametrize("n", [2, 3, 4])
def test_corners_of_a_simplex_are_shattered_with_the_margin_that_the_bound_allows(n):
    """n points at distance 1 from each other: over all labellings, the worst margin keeps to the bound."""
    X = np.eye(n) / math.sqrt(2.0)
    worst = math.inf
    for signs in product([-1, 1], repeat=n):
        if abs(sum(signs)) == n:
            continue
        model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, np.array(signs))
        worst = min(worst, 1.0 / float(np.linalg.norm(model.coef_)))
    # They are shattered with this margin, so the dimension must be at least their number.
    assert theory.margin_vc_dimension(theory.smallest_ball(X).radius, worst) >= n


@given(st.integers(1, 60), st.integers(0, 60))
def test_sauers_sum_is_exact(m, d_vc):
    expected = sum(math.comb(m, i) for i in range(min(d_vc, m) + 1))
    assert theory.growth_function(m, d_vc) == pytest.approx(math.log(expected), rel=1e-9, abs=1e-9)


def test_the_vc_bound_by_hand():
    # One point in 2m = 2 with d_vc = 1: growth 3.
    assert theory.vc_bound(1, 1, 0.5, 0.25) == pytest.approx(0.25 + math.sqrt(8 * math.log(4 * 3 / 0.5)))


def test_it_shrinks_with_rows_and_grows_with_dimension():
    values = [theory.vc_bound(m, 10) for m in (10**3, 10**4, 10**5, 10**6)]
    assert values == sorted(values, reverse=True)
    assert theory.vc_bound(10**4, 10) < theory.vc_bound(10**4, 100) < theory.vc_bound(10**4, 1000)
    assert theory.vc_bound(100, math.inf) > 1.0


@pytest.mark.parametrize(("m", "d_vc"), [(1, 2), (3, 4), (10, 6), (40, 6), (200, 11)])
def test_the_lower_bound_is_what_the_best_learner_reaches_on_its_distribution(m, d_vc, rng):
    """Coins for labels: whoever remembers what he saw errs on half of what he did not, and nobody does better."""
    found, errors = theory.vc_lower_bound(m, d_vc), []
    for k, share in ((d_vc, 1.0 / d_vc), (d_vc - 1, min(1.0 / (m + 1), 1.0 / (d_vc - 1)))):
        seen = rng.multinomial(m, [share] * k + [max(0.0, 1.0 - k * share)], size=20_000)[:, :k] > 0
        errors.append(float(0.5 * share * (~seen).sum(axis=1).mean()))
    assert found == pytest.approx(max(errors), abs=0.004)


def test_hard_svm_in_many_dimensions_does_no_better_than_the_lower_bound(rng):
    """Unit vectors are shattered by halfspaces through the origin; with few rows most are never seen."""
    d, m, errors = 12, 6, []
    for _ in range(60):
        labels = rng.choice([-1, 1], size=d)
        rows = rng.integers(d, size=m)
        if len(set(labels[rows])) < 2:
            continue
        model = SVC(kernel="linear", C=np.inf, bias="none").fit(np.eye(d)[rows], labels[rows])
        # What was not seen has the value 0, which is as good a guess as any: half of it is wrong.
        values = labels * model.decision_function(np.eye(d))
        errors.append(np.mean(values < 0) + 0.5 * np.mean(np.abs(values) <= 1e-12))
    assert np.mean(errors) >= theory.vc_lower_bound(m, theory.vc_dimension(d, homogeneous=True)) - 0.02


@given(st.floats(1e-4, 0.2), st.integers(2, 10**5), st.floats(1e-6, 0.2))
def test_rows_that_are_needed_grow_as_the_dimension_over_epsilon(epsilon, d_vc, delta):
    needed = theory.vc_sample_size(epsilon, d_vc, delta)
    assert needed >= math.log(0.5 / delta) / -math.log1p(-epsilon)
    # Half of the points with a mass of 2 e epsilon, unseen: the constant of the docstring at p = 2 e epsilon.
    p = min(1.0, 2.0 * math.e * epsilon)
    gain = math.log(p / (2.0 * (epsilon + delta * (p - epsilon))))
    if d_vc > 2 and gain > 0:
        assert needed >= 0.99 * gain / -math.log1p(-p / (d_vc - 1))
    # Ehrenfeucht, Haussler, Kearns & Valiant (1989), where theirs applies.
    if epsilon <= 1 / 8 and delta <= 1 / 100:
        assert needed >= (d_vc - 1) / (32 * epsilon)


@given(st.floats(1e-3, 0.4), st.integers(3, 2000))
def test_in_expectation_the_two_lower_bounds_say_the_same(epsilon, d_vc):
    needed = theory.vc_sample_size(epsilon, d_vc, delta=1e-300)
    enough = max(1, needed - 1)
    by_coins = math.log(0.5 / 1e-300) / -math.log1p(-epsilon)
    if needed > by_coins + 1:
        assert theory.vc_lower_bound(enough, d_vc) >= epsilon * 0.99


def test_lower_bounds_that_forbid_nothing():
    assert theory.vc_lower_bound(10, 1) == 0.0
    assert theory.vc_lower_bound(10, 0) == 0.0
    assert theory.vc_sample_size(0.1, 1) == 0
    assert theory.vc_sample_size(0.6, 1000, delta=0.5) == 0
    assert theory.vc_lower_bound(10, math.inf) == 0.5
    assert theory.vc_sample_size(0.1, math.inf) == math.inf


@pytest.mark.parametrize("call", [lambda: theory.vc_lower_bound(5, -1), lambda: theory.vc_sample_size(0.1, math.nan)])
def test_a_dimension_is_not_negative(call):
    with pytest.raises(ParameterError, match="d_vc must not be negative, got"):
        call()
