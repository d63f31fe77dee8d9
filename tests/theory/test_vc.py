import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import SVC, theory


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
