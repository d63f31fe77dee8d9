"""Small drawings as SVG text: no library, no scripts, colours from the page's own style.

Everything that comes from data passes through `words`, which escapes it.
"""

import math
from collections.abc import Sequence
from html import escape

WIDTH = 520


def drawing(body: Sequence[str], height: float, label: str, width: float = WIDTH) -> str:
    """The whole picture; `label` is what a screen reader reads out."""
    box = f'viewBox="0 0 {width:g} {height:g}"'
    return f'<svg class="picture" {box} role="img" aria-label="{escape(label, quote=True)}">{"".join(body)}</svg>'


def words(x: float, y: float, text: object, *, anchor: str = "start", style: str = "") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{escape(str(text))}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str = "axis") -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>'


def bar(x: float, y: float, width: float, height: float, style: str, hint: str = "") -> str:
    """A filled rectangle; `hint` appears while the pointer rests on it."""
    title = f"<title>{escape(hint)}</title>" if hint else ""
    size = f'width="{max(width, 0):.2f}" height="{max(height, 0):.2f}"'
    return f'<rect x="{x:.2f}" y="{y:.2f}" {size} class="{style}">{title}</rect>'


def curve(points: Sequence[tuple[float, float]], style: str) -> str:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" class="{style}"/>'


def mark(x: float, y: float, kind: int, style: str, size: float = 3.4, hint: str = "") -> str:
    """A point whose shape shows its class even without colour."""
    title = f"<title>{escape(hint)}</title>" if hint else ""
    if kind % 4 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" class="{style}">{title}</circle>'
    corners = {1: (4, 45), 2: (3, -90), 3: (4, 0)}[kind % 4]
    count, turn = corners
    reach = size * 1.25
    angles = [math.radians(turn + 360 * k / count) for k in range(count)]
    path = " ".join(f"{x + reach * math.cos(a):.1f},{y + reach * math.sin(a):.1f}" for a in angles)
    return f'<polygon points="{path}" class="{style}">{title}</polygon>'


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two bounds."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Scale:
    """A map from numbers to positions; `low` goes to `begin`, `high` to `end`."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high = low, high if high > low else low + 1.0
        self.begin, self.end = begin, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)
