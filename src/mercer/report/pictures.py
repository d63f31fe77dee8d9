"""The pictures of a report, drawn from plain arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.report.svg import WIDTH, Scale, bar, curve, drawing, line, mark, ticks, words

_LEFT, _RIGHT, _TOP = 46.0, 12.0, 14.0
# Classes beyond these share colours, but not shapes.
_COLOURS = 8
# Classes that a picture's description and legend mention.
_TOLD = 10


def margin_histogram(margins: NDArray[Any], groups: NDArray[Any], names: Sequence[Any], what: str) -> str:
    """How far rows lie from the boundary; `groups` says which of `names` each belongs to."""
    height, floor = 250.0, 206.0
    low, high = (float(np.quantile(margins, q)) for q in (0.005, 0.995))
    low, high = min(low, -1.2), max(high, 1.2)
    edges = np.linspace(low, high, 41)
    counts = np.array([np.histogram(np.clip(margins[groups == k], low, high), edges)[0] for k in range(len(names))])
    across = Scale(low, high, _LEFT, WIDTH - _RIGHT)
    up = Scale(0, max(1, counts.sum(axis=0).max()), floor, _TOP)
    body = _frame(across, up, floor, what, "rows")
    for k, name in enumerate(names):
        below = counts[:k].sum(axis=0)
        for j in np.flatnonzero(counts[k]):
            x, top = across(edges[j]), up(below[j] + counts[k, j])
            hint = f"{name}: {counts[k, j]} rows from {edges[j]:.2g} to {edges[j + 1]:.2g}"
            body.append(bar(x + 0.5, top, across(edges[j + 1]) - x - 1, up(below[j]) - top, f"f{k % _COLOURS}", hint))
    for value, style in ((0.0, "strong"), (-1.0, "dashed"), (1.0, "dashed")):
        body.append(line(across(value), _TOP, across(value), floor, style))
    told = "; ".join(_spread(name, margins[groups == k]) for k, name in enumerate(names[:_TOLD]))
    return drawing([*body, *_legend(names, height - 6)], height, f"Histogram of {what}. {told}{_more(names)}")


def _more(names: Sequence[Any]) -> str:
    return f"; and {len(names) - _TOLD} more" if len(names) > _TOLD else ""


def _spread(name: Any, values: NDArray[Any]) -> str:
    """One group of a histogram, in words."""
    if not len(values):
        return f"{name}: no rows"
    if len(values) == 1:
        return f"{name}: one row, at {values[0]:.2g}"
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return f"{name}: {len(values)} rows, median {middle:.2g}, eight in ten from {low:.2g} to {high:.2g}"


def scatter(truth: NDArray[Any], predicted: NDArray[Any], name: str) -> str:
    """Predicted quantities against true ones; the diagonal is where all should lie."""
    height, floor = 330.0, 290.0
    low, high = float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))
    across, up = Scale(low, high, _LEFT, WIDTH - _RIGHT), Scale(low, high, floor, _TOP)
    body = _frame(across, up, floor, f"true {name}", f"predicted {name}")
    body.append(line(across(low), up(low), across(high), up(high), "dashed"))
    body += [mark(across(t), up(p), 0, "p0", 2.6) for t, p in zip(truth, predicted, strict=True)]
    half, most = np.quantile(np.abs(predicted - truth), [0.5, 0.9])
    told = f"{len(truth)} rows; half of them lie within {half:.3g} of the truth, nine in ten within {most:.3g}"
    return drawing(body, height, f"Predicted against true {name}. {told}")


def kernel_map(places: NDArray[Any], groups: NDArray[Any], names: Sequence[Any], is_support: NDArray[Any]) -> str:
    """Items where the kernel's two largest components put them; support vectors are ringed."""
    height = 330.0
    across = Scale(float(places[:, 0].min()), float(places[:, 0].max()), 14, WIDTH - 14)
    up = Scale(float(places[:, 1].min()), float(places[:, 1].max()), 286, 12)
    body = [f'<rect x="1" y="1" width="{WIDTH - 2}" height="298" class="panel"/>']
    for (x, y), group, is_ringed in zip(places, groups, is_support, strict=True):
        if is_ringed:
            body.append(mark(across(x), up(y), 0, "ring", 5.4))
        body.append(mark(across(x), up(y), int(group), f"p{int(group) % _COLOURS}", 2.8, str(names[int(group)])))
    legend = _legend(names, height - 6, "ring: support vector" if is_support.any() else "")
    counts = ", ".join(f"{name}: {np.count_nonzero(groups == k)}" for k, name in enumerate(names[:_TOLD]))
    told = f"Map of {len(places)} items by kernel principal components. {counts}{_more(names)}"
    return drawing([*body, *legend], height, f"{told}; {np.count_nonzero(is_support)} of them are support vectors")


