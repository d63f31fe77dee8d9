"""The version space as a map: walls, the largest ball inside, and the centres."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError
from mercer.plot.drawing.canvas import legend_below, one_panel
from mercer.plot.drawing.palette import COLOURS, DASHES, INK, class_styles
from mercer.plot.drawing.plane import dense
from mercer.problems.version_space.spherical_polygon import SphericalPolygon, tangents
from mercer.solvers.limits import Limits
from mercer.solvers.version_space.analytic_centre import analytic_centre
from mercer.solvers.version_space.ball_centre import ball_centre

# Accuracy of the centres, more than the eye needs.
TOL = 1e-8
# Points of a line on the map.
RESOLUTION = 361
# Markers of the centres, which differ in shape as well as in colour.
MARKS = ("o", "^", "*", "D", "s", "P", "X", "v")
MARK_COLOURS = tuple(COLOURS[k] for k in (4, 2, 3, 7, 5, 0, 1, 6))
CENTRES = ("ball centre", "analytic centre", "centre of mass")


class VersionSpaceDisplay:
    """All weight vectors that classify every row correctly, and their centres, as a map.

    Three weights (two features and a bias, or three features) of length 1 are points on a sphere.
    Each row cuts it along a great circle, its *wall*: weight vectors on one side classify the row
    correctly. What all rows leave is the version space, a polygon. The map of its
    neighbourhood preserves areas (Lambert's azimuthal projection), so
    the probability that a random correct classifier is in any part is proportional to its area.

    Make one with :meth:`from_data`.

    Parameters
    ----------
    normals : ndarray of shape (n, 3)
        Unit normals of the walls, pointing inwards.
    labels : ndarray of int of shape (n,)
        Class (0 or 1) of the row of each wall.
    classes : ndarray of shape (2,)
    polygon : SphericalPolygon
    radius : float
        Of the largest ball inside: the sine of its angle on the sphere.
    centers : dict of str to ndarray of shape (3,)
        Points to mark, each of length 1; "ball centre" is the centre of the ball.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    region_ : Polygon
        The version space.
    ball_ : Line2D
        The largest ball.
    walls_ : list of Line2D
        One for each row.
    marks_ : dict of str to PathCollection
        The centres.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.plot import VersionSpaceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = VersionSpaceDisplay.from_data(X[:, 2:] - [2.6, 0.8], y == 0)
    >>> sorted(display.centers)
    ['analytic centre', 'ball centre', 'centre of mass']
    """

    def __init__(
        self,
        *,
        normals: NDArray[Any],
        labels: NDArray[Any],
        classes: NDArray[Any],
        polygon: SphericalPolygon,
        radius: float,
        centers: Mapping[str, NDArray[Any]],
    ) -> None:
        self.normals = normals
        self.labels = labels
        self.classes = classes
        self.polygon = polygon
        self.radius = radius
        self.centers = dict(centers)

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        bias: str = "penalized",
        estimators: Mapping[str, Any] | None = None,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Find the version space of linear classifiers and its centres, and draw them.

        Parameters
        ----------
        X : array-like of shape (n, 2), or (n, 3) without a bias
        y : array-like of shape (n,)
            Labels of two classes that a line (a plane through the origin) separates.
        bias : {"penalized", "none"}
            Whether the third weight is a bias.
        estimators : dict of str to fitted linear classifier, optional
            More points to mark, by `coef_` and `intercept_`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        VersionSpaceDisplay
            Already drawn.
        """
        rows = _rows(X, bias)
        classes, labels = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) != 2:
            raise DataError(f"y must have two classes, got {len(classes)}")
        normals = np.where(labels == 1, 1.0, -1.0)[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]
        polygon, radius, centres = _geometry(normals)
        for name, model in (estimators or {}).items():
            centres[name] = _weights(name, model, bias)
        display = cls(normals=normals, labels=labels, classes=classes, polygon=polygon, radius=radius, centers=centres)
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_region()
        self._draw_walls()
        self._draw_ball()
        self._draw_centres()
        self._set_view()
        if legend:
            legend_below(ax, gap=0.02)
        return self

    def map(self, directions: ArrayLike) -> NDArray[np.float64]:
        """Where unit vectors, shape (m, 3), stand on the map; its middle is the centre of mass."""
        middle = self.polygon.centre_of_mass
        points = np.asarray(directions, dtype=np.float64)
        scale = np.sqrt(2.0 / np.maximum(1.0 + points @ middle, 1e-9))
        return np.asarray(scale[:, None] * (points @ tangents(middle).T))

    def _draw_region(self) -> None:
        corners = self.polygon.corners
        edges = [_arc(a, b) for a, b in zip(np.roll(corners, 1, axis=0), corners, strict=True)]
        outline = self.map(np.concatenate(edges))
        (self.region_,) = self.ax_.fill(
            *outline.T, facecolor="0.92", edgecolor=INK, linewidth=1.6, zorder=1, label="version space"
        )

    def _draw_walls(self) -> None:
        angles = np.linspace(0.0, 2.0 * np.pi, RESOLUTION)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        styles = class_styles(2)
        self.walls_ = []
        for normal, label in zip(self.normals, self.labels, strict=True):
            points = circle @ tangents(normal)
            line = self.map(points)
            # The far side of the sphere is not on the map.
            line[points @ self.polygon.centre_of_mass < -0.5] = np.nan
            first = not any(wall.get_color() == styles[label][0] for wall in self.walls_)
            name = f"wall of a row of class {self.classes[label]}" if first else "_nolegend_"
            style = {"color": styles[label][0], "linestyle": DASHES[label], "linewidth": 0.7, "alpha": 0.7, "zorder": 2}
            self.walls_.extend(self.ax_.plot(*line.T, label=name, **style))

    def _draw_ball(self) -> None:
        centre = self.centers["ball centre"]
        angles = np.linspace(0.0, 2.0 * np.pi, RESOLUTION)
        around = np.column_stack([np.cos(angles), np.sin(angles)]) @ tangents(centre)
        rim = np.sqrt(max(0.0, 1.0 - self.radius**2)) * centre + self.radius * around
        (self.ball_,) = self.ax_.plot(
            *self.map(rim).T, color=INK, linewidth=1.0, linestyle="dashed", zorder=3, label="largest ball"
        )

    def _draw_centres(self) -> None:
        self.marks_ = {}
        for k, (name, point) in enumerate(self.centers.items()):
            mark, colour = MARKS[k % len(MARKS)], MARK_COLOURS[k % len(MARKS)]
            style: dict[str, Any] = {"marker": mark, "s": 150 if mark == "*" else 60, "zorder": 5}
            if name in CENTRES:
                style |= {"c": colour, "edgecolors": "white", "linewidths": 0.8}
            else:
                # Hollow and larger, so that a centre at the same place shows through.
                style |= {"facecolors": "none", "edgecolors": colour, "linewidths": 1.6, "s": 200, "zorder": 6}
            self.marks_[name] = self.ax_.scatter(*self.map(point[None]).T, label=name, **style)

    def _set_view(self) -> None:
        outline = self.region_.get_xy()
        low, high = outline.min(axis=0), outline.max(axis=0)
        middle, reach = 0.5 * (low + high), 0.65 * float((high - low).max())
        self.ax_.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
        self.ax_.set(aspect="equal", xticks=[], yticks=[])


