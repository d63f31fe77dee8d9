"""The weight of each kernel in a combination."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError
from mercer.plot.drawing.canvas import legend_below, one_panel
from mercer.plot.drawing.checks import final_model, require_attribute
from mercer.plot.drawing.palette import COLOURS, HATCHES, INK
from mercer.plot.drawing.text_layout import shortened

# Height of a bar, in inches.
BAR = 0.28


class WeightsDisplay:
    """Weights of kernels as bars, for one model or several; a weight of 0 is written out.

    Make one with :meth:`from_estimator` or :meth:`from_weights`.

    Parameters
    ----------
    names : list of str
        The kernels.
    weights : ndarray of shape (n_models, n_kernels)
        Nonnegative.
    models : list of str
        The names of the groups of bars, if there are several.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : list of BarContainer
        One for each model.
    texts_ : list of Text
        The number at the end of each bar.

    Examples
    --------
    >>> from mercer.plot import WeightsDisplay
    >>> display = WeightsDisplay.from_weights(["rbf(0.1)", "rbf(1)", "linear"], [0.7, 0.0, 0.3])
    >>> [text.get_text() for text in display.texts_]
    ['0.7', '0.3', 'not used']
    """

    def __init__(self, *, names: Sequence[str], weights: NDArray[Any], models: Sequence[str] = ("",)) -> None:
        self.names = list(names)
        self.weights = weights
        self.models = list(models)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Iterable[str] | None = None, sort: bool = True, ax: Any = None
    ) -> Self:
        """Draw the `weights_` of a fitted model of several kernels.

        Parameters
        ----------
        estimator : fitted model
            With `weights_`, and `kernel_names_` or `kernels` (a list, or a dict by name) to take names from.
        names : iterable of str, optional
            Of the kernels; by default the model's own names.
        sort : bool
            Whether the largest weight comes first.
        ax : matplotlib Axes, optional

        Returns
        -------
        WeightsDisplay
            Already drawn.
        """
        model = final_model(estimator)
        weights = np.asarray(require_attribute(model, "weights_", cls.__name__, "MKLClassifier and MKLRegressor do"))
        found = list(names) if names is not None else _names(model, np.shape(weights)[-1])
        if weights.ndim == 2 and len(weights) > 1:
            classes = getattr(model, "classes_", range(len(weights)))
            keys = [str(label) for label in classes] if len(classes) == len(weights) else map(str, range(len(weights)))
            return cls.from_weights(found, dict(zip(keys, weights, strict=True)), sort=sort, ax=ax)
        return cls.from_weights(found, np.ravel(weights), sort=sort, ax=ax)

    @classmethod
    def from_weights(
        cls, names: Iterable[str], weights: ArrayLike | Mapping[str, ArrayLike], *, sort: bool = True, ax: Any = None
    ) -> Self:
        """Draw weights by name; a dict of weights compares models.

        Parameters
        ----------
        names : iterable of str
        weights : array-like of shape (n_kernels,), or dict of str to such
            Nonnegative.
        sort : bool
            Whether the largest weight comes first.
        ax : matplotlib Axes, optional

        Returns
        -------
        WeightsDisplay
            Already drawn.
        """
        names = [str(name) for name in names]
        given = weights if isinstance(weights, Mapping) else {"": weights}
        table = np.array([np.asarray(row, dtype=np.float64) for row in given.values()])
        if table.ndim != 2 or table.shape[1] != len(names) or not names:
            raise DataError(f"weights must be one number for each of {len(names)} names, got shape {table.shape[1:]}")
        if not (np.isfinite(table).all() and (table >= 0).all()):
            raise DataError(f"weights must be numbers that are not negative, got {table.min():g}")
        order = np.argsort(-table.sum(axis=0), kind="stable") if sort else np.arange(len(names))
        display = cls(names=[names[k] for k in order], weights=table[:, order], models=list(given))
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        count = len(self.models)
        ax = one_panel(ax, figsize=(6.4, 1.2 + BAR * (count + 0.6) * len(self.names)))
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_, self.texts_ = [], []
        places, height = np.arange(len(self.names)), 0.8 / count
        for k, (model, row) in enumerate(zip(self.models, self.weights, strict=True)):
            at = places + (k - (count - 1) / 2) * height
            style = {"color": COLOURS[k % len(COLOURS)], "hatch": HATCHES[k % len(HATCHES)], "edgecolor": "white"}
            self.bars_.append(ax.barh(at, row, height=0.92 * height, label=model or None, **style))
            self._write(at, row)
        ax.set_yticks(places, [shortened(name) for name in self.names])
        ax.set(xlabel="weight", xlim=(0.0, 1.18 * self.weights.max(initial=0.0) or 1.0))
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        if count > 1:
            legend_below(ax, columns=min(count, 4))
        return self

    def _write(self, at: NDArray[Any], row: NDArray[Any]) -> None:
        room = 0.01 * (self.weights.max(initial=0.0) or 1.0)
        for place, weight in zip(at, row, strict=True):
            text, colour = (f"{weight:.3g}", INK) if weight > 0 else ("not used", "0.45")
            self.texts_.append(self.ax_.text(weight + room, place, text, va="center", fontsize="small", color=colour))


def _names(model: Any, count: int) -> list[str]:
    """The model's names for its kernels, or else their repr."""
    if len(getattr(model, "kernel_names_", ())) == count:
        return [str(name) for name in model.kernel_names_]
    kernels = getattr(model, "kernels_", None) or getattr(model, "kernels", None)
    if isinstance(kernels, Mapping):
        names = [str(name) for name in kernels]
    else:
        pairs = [part if isinstance(part, tuple) else (repr(part), part) for part in kernels or ()]
        names = [str(name) for name, _ in pairs]
    return names if len(names) == count else [f"kernel {k}" for k in range(count)]
