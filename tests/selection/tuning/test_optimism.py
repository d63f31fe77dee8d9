import numpy as np
import pytest

from mercer.selection.tuning import optimism
from mercer.selection.tuning.optimism import honest_score


def test_a_single_setting_is_not_chosen_and_keeps_its_score(rng):
    scores = rng.uniform(size=(1, 5))
    assert honest_score(scores) == pytest.approx(scores.mean())


def test_two_folds_by_hand():
    # Of four draws two leave a fold out: the setting that is best on the one is judged on the other.
    scores = np.array([[0.9, 0.1], [0.5, 0.6]])
    assert honest_score(scores) == pytest.approx((0.1 + 0.5) / 2)


def test_equal_settings_count_alike_whatever_their_order():
    scores = np.array([[0.5, 0.2], [0.5, 0.8]])
    assert honest_score(scores) == pytest.approx(honest_score(scores[::-1]))


def test_one_fold_says_nothing_of_luck():
    assert np.isnan(honest_score(np.ones((3, 1))))
    assert np.isnan(honest_score(np.empty((0, 5))))


def test_every_draw_and_many_draws_agree(rng, monkeypatch):
    scores = rng.normal(size=(8, 5))
    exact = honest_score(scores)
    monkeypatch.setattr(optimism, "MOST_DRAWS", 100)
    assert honest_score(scores) == pytest.approx(exact, abs=0.35)
    monkeypatch.setattr(optimism, "MOST_DRAWS", 100_000)
    folds, ways = optimism._draws(5)
    assert ways.sum() == 5**5
    assert (folds.sum(axis=1) == 5).all()


def test_the_best_of_much_luck_is_corrected_to_chance(rng):
    raw, honest = [], []
    for _ in range(100):
        scores = rng.binomial(40, 0.5, size=(50, 5)) / 40
        raw.append(scores.mean(axis=1).max())
        honest.append(honest_score(scores))
    assert np.mean(raw) > 0.56
    assert np.mean(honest) == pytest.approx(0.5, abs=0.015)


def test_a_setting_that_is_better_everywhere_keeps_its_score(rng):
    scores = rng.uniform(0.4, 0.5, size=(20, 5))
    scores[7] += 0.4
    assert honest_score(scores) == pytest.approx(scores[7].mean())
