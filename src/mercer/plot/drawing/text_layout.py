"""A text with its symbols shaded, laid out in lines."""

from typing import Any

from numpy.typing import NDArray

from mercer.plot.drawing.palette import INK
from mercer.plot.drawing.shades import AGAINST_DASHES, shade

# Characters per line.
WIDTH = 62
# Height of a line over the width of a character.
TALLER = 2.3
# Characters of a name beside a bar.
LONGEST_NAME = 44


def shortened(name: str) -> str:
    """A name that leaves room for its bar."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def lines_of(symbols: list[str]) -> list[list[int]]:
    """Positions of the symbols on each line; words are not broken, and are separated by blanks."""
    lines, used = [[]], 0
    for place, symbol in enumerate(symbols):
        needed = _cells(symbols, place)
        if symbol == "\n" or (used + needed > WIDTH and lines[-1]):
            lines.append([])
            used = 0
        lines[-1].append(place)
        used += needed
    return lines


def draw_text(ax: Any, symbols: list[str], names: list[str], values: NDArray[Any]) -> list[Any]:
    """Draw a cell for each symbol, shaded by its value; returns the cells in order.

    Negative values are underlined with dashes, positive ones with a line, so that the sign can be
    seen without colour.
    """
    from matplotlib.patches import Rectangle

    largest = abs(values).max(initial=0.0) or 1.0
    cells: list[Any] = [None] * len(symbols)
    lines = lines_of(symbols)
    for row, places in enumerate(lines):
        column = 0
        for place in places:
            text, value = names[place], float(values[place])
            width = max(len(text), 1)
            colour = shade(value / largest)
            cells[place] = ax.add_patch(Rectangle((column, row - 0.4), width, 0.8, facecolor=colour, linewidth=0))
            if abs(value) > 0.15 * largest:
                style = {"color": INK, "linewidth": 1.1, "linestyle": "solid" if value > 0 else AGAINST_DASHES}
                ax.plot([column + 0.1, column + width - 0.1], [row + 0.44] * 2, **style)
            _spell(ax, text, column, row)
            column += _cells(symbols, place)
    ax.set(xlim=(-0.5, max(WIDTH, 1) + 0.5), ylim=(len(lines) - 0.3, -0.7))
    # Cells keep the shape of letters, whatever the shape of the axes.
    ax.set_aspect(TALLER, anchor="NW")
    return cells


def _spell(ax: Any, text: str, column: int, row: int) -> None:
    """Each character in the middle of its cell, whatever the font's width."""
    for k, letter in enumerate(text):
        if not letter.isspace():
            ax.text(
                column + k + 0.5, row, letter, ha="center", va="center", family="monospace", fontsize=9.5, color=INK
            )


def _cells(symbols: list[str], place: int) -> int:
    """Cells that a symbol takes: words have a blank after them, characters have none."""
    is_of_words = any(len(symbol) > 1 for symbol in symbols)
    return len(symbols[place]) + is_of_words
