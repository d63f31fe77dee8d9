"""Certificates that take a solver's gradient over: they bound those for which everything is recomputed."""

import re

import numpy as np
import pytest

from mercer import SVC, SVDD, SVR
from mercer.problems import taken_over
from mercer.problems.certificate import EVERYTHING
from mercer.problems.distance import Distance
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.one_class import SoftBall
from mercer.problems.svm.soft_margin import SoftMargin

N = 320
NOBODY = np.zeros(0, np.int64)


@pytest.fixture(scope="module")
def solved():
    """A kernel matrix, two problems over it, and their coefficients and intercepts."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=N) > 0.2, 1.0, -1.0)
    target = np.sin(X[:, 0]) + 0.2 * rng.normal(size=N)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(2))
    found = {}
    for name, model, goal in (
        ("margin", SVC(C=2.0, kernel="precomputed"), y),
        ("tube", SVR(kernel="precomputed"), target),
    ):
        model.fit(K, goal)
        beta = np.zeros(N)
        beta[model.support_] = np.ravel(model.dual_coef_)
        C = np.full(N, float(model.C))
        problem = SoftMargin(goal, C) if name == "margin" else EpsilonRegression(goal, C, model.epsilon)
        found[name] = problem, goal, beta, float(model.intercept_[0]), K @ beta
    ball = SoftBall.with_share(np.ones(N), np.ones(N), 0.3)
    model = SVDD(kernel="precomputed", nu=0.3).fit(K)
    beta = np.zeros(N)
    beta[model.support_] = np.ravel(model.dual_coef_)
    beta /= beta.sum()
    bias = float(ball.dual().bias(beta, 0.5 - K @ beta))
    found["ball"] = ball, np.full(N, 0.5), beta, bias, K @ beta
    return found


def told(case, off=0.0, tol=1e-3, likely=NOBODY):
    """(the certificate of a gradient that is off, the true one, the rows that were recomputed)."""
    problem, goal, beta, intercept, product = case
    seen = []

    def recompute(rows):
        seen.extend(rows.tolist())
        return product[rows]

    found = taken_over.certificate(problem, beta, goal - product + off, intercept, tol, recompute, likely)
    return found, problem.certificate(beta, product, intercept), seen


@pytest.mark.parametrize("name", ["margin", "tube", "ball"])
def test_a_right_gradient_leaves_nothing_to_widen(name, solved):
    found, so, seen = told(solved[name])
    assert len(seen) == len(set(seen)) < N
    assert found.gap == pytest.approx(so.gap, abs=1e-10)
    assert found.kkt_violation == pytest.approx(so.kkt_violation, abs=1e-12)
    assert found.accuracy == pytest.approx(0.0, abs=1e-10)
    assert f"{len(seen)} of {N} rows recomputed in double precision" in found.basis
    assert "and 10 at random" in found.basis
    assert not found.is_full


# How often a dual has b'Kb: half of it, but for the ball.
@pytest.mark.parametrize(("name", "times"), [("margin", 0.5), ("tube", 0.5), ("ball", 1.0)])
@pytest.mark.parametrize("size", [1e-5, 1e-3])
def test_what_is_off_is_counted_at_its_worst(name, times, size, solved):
    off = size * np.sin(np.arange(N))
    found, so, seen = told(solved[name], off)
    beta = solved[name][2]
    left = np.setdiff1d(np.arange(N), seen)
    largest = np.abs(off[seen]).max()
    assert found.gap >= so.gap - 1e-10
    assert found.kkt_violation >= so.kkt_violation - 1e-12
    assert found.accuracy == pytest.approx(times * largest * np.abs(beta[left]).sum(), rel=1e-6)
    assert abs(found.primal - so.primal) <= found.accuracy + found.gap
    assert found.relative_gap == pytest.approx(found.gap / max(1.0, abs(found.primal)))
    assert f"off by at most {largest:.1e}" in found.basis


def test_rows_that_are_likely_to_be_off_are_recomputed(solved):
    likely = np.array([5, 17, 200])
    assert set(likely) <= set(told(solved["margin"], likely=likely)[2])


def test_where_all_rows_are_recomputed_it_says_so(solved):
    found, so, _ = told(solved["margin"], 1e-3, likely=np.arange(N))
    assert found.basis == EVERYTHING
    assert found.is_full
    assert found.accuracy == 0.0
    assert found.gap == pytest.approx(so.gap, abs=1e-12)


@pytest.mark.parametrize("name", ["margin", "tube"])
@pytest.mark.parametrize("rows", [slice(None), slice(3, 4)])
def test_a_gradient_that_is_no_number_shows_nothing(name, rows, solved):
    off = np.zeros(N)
    off[rows] = np.nan
    with np.errstate(invalid="ignore"):
        found, so, _ = told(solved[name], off)
    assert not found.is_optimal(1e-3) or found.kkt_violation == pytest.approx(so.kkt_violation)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_projections_that_are_no_numbers_satisfy_no_conditions(bias, solved):
    problem, _, beta, intercept, product = solved["margin"]
    for place in (0, int(np.argmax(beta)), int(np.argmin(beta))):
        spoilt = product.copy()
        spoilt[place] = np.nan
        found = SoftMargin(problem.signs, problem.C, bias=bias).certificate(beta, spoilt, intercept)
        assert not found.is_optimal(1e6)


def test_what_allows_it():
    signs = np.where(np.arange(40) % 2, 1.0, -1.0)
    assert taken_over.allows(SoftMargin(signs, np.ones(40)), np.zeros(40))
    assert not taken_over.allows(SoftMargin(signs, np.full(40, np.inf)), np.zeros(40))
    assert not taken_over.allows(SoftMargin(signs[:31], np.ones(31)), np.zeros(31))
    assert not taken_over.allows(SoftMargin(signs, np.ones(40)), np.zeros((40, 2)))
    assert not taken_over.allows(object(), np.zeros(40))


def test_a_distance_says_how_it_is_known():
    assert str(Distance(1.5, 0.015, "exact", 1.0, 400)) == "distance 1.5 (relative 1.5e-02), exact"
    assert "from lengths alone" in str(Distance(1.5, 0.015, "bounded", 1.0, 0))
    assert str(Distance(1.5, 0.015, "sampled", 0.95, 40)).endswith("from 40 sampled rows, with confidence 95%")
    assert float(Distance(1.5, 0.015, "exact", 1.0, 400)) == 1.5
    assert Distance(1.5, 0.015, "exact", 1.0, 400).as_dict() == {
        "value": 1.5, "relative": 0.015, "method": "exact", "confidence": 1.0, "n_rows": 400,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["margin", "tube", "ball"])
def test_the_gap_of_rows_that_are_off_covers_either_sign_of_the_error(name, solved):
    """Whichever way the rows that were not recomputed are off, the gap that is told is no smaller than theirs."""
    problem, goal, beta, _, product = solved[name]
    off = 1e-2 * np.cos(np.arange(N))
    found, _, seen = told(solved[name], off)
    left = np.setdiff1d(np.arange(N), seen)
    assert len(left)
    largest = np.abs(off[seen]).max()
    taken = product - off
    taken[seen] = product[seen]
    dual = problem.dual()
    bias = dual.bias(beta, goal - taken)
    for sign in (-1.0, 1.0):
        gradient = goal - taken
        gradient[left] += sign * largest
        assert found.gap >= problem.times_dual * dual.gap(beta, gradient, bias) - 1e-9


def violations(case, product):
    """By how much each row could still gain on the bias, by rising or by falling."""
    problem, goal, beta = case[:3]
    dual, g = problem.dual(), goal - product
    b = dual.bias(beta, g)
    return np.maximum(np.where(beta < dual.upper, g - b, -np.inf), np.where(beta > dual.lower, b - g, -np.inf))


def test_of_many_rows_that_are_open_the_worst_are_recomputed(solved):
    problem, goal, beta, intercept, product = solved["margin"]
    case = problem, goal, 0.5 * beta, intercept, 0.5 * product
    found, so, seen = told(case)
    assert "all but" in found.basis
    left = np.setdiff1d(np.arange(N), seen)
    worst = violations(case, 0.5 * product)
    # Ten were drawn at random, and all others are worse than whatever was left.
    assert (worst[seen] < worst[left].max()).sum() <= 10 < len(seen)
    assert found.kkt_violation == pytest.approx(so.kkt_violation)


def test_a_violation_is_told_at_the_worst_of_what_is_off(solved):
    case = solved["margin"]
    problem, goal, beta, _, product = case
    off = 1e-2 * np.cos(np.arange(N))
    found, _, seen = told(case, off)
    error = np.full(N, np.abs(off[seen]).max())
    error[seen] = 0.0
    taken = product - off
    taken[seen] = product[seen]
    dual, g = problem.dual(), goal - taken
    highest = (g + error)[beta < dual.upper].max()
    lowest = (g - error)[beta > dual.lower].min()
    assert found.kkt_violation == pytest.approx(max(0.0, highest - lowest))


def test_how_many_rows_may_be_worse_than_what_was_drawn(solved):
    """As many as ten draws miss with a probability of one in a thousand."""
    words = told(solved["margin"])[0].basis
    share = float(re.search(r"fewer than ([0-9.]+)% of the rows", words).group(1)) / 100
    assert (1.0 - share) ** 10 == pytest.approx(1e-3, rel=0.1)


def test_weights_of_which_some_are_infinite_do_not_allow_it():
    signs, C = np.where(np.arange(40) % 2, 1.0, -1.0), np.ones(40)
    C[3] = np.inf
    assert not taken_over.allows(SoftMargin(signs, C), np.zeros(40))