def convergence(trace: Sequence[dict[str, Any]], tol: float) -> str:
    """The violation of the optimality conditions and the duality gap against time, as they were reported."""
    height, floor = 250.0, 190.0
    lines = {"violation": ("trace", _logs(trace, "violation")), "relative duality gap": ("gap", _logs(trace, "gap"))}
    values = [value for _, points in lines.values() for _, value in points] + [math.log10(tol)]
    low, high, end = math.floor(min(values)), math.ceil(max(values) + 1e-9), max(point["seconds"] for point in trace)
    across, up = Scale(0.0, end, _LEFT, WIDTH - _RIGHT), Scale(low, high, floor, _TOP)
    body = [line(_LEFT, floor, WIDTH - _RIGHT, floor)]
    for power in range(low, high + 1, max(1, (high - low) // 4)):
        body += [line(_LEFT, up(power), WIDTH - _RIGHT, up(power), "grid")]
        body += [words(_LEFT - 6, up(power) + 4, f"1e{power}", anchor="end", style="tick")]
    for value in ticks(0.0, end):
        body.append(words(across(value), floor + 15, f"{value:g}", anchor="middle", style="tick"))
    goal = up(math.log10(tol))
    body += [line(_LEFT, goal, WIDTH - _RIGHT, goal, "dashed")]
    body += [words(_LEFT + 4, goal - 5, f"goal for the violation: {tol:g}", style="tick")]
    for place, (name, (style, points)) in enumerate((name, drawn) for name, drawn in lines.items() if drawn[1]):
        body.append(curve([(across(seconds), up(value)) for seconds, value in points], style))
        x = _LEFT + 120 * place
        body += [line(x, height - 12, x + 22, height - 12, style), words(x + 28, height - 8, name, style="tick")]
    body.append(words(WIDTH - _RIGHT, floor + 29, "seconds", anchor="end", style="tick"))
    told = [f"{name} from {10 ** at[0][1]:.1e} to {10 ** at[-1][1]:.1e}" for name, (_, at) in lines.items() if at]
    told.append(f"goal for the violation {tol:g}")
    return drawing(body, height, f"How the fit went in {end:.2g} seconds: {', '.join(told)}")


def _logs(trace: Sequence[dict[str, Any]], key: str) -> list[tuple[float, float]]:
    """(seconds, logarithm) of what was known and finite."""
    known = [(point["seconds"], point.get(key)) for point in trace]
    return [(at, math.log10(max(value, 1e-16))) for at, value in known if value is not None and math.isfinite(value)]


def horizontal_bars(names: Sequence[Any], values: Sequence[float], what: str) -> str:
    """One bar for each name, to the right for positive values and to the left for negative ones."""
    height = 22.0 * len(names) + 10
    reach = max((abs(value) for value in values), default=1.0) or 1.0
    left, number = 170.0, 50.0
    is_signed = any(value < 0 for value in values)
    # The number of the longest bar to the left goes between the bar and the names.
    zero = (left + number + WIDTH - 60) / 2 if is_signed else left
    across = Scale(0.0, reach, zero, WIDTH - 60)
    body = []
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        y = 6 + 22 * k
        begin, end = sorted((across(0), across(value)))
        body.append(bar(begin, y, end - begin, 15, "f0" if value >= 0 else "f1"))
        body.append(words(left - 10, y + 12, _short(name, 26), anchor="end", style="tick"))
        place, anchor = (end + 5, "start") if value >= 0 else (begin - 5, "end")
        body.append(words(place, y + 12, f"{value:.3g}", anchor=anchor, style="tick"))
    told = ", ".join(f"{_short(name, 26)} {value:.3g}" for name, value in zip(names, values, strict=True))
    return drawing([*body, line(zero, 2, zero, height - 2)], height, f"{what}: {told}")


def pixels(values: NDArray[Any], side: int) -> str:
    """A small grey image: rows of numbers that are pixels."""
    low, high = float(values.min()), float(values.max())
    cells = [
        f'<rect x="{k % side}" y="{k // side}" width="1.03" height="1.03" '
        f'fill-opacity="{(float(value) - low) / ((high - low) or 1.0):.2f}"/>'
        for k, value in enumerate(values)
    ]
    said = f'role="img" aria-label="{side} by {side} pixels"'
    return f'<svg class="pixels" viewBox="0 0 {side} {side}" {said}>{"".join(cells)}</svg>'


def _frame(across: Scale, up: Scale, floor: float, below: str, beside: str) -> list[str]:
    """Axes with round numbers."""
    marked = ticks(across.low, across.high)
    body = [line(_LEFT, floor, WIDTH - _RIGHT, floor)]
    body += [words(across(value), floor + 15, f"{value:g}", anchor="middle", style="tick") for value in marked]
    for value in ticks(up.low, up.high, 4):
        body += [line(_LEFT, up(value), WIDTH - _RIGHT, up(value), "grid")]
        body += [words(_LEFT - 6, up(value) + 4, f"{value:g}", anchor="end", style="tick")]
    body.append(words(WIDTH - _RIGHT, floor + 29, below, anchor="end", style="tick"))
    body.append(words(_LEFT + 4, _TOP - 3, beside, style="tick"))
    return body


def _legend(names: Sequence[Any], y: float, also: str = "") -> list[str]:
    body, x = [], _LEFT
    shown = list(names[:_TOLD]) + ([f"and {len(names) - _TOLD} more"] if len(names) > _TOLD else [])
    for k, name in enumerate(shown):
        text = _short(name, 18)
        if x + 18 + 6.4 * len(text) > WIDTH:
            break
        body += [mark(x, y - 4, k, f"p{k % _COLOURS}", 4)] if k < _TOLD else []
        body.append(words(x + 9, y, text, style="tick"))
        x += 26 + 6.4 * len(text)
    if also and x + 6.4 * len(also) + 20 < WIDTH:
        body += [mark(x + 2, y - 4, 0, "ring", 5), words(x + 12, y, also, style="tick")]
    return body


def _short(name: Any, most: int) -> str:
    text = str(name)
    return text if len(text) <= most else text[: most - 1] + "…"
