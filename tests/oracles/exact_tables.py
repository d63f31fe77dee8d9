"""Rows of a table as vectors, in long double, by what docs/tables.md and the words of `Encoded` say; nothing is taken
from the library.

A table is a list of dictionaries of plain values: numbers, dates, texts, truth values, None where there is no value.
"""

import datetime as dt
import math

import numpy as np
from scipy.special import ndtri

from tests.oracles.exact_kernels import LONG, ExactKernel

DAYS = {"day": LONG(1), "week": LONG(7), "year": LONG("365.2425")}
EPOCH = dt.datetime.fromisoformat("1970-01-01")
# Labels of fewer rows, or of a smaller share of them, are one label; and so are all but the most frequent ones.
RARE_ROWS, RARE_SHARE, MOST_LABELS = 2.0, 0.005, 100


def _number(value):
    """A number as it is; a date in days since 1970."""
    if isinstance(value, dt.datetime):
        return LONG((value - EPOCH) / dt.timedelta(microseconds=1)) / LONG(86_400_000_000)
    if isinstance(value, dt.date):
        return LONG((value - dt.date(1970, 1, 1)).days)
    return LONG(value)


def _moments(values, weights):
    """(mean, deviation, or 1 where nothing varies)."""
    mean = (values * weights).sum() / weights.sum()
    deviation = np.sqrt((weights * (values - mean) ** 2).sum() / weights.sum())
    return mean, deviation if deviation > 1e-12 * np.abs(values).max() else LONG(1)


def _ranks(values, weights):
    """(distinct values, the middle of the ranks of each)."""
    distinct = np.unique(values)
    below = np.array([weights[values < each].sum() for each in distinct])
    own = np.array([weights[values == each].sum() for each in distinct])
    return distinct, (below + own / 2) / weights.sum()


class _Numbers:
    """A column that is read as numbers: mean 0 and deviation 1, and one more number where values are missing."""

    def __init__(self, way, values, weights):
        self.way, there = way, np.array([v is not None for v in values]) & (weights > 0)
        known, own = (
            np.array([_number(v) for v, is_there in zip(values, there, strict=True) if is_there]),
            weights[there],
        )
        lost = weights[np.array([v is None for v in values]) & (weights > 0)].sum()
        self.gap = LONG(lost) / (own.sum() + lost) if there.any() else LONG(0)
        self.is_empty = not there.any()
        if not self.is_empty and way not in DAYS:
            self._measure(known, own)

    def _measure(self, known, own):
        self.largest, self.lost = float(np.abs(known).max()), 8.0 + math.log2(len(known) + 1)
        if self.way == "rank":
            self.knots, ranks = _ranks(known, own)
            self.heights = ndtri(np.asarray(ranks, float)).astype(LONG)
        elif self.way == "log":
            distinct, ranks = _ranks(known, own)
            low, self.place, high = (
                np.interp(q, ranks.astype(float), distinct.astype(float)) for q in (0.25, 0.5, 0.75)
            )
            self.scale = LONG(0.5 * (high - low) or float(_moments(known, own)[1]))
        self.mean, self.deviation = _moments(self._bent(known), own)

    def _bent(self, values):
        if self.way == "rank":
            return np.interp(values.astype(float), self.knots.astype(float), self.heights.astype(float)).astype(LONG)
        return np.arcsinh((values - self.place) / self.scale) if self.way == "log" else values

    def vectors(self, values):
        """(the numbers of each value, by how much each may be off in units of rounding)."""
        there = np.array([v is not None for v in values], bool)
        known = np.array([_number(v) if v is not None else 0 for v in values], LONG)
        if self.is_empty:  # a value is nothing that training has seen
            nothing = np.zeros((len(values), 2 if self.way in DAYS else 1), LONG)
            return nothing, nothing.astype(float)
        if self.way in DAYS:
            angle = 2 * LONG(math.pi) * (known / DAYS[self.way] % 1)
            own = np.column_stack([np.cos(angle), np.sin(angle)])
            off = 16.0 * (1.0 + np.abs(own * 0.0) + np.asarray(np.abs(known / DAYS[self.way]), float)[:, None])
        else:
            own = ((self._bent(known) - self.mean) / self.deviation)[:, None]
            off = self._off(known, np.asarray(own[:, 0], float))[:, None]
        own, off = np.where(there[:, None], own, 0), np.where(there[:, None], off, 0.0)
        if self.gap:
            mark = (~there - self.gap) / np.sqrt(self.gap * (1 - self.gap))
            own, off = (
                np.column_stack([own, mark]),
                np.column_stack([off, 8.0 / float(self.gap * (1 - self.gap)) + 0 * mark]),
            )
        return own, np.asarray(off, float)

    def _off(self, known, own):
        sizes = self.largest + np.asarray(np.abs(known), float)
        if self.way == "number":
            unit = float(self.deviation)
        elif self.way == "log":
            unit = float(self.scale * self.deviation)
        else:
            # Of ranks: the steepest way from one knot to the next, and the normal score's own slope.
            steps = np.diff(self.heights) / np.diff(self.knots) if len(self.knots) > 1 else np.ones(1, LONG)
            steepest = np.exp(0.5 * float(np.abs(self.heights).max()) ** 2) * 4.0
            return self.lost * (sizes * float(steps.max()) + steepest + np.abs(own)) / float(self.deviation)
        # The unit itself is as sure as the values are: that is a share of it, and so of the result.
        return self.lost * (sizes / unit * (1.0 + np.abs(own)) + np.abs(own) + 1.0)


