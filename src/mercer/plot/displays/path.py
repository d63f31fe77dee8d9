"""The solution as C grows: which rows are free, bounded, or not support vectors."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError
from mercer.plot.drawing.canvas import legend_below, panels
from mercer.plot.drawing.palette import COLOURS, DASHES, class_styles

# Fractions of the box this close to 0 or 1 are at its border.
AT_THE_BORDER = 1e-6
# How far the plot extends beyond the first and the last breakpoint, as a factor, and points on its axis.
ROOM, BETWEEN = 1.5, 300
CASES = ("bounded", "free", "zero")
CASE_STYLES = (("0.35", ""), (COLOURS[5], "///"), ("0.9", ""))


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """Regularisation path of a two-class classifier.

    Above, alpha as a fraction of its box, alpha / C, one line for each row: at 1 the row is bounded (inside the margin
    or misclassified), at 0 it is not a support vector, in between it is free, on the margin. On the exact path
    alpha is piecewise linear in C (Hastie et al. 2004). Below, how many rows are in each case.

    Make one with :meth:`from_path` or :meth:`from_arrays`.

    Parameters
    ----------
    C : ndarray of shape (k,)
        Rising, positive.
    shares : ndarray of shape (k, n)
        alpha_i / (C times the weight of row i) at each of them, from 0 to 1.
    labels, classes : ndarray of shape (n,) and (n_classes,)
        Of the rows.
    breakpoints : ndarray
        Every C at which a row changes its case; may be empty.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        Shares, and cases.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.
    lines_ : list of Line2D
        One for each row.
    cases_ : list of FillBetweenPolyCollection
        Bounded, free, zero.
    ticks_ : LineCollection
        The breakpoints.

    Examples
    --------
    >>> from mercer.plot import PathDisplay
    >>> C = [0.1, 1.0, 10.0]
    >>> alpha = [[0.1, 0.1], [0.5, 0.5], [0.5, 0.5]]
    >>> display = PathDisplay.from_arrays(C, alpha, ["no", "yes"])
    >>> display.counts()["free"]
    array([0, 2, 2])
    """

    C: NDArray[Any]
    shares: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]
    breakpoints: NDArray[Any]

    @classmethod
    def from_path(cls, path: Any, *, C: ArrayLike | None = None, ax: Any = None, legend: bool = True) -> Self:
        """Draw the result of `mercer.regularization_path`.

        Parameters
        ----------
        path : RegularizationPath
        C : array-like, optional
            Values to draw. By default the breakpoints, at which an exact path bends, and points between them, from
            just before the first to just after the last.
        ax : matplotlib Axes or two of them, optional
        legend : bool

        Returns
        -------
        PathDisplay
            Already drawn.
        """
        at = _places(path) if C is None else np.asarray(C, dtype=np.float64)
        # Rows of weight zero take no part.
        weights = np.asarray(path.weights)
        used = weights > 0
        labels = np.asarray(path.classes)[(np.asarray(path.signs)[used] > 0).astype(int)]
        options = {"weights": weights[used], "breakpoints": path.breakpoints, "ax": ax, "legend": legend}
        return cls.from_arrays(at, path.alpha(at)[:, used], labels, **options)

    @classmethod
    def from_arrays(
        cls,
        C: ArrayLike,
        alpha: ArrayLike,
        y: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        breakpoints: ArrayLike = (),
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw solutions for several C.

        Parameters
        ----------
        C : array-like of shape (k,)
            Positive; in any order.
        alpha : array-like of shape (k, n)
            Dual variables of every row for each C; they may be signed, y alpha.
        y : array-like of shape (n,), optional
            Labels of the rows.
        weights : array-like of shape (n,), optional
            Of the rows in the box: alpha_i is at most C weights_i.
        breakpoints : array-like, optional
            Every C at which a row changes its case, drawn as ticks.
        ax : matplotlib Axes or two of them, optional
        legend : bool

        Returns
        -------
        PathDisplay
            Already drawn.
        """
        at, table = np.asarray(C, dtype=np.float64), np.abs(np.asarray(alpha, dtype=np.float64))
        if at.ndim != 1 or table.ndim != 2 or len(at) != len(table) or len(at) < 2:
            raise DataError(f"alpha must have a row for each of at least two C, got shapes {at.shape}, {table.shape}")
        if not (np.isfinite(at).all() and (at > 0).all()):
            raise DataError(f"C must be positive and finite, got {at.min():g}")
        labels = np.zeros(table.shape[1], int) if y is None else np.asarray(y)
        if len(labels) != table.shape[1]:
            raise DataError(f"y must have a label for each row: {table.shape[1]} rows, {len(labels)} labels")
        boxes = at[:, None] * (1.0 if weights is None else np.asarray(weights, dtype=np.float64))
        order = np.argsort(at, kind="stable")
        display = cls(
            C=at[order],
            shares=np.clip(table / boxes, 0.0, 1.0)[order],
            labels=labels,
            classes=np.unique(labels),
            breakpoints=np.asarray(breakpoints, dtype=np.float64),
        )
        return display.plot(ax=ax, legend=legend)

    def counts(self) -> dict[str, NDArray[np.intp]]:
        """How many rows are bounded, free and zero at each C."""
        bounded = self.shares >= 1.0 - AT_THE_BORDER
        zero = self.shares <= AT_THE_BORDER
        found = (bounded.sum(axis=1), (~bounded & ~zero).sum(axis=1), zero.sum(axis=1))
        return dict(zip(CASES, found, strict=True))

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        self.axes_ = panels(ax, rows=2, figsize=(6.4, 6.0), sharex=True, height_ratios=(3, 2))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self._draw_shares()
        self._draw_cases()
        self.axes_[1].set(xscale="log", xlabel="C", xlim=self.C[[0, -1]])
        if legend:
            several = len(self.classes) > 1
            legend_below(self.axes_[1], columns=3, gap=0.28, handles=[*self._firsts() * several, *self.cases_])
        return self

    def _draw_shares(self) -> None:
        ax, styles = self.ax_, class_styles(len(self.classes))
        self.lines_ = []
        for row, label in enumerate(self.labels):
            k = int(np.searchsorted(self.classes, label))
            style = {"color": styles[k][0], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.0, "alpha": 0.75}
            self.lines_ += ax.plot(self.C, self.shares[:, row], label=str(label), **style)
        inside = self.breakpoints[(self.breakpoints >= self.C[0]) & (self.breakpoints <= self.C[-1])]
        self.ticks_ = ax.vlines(inside, -0.055, -0.02, color="0.3", linewidth=0.5)
        ax.set(ylabel="alpha / C", ylim=(-0.065, 1.04))

    def _firsts(self) -> list[Any]:
        """One line of each class, for the legend."""
        return [self.lines_[int(np.flatnonzero(self.labels == label)[0])] for label in self.classes]

    def _draw_cases(self) -> None:
        self.cases_, floor = [], np.zeros(len(self.C))
        for (name, count), (colour, hatch) in zip(self.counts().items(), CASE_STYLES, strict=True):
            style = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.0, "label": name}
            self.cases_.append(self.axes_[1].fill_between(self.C, floor, floor + count, **style))
            floor = floor + count
        self.axes_[1].set(ylabel="rows", ylim=(0, self.shares.shape[1]))


def _places(path: Any) -> NDArray[Any]:
    """Every breakpoint above 0, and points between them on a logarithmic scale."""
    bends = np.unique(path.breakpoints[path.breakpoints > 0])
    if len(bends) == 0:
        raise DataError("the path has no breakpoint above 0 to be drawn; pass C= to say where to look")
    low, high = max(bends[0] / ROOM, path.C_min), min(bends[-1] * ROOM, path.C_end)
    grid = np.geomspace(low, high, BETWEEN)
    return np.unique(np.clip(np.concatenate([bends, grid]), low, high))
