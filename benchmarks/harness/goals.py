"""What a race is to reach, and whether it was missed by more than the noise of this very run."""

import math
from dataclasses import dataclass

from benchmarks.harness.peers import MERCER
from benchmarks.harness.verdict import geometric_mean, verdict


@dataclass(frozen=True)
class Goal:
    """Times faster than the best peer: in the geometric mean over the rows, and on the least of them.

    `large`, where given, is the least of rows with `LARGE` entries that are not zero, or more. `over_floor` is the most
    that Mercer may take, in units of the time of the kernel entries needed.
    """

    mean: float | None = None
    least: float | None = None
    large: float | None = None
    over_floor: float | None = None


GOALS = {
    "fit": Goal(mean=4.0, least=2.0),
    "predict": Goal(least=1.0, over_floor=1.25),
    "small fit": Goal(least=2.0),
    "linear": Goal(least=1.2, large=2.0),
    "selection": Goal(least=2.0),
}
LARGE = 100_000
# Most that a certificate may take of a fit, and how far off the share of one may be that a profile finds.
CERTIFICATE, CERTIFICATE_NOISE = 0.2, 0.1


def noise(entry, measure="fit"):
    """By what share the ratio of a row may be off: how far the second best repeat of either side lies above its best.

    The first run is cold, which is no noise, so a contestant tells something of its noise from three runs on.

    Examples
    --------
    >>> from benchmarks.harness.protocol import Timing
    >>> spread(Timing((3.0, 1.0, 1.1)))
    0.10000000000000009
    >>> spread(Timing((3.0, 1.0)))
    0.0
    """
    found = verdict(entry, measure)
    sides = [entry.results[MERCER.name], entry.results[found.peer]]
    return math.hypot(*(spread(getattr(side, measure)) for side in sides))


def spread(timing):
    """The second best repeat over the best one, less one; the first, which is cold, is left out."""
    return spread_of(timing.seconds[1:]) if len(timing.seconds) > 1 else 0.0


def spread_of(seconds):
    """The second best of a list of seconds over the best one, less one."""
    best, *others = sorted(seconds)
    return others[0] / best - 1 if others else 0.0


def missed(entries, name, measure="fit"):
    """Sentences, one for each part of the goal `name` that was missed by more than the noise; and what was reached."""
    goal = GOALS[name]
    judged = [(entry, verdict(entry, measure)) for entry in entries]
    rows = [(entry, found, noise(entry, measure)) for entry, found in judged if found is not None]
    if not rows:
        return []
    sentences = []
    mean = geometric_mean([found.ratio for _, found, _ in rows])
    # Errors of rows are their own, so that of their mean is smaller.
    off = math.sqrt(math.fsum(share**2 for *_, share in rows)) / len(rows)
    if goal.mean is not None and mean * (1 + off) < goal.mean:
        sentences.append(f"{name}: geometric mean {mean:.2f}, goal {goal.mean:g}; noise {100 * off:.0f} %")
    for entry, found, share in rows:
        if goal.least is not None and found.ratio * (1 + share) < goal.least:
            where = f"{entry.data}, C={entry.C:g}, gamma={entry.gamma:g}"
            sentences.append(f"{name}: {where}: {found.ratio:.2f}, goal {goal.least:g}; noise {100 * share:.0f} %")
        if found.counts not in ("yes", "tol"):
            sentences.append(f"{name}: {entry.data}, C={entry.C:g}, gamma={entry.gamma:g}: {found.counts}")
    return sentences + _above_floor(entries, name, goal, measure)


def _above_floor(entries, name, goal, measure):
    """Sentences for the rows that take longer than their floor allows."""
    sentences = []
    for entry in entries if goal.over_floor is not None else ():
        times, ours = entry.over_floor(measure), entry.results.get(MERCER.name)
        if times is not None and times > goal.over_floor * (1 + spread(getattr(ours, measure))):
            where = f"{entry.data}, C={entry.C:g}, gamma={entry.gamma:g}"
            sentences.append(f"{name}: {where}: {times:.2f} of the floor, goal {goal.over_floor:g}")
    return sentences


def print_goals(entries, name, measure="fit"):
    """What was missed, or that nothing was; returns the sentences."""
    found = missed(entries, name, measure)
    for sentence in found:
        print(f"missed  {sentence}")
    if not found and any(verdict(entry, measure) for entry in entries):
        print(f"reached {name}, or missed by no more than this run's noise: {goal_in_words(GOALS[name])}")
    return found


def goal_in_words(goal):
    """For people.

    Examples
    --------
    >>> goal_in_words(GOALS["fit"])
    'geometric mean at least 4, every row at least 2'
    """
    parts = (
        ("geometric mean at least", goal.mean),
        ("every row at least", goal.least),
        ("large rows at least", goal.large),
        ("over the floor at most", goal.over_floor),
    )
    return ", ".join(f"{words} {value:g}" for words, value in parts if value is not None)
