"""Colours of contributions: from blue (negative), through white, to orange (positive)."""

from typing import Any

from mercer.plot.drawing.palette import two_sided_map

# Full colour would leave letters on it unreadable.
STRENGTH = 0.75
# Values below this fraction of the largest count as neither.
NOTHING = 0.02
AGAINST_DASHES = (0, (2, 1.4))


def speaks_against(share: float) -> bool:
    """Whether a value, as a fraction of the largest, should have the shape of a negative one."""
    return share < -NOTHING


def shade(share: float) -> Any:
    """The colour of a value, as a fraction of the largest, from -1 to 1."""
    return two_sided_map()(0.5 + 0.5 * STRENGTH * share)
