"""Decision values, boundary, margins and support vectors in the plane."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError
from mercer.plot.drawing.canvas import legend_below, one_panel, rings
from mercer.plot.drawing.checks import final_model, require_classifier, require_vectors
from mercer.plot.drawing.kkt_cases import free_support
from mercer.plot.drawing.palette import INK, class_styles, two_sided_map
from mercer.plot.drawing.plane import axis_names, dense, method_to_ask, nameless_rows, plane_points, response, ticks

# The meaning of a detector's answers -1 and +1.
DETECTED = np.array(["outlier", "inlier"])


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionBoundaryDisplay:
    """Decision surface of a classifier or detector in the plane, with its support vectors.

    For two classes: the decision value f as shading, the boundary f = 0 as a line, the
    margins f = -1 and f = +1 dashed; or the probability of the second class as shading, with lines at
    one, two and three quarters. For more classes: the region of each, or their probabilities as a
    mixture of colours. For a detector: f and its border f = 0. Support vectors are ringed by their KKT
    case: a circle where 0 < alpha < C (free, on the margin), a diamond where alpha = C (bounded,
    inside the margin or misclassified; outside the border of a detector).

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    grid_x, grid_y : ndarray of shape (r,)
        Coordinates of the grid.
    response : ndarray of shape (r, r) or (r, r, n_classes)
        The output of `method`: decision values, probabilities, or class indices.
    classes : ndarray of shape (n_classes,)
        The labels.
    points : ndarray of shape (n, 2)
        The rows to draw.
    labels : ndarray of shape (n,) or None
        Their labels, if known.
    support_vectors : ndarray of shape (n_support, 2)
        The rows that determine the decision.
    free : ndarray of bool of shape (n_support,) or None
        Which of them are free; None if the model does not say.
    names : tuple of two str, optional
        What the axes show.
    method : {"decision_function", "predict_proba", "predict"}
        What the shading shows.
    has_margins : bool
        Whether f = -1 and f = +1 have a meaning; not for a detector.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    surface_ : QuadMesh
        The shading.
    boundary_, margins_ : QuadContourSet
        The lines; `margins_` are the quarters of a probability, or None if there are none.
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

    grid_x: NDArray[Any]
    grid_y: NDArray[Any]
    response: NDArray[Any]
    classes: NDArray[Any]
    points: NDArray[Any]
    labels: NDArray[Any] | None
    support_vectors: NDArray[Any]
    free: NDArray[Any] | None
    names: tuple[str, str] = ("x1", "x2")
    method: str = "decision_function"
    has_margins: bool = True

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        response_method: str = "auto",
        resolution: int = 300,
        padding: float = 0.08,
        ax: Any = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: bool = True,
    ) -> Self:
        """Evaluate a fitted classifier or detector around `X` and draw it.

        Parameters
        ----------
        estimator : fitted classifier or detector
            Mercer's or scikit-learn's; rings need `support_vectors_`, and their shapes a `certificate_`.
        X : array-like of shape (n, 2)
            Rows to draw; data frames give the axes their column names.
        y : array-like of shape (n,), optional
            Labels of the rows, for a detector -1 and +1; predicted if left out.
        response_method : {"auto", "decision_function", "predict_proba", "predict"}
            What to shade; by default decision values for two classes, regions for more.
        resolution : int
            Points of the grid along each axis.
        padding : float
            Space around the rows, as a fraction of their range.
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
        model = final_model(estimator)
        require_classifier(model, cls.__name__)
        require_vectors(model, cls.__name__)
        points, names = plane_points(X), axis_names(X)
        grid_x, grid_y = (ticks(points[:, k], padding, resolution) for k in (0, 1))
        method = method_to_ask(model, response_method)
        with nameless_rows():
            classes, labels = _labels(model, points, y)
            vectors, free = _support(model)
            values = response(model, grid_x, grid_y, method)
        display = cls(
            grid_x=grid_x,
            grid_y=grid_y,
            response=values,
            classes=classes,
            points=points,
            labels=labels,
            support_vectors=vectors,
            free=free,
            names=(xlabel or names[0], ylabel or names[1]),
            method=method,
            has_margins=hasattr(model, "classes_"),
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_response()
        self._draw_points()
        self._draw_rings()
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set(xlim=self.grid_x[[0, -1]], ylim=self.grid_y[[0, -1]])
        if legend:
            legend_below(ax)
        return self

    def _draw_response(self) -> None:
        if self.response.ndim == 3:
            self._draw_mixture()
        elif self.method == "predict_proba":
            self._draw_probabilities()
        elif self.method == "predict":
            self._draw_regions()
        else:
            self._draw_decision_values()

    def _draw_decision_values(self) -> None:
        # Beyond f = 2 the shading is saturated, so that outliers do not wash it out.
        limit = 2.0 if self.has_margins else self.response.max(initial=0.0) or np.abs(self.response).max()
        self.surface_ = self._shade(self.response, cmap=two_sided_map(), vmin=-limit, vmax=limit, alpha=0.55)
        self.boundary_ = self._lines([0.0], linestyles="solid", linewidths=1.8)
        self.margins_ = None
        if self.has_margins:
            self.margins_ = self._lines([-1.0, 1.0], linestyles="dashed", linewidths=1.0)

    def _draw_probabilities(self) -> None:
        self.surface_ = self._shade(self.response, cmap=two_sided_map(), vmin=0.0, vmax=1.0, alpha=0.6)
        self.boundary_ = self._lines([0.5], linestyles="solid", linewidths=1.8)
        self.margins_ = self._lines([0.25, 0.75], linestyles="dashed", linewidths=1.0)
        for lines in (self.boundary_, self.margins_):
            if lines is not None:
                self.ax_.clabel(lines, fmt=lambda share: f"{share:.0%}", fontsize=7)

    def _draw_mixture(self) -> None:
        from matplotlib.colors import to_rgb

        colours = np.array([to_rgb(colour) for colour, _ in class_styles(len(self.classes))])
        self.surface_ = self._shade(1.0 - 0.55 * (1.0 - self.response @ colours))
        self._draw_borders(self.response.argmax(axis=2).astype(float))

    def _draw_regions(self) -> None:
        from matplotlib.colors import ListedColormap

        count = len(self.classes)
        colours = ListedColormap([colour for colour, _ in class_styles(count)])
        self.surface_ = self._shade(self.response, cmap=colours, vmin=-0.5, vmax=count - 0.5, alpha=0.3)
        self._draw_borders(self.response)

    def _draw_borders(self, indices: NDArray[Any]) -> None:
        levels = np.arange(len(self.classes) - 1) + 0.5
        self.boundary_ = self._lines(levels, indices, linestyles="solid", linewidths=1.4)
        self.margins_ = None

    def _shade(self, values: NDArray[Any], **style: Any) -> Any:
        # A mesh drawn as vectors has hairlines between its cells.
        return self.ax_.pcolormesh(
            self.grid_x, self.grid_y, values, shading="nearest", rasterized=True, zorder=0, **style
        )

    def _lines(self, levels: ArrayLike, values: NDArray[Any] | None = None, **style: Any) -> Any:
        values = self.response if values is None else values
        inside = [level for level in np.asarray(levels) if values.min() < level < values.max()]
        if not inside:
            return None
        return self.ax_.contour(self.grid_x, self.grid_y, values, levels=inside, colors=INK, zorder=1, **style)

    def _draw_points(self) -> None:
        self.points_ = []
        for label, (colour, mark) in zip(self.classes, class_styles(len(self.classes)), strict=True):
            chosen = self.points[self.labels == label]
            style = {"c": colour, "marker": mark, "s": 26, "edgecolors": "white", "linewidths": 0.6}
            self.points_.append(self.ax_.scatter(*chosen.T, label=str(label), zorder=2, **style))

    def _draw_rings(self) -> None:
        free = np.ones(len(self.support_vectors), bool) if self.free is None else self.free
        word = "support vector" if self.free is None else "free support vector"
        draw = partial(rings, self.ax_, s=80, linewidths=1.1, zorder=3)
        self.free_ = draw(self.support_vectors[free], word, marker="o")
        self.bounded_ = draw(self.support_vectors[~free], "bounded support vector", marker="D")


def _labels(model: Any, points: NDArray[Any], y: ArrayLike | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes, and those of the rows; for a detector, the words for -1 and +1."""
    labels = np.asarray(model.predict(points) if y is None else y)
    if len(labels) != len(points):
        raise DataError(f"y must have a label for each row of X: {len(points)} rows, {len(labels)} labels")
    if hasattr(model, "classes_"):
        return np.asarray(model.classes_), labels
    if not np.isin(labels, (-1, 1)).all():
        raise DataError("y must be -1 (outlier) or +1 (inlier) for a detector; leave it out to see its answers")
    return DETECTED, DETECTED[(labels == 1).astype(int)]


def _support(model: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Support vectors, which a linear model does not have, and which of them are free."""
    vectors = dense(getattr(model, "support_vectors_", np.empty((0, 2))))
    if np.shape(vectors)[1:] != (2,) or len(vectors) == 0:
        return np.empty((0, 2)), None
    return np.asarray(vectors), free_support(model)
