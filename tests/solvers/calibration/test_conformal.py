"""Ranks among scores, against sums written out."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.solvers.calibration.conformal import adaptive_scores, bounds, conforms, rank_of

NUMBERS = st.integers(-50, 50).map(lambda k: k / 7)


@pytest.mark.parametrize(
    ("coverage", "m", "rank"), [(0.9, 9, 9), (0.9, 99, 90), (0.55, 99, 55), (0.1, 9, 1), (0.95, 18, 19)]
)
def test_the_rank_is_that_of_the_decimal_that_was_typed(coverage, m, rank):
    assert rank_of(coverage, m) == rank


@given(st.lists(NUMBERS, min_size=1, max_size=12, unique=True), st.integers(1, 99))
def test_each_of_m_plus_one_scores_in_turn_conforms_to_the_others_as_often_as_the_rank_says(scores, per_cent):
    # The finite-sample law itself: of m + 1 exchangeable scores, exactly `rank` conform to the rest.
    scores = np.array(scores)
    m = len(scores) - 1
    covered = 0
    for k in range(m + 1):
        others = np.delete(scores, k)
        covered += bool(conforms(scores[[k], None], np.zeros(m, int), others, per_cent / 100)[0])
    assert covered == min(m + 1, math.ceil((m + 1) * per_cent / 100))


def by_hand(values, columns, residuals, coverage):
    """CV+ as Barber et al. (2021) write it, one row at a time."""
    m = len(residuals)
    ends = []
    for row in values:
        low = sorted(row[k] - r for k, r in zip(columns, residuals, strict=True))
        high = sorted(row[k] + r for k, r in zip(columns, residuals, strict=True))
        k_high = math.ceil(round(coverage * (m + 1), 9))
        k_low = math.floor(round((1 - coverage) * (m + 1), 9))
        ends.append((low[k_low - 1] if k_low >= 1 else -math.inf, high[k_high - 1] if k_high <= m else math.inf))
    return np.array(ends)


@pytest.mark.parametrize("coverage", [0.05, 0.5, 0.8, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("folds", [1, 4])
def test_the_ends_are_those_of_the_definition(coverage, folds):
    rng = np.random.default_rng(3)
    values, residuals = rng.normal(size=(20, folds)), np.abs(rng.normal(size=31))
    columns = np.arange(31) % folds
    found = np.column_stack(bounds(values, columns, residuals, coverage))
    np.testing.assert_array_equal(found, by_hand(values, columns, residuals, coverage))


def test_an_interval_is_the_same_in_stretches(monkeypatch):
    rng = np.random.default_rng(0)
    values, residuals, columns = rng.normal(size=(50, 3)), np.abs(rng.normal(size=17)), np.arange(17) % 3
    whole = bounds(values, columns, residuals, 0.8)
    monkeypatch.setattr("mercer.solvers.calibration.conformal._STRETCH", 40)
    np.testing.assert_array_equal(bounds(values, columns, residuals, 0.8), whole)


@pytest.mark.parametrize("coverage", [0.1, 0.75, 0.9])
def test_an_answer_is_in_the_set_where_few_enough_scores_are_smaller(coverage):
    rng = np.random.default_rng(1)
    # Ties, and scores of other folds, both count as they are written.
    candidates, scores = rng.integers(0, 9, size=(40, 3)) / 8, rng.integers(0, 9, size=26) / 8
    columns = rng.integers(0, 3, size=26)
    found = conforms(candidates, columns, scores, coverage)
    for row, is_in in zip(candidates, found, strict=True):
        smaller = sum(score < row[k] for score, k in zip(scores, columns, strict=True))
        assert is_in == (smaller < coverage * 27)


def test_without_scores_everything_conforms():
    assert conforms(np.array([[3.0]]), np.zeros(0, int), np.zeros(0), 0.5).tolist() == [True]
    low, high = bounds(np.array([[3.0]]), np.zeros(0, int), np.zeros(0), 0.5)
    assert low[0] == -np.inf
    assert high[0] == np.inf


def test_an_adaptive_score_is_the_mass_of_all_that_is_as_probable():
    for p in itertools.permutations([0.5, 0.2, 0.3]):
        sums = [sum(q for q in p if q >= own) for own in p]
        np.testing.assert_allclose(adaptive_scores(np.array([p]))[0], sums)


@pytest.mark.parametrize("stretch", [1, 7, 30, 10**6])
def test_bounds_are_the_same_in_stretches_of_any_length(stretch, rng, monkeypatch):
    values, columns, residuals = rng.normal(size=(20, 3)), rng.integers(0, 3, 10), rng.random(10)
    rank = rank_of(0.8, 10)
    monkeypatch.setattr("mercer.solvers.calibration.conformal._STRETCH", stretch)
    low, high = bounds(values, columns, residuals, 0.8)
    np.testing.assert_allclose(low, np.sort(values[:, columns] - residuals, axis=1)[:, 10 - rank])
    np.testing.assert_allclose(high, np.sort(values[:, columns] + residuals, axis=1)[:, rank - 1])