def _rows(X: Any, bias: str) -> NDArray[np.float64]:
    """The rows as vectors of three coordinates."""
    rows = np.asarray(dense(X), dtype=np.float64)
    wanted = {"penalized": 2, "none": 3}.get(bias)
    if wanted is None:
        raise DataError(f"bias must be 'penalized' or 'none', got {bias!r}")
    if rows.ndim != 2 or rows.shape[1] != wanted:
        raise DataError(
            f"X must have {wanted} columns with bias={bias!r}, got shape {rows.shape}; "
            "a map of the version space needs three weights, the bias included"
        )
    return np.column_stack([rows, np.ones(len(rows))]) if wanted == 2 else rows


def _geometry(normals: NDArray[Any]) -> tuple[SphericalPolygon, float, dict[str, NDArray[Any]]]:
    """(the polygon, radius of the largest ball, the three centres)."""
    gram, limits = normals @ normals.T, Limits()
    ball = ball_centre(gram, tol=TOL, limits=limits)
    analytic = analytic_centre(gram, np.ones(len(gram)), ball.alpha, tol=TOL, limits=limits)
    middle = _unit(normals.T @ analytic.alpha)
    polygon = SphericalPolygon.of_walls(normals, middle)
    points = (_unit(normals.T @ ball.alpha), middle, polygon.centre_of_mass)
    centres = dict(zip(CENTRES, points, strict=True))
    return polygon, ball.radius, centres


def _weights(name: str, model: Any, bias: str) -> NDArray[Any]:
    """A linear classifier as a point of the sphere."""
    weights = np.ravel(dense(model.coef_))
    if bias == "penalized":
        weights = np.append(weights, np.ravel(model.intercept_))
    if weights.shape != (3,):
        raise DataError(f"{name!r} must be a linear classifier of two classes with three weights, got {len(weights)}")
    return _unit(weights)


def _unit(vector: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vector / np.linalg.norm(vector))


def _arc(begin: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """Points on the shorter great circle from one unit vector to another."""
    shares = np.linspace(0.0, 1.0, 30)[:, None]
    angle = np.arccos(np.clip(begin @ end, -1.0, 1.0))
    if angle < 1e-9:
        return begin[None]
    return np.asarray((np.sin((1.0 - shares) * angle) * begin + np.sin(shares * angle) * end) / np.sin(angle))
