"""Colours and markers that colour-blind readers and black-and-white printers can distinguish.

Okabe & Ito (2008). Classes differ by shape as well as by colour.
"""

from itertools import cycle, islice
from typing import Any

from mercer._errors import MissingExtraError

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#666666")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Dash styles, which distinguish lines where colours do not.
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1.2, 1, 1.2, 1, 1.2)))
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")
INK = "#222222"


def load_pyplot() -> Any:
    """Import matplotlib.pyplot, or say in one sentence how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("drawing needs matplotlib: pip install 'mercer[plot]'") from error
    return plt


def class_styles(count: int) -> list[tuple[str, str]]:
    """A (colour, marker) pair for each class; they repeat only after 8 x 8 classes."""
    shifted = (MARKS[(k + k // len(COLOURS)) % len(MARKS)] for k in range(count))
    return list(zip(islice(cycle(COLOURS), count), shifted, strict=True))


def line_styles(count: int) -> list[dict[str, Any]]:
    """Colour, dashes and marker for each line of a chart, as arguments of matplotlib's `plot`."""
    colours = [colour for colour in COLOURS if colour != "#F0E442"]  # a yellow line is lost on white paper
    return [
        {"color": colours[k % len(colours)], "linestyle": DASHES[k % len(DASHES)], "marker": MARKS[k % len(MARKS)]}
        for k in range(count)
    ]


def two_sided_map() -> Any:
    """Colour map for decision values: first class's colour, white at zero, second's."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("mercer", [COLOURS[0], "#FFFFFF", COLOURS[1]])


def one_sided_map() -> str:
    """Name of the colour map for amounts, whose brightness always rises (Nuñez et al. 2018)."""
    return "cividis"


def ink_on(colour: Any) -> str:
    """Black or white, whichever is legible on a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45 else "white"
