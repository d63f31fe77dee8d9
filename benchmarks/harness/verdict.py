"""Who won a row, by how much, and whether the win counts."""

import math
from dataclasses import dataclass

from benchmarks.harness.peers import MERCER, TOLERANCE

# Objectives that agree to this share are equal; the tolerance all were asked for comes on top.
EQUAL_OBJECTIVE = 1e-4
EQUAL_ERROR = 0.002


@dataclass(frozen=True)
class Verdict:
    """Ratio to the fastest peer, and whether the answer was as good.

    `excess` is how far our primal objective lies above the best peer's, as a share of it.
    `counts` is "yes", "tol" (as good within the solvers' tolerance only) or says what was worse.
    """

    peer: str
    ratio: float
    counts: str
    excess: float | None


def verdict(entry, measure="fit"):
    """Judge one row on its `fit` or `predict` times; None if there is nobody to compare."""
    ours = entry.results.get(MERCER.name)
    peers = {name: result for name, result in entry.results.items() if name != MERCER.name}
    if ours is None or not peers:
        return None
    times = {name: getattr(result, measure).best for name, result in peers.items()}
    fastest = min(times, key=times.get)
    excess = _excess(ours, peers.values())
    ratio = times[fastest] / getattr(ours, measure).best
    return Verdict(fastest, ratio, _counts(excess, _error_excess(ours, peers.values())), excess)


def _excess(ours, peers):
    """Against the best objective of all peers, not only the fastest's."""
    primals = [peer.optimality.primal for peer in peers if peer.optimality is not None]
    if ours.optimality is None or not primals:
        return None
    return (ours.optimality.primal - min(primals)) / max(abs(min(primals)), 1e-300)


def _error_excess(ours, peers):
    return ours.error - min(peer.error for peer in peers)


def _counts(excess, error_excess):
    if error_excess > EQUAL_ERROR:
        return "no: error"
    if excess is None or excess <= EQUAL_OBJECTIVE:
        return "yes"
    return "tol" if excess <= EQUAL_OBJECTIVE + TOLERANCE else "no: objective"


def geometric_mean(ratios):
    """The mean that does not depend on which of two is the numerator.

    Examples
    --------
    >>> geometric_mean([2.0, 8.0])
    4.0
    """
    return math.exp(math.fsum(math.log(ratio) for ratio in ratios) / len(ratios))


def summary(verdicts):
    """One line: geometric mean, minimum, and how many wins count."""
    ratios = [verdict.ratio for verdict in verdicts if verdict is not None]
    if not ratios:
        return "No row has both Mercer and a peer: nothing to compare."
    good = sum(verdict is not None and verdict.counts in ("yes", "tol") for verdict in verdicts)
    mean = geometric_mean(ratios)
    return (
        f"times faster than the best peer: geometric mean {mean:.2f}, minimum {min(ratios):.2f}; "
        f"{good} of {len(ratios)} rows count"
    )
