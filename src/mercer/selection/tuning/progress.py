"""How far a search is, and what it says to people while it goes on."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SearchPoint:
    """How far a search is: shown to `callbacks`.

    Attributes
    ----------
    seconds, seconds_left : float
        Since the beginning; and until the end, if the rest goes on at the same pace, and a fit of twice the rows takes
        four times as long.
    done, total : int
        Settings times folds, over all rounds if there are several. What fails, or is left out because it cannot win,
        counts as done.
    best_score : float
        The best among the settings judged on every fold so far, in this round; NaN before the first.
    best_params : dict or None
    judged : tuple of (dict, float)
        The settings of this round, or of this part of it, that were judged on every fold, with their mean scores.
    rows : int
        How many rows this round has; scores on different numbers of rows should not be compared.
    """

    seconds: float
    seconds_left: float
    done: int
    total: int
    best_score: float
    best_params: dict | None
    judged: tuple[tuple[dict, float], ...] = ()
    rows: int = 0


class Progress:
    """The fits of a search, round by round.

    Parameters
    ----------
    rounds : list of (int, int)
        How many fits each has, and of how many rows.
    """

    def __init__(self, rounds: Sequence[tuple[int, int]]) -> None:
        self.fits = np.array([fits for fits, _ in rounds])
        self._cost = np.array([float(rows) ** 2 for _, rows in rounds])
        self.place = 0

    def insert(self, fits: int, rows: int) -> None:
        """Fits that are done next: those that were to come on so many rows, or more than were known of."""
        cost = float(rows) ** 2
        later = np.flatnonzero((self._cost == cost) & (np.arange(len(self._cost)) >= self.place))
        if len(later):
            self.fits[later[0]] = max(0, self.fits[later[0]] - fits)
        self.fits = np.insert(self.fits, self.place, fits)
        self._cost = np.insert(self._cost, self.place, cost)

    @property
    def total(self) -> int:
        """How many fits there are to be."""
        return int(self.fits.sum())

    def done(self, here: int) -> int:
        """How many fits are done, when so many of this round are."""
        return int(self.fits[: self.place].sum()) + here

    def seconds_left(self, here: int, seconds: float) -> float:
        """Until the end, when so many fits of this round were done in so many seconds since the beginning."""
        done = np.where(np.arange(len(self.fits)) < self.place, self.fits, 0)
        done[self.place] = max(1, here)
        return seconds * float((self.fits - done) @ self._cost) / float(done @ self._cost)


def print_search(point: SearchPoint) -> None:
    """A callback that prints a line on standard error."""
    best = "" if point.best_params is None else f"  best {point.best_score:.4f} with {_told(point.best_params)}"
    share = f"{point.done} of {point.total} fits"
    sys.stderr.write(f"[mercer] {point.seconds:8.2f} s  {share}, about {point.seconds_left:.1f} s left{best}\n")


def _told(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in setting.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
