"""Colours and marks that stay apart for colour-blind readers and on grey paper.

Okabe & Ito (2008). Classes differ by shape as well as by colour.
"""

from itertools import cycle, islice
from typing import Any

from mercer._errors import MissingExtraError

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#666666")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "#222222"


def load_pyplot() -> Any:
    """Import matplotlib.pyplot, or say in one sentence how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("drawing needs matplotlib: pip install 'mercer[plot]'") from error
    return plt


def class_styles(count: int) -> list[tuple[str, str]]:
    """A (colour, mark) pair for each class; they repeat only after 8 x 8 classes."""
    shifted = (MARKS[(k + k // len(COLOURS)) % len(MARKS)] for k in range(count))
    return list(zip(islice(cycle(COLOURS), count), shifted, strict=True))


def two_sided_map() -> Any:
    """Colour map for decision values: first class's colour, white at zero, second's."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("mercer", [COLOURS[0], "#FFFFFF", COLOURS[1]])
