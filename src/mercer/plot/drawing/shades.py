"""Colours of contributions: from blue for what speaks against, over white, to orange for what speaks for."""

from typing import Any

from mercer.plot.drawing.palette import two_sided_map

# Full colour would leave letters on it unreadable.
STRENGTH = 0.75
# Smaller shares of the largest value are neither for nor against.
NOTHING = 0.02
AGAINST_DASHES = (0, (2, 1.4))


def speaks_against(share: float) -> bool:
    """Whether a value, as a share of the largest, is to be told by its shape as one that speaks against."""
    return share < -NOTHING


def shade(share: float) -> Any:
    """The colour of a value, as a share of the largest, from -1 to 1."""
    return two_sided_map()(0.5 + 0.5 * STRENGTH * share)
