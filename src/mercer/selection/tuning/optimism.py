"""What a search may claim: the score of the best setting, minus what choosing it has added.

The best of many scores is too good: some of its luck is why it was chosen (Varma & Simon 2006). A bootstrap shows
by how much (after Tsamardinos, Greasidou & Borboudakis 2018, who draw rows). Here folds are drawn, with
replacement, so that any score will do, and rows that belong together stay together: the setting that is best on the
folds drawn is judged on those that were not, as nobody has chosen it there. The mean over many draws is the score of
the *search*, and not of a setting that happened to win. Nothing is fitted again.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import comb, factorial

import numpy as np

from mercer._types import FloatArray

# If there are more different draws than this, so many are drawn, the same ones each time.
MOST_DRAWS = 3_000


def honest_score(scores: FloatArray) -> float:
    """The mean score, on folds that did not choose, of the settings that are best on drawn ones.

    Parameters
    ----------
    scores : ndarray of shape (settings, folds)
        Scores of settings that were judged on every fold; larger is better.

    Returns
    -------
    float
        NaN if there are fewer than two folds, or no settings.

    Examples
    --------
    Two settings that are good on one fold each, by chance: either has a mean of 0.6, and on the fold that did not
    choose it only 0.2.

    >>> import numpy as np
    >>> from mercer.selection.tuning.optimism import honest_score
    >>> scores = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> round(honest_score(scores), 3)
    0.2
    """
    count, folds = scores.shape
    if folds < 2 or not count:
        return np.nan
    draws, weights = _draws(folds)
    is_out = draws == 0
    some = is_out.any(axis=1)
    draws, weights, is_out = draws[some], weights[some], is_out[some]
    winners = _winners(draws @ scores.T)
    left = is_out @ scores.T / is_out.sum(axis=1)[:, None]
    # Settings that are equally good on the folds drawn count equally: their order means nothing.
    per_draw = (winners * left).sum(axis=1) / winners.sum(axis=1)
    return float(np.average(per_draw, weights=weights))


def _winners(totals: FloatArray) -> FloatArray:
    best = totals.max(axis=1, keepdims=True)
    return (totals >= best - 1e-12 * np.maximum(1.0, np.abs(best))).astype(np.float64)


def _draws(folds: int) -> tuple[FloatArray, FloatArray]:
    """(how often each fold is in each draw, how likely the draw is)."""
    if comb(2 * folds - 1, folds) > MOST_DRAWS:
        drawn = np.random.RandomState(0).multinomial(folds, [1.0 / folds] * folds, size=MOST_DRAWS).astype(np.float64)
        return drawn, np.ones(MOST_DRAWS)
    every = [_counts(each, folds) for each in combinations_with_replacement(range(folds), folds)]
    ways = [factorial(folds) / np.prod([factorial(int(k)) for k in counts]) for counts in every]
    return np.array(every), np.array(ways)


def _counts(drawn: Sequence[int], folds: int) -> list[float]:
    return np.bincount(drawn, minlength=folds).astype(np.float64).tolist()
