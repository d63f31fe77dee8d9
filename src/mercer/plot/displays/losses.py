"""Losses of one number, drawn over each other."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.canvas import legend_below, one_panel
from mercer.plot.drawing.checks import final_model, require_attribute
from mercer.plot.drawing.palette import DASHES, INK, line_styles
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS, Loss
from mercer.problems.losses.residual_losses import CONVEX_LOSSES

POINTS = 601
# There are six dash styles; further lines are thinner.
WIDTHS = (3.0, 1.5)
AXES = {"margin": "margin z = y f(x)", "residual": "residual z = f(x) - y"}


class LossDisplay:
    """Losses as functions of the margin y f(x), or of the residual f(x) - y.

    Make one with :meth:`from_losses` or :meth:`from_estimator`.

    Parameters
    ----------
    losses : list of Loss
        All of the same kind of z.
    z : ndarray
        Where they are drawn, ascending.
    rows : ndarray, optional
        Margins or residuals of rows, drawn as ticks below.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of Line2D
        One for each loss.
    ticks_ : LineCollection or None
        One line for each row.

    Examples
    --------
    >>> from mercer.plot import LossDisplay
    >>> display = LossDisplay.from_losses(["zero_one", "perceptron", "hinge", "ramp"])
    >>> [line.get_label() for line in display.lines_][:2]
    ['zero_one: 1 if z <= 0 else 0', 'perceptron: max(0, -z)']
    """

    def __init__(self, *, losses: list[Loss], z: NDArray[Any], rows: NDArray[Any] | None = None) -> None:
        self.losses = losses
        self.z = z
        self.rows = rows

    @classmethod
    def from_losses(
        cls,
        losses: Iterable[str | Loss] | str | Loss | None = None,
        *,
        low: float = -2.5,
        high: float = 2.5,
        rows: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw losses by name.

        Parameters
        ----------
        losses : iterable of str or Loss, optional
            Names of `mercer.theory.LOSSES` or of the losses of `KernelMachine`, or losses themselves; all those
            of the margin by default.
        low, high : float
            The ends of the z-axis.
        rows : array-like, optional
            Margins (or residuals) of rows, drawn as ticks below.
        ax : matplotlib Axes, optional

        Returns
        -------
        LossDisplay
            Already drawn.
        """
        asked = [losses] if isinstance(losses, str | Loss) else list(LOSSES_OF_MARGINS if losses is None else losses)
        found = [_loss(each) for each in asked]
        if not found:
            raise ParameterError("losses must name at least one loss, got none")
        if len({loss.of for loss in found}) > 1:
            kinds = ", ".join(f"{loss.name} of the {loss.of}" for loss in found)
            raise ParameterError(f"losses must all be of the margin or all of the residual, got {kinds}")
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ParameterError(f"low must be below high, and both finite, got {low!r} and {high!r}")
        marks = None if rows is None else np.ravel(np.asarray(rows, dtype=np.float64))
        if marks is not None and not np.isfinite(marks).all():
            raise DataError("rows must be finite numbers, got NaN or infinity among them")
        return cls(losses=found, z=np.linspace(low, high, POINTS), rows=marks).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, losses: Iterable[str | Loss] | None = None, ax: Any = None
    ) -> Self:
        """Draw the loss of a two-class classifier beside the error, and the margins of rows below.

        Parameters
        ----------
        estimator : fitted two-class classifier
            With `decision_function`; a pipeline may end in it.
        X, y : rows and their labels
        losses : iterable of str or Loss, optional
            By default the 0-1 loss and the classifier's own `loss`, or the hinge if it has no such parameter.
        ax : matplotlib Axes, optional

        Returns
        -------
        LossDisplay
            Already drawn.
        """
        model = final_model(estimator)
        classes = require_attribute(model, "classes_", cls.__name__, "classifiers do")
        if len(classes) != 2:
            raise DataError(f"LossDisplay needs a classifier of two classes, this one has {len(classes)}")
        strange = ~np.isin(np.asarray(y), classes)
        if strange.any():
            raise DataError(f"y must hold labels among {list(classes)}, got {np.asarray(y)[strange][0]!r}")
        margins = np.where(np.asarray(y) == classes[1], 1.0, -1.0) * estimator.decision_function(X)
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        own = getattr(last, "loss", "hinge")
        low, high = float(min(margins.min(initial=-1.0), -1.0)), float(max(margins.max(initial=2.0), 2.0))
        return cls.from_losses(losses or ["zero_one", own], low=low, high=high, rows=margins, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax, figsize=(6.4, 4.8))
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_ = []
        for loss, look in zip(self.losses, self._looks(), strict=True):
            self.lines_ += ax.plot(self.z, _values(loss, self.z), label=f"{loss.name}: {loss.formula}", **look)
        # Squares and exponentials would leave no room for the others.
        top = min(4.0, 1.05 * max(float(np.max(line.get_ydata())) for line in self.lines_))
        self.ticks_ = None
        if self.rows is not None:
            self.ticks_ = ax.vlines(self.rows, -0.14 * top, -0.05 * top, color=INK, alpha=0.5, linewidth=1.0)
        bottom = -0.18 * top if self.rows is not None else -0.03 * top
        ax.set(xlabel=AXES[self.losses[0].of], ylabel="loss", xlim=(self.z[0], self.z[-1]), ylim=(bottom, top))
        ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= top])
        ax.spines[["top", "right"]].set_visible(False)
        legend_below(ax, columns=2)
        return self

    def _looks(self) -> list[dict[str, Any]]:
        """The style of each line: the error as a step in ink, the others as lines of a chart."""
        error = {"color": INK, "drawstyle": "steps-post", "linewidth": 1.8}
        styles = iter(line_styles(len(self.losses)))
        looks, count = [], 0
        for loss in self.losses:
            if loss.name == "zero_one":
                looks.append(error)
                continue
            looks.append({**next(styles), "marker": None, "linewidth": WIDTHS[min(count // len(DASHES), 1)]})
            count += 1
        return looks


def _values(loss: Any, z: NDArray[Any]) -> NDArray[Any]:
    values: NDArray[Any] = loss.value(z)
    return values


def _loss(asked: str | Loss) -> Loss:
    """The loss of a name, or the given one."""
    if isinstance(asked, Loss):
        return asked
    # "squared" is one of each kind; by name it is that of the margin, as in theory.LOSSES.
    known: dict[str, Loss] = {**CONVEX_LOSSES, **LOSSES_OF_MARGINS}
    if asked not in known:
        raise ParameterError(f"losses must be among {', '.join(known)}, or Loss objects, got {asked!r}")
    return known[asked]
