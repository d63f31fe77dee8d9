"""The judge itself: it knows a right answer, and catches each kind of wrong one."""

import numpy as np
import pytest

from tests.oracles.kkt import assert_solved, judge

# Two points on a line, one on each side: by hand, w = 1 and b = 0 from α = 1/2 on both.
K = np.array([[1.0, -1.0], [-1.0, 1.0]])
SIGNS = np.array([1.0, -1.0])
C = np.array([2.0, 2.0])
BETA = 0.5 * SIGNS


def test_the_answer_by_hand_is_accepted():
    verdict = judge(K, SIGNS, C, BETA, 0.0)
    assert_solved(verdict, 1e-12)
    assert verdict.primal == verdict.dual == 0.5


def test_the_toy_set_of_the_source_documents_is_accepted(toy):
    X, signs = toy
    beta = signs * np.array([0.5, 0.5, 1.0, 0.0])
    verdict = judge(X @ X.T, signs, np.full(4, 10.0), beta, -1.0)
    assert_solved(verdict, 1e-12)
    assert verdict.primal == 1.0


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_the_squared_hinge_by_hand_is_accepted(bias):
    # By symmetry w = 2α and b = 0; slack 1 - 2α = α / 2C gives α = 2C / (1 + 4C) = 4 / 9.
    verdict = judge(K, SIGNS, C, 4.0 / 9.0 * SIGNS, 0.0, "squared_hinge", bias)
    assert_solved(verdict, 1e-12)


WRONG = [
    ("hinge", "box", 2.5 * SIGNS, 0.0, "free"),
    ("hinge", "box", -0.1 * SIGNS, 0.0, "free"),
    ("hinge", "bias", np.array([0.5, -0.4]), 0.0, "free"),
    ("hinge", "bias", BETA, 0.1, "penalized"),
    ("hinge", "bias", BETA, 0.1, "none"),
    ("hinge", "complementarity", 0.4 * SIGNS, 0.0, "free"),
    ("hinge", "complementarity", 0.6 * SIGNS, 0.0, "free"),
    ("hinge", "complementarity", BETA, 0.1, "free"),
    ("squared_hinge", "box", -0.1 * SIGNS, 0.0, "free"),
    ("squared_hinge", "bias", np.array([4 / 9, -0.4]), 0.0, "free"),
    ("squared_hinge", "bias", 4 / 9 * SIGNS, 0.1, "penalized"),
    ("squared_hinge", "complementarity", 0.4 * SIGNS, 0.0, "free"),
    ("squared_hinge", "complementarity", 0.5 * SIGNS, 0.0, "free"),
    ("squared_hinge", "complementarity", 4 / 9 * SIGNS, 0.1, "free"),
]


@pytest.mark.parametrize(("loss", "what", "beta", "intercept", "bias"), WRONG)
def test_what_is_wrong_is_found(loss, what, beta, intercept, bias):
    verdict = judge(K, SIGNS, C, beta, intercept, loss, bias)
    assert getattr(verdict, what) > 1e-2
    with pytest.raises(AssertionError):
        assert_solved(verdict, 1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gap_is_never_more_than_complementarity_allows(loss, rng):
    X = rng.normal(size=(30, 2))
    signs = np.where(X[:, 0] + 0.3 * rng.normal(size=30) > 0, 1.0, -1.0)
    for _ in range(50):
        beta = signs * rng.uniform(0.0, 1.0, 30) * (rng.random(30) < 0.5)
        verdict = judge(X @ X.T, signs, rng.uniform(1.0, 2.0, 30), beta, beta.sum(), loss, "penalized")
        assert 0.0 <= verdict.gap <= verdict.gap_allowed(verdict.complementarity)
