"""A kernel matrix with the rows sorted by class, and its spectrum."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError, ParameterError
from mercer.kernels.base.kernel import Kernel
from mercer.plot.drawing.canvas import panels
from mercer.plot.drawing.checks import final_model, require_attribute
from mercer.plot.drawing.items import take
from mercer.plot.drawing.palette import COLOURS, INK, class_styles, one_sided_map
from mercer.plot.drawing.plane import dense

# More distinct targets than this are quantities, not classes.
MOST_CLASSES = 30
# Eigenvalues below this fraction of the largest are rounding errors.
ROUNDING = 1e-14


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMatrixDisplay:
    """Kernel matrix ordered by class, beside its eigenvalues.

    A kernel that suits the task shows bright blocks on the diagonal: rows of one class resemble one another.
    The spectrum shows how many directions of the feature space the rows use. Its *effective dimension*
    is (Σλ)² / Σλ², the number of equal eigenvalues with the same spread. Eigenvalues
    below zero, which a valid kernel does not have, are drawn as crosses.

    Make one with :meth:`from_kernel`, :meth:`from_estimator` or :meth:`from_matrix`.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        In the order in which it is drawn.
    labels : ndarray of shape (n,) or None
        In the same order.
    eigenvalues : ndarray of shape (n,)
        Largest first.
    n_rows : int
        Number of rows, of which `matrix` may show only some.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        Matrix, and spectrum.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.
    image_ : AxesImage
        The matrix.
    borders_ : list of Line2D
        Lines between classes.
    spectrum_, negative_ : Line2D
        Eigenvalues above and below zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.kernels import RBF
    >>> from mercer.plot import KernelMatrixDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), X, y)
    >>> round(display.effective_dimension, 1)
    5.1
    """

    matrix: NDArray[Any]
    labels: NDArray[Any] | None
    eigenvalues: NDArray[Any]
    n_rows: int

    @classmethod
    def from_kernel(
        cls, kernel: Kernel, X: Any, y: ArrayLike | None = None, *, max_rows: int = 600, ax: Any = None
    ) -> Self:
        """Evaluate a kernel on rows, texts, trees or graphs and draw its matrix.

        Parameters
        ----------
        kernel : Kernel
        X : rows or items
        y : array-like of shape (n,), optional
            Classes, or numbers; rows are put in this order.
        max_rows : int
            If there are more rows, this many are taken, evenly spaced in that order.
        ax : matplotlib Axes or two of them, optional

        Returns
        -------
        KernelMatrixDisplay
            Already drawn.
        """
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"kernel must be a Kernel, such as RBF(gamma=0.1), got {kernel!r}")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        order = _order(y, n_rows, max_rows)
        # Parameters taken from the data are taken from all rows.
        bound, chosen = kernel.bind(X), take(X, order)
        return cls._of(bound(chosen), y, order, n_rows).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike | None = None, *, max_rows: int = 600, ax: Any = None
    ) -> Self:
        """Draw the matrix of a fitted model's kernel, with the parameters it was fitted with."""
        model = final_model(estimator)
        expansion = require_attribute(model, "expansion_", cls.__name__, "linear models have no kernel matrix")
        return cls.from_kernel(expansion.kernel, X, y, max_rows=max_rows, ax=ax)

    @classmethod
    def from_matrix(cls, K: ArrayLike, y: ArrayLike | None = None, *, max_rows: int = 600, ax: Any = None) -> Self:
        """Draw a given kernel matrix, square and symmetric."""
        matrix = np.asarray(dense(K), dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
            raise DataError(f"K must be a square matrix, got shape {matrix.shape}")
        if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-10 * np.abs(matrix).max()):
            raise DataError("K must be symmetric, as (K + K.T) / 2 is")
        order = _order(y, len(matrix), max_rows)
        return cls._of(matrix[np.ix_(order, order)], y, order, len(matrix)).plot(ax=ax)

    @classmethod
    def _of(cls, matrix: NDArray[Any], y: ArrayLike | None, order: NDArray[Any], n_rows: int) -> Self:
        labels = None if y is None else np.asarray(y)[order]
        eigenvalues = np.linalg.eigvalsh(np.asarray(matrix, dtype=np.float64))[::-1]
        return cls(matrix=matrix, labels=labels, eigenvalues=eigenvalues, n_rows=n_rows)

    @property
    def effective_dimension(self) -> float:
        """(Σλ)² / Σλ² of the nonnegative eigenvalues."""
        values = np.maximum(self.eigenvalues, 0.0)
        return float(values.sum() ** 2 / (values**2).sum()) if values.any() else 0.0

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        self.axes_ = panels(ax, columns=2, figsize=(9.6, 4.2), width_ratios=(5, 4))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self._draw_matrix()
        self._draw_spectrum()
        return self

    def _draw_matrix(self) -> None:
        ax, n = self.ax_, len(self.matrix)
        # From 0: a kernel under which all rows are alike must not seem to distinguish them.
        limits = {"vmin": min(0.0, self.matrix.min()), "vmax": max(0.0, self.matrix.max())}
        self.image_ = ax.imshow(self.matrix, cmap=one_sided_map(), interpolation="nearest", **limits)
        self.figure_.colorbar(self.image_, ax=ax, label="k(x, x′)", shrink=0.85)
        self.borders_ = []
        shown = f"{n} of {self.n_rows} rows" if n < self.n_rows else f"{n} rows"
        ax.set(xticks=[], yticks=[], xlabel=shown if self.labels is None else f"{shown}, in order of y")
        if self.labels is None or len(np.unique(self.labels)) > MOST_CLASSES:
            return
        classes, first = np.unique(self.labels, return_index=True)
        begins = np.append(np.sort(first), n)
        for border in begins[1:-1] - 0.5:
            self.borders_ += [
                ax.axhline(border, color="white", linewidth=1.2),
                ax.axvline(border, color="white", linewidth=1.2),
            ]
        ax.set_yticks((begins[:-1] + begins[1:] - 1) / 2, [str(label) for label in classes])
        ax.tick_params(axis="y", length=0)
        self._mark_classes(begins, len(classes))

    def _mark_classes(self, begins: NDArray[Any], count: int) -> None:
        """A strip of the class's colour along each block, as in the other displays."""
        from matplotlib.patches import Rectangle

        strip = 0.025 * len(self.matrix)
        for (colour, _), begin, end in zip(class_styles(count), begins[:-1], begins[1:], strict=True):
            place = (-0.5 - strip, begin - 0.5)
            self.ax_.add_patch(Rectangle(place, strip, end - begin, color=colour, linewidth=0, clip_on=False))
        self.ax_.tick_params(axis="y", pad=8)

    def _draw_spectrum(self) -> None:
        ax, values = self.axes_[1], self.eigenvalues
        rank = np.arange(1, len(values) + 1)
        floor = ROUNDING * np.abs(values).max(initial=1e-300)
        above, below = values > floor, values < -floor
        style = {"linestyle": "none", "markersize": 4}
        (self.spectrum_,) = ax.plot(rank[above], values[above], marker="o", color=COLOURS[0], **style)
        name = f"below zero: {below.sum()}"
        (self.negative_,) = ax.plot(rank[below], -values[below], marker="x", color=COLOURS[4], label=name, **style)
        effective = self.effective_dimension
        ax.axvline(
            effective, color=INK, linewidth=0.9, linestyle="dashed", label=f"effective dimension {effective:.1f}"
        )
        handles = [line for line in ax.get_lines() if line is not self.spectrum_ and len(line.get_xdata())]
        ax.set(xscale="log", yscale="log", xlabel="rank", ylabel="|eigenvalue|", title="spectrum")
        ax.legend(handles=handles, frameon=False, fontsize="small", loc="lower left")


def _order(y: ArrayLike | None, n_rows: int, max_rows: int) -> NDArray[np.intp]:
    """Places of the rows to draw, in order of their labels."""
    if max_rows < 1:
        raise ParameterError(f"max_rows must be positive, got {max_rows!r}")
    if n_rows == 0:
        raise DataError("X must have at least one row to be drawn, got none")
    labels = np.zeros(n_rows) if y is None else np.asarray(y)
    if len(labels) != n_rows:
        raise DataError(f"y must have a label for each row of X: {n_rows} rows, {len(labels)} labels")
    order = np.argsort(labels, kind="stable")
    if n_rows > max_rows:
        order = order[np.linspace(0, n_rows - 1, max_rows).astype(np.intp)]
    return order
