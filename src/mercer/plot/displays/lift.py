"""The lift: rows in the feature space of a kernel, and the plane that separates them there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.canvas import legend_below, one_panel, rings
from mercer.plot.drawing.checks import final_model, require_classifier, require_vectors
from mercer.plot.drawing.lifting import Lift, cut_box, lift_of
from mercer.plot.drawing.palette import INK, class_styles
from mercer.plot.drawing.plane import numbers, ticks

# Points of the original space whose images show the shape of the lifted one, along each axis.
SHEET = 41
PLANE = "#BBBBBB"


@dataclass(kw_only=True, eq=False, repr=False)
class LiftDisplay:
    """Rows of one or two columns in a feature space of two or three, with the plane that separates them.

    A kernel is an inner product of features. If only a few of them are not constant, they can be drawn:
    ``Polynomial(degree=2)`` of one column puts x on a parabola (x, x²), where a line separates what no
    threshold could; ``Polynomial(degree=2, coef0=0)`` of two columns puts (x1, x2) on a cone
    (x1², √2 x1 x2, x2²), where a plane separates an inside from an outside. The thin net is the image of the
    original space, the grey plane is <w, ψ(x)> + b = 0, with the w and b of the fitted model.

    If a kernel has more features (the Gaussian has infinitely many), the display shows the one
    that matters: (x1, x2) is lifted to the height f(x), and the plane lies at height 0.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    features : ndarray of shape (n, 2) or (n, 3)
        The lifted rows.
    labels, classes : ndarray
        Their labels, and the two classes.
    normal : ndarray of shape (2,) or (3,)
        w.
    offset : float
        b.
    is_support : ndarray of bool of shape (n,)
        Rows to ring.
    sheet : ndarray of shape (r, 2) or (r, r, 3)
        Image of the original space.
    names : sequence of str
        Of the features.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    points_, hidden_ : list of artists
        The rows in front of the plane and behind it, one artist for each class.
    rings_ : artist
        Support vectors.
    plane_ : artist
        The separating line or plane; None if it is out of sight.
    sheet_ : artist
        The image of the original space.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.kernels import Polynomial
    >>> from mercer.plot import LiftDisplay
    >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> y = [1, 0, 0, 0, 1]
    >>> model = SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), C=100.0).fit(X, y)
    >>> display = LiftDisplay.from_estimator(model, X, y)
    >>> display.features.shape
    (5, 2)
    """

    features: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]
    normal: NDArray[Any]
    offset: float
    is_support: NDArray[np.bool_]
    sheet: NDArray[Any]
    names: tuple[str, ...]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature_map: Callable[[NDArray[Any]], Any] | None = None,
        names: tuple[str, ...] | None = None,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Lift the rows into the model's features and draw them.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            With a kernel of vectors or, with `feature_map`, a linear classifier fitted to its features.
        X : array-like of shape (n, 1) or (n, 2)
        y : array-like of shape (n,), optional
            Labels of the rows; predicted ones when left out.
        feature_map : callable, optional
            Features of rows, two or three, that the linear model was fitted to. By default the kernel's own,
            or the decision value as a third coordinate if there are too many of them.
        names : tuple of str, optional
            Of the features.
        ax : matplotlib Axes, optional
            With ``projection="3d"`` where there are three features.
        legend : bool

        Returns
        -------
        LiftDisplay
            Already drawn.
        """
        model = final_model(estimator)
        require_classifier(model, cls.__name__)
        require_vectors(model, cls.__name__)
        rows = _few_columns(X)
        lift = lift_of(model, rows, feature_map)
        labels = np.asarray(model.predict(rows if feature_map is None else lift.of(rows)) if y is None else y)
        sheet = lift.of(_sheet_points(rows))
        shape = (len(sheet), 2) if lift.count == 2 else (SHEET, SHEET, 3) if rows.shape[1] == 2 else (len(sheet), 3)
        display = cls(
            features=lift.of(rows),
            labels=labels,
            classes=np.asarray(model.classes_),
            normal=lift.normal,
            offset=lift.offset,
            is_support=_is_support(model, rows, lift, feature_map),
            sheet=sheet.reshape(shape),
            names=names or lift.names,
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        solid = self.features.shape[1] == 3
        options = {"projection": "3d", "computed_zorder": False} if solid else {}
        ax = one_panel(ax, figsize=(7.0, 6.0) if solid else None, **options)
        if solid and not hasattr(ax, "get_zlim"):
            raise ParameterError('ax must have three dimensions for three features: subplot_kw={"projection": "3d"}')
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_sheet()
        self._draw_plane()
        self._draw_points()
        self._label()
        if legend:
            legend_below(ax, columns=3, gap=-0.06 if solid else 0.13)
        return self

    def _draw_sheet(self) -> None:
        style = {"color": "0.55", "linewidth": 0.5, "alpha": 0.7, "zorder": 1}
        low, high = self._bounds()
        inside = np.all((self.sheet >= low) & (self.sheet <= high), axis=-1, keepdims=True)
        sheet = np.where(inside, self.sheet, np.nan)
        if sheet.ndim == 3:
            x, y, z = np.moveaxis(sheet, 2, 0)
            self.sheet_ = self.ax_.plot_wireframe(x, y, z, rcount=SHEET // 2, ccount=SHEET // 2, **style)
        else:
            (self.sheet_,) = self.ax_.plot(*sheet.T, **style | {"linewidth": 1.2})

    def _draw_plane(self) -> None:
        low, high = self._bounds()
        corners = cut_box(self.normal, self.offset, low, high)
        self.plane_ = None
        if len(corners) < 2:
            return
        if self.features.shape[1] == 2:
            (self.plane_,) = self.ax_.plot(*corners.T, color=INK, linewidth=1.8, zorder=2, label="separating line")
            return
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

        style = {"facecolor": PLANE, "edgecolor": INK, "linewidth": 0.8, "alpha": 0.45, "zorder": 2}
        self.plane_ = self.ax_.add_collection3d(Poly3DCollection([corners], label="separating plane", **style))

    def _bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The box that holds the rows, a little larger."""
        low, high = self.features.min(axis=0), self.features.max(axis=0)
        room = 0.06 * np.where(high > low, high - low, 1.0)
        return low - room, high + room

    def _draw_points(self) -> None:
        self.points_, self.hidden_ = [], []
        hidden = self._behind()
        for label, (colour, mark) in zip(self.classes, class_styles(2), strict=True):
            chosen = self.labels == label
            style = {"c": colour, "marker": mark, "s": 26, "edgecolors": "white", "linewidths": 0.5, **self._flat()}
            # Rows behind the plane are drawn first, and show through.
            self.hidden_.append(self.ax_.scatter(*self.features[chosen & hidden].T, zorder=1.5, **style))
            visible = self.features[chosen & ~hidden]
            self.points_.append(self.ax_.scatter(*visible.T, label=str(label), zorder=3, **style))
        style = {"marker": "o", "s": 85, "linewidths": 1.0, "zorder": 4, **self._flat()}
        self.rings_ = rings(self.ax_, self.features[self.is_support], "support vector", **style)

    def _behind(self) -> NDArray[np.bool_]:
        """Which rows the plane hides from the viewer, in three dimensions."""
        if self.features.shape[1] == 2:
            return np.zeros(len(self.features), bool)
        elevation, azimuth = np.radians([self.ax_.elev, self.ax_.azim])
        eye = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
        low, high = self._bounds()
        # The axes are scaled to a cube, which determines the position of the viewer.
        towards = np.sign(self.normal @ (eye * (high - low)))
        return np.asarray(towards * (self.features @ self.normal + self.offset) < 0)

    def _flat(self) -> dict[str, Any]:
        """In three dimensions markers keep their colour instead of fading with depth."""
        return {"depthshade": False} if self.features.shape[1] == 3 else {}

    def _label(self) -> None:
        low, high = self._bounds()
        for axis, name, begin, end in zip("xyz", self.names, low, high, strict=False):
            self.ax_.set(**{f"{axis}label": name, f"{axis}lim": (begin, end)})
        if self.features.shape[1] == 3:
            self.ax_.locator_params(nbins=4)
            self.ax_.set_box_aspect(None, zoom=0.88)  # otherwise the label of the vertical axis is cut off


def _few_columns(X: Any) -> NDArray[np.float64]:
    rows = numbers(X)
    if rows.ndim != 2 or rows.shape[1] not in (1, 2) or len(rows) == 0:
        raise DataError(f"X must have 1 or 2 columns and at least one row to be lifted, got shape {rows.shape}")
    return rows


def _sheet_points(rows: NDArray[Any]) -> NDArray[Any]:
    """A net over the original space, row by row."""
    axes = [ticks(column, 0.02, SHEET if rows.shape[1] == 2 else 200) for column in rows.T]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, rows.shape[1])


def _is_support(
    model: Any, rows: NDArray[Any], lift: Lift, feature_map: Callable[..., Any] | None
) -> NDArray[np.bool_]:
    """Which rows are among the support vectors, by their values."""
    if not hasattr(model, "support_vectors_"):
        return np.zeros(len(rows), bool)
    vectors, own = numbers(model.support_vectors_), rows if feature_map is None else lift.of(rows)
    return np.asarray((own[:, None, :] == vectors).all(axis=2).any(axis=1))
