"""The result of a search over parameters: scores over one parameter, or over two as a map."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.canvas import legend_below, one_panel
from mercer.plot.drawing.checks import require_attribute
from mercer.plot.drawing.palette import COLOURS, INK, ink_on, one_sided_map

# The largest map whose cells have room for numbers.
MOST_NUMBERS = 150


@dataclass(kw_only=True, eq=False, repr=False)
class TuningDisplay:
    """Cross-validated scores of a search: a heat map of two parameters, or a line of one.

    If the search had more parameters, each place shows the best score over the others. The best place has
    a star; dots mark places within one standard error of it, which data of this size cannot tell apart. A
    place that was not tried, or whose fits failed, is hatched. Candidates that do not form a grid are drawn as points.

    Make one with :meth:`from_estimator` or :meth:`from_results`.

    Parameters
    ----------
    names : list of one or two str
        The parameters.
    values : list of lists
        The values of each parameter that were tried, in order.
    scores : ndarray of shape (len(values[1]), len(values[0])), or (len(values[0]),)
        Best mean score; NaN where there is none.
    spread : ndarray of the same shape
        Standard deviation over the folds of that score.
    best : tuple of int
        The best place: row and column, or rank. Among equals, the candidate that came first.
    n_splits : int
        Folds; 0 if not known.
    is_grid : bool
        Whether the candidates fill the map.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    map_ : QuadMesh, PathCollection or Line2D
        The scores.
    best_ : PathCollection
        The star.
    near_ : PathCollection
        Places within one standard error of the best.
    texts_ : list of Text
        Numbers in the cells.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import SVC
    >>> from mercer.plot import TuningDisplay
    >>> grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    >>> search = GridSearchCV(SVC(), grid, cv=3).fit(*load_iris(return_X_y=True))
    >>> display = TuningDisplay.from_estimator(search)
    >>> display.names, display.scores.shape
    (['C', 'gamma'], (3, 3))
    """

    names: list[str]
    values: list[list[Any]]
    scores: NDArray[Any]
    spread: NDArray[Any]
    best: tuple[int, ...]
    n_splits: int
    is_grid: bool = True

    @classmethod
    def from_estimator(
        cls,
        search: Any,
        *,
        params: Sequence[str] | None = None,
        metric: str = "score",
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw the `cv_results_` of a fitted search; see :meth:`from_results`."""
        remedy = "fit a search such as SVCCV or GridSearchCV"
        results = require_attribute(search, "cv_results_", cls.__name__, remedy)
        return cls.from_results(results, params=params, metric=metric, ax=ax, legend=legend)

    @classmethod
    def from_results(
        cls,
        cv_results: Mapping[str, Any],
        *,
        params: Sequence[str] | None = None,
        metric: str = "score",
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw results in scikit-learn's form.

        Parameters
        ----------
        cv_results : dict
            With `params`, `mean_test_<metric>` and, if known, `std_test_<metric>` and the splits.
        params : sequence of one or two str, optional
            Which parameters to draw, along x and y; by default the first two that vary.
        metric : str
            Which score.
        ax : matplotlib Axes, optional
        legend : bool

        Returns
        -------
        TuningDisplay
            Already drawn.
        """
        mean = f"mean_test_{metric}"
        if mean not in cv_results or "params" not in cv_results:
            known = ", ".join(sorted(key[10:] for key in cv_results if key.startswith("mean_test_"))) or "none"
            raise ParameterError(f"metric must be one that cv_results has ({known}), got {metric!r}")
        candidates = [dict(each) for each in cv_results["params"]]
        names = _chosen(candidates, params)
        values = [_in_order({_plain(each[name]) for each in candidates if name in each}) for name in names]
        scores = np.asarray(cv_results[mean], dtype=np.float64)
        spread = np.asarray(cv_results.get(f"std_test_{metric}", np.zeros(len(scores))), dtype=np.float64)
        highest, around, best = _best_of_each(candidates, names, values, scores, spread)
        n_splits = sum(bool(re.fullmatch(rf"split\d+_test_{re.escape(metric)}", key)) for key in cv_results)
        display = cls(
            names=names,
            values=values,
            scores=highest,
            spread=around,
            best=best,
            n_splits=n_splits,
            # A random search fills the map of its own values so thinly that cells would show nothing.
            is_grid=len(names) == 1 or np.isfinite(highest).mean() > 0.5,
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax)
        self.ax_, self.figure_, self.texts_ = ax, ax.figure, []
        if len(self.names) == 1:
            self._draw_line()
        elif self.is_grid:
            self._draw_map()
        else:
            self._draw_candidates()
        if legend:
            legend_below(ax, gap=0.2)
        return self

    def _is_near(self) -> NDArray[np.bool_]:
        """Which places are within one standard error of the best, excluding itself."""
        best = self.best
        if self.n_splits < 2:
            return np.zeros(self.scores.shape, bool)
        error = self.spread[best] / np.sqrt(self.n_splits - 1)
        near = self.scores >= self.scores[best] - error
        near[best] = False
        return near

    def _draw_line(self) -> None:
        ax, at = self.ax_, self._places(0)
        low, high = self.scores - self.spread, self.scores + self.spread
        ax.fill_between(at, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, label="one standard deviation")
        (self.map_,) = ax.plot(at, self.scores, color=COLOURS[0], marker="o", markersize=4, label="mean of the folds")
        self._mark(at, self.scores)
        self._label(0, "x")
        ax.set(xlabel=_short(self.names[0]), ylabel="score")

    def _draw_map(self) -> None:
        ax = self.ax_
        ax.set_facecolor("0.85")
        masked = np.ma.masked_invalid(self.scores)
        rows, columns = masked.shape
        self._hatch()
        self.map_ = ax.pcolormesh(
            np.arange(columns), np.arange(rows), masked, cmap=one_sided_map(), shading="nearest", zorder=1
        )
        self.figure_.colorbar(self.map_, ax=ax, label="score, mean of the folds")
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        self._write(x, y)
        self._mark(x, y - 0.27 * (masked.size <= MOST_NUMBERS))
        for axis, letter in ((0, "x"), (1, "y")):
            self._label(axis, letter, by_rank=True)
        ax.set(xlabel=_short(self.names[0]), ylabel=_short(self.names[1]))

    def _hatch(self) -> None:
        from matplotlib.patches import Rectangle

        for row, column in np.argwhere(~np.isfinite(self.scores)):
            style: dict[str, Any] = {
                "facecolor": "0.93",
                "edgecolor": "0.6",
                "hatch": "///",
                "linewidth": 0,
                "zorder": 0.5,
            }
            self.ax_.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))

    def _draw_candidates(self) -> None:
        ax = self.ax_
        rows, columns = np.nonzero(np.isfinite(self.scores))
        at = self._places(0)[columns], self._places(1)[rows]
        style = {"cmap": one_sided_map(), "edgecolors": INK, "linewidths": 0.5, "s": 60}
        self.map_ = ax.scatter(*at, c=self.scores[rows, columns], **style)
        self.figure_.colorbar(self.map_, ax=ax, label="score, mean of the folds")
        x, y = np.meshgrid(self._places(0), self._places(1))
        self._mark(x, y)
        for axis, letter in ((0, "x"), (1, "y")):
            self._label(axis, letter)
        ax.set(xlabel=_short(self.names[0]), ylabel=_short(self.names[1]))

    def _write(self, x: NDArray[Any], y: NDArray[Any]) -> None:
        if self.scores.size > MOST_NUMBERS:
            return
        colours = self.map_.to_rgba(np.nan_to_num(self.scores, nan=np.nanmin(self.scores)))
        for place in np.ndindex(self.scores.shape):
            if np.isfinite(self.scores[place]):
                style = {"ha": "center", "va": "center", "fontsize": "small", "color": ink_on(colours[place][:3])}
                self.texts_.append(self.ax_.text(x[place], y[place], f"{self.scores[place]:.3f}", **style))

    def _mark(self, x: NDArray[Any], y: NDArray[Any]) -> None:
        near, best = self._is_near(), self.best
        style = {"edgecolors": INK, "linewidths": 0.7, "zorder": 4}
        name = "within one standard error" if near.any() else "_nolegend_"
        self.near_ = self.ax_.scatter(x[near], y[near], marker="o", s=26, c="white", label=name, **style)
        named = ", ".join(
            f"{_short(name)} = {_shown(self.values[axis][k])}"
            for axis, (name, k) in enumerate(zip(self.names, reversed(best), strict=True))
        )
        label = f"best: {self.scores[best]:.3f} at {named}"
        self.best_ = self.ax_.scatter(x[best], y[best], marker="*", s=190, c=COLOURS[4], label=label, **style)

    def _places(self, axis: int) -> NDArray[Any]:
        """Coordinates of the values: themselves if they are numbers, else their ranks."""
        values = self.values[axis]
        return np.array(values, dtype=np.float64) if _are_numbers(values) else np.arange(float(len(values)))

    def _label(self, axis: int, letter: str, by_rank: bool = False) -> None:
        """Ticks: a logarithmic axis for numbers over decades, words otherwise."""
        values = self.values[axis]
        if by_rank or not _are_numbers(values):
            shown = [_shown(value) for value in values]
            turn = {"rotation": 45, "ha": "right"} if letter == "x" and max(map(len, shown)) > 6 else {}
            getattr(self.ax_, f"set_{letter}ticks")(np.arange(len(values)), shown, **turn)
        elif min(values) > 0 and max(values) > 20 * min(values):
            self.ax_.set(**{f"{letter}scale": "log"})


def _chosen(candidates: list[dict[str, Any]], params: Sequence[str] | None) -> list[str]:
    """Names of the parameters to draw."""
    every = list(dict.fromkeys(name for each in candidates for name in each))
    if params is not None:
        wanted = [params] if isinstance(params, str) else list(params)
        unknown = [name for name in wanted if name not in every]
        if unknown or not 1 <= len(wanted) <= 2:
            raise ParameterError(f"params must be one or two of {', '.join(map(repr, every))}, got {params!r}")
        return wanted
    varying = [name for name in every if len({_plain(each.get(name)) for each in candidates}) > 1]
    if not varying:
        raise DataError("the search must have tried at least two values of a parameter to be drawn")
    return varying[:2]


def _best_of_each(
    candidates: list[dict[str, Any]],
    names: list[str],
    values: list[list[Any]],
    scores: NDArray[Any],
    spread: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]:
    """For each combination of the drawn parameters, its best score and the spread of that; and the best place."""
    shape = tuple(len(each) for each in reversed(values))
    highest, around, best = np.full(shape, np.nan), np.zeros(shape), None
    ranks = [{value: k for k, value in enumerate(each)} for each in values]
    for candidate, score, width in zip(candidates, scores, spread, strict=True):
        if not all(name in candidate for name in names):
            continue
        place = tuple(
            rank[_plain(candidate[name])] for name, rank in zip(reversed(names), reversed(ranks), strict=True)
        )
        if np.isfinite(score) and not score <= highest[place]:
            highest[place], around[place] = score, width
            best = place if best is None or score > highest[best] else best
    if best is None:
        raise DataError("no candidate of the search has a score: every fit failed")
    return highest, around, best


def _plain(value: Any) -> Any:
    """A value that can be compared: itself if it is a number or a text, otherwise its repr."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float | np.number):
        return float(value)
    return repr(value)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, float) for value in values)


def _in_order(values: set[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (isinstance(value, str), value is None, value if value is not None else 0))


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if len(f"{value:g}") <= 6 else f"{value:.3g}"


def _short(name: str) -> str:
    """Without the steps of a pipeline before it."""
    return name.rpartition("__")[2]
