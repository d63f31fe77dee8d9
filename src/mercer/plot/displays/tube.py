"""A regression along one column: the function, its tube, and the support vectors."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError
from mercer.plot.drawing.canvas import legend_below, one_panel, rings
from mercer.plot.drawing.checks import final_model, require_regressor, require_vectors
from mercer.plot.drawing.palette import COLOURS, INK
from mercer.plot.drawing.plane import nameless_rows, numbers, ticks

# Targets this close to the border of the tube, as a fraction of its half width, lie on it.
ON_THE_BORDER = 2e-2


@dataclass(kw_only=True, eq=False, repr=False)
class TubeDisplay:
    """Regression function of one column, with its epsilon-tube and support vectors.

    Rows inside the tube cost nothing and are not support vectors. Rows on its border are free support
    vectors (circles), rows outside are bounded ones (diamonds). A model without a tube, such as kernel
    ridge regression, is drawn with its function and rows only.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    grid : ndarray of shape (r,)
        Where the function is evaluated.
    values : ndarray of shape (r,)
        Its values there.
    points : ndarray of shape (n, 2)
        The rows and their targets.
    epsilon : float or None
        Half the width of the tube; None for a model without one.
    is_support : ndarray of bool of shape (n,)
        Which of the rows are support vectors.
    residuals : ndarray of shape (n,)
        Targets minus predictions.
    names : tuple of two str
        What the axes show.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : Line2D
        The function.
    tube_ : FillBetweenPolyCollection or None
        The tube.
    borders_ : list of Line2D
        Its two borders.
    points_, free_, bounded_ : PathCollection
        All rows, and the rings of those that are support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> from mercer.plot import TubeDisplay
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.2).fit(X, np.sin(X[:, 0]))
    >>> display = TubeDisplay.from_estimator(model, X, np.sin(X[:, 0]))
    >>> display.epsilon
    0.2
    """

    grid: NDArray[Any]
    values: NDArray[Any]
    points: NDArray[Any]
    epsilon: float | None
    is_support: NDArray[np.bool_]
    residuals: NDArray[Any]
    names: tuple[str, str] = ("x", "y")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        resolution: int = 400,
        padding: float = 0.04,
        ax: Any = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: bool = True,
    ) -> Self:
        """Evaluate a fitted regressor along the column and draw it.

        Parameters
        ----------
        estimator : fitted regressor
            Its `epsilon_` or `epsilon`, if it has one, defines the tube.
        X : array-like of shape (n, 1)
            The rows it was fitted to, or others; support vectors are found by their values.
        y : array-like of shape (n,)
        resolution : int
            Points along the axis.
        padding : float
            Space around the rows, as a fraction of their range.
        ax : matplotlib Axes, optional
        xlabel, ylabel : str, optional
        legend : bool

        Returns
        -------
        TubeDisplay
            Already drawn.
        """
        model = final_model(estimator)
        require_regressor(model, cls.__name__)
        require_vectors(model, cls.__name__)
        rows, targets = _one_column(X, y)
        grid = ticks(rows[:, 0], padding, resolution)
        with nameless_rows():
            values, fitted = (np.asarray(model.predict(at)) for at in (grid[:, None], rows))
        display = cls(
            grid=grid,
            values=values,
            points=np.column_stack([rows, targets]),
            epsilon=_epsilon(model),
            is_support=_is_support(model, rows, targets - fitted),
            residuals=targets - fitted,
            names=(xlabel or str(getattr(X, "columns", ("x",))[0]), ylabel or str(getattr(y, "name", None) or "y")),
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_tube()
        (self.line_,) = ax.plot(self.grid, self.values, color=COLOURS[0], linewidth=2.2, zorder=3, label="function")
        self.points_ = ax.scatter(*self.points.T, s=12, c="0.35", linewidths=0, zorder=2, label="row")
        self._draw_rings()
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=self.grid[[0, -1]])
        if legend:
            legend_below(ax, columns=3)
        return self

    def _draw_tube(self) -> None:
        self.tube_, self.borders_ = None, []
        if self.epsilon is None:
            return
        low, high = self.values - self.epsilon, self.values + self.epsilon
        name = f"tube, ε = {self.epsilon:.3g}"
        self.tube_ = self.ax_.fill_between(self.grid, low, high, color=COLOURS[0], alpha=0.15, zorder=0, label=name)
        for border in (low, high):
            self.borders_ += self.ax_.plot(self.grid, border, color=INK, linewidth=0.9, linestyle="dashed", zorder=1)

    def _draw_rings(self) -> None:
        outside = np.abs(self.residuals) > (self.epsilon or 0.0) * (1.0 + ON_THE_BORDER)
        chosen = self.points[self.is_support & ~outside], self.points[self.is_support & outside]
        draw = partial(rings, self.ax_, s=42, linewidths=0.9, zorder=4)
        self.free_ = draw(chosen[0], "free support vector", marker="o")
        self.bounded_ = draw(chosen[1], "bounded support vector", marker="D")


def _one_column(X: Any, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    rows, targets = numbers(X), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 1 or len(rows) == 0:
        raise DataError(f"X must have 1 column and a row to be drawn along an axis, got shape {rows.shape}")
    if targets.shape != (len(rows),):
        raise DataError(f"y must be one number for each of the {len(rows)} rows of X, got shape {targets.shape}")
    return rows, targets


def _epsilon(model: Any) -> float | None:
    """Half the width of the tube: found by the fit, or given to it."""
    found = getattr(model, "epsilon_", getattr(model, "epsilon", None))
    return None if found is None else float(found)


def _is_support(model: Any, rows: NDArray[Any], residuals: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows that are support vectors: by value, and not inside the tube, where a duplicate of one may lie."""
    epsilon = _epsilon(model)
    vectors = getattr(model, "support_vectors_", None)
    if vectors is None or epsilon is None:
        return np.zeros(len(rows), bool)
    among = np.isin(rows[:, 0], np.asarray(numbers(vectors))[:, 0].astype(rows.dtype))
    return among & (np.abs(residuals) >= epsilon * (1.0 - ON_THE_BORDER))
