"""One decision explained: the columns, words, characters or nodes it comes from."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._errors import ParameterError
from mercer.explanation.contributions import explain
from mercer.explanation.explanation import Explanation
from mercer.explanation.parts import Parts, by_parts
from mercer.plot.drawing.canvas import one_panel
from mercer.plot.drawing.checks import final_model
from mercer.plot.drawing.graph_layout import draw_graph
from mercer.plot.drawing.palette import COLOURS, INK
from mercer.plot.drawing.text_layout import draw_text, lines_of, shortened
from mercer.plot.drawing.tree_layout import draw_tree, width_of

# Contributions for the second class have its colour; those against it, that of the first.
AGAINST, FOR = COLOURS[0], COLOURS[1]


@dataclass(kw_only=True, eq=False, repr=False)
class ExplanationDisplay:
    """Contributions to one decision value, drawn on the item itself.

    A text has its characters or words shaded, a tree and a graph have their nodes coloured; anything else, such as a
    row of a table, is drawn as bars that add up from the intercept to the decision value. Contributions for the class
    are orange; those against it are blue and, for print, hatched, dashed or square.

    Make one with :meth:`from_estimator` or :meth:`from_explanation`.

    Parameters
    ----------
    explanation : Explanation
        The result of `mercer.explain`.
    parts : Parts, optional
        Values of characters, words or nodes; bars are drawn without them.
    function : int
        Which decision function, for a model of several classes.
    max_bars : int
        Largest number of bars; the rest is combined into one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    kind_ : {"bars", "text", "tree", "graph"}
        What was drawn.
    artists_ : list
        Bars, cells of symbols, or nodes, in order.
    values_ : ndarray
        The number of each.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Columns, Delta, RBF
    >>> from mercer.plot import ExplanationDisplay
    >>> people = [{"age": a, "town": t} for a, t in [(20, "Ulm"), (25, "Ulm"), (60, "Ulm"), (65, "Bonn")]]
    >>> model = mercer.SVC(kernel=Columns({"age": RBF(0.01), "town": Delta()}), C=10.0).fit(people, [0, 0, 1, 1])
    >>> display = ExplanationDisplay.from_estimator(model, {"age": 58, "town": "Bonn"})
    >>> display.kind_, len(display.artists_)
    ('bars', 4)
    """

    explanation: Explanation
    parts: Parts | None = None
    function: int = 0
    max_bars: int = 12

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, function: int = 0, bars: bool = False, max_bars: int = 12, ax: Any = None
    ) -> Self:
        """Explain one item and draw it.

        Parameters
        ----------
        estimator : fitted model
            Any model that `mercer.explain` takes.
        x : object
            One item: a row, a text, a tree, a graph.
        function : int
            Which decision function, if a model of several classes has more than one.
        bars : bool
            Whether to draw bars for texts, trees and graphs too.
        max_bars : int
        ax : matplotlib Axes, optional

        Returns
        -------
        ExplanationDisplay
            Already drawn.
        """
        model = final_model(estimator)
        explanation = explain(model, x)
        parts = None if bars else by_parts(model, x, explanation)
        return cls.from_explanation(explanation, parts=parts, function=function, max_bars=max_bars, ax=ax)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        parts: Parts | None = None,
        function: int = 0,
        max_bars: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw the result of `mercer.explain`: as bars, or with `parts` on the item."""
        count = len(explanation.functions)
        if not 0 <= function < count:
            raise ParameterError(f"function must be from 0 to {count - 1}, got {function!r}")
        if max_bars < 1:
            raise ParameterError(f"max_bars must be positive, got {max_bars!r}")
        display = cls(explanation=explanation, parts=parts, function=function, max_bars=max_bars)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        self.kind_ = "bars" if self.parts is None else self.parts.kind
        self.ax_ = one_panel(ax, figsize=self._figsize())
        self.figure_ = self.ax_.figure
        if self.parts is None:
            self._draw_bars()
        else:
            self._draw_parts(self.parts)
        decision = self.explanation.decision[self.function]
        title = f"decision value for {self.explanation.functions[self.function]}: {decision:.3g}"
        self.ax_.set_title(title, fontsize="medium", loc="left")
        return self

    def _figsize(self) -> tuple[float, float]:
        if self.parts is None:
            return 6.4, 1.5 + 0.3 * min(len(self.explanation.main.names), self.max_bars)
        if self.kind_ == "text":
            return 8.0, 1.1 + 0.36 * len(lines_of(self.parts.item))
        if self.kind_ == "tree":
            return float(np.clip(0.6 * width_of(self.parts.item), 5.4, 16.0)), 1.2 + 0.75 * self.parts.item.depth
        return 6.0, 5.2

    def _draw_parts(self, parts: Parts) -> None:
        self.values_ = np.asarray(parts.values[self.function])
        drawers: dict[str, Any] = {"text": draw_text, "tree": draw_tree, "graph": draw_graph}
        self.artists_ = drawers[parts.kind](self.ax_, parts.item, parts.names, self.values_)
        self.ax_.set_axis_off()
        largest = np.abs(self.values_).max(initial=0.0)
        how = (
            "shares add up to it, less the intercept"
            if parts.is_division
            else "each is what f loses when the part is hidden"
        )
        note = f"orange: for; blue, dashed: against; full colour is {largest:.2g}\n{how}"
        self.ax_.text(0.0, -0.02, note, transform=self.ax_.transAxes, va="top", fontsize="x-small", color="0.35")

    def _draw_bars(self) -> None:
        names, values = self._listed()
        self.values_ = values
        colours = [FOR if value >= 0 else AGAINST for value in values]
        colours[-1] = "0.75"
        at = np.arange(len(values))
        bars = self.ax_.barh(at, values, color=colours, edgecolor="white", height=0.75)
        for bar, value in zip(bars[:-1], values[:-1], strict=True):
            bar.set_hatch("///" if value < 0 else "")
        bars[-1].set(edgecolor=INK, linewidth=0.9)
        self.artists_ = list(bars)
        self.ax_.axvline(0.0, color=INK, linewidth=0.8)
        self.ax_.axhline(len(values) - 1.5, color="0.7", linewidth=0.7)
        self.ax_.set_yticks(at, [shortened(name) for name in names])
        self._write(at, values)
        self.ax_.invert_yaxis()
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set(xlabel="contribution", xlim=_around_zero(values))

    def _listed(self) -> tuple[list[str], NDArray[Any]]:
        """Names and numbers of the bars: the largest, the rest, the intercept, and what they add up to."""
        table = self.explanation.main
        lines = table.top(self.max_bars, self.function)
        if len(table.names) > self.max_bars:
            rest = float(table.values[self.function].sum()) - sum(value for _, value in lines)
            lines.append((f"the other {len(table.names) - self.max_bars}", rest))
        lines.append(("intercept", float(self.explanation.intercept[self.function])))
        lines.append(("decision value", float(self.explanation.decision[self.function])))
        return [name for name, _ in lines], np.array([value for _, value in lines])

    def _write(self, at: NDArray[Any], values: NDArray[Any]) -> None:
        room = 0.015 * (np.abs(values).max(initial=0.0) or 1.0)
        for place, value in zip(at, values, strict=True):
            side = "left" if value >= 0 else "right"
            x = value + (room if value >= 0 else -room)
            self.ax_.text(x, place, f"{value:.3g}", ha=side, va="center", fontsize="small", color=INK)


def _around_zero(values: NDArray[Any]) -> tuple[float, float]:
    """Limits with room for the numbers at the ends of the bars."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.16 * ((high - low) or 1.0)
    return low - (room if low < 0 else 0.02 * room), high + (room if high > 0 else 0.02 * room)
