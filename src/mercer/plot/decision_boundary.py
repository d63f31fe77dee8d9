"""The classic picture: decision values, boundary, margins, and who holds them up."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.plot.kkt_cases import free_support
from mercer.plot.palette import INK, class_styles, load_pyplot, two_sided_map
from mercer.plot.plane import axis_names, dense, plane_points, response, ticks


class DecisionBoundaryDisplay:
    """Decision surface of a classifier in the plane, with its support vectors.

    For two classes: the decision value f as shading, the boundary f = 0 as a line, the
    margins f = -1 and f = +1 dashed. For more classes: the region of each. Support
    vectors are ringed by their KKT case: a circle where 0 < alpha < C (free, on the
    margin), a diamond where alpha = C (bounded, inside the margin or misclassified).

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    grid_x, grid_y : ndarray of shape (r,)
        Coordinates of the grid.
    response : ndarray of shape (r, r)
        Decision values for two classes, class indices for more.
    classes : ndarray of shape (n_classes,)
        The labels.
    points : ndarray of shape (n, 2)
        The rows to draw.
    labels : ndarray of shape (n,) or None
        Their labels, if known.
    support_vectors : ndarray of shape (n_support, 2)
        The rows that carry the decision.
    free : ndarray of bool of shape (n_support,) or None
        Which of them are free; None where the model does not tell.
    names : tuple of two str, optional
        What the axes show.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    surface_ : QuadMesh
        The shading.
    boundary_, margins_ : QuadContourSet
        The lines; `margins_` is None for more than two classes.
    points_ : list of PathCollection
        One for each class.
    free_, bounded_ : PathCollection
        The rings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.plot import DecisionBoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> petals, setosa = X[:, 2:], y == 0
    >>> model = SVC(kernel="linear").fit(petals, setosa)
    >>> display = DecisionBoundaryDisplay.from_estimator(model, petals, setosa)
    >>> display.ax_.get_xlabel()
    'x1'
    """

    def __init__(
        self,
        *,
        grid_x: NDArray[Any],
        grid_y: NDArray[Any],
        response: NDArray[Any],
        classes: NDArray[Any],
        points: NDArray[Any],
        labels: NDArray[Any] | None,
        support_vectors: NDArray[Any],
        free: NDArray[Any] | None,
        names: tuple[str, str] = ("x1", "x2"),
    ) -> None:
        self.grid_x = grid_x
        self.grid_y = grid_y
        self.response = response
        self.classes = classes
        self.points = points
        self.labels = labels
        self.support_vectors = support_vectors
        self.free = free
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        resolution: int = 300,
        padding: float = 0.08,
        ax: Any = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: bool = True,
    ) -> Self:
        """Evaluate a fitted classifier around `X` and draw it.

        Parameters
        ----------
        estimator : fitted classifier
            Anything with `decision_function`, `predict`, `classes_` and `support_vectors_`.
        X : array-like of shape (n, 2)
            Rows to draw; data frames give the axes their column names.
        y : array-like of shape (n,), optional
            Labels of the rows; predicted labels colour them when left out.
        resolution : int
            Points of the grid along each axis.
        padding : float
            Room around the rows, as a share of their range.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.
        xlabel, ylabel : str, optional
            Names of the axes.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        DecisionBoundaryDisplay
            Already drawn.
        """
        points = plane_points(X)
        grid_x, grid_y = (ticks(points[:, k], padding, resolution) for k in (0, 1))
        names = axis_names(X)
        with warnings.catch_warnings():
            # The model may have learnt from a frame; a grid has no column names, and needs none.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            display = cls(
                grid_x=grid_x,
                grid_y=grid_y,
                response=response(estimator, grid_x, grid_y),
                classes=np.asarray(estimator.classes_),
                points=points,
                labels=np.asarray(estimator.predict(points) if y is None else y),
                support_vectors=dense(estimator.support_vectors_),
                free=free_support(estimator),
                names=(xlabel or names[0], ylabel or names[1]),
            )
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw, into `ax` or into a new figure, and return the display itself."""
        plt = load_pyplot()
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        if len(self.classes) == 2:
            self._draw_decision_values()
        else:
            self._draw_regions()
        self._draw_points()
        self._draw_rings()
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set(xlim=self.grid_x[[0, -1]], ylim=self.grid_y[[0, -1]])
        if legend:
            # Below the axes, where it hides neither points nor lines.
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize="small")
        return self

    def _draw_decision_values(self) -> None:
        # Beyond f = 2 the shading says nothing more, and outliers must not wash it out.
        self.surface_ = self._shade(self.response, cmap=two_sided_map(), vmin=-2.0, vmax=2.0, alpha=0.55)
        self.boundary_ = self._lines([0.0], linestyles="solid", linewidths=1.8)
        self.margins_ = self._lines([-1.0, 1.0], linestyles="dashed", linewidths=1.0)

    def _draw_regions(self) -> None:
        from matplotlib.colors import ListedColormap

        count = len(self.classes)
        colours = ListedColormap([colour for colour, _ in class_styles(count)])
        self.surface_ = self._shade(self.response, cmap=colours, vmin=-0.5, vmax=count - 0.5, alpha=0.3)
        self.boundary_ = self._lines(np.arange(count - 1) + 0.5, linestyles="solid", linewidths=1.4)
        self.margins_ = None

    def _shade(self, values: NDArray[Any], **style: Any) -> Any:
        # A mesh drawn as vectors shows hairlines between its cells.
        return self.ax_.pcolormesh(
            self.grid_x, self.grid_y, values, shading="nearest", rasterized=True, zorder=0, **style
        )

    def _lines(self, levels: ArrayLike, **style: Any) -> Any:
        inside = [level for level in np.asarray(levels) if self.response.min() < level < self.response.max()]
        if not inside:
            return None
        return self.ax_.contour(self.grid_x, self.grid_y, self.response, levels=inside, colors=INK, zorder=1, **style)

    def _draw_points(self) -> None:
        self.points_ = []
        for label, (colour, mark) in zip(self.classes, class_styles(len(self.classes)), strict=True):
            chosen = self.points[self.labels == label]
            style = {"c": colour, "marker": mark, "s": 26, "edgecolors": "white", "linewidths": 0.6}
            self.points_.append(self.ax_.scatter(*chosen.T, label=str(label), zorder=2, **style))

    def _draw_rings(self) -> None:
        free = np.ones(len(self.support_vectors), bool) if self.free is None else self.free
        word = "support vector" if self.free is None else "free support vector"
        self.free_ = self._ring(self.support_vectors[free], "o", word)
        self.bounded_ = self._ring(self.support_vectors[~free], "D", "bounded support vector")

    def _ring(self, centres: NDArray[Any], mark: str, label: str) -> Any:
        # An empty case must not appear in the legend.
        label = label if len(centres) else "_nolegend_"
        style = {"marker": mark, "s": 80, "facecolors": "none", "edgecolors": INK, "linewidths": 1.1}
        return self.ax_.scatter(*centres.T, label=label, zorder=3, **style)
