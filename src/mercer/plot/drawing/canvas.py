"""Where a display draws: the given axes, or a new figure with one panel or several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import ParameterError
from mercer.plot.drawing.palette import INK, load_pyplot


def one_panel(ax: Any, figsize: tuple[float, float] | None = None, **options: Any) -> Any:
    """The given axes, or those of a new figure; `options` are matplotlib's for a subplot."""
    plt = load_pyplot()
    if ax is None:
        figure = plt.figure(figsize=figsize, layout="constrained")
        ax = figure.add_subplot(**options)
    return ax


def panels(
    ax: Any,
    rows: int = 1,
    columns: int = 1,
    *,
    figsize: tuple[float, float] | None = None,
    sharex: bool = False,
    **shares: Any,
) -> list[Any]:
    """As many axes as a display has panels, row by row.

    `ax` is None for a new figure, one Axes whose space they divide, or a sequence of that many
    Axes. `shares` are matplotlib's width_ratios and height_ratios.
    """
    plt = load_pyplot()
    count = rows * columns
    if isinstance(ax, Sequence | np.ndarray):
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise ParameterError(f"ax must be one Axes or {count} of them, got {len(given)}")
        return given
    if ax is None:
        grid = plt.figure(figsize=figsize, layout="constrained").add_gridspec(rows, columns, **shares)
    else:
        spec = ax.get_subplotspec()
        if spec is None:
            raise ParameterError(
                "ax must be a subplot, so that its place can be divided; or pass one Axes for each panel"
            )
        ax.set_axis_off()
        grid = spec.subgridspec(rows, columns, **shares)
    return list(grid.subplots(sharex=sharex, squeeze=False).ravel())


def rings(ax: Any, points: NDArray[Any], label: str, **style: Any) -> Any:
    """Open rings around points; with no points there is no entry in the legend either."""
    name = label if len(points) else "_nolegend_"
    return ax.scatter(*points.T, label=name, facecolors="none", edgecolors=INK, **style)


def legend_below(ax: Any, columns: int = 2, gap: float = 0.13, handles: Any = None) -> Any:
    """A legend below the axes, where it covers nothing."""
    style = {"frameon": False, "fontsize": "small", "ncols": columns, "handles": handles}
    return ax.legend(loc="upper center", bbox_to_anchor=(0.5, -gap), **style)