class _Labels:
    """A column that is read as labels: an indicator each, less its share, of variance 1 all together."""

    def __init__(self, values, weights):
        counts = {}
        for value, weight in zip(values, weights, strict=True):
            counts[value] = counts.get(value, LONG(0)) + weight
        total = sum(counts.values())
        least, gone = max(LONG(RARE_ROWS), LONG(RARE_SHARE) * total), counts.pop(None, LONG(0))
        frequent = sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))
        kept = {label: count for label, count in frequent[:MOST_LABELS] if count >= least}
        rest = total - gone - sum(kept.values())
        ends = {name: count for name, count in (("others", rest), ("none", gone)) if least <= count < total}
        self.kept = {label: place for place, label in enumerate(kept)}
        self.ends = {name: len(kept) + place for place, name in enumerate(ends)}
        self.shares = np.array([*kept.values(), *ends.values()], LONG) / total
        self.spread = np.sqrt((self.shares * (1 - self.shares)).sum()) or LONG(1)

    def vectors(self, values):
        """(the indicators of each value, by how much each may be off in units of rounding)."""
        found = np.zeros((len(values), len(self.shares)), LONG)
        for row, value in enumerate(values):
            place = self.ends.get("none") if value is None else self.kept.get(value, self.ends.get("others"))
            if place is not None:  # else there is nothing to say
                found[row] = ((np.arange(len(self.shares)) == place) - self.shares) / self.spread
        return found, np.full(found.shape, 8.0 / float(self.spread))


def encoded(columns, relevance, kernel, rows, weights):
    """The kernel of the vectors; `kernel` is (exact kernel of vectors, its slope in the distance, of its plane).

    columns: the ways of each column, `relevance`: by column a number for each way; measured on `rows` and `weights`.
    """
    exact, slope, plane = kernel
    weights = np.asarray(weights, LONG)
    ways = [(name, way) for name, some in columns.items() for way in ((some,) if isinstance(some, str) else some)]
    factors = []
    for name, some in columns.items():
        count = 1 if isinstance(some, str) else len(some)
        own = (relevance or {}).get(name, 1.0 / len(ways))
        factors += list(own) if isinstance(own, tuple | list) else [own] * count
    codings = [
        _Labels([row[name] for row in rows], weights)
        if way == "category"
        else _Numbers(way, [row[name] for row in rows], weights)
        for name, way in ways
    ]

    def vectors(A):
        parts = [coding.vectors([row[name] for row in A]) for (name, _), coding in zip(ways, codings, strict=True)]
        roots = [np.sqrt(LONG(factor)) for factor in factors]
        own = np.hstack([part * root for (part, _), root in zip(parts, roots, strict=True)])
        off = np.hstack([part * float(root) for (_, part), root in zip(parts, roots, strict=True)])
        return own, off + 4.0 * np.abs(np.asarray(own, float))

    def doubt(A, B):
        (a, a_off), (b, b_off) = vectors(A), vectors(B)
        moved = np.linalg.norm(a_off, axis=1)[:, None] + np.linalg.norm(b_off, axis=1)
        turned = np.abs(a.astype(float)) @ b_off.T + a_off @ np.abs(b.astype(float)).T
        return exact.doubt(a, b) + slope * moved + plane * turned

    return ExactKernel(lambda A, B: exact.values(vectors(A)[0], vectors(B)[0]), doubt)
