"""Errors against the number of training rows, beside the guarantees of theory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from mercer import theory
from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.canvas import legend_below, one_panel
from mercer.plot.drawing.checks import require_classifier
from mercer.plot.drawing.items import take
from mercer.plot.drawing.palette import COLOURS, DASHES, INK

# Names of the bounds of `theory.report`, for the legend.
BOUNDS = {
    "theorem_15_4": "Theorem 15.4 (hard margin)",
    "corollary_15_7": "Corollary 15.7 (soft margin)",
    "norm": "Corollary 15.7 with B = |w|",
    "margin_vc": "VC bound with margin",
    "vc": "VC bound of halfspaces",
    "support_vectors": "support vectors / rows",
    "xi_alpha": "xi-alpha estimate",
}
# Hollow or thin, unlike the filled markers of measured values.
BOUND_MARKS = ("+", "x", "1", "2", "|", "3", "4")


@dataclass(kw_only=True, eq=False, repr=False)
class LearningCurveDisplay:
    """Training and test error of a two-class classifier as rows are added, with the bounds of `mercer.theory`.

    Each size is fitted several times, to different rows; bands are one standard deviation. A bound is
    drawn if all its checkable conditions are met, as the mean over these fits. One that is
    1 or more at all sizes is vacuous, and only named above the plot.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Rows of the fits.
    train_errors, test_errors : ndarray of shape (n_sizes, repeats)
    bounds : dict of str to ndarray of shape (n_sizes, repeats)
        By key of `theory.report`; NaN if a bound does not apply.
    delta : float
        Probability with which a bound may fail.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    train_, test_ : Line2D
    bands_ : list of FillBetweenPolyCollection
        Of the training and the test error.
    bounds_ : dict of str to Line2D
        Those that apply somewhere and are not vacuous.
    vacuous_ : list of str
        Those that apply and are never below 1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer import SVC
    >>> from mercer.plot import LearningCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(SVC(), scale(X), y, train_sizes=[40, 160], repeats=2)
    >>> sorted(display.bounds_)
    ['support_vectors', 'xi_alpha']
    """

    sizes: NDArray[Any]
    train_errors: NDArray[Any]
    test_errors: NDArray[Any]
    bounds: dict[str, NDArray[Any]]
    delta: float = 0.05

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        train_sizes: Sequence[int] | None = None,
        test_size: float = 0.3,
        repeats: int = 5,
        bounds: Sequence[str] | None = None,
        delta: float = 0.05,
        random_state: int | None = 0,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Fit copies of a classifier to more and more rows, and draw the errors.

        Parameters
        ----------
        estimator : classifier
            With two classes; fitted or not, since copies of it are fitted.
        X, y
            Rows or items, and labels.
        train_sizes : sequence of int, optional
            By default eight sizes that grow by equal factors, up to all rows outside the test part.
        test_size : float
            Fraction of the rows held out for testing, different ones in each repeat.
        repeats : int
        bounds : sequence of str, optional
            Keys of `theory.report`; all that apply by default.
        delta : float
            Probability with which a bound may fail.
        random_state : int or None
        ax : matplotlib Axes, optional
        legend : bool

        Returns
        -------
        LearningCurveDisplay
            Already drawn.
        """
        labels = np.asarray(y)
        _require_two_classes(estimator, labels)
        keys = _keys(bounds)
        sizes = _sizes(train_sizes, labels, test_size)
        errors, found = np.full((2, len(sizes), repeats), np.nan), {}
        splits = StratifiedShuffleSplit(repeats, test_size=test_size, random_state=random_state)
        for repeat, (others, test) in enumerate(splits.split(np.zeros(len(labels)), labels)):
            train = _mixed(others, labels)
            for place, size in enumerate(sizes):
                rows = train[:size]
                model = clone(estimator).fit(take(X, rows), labels[rows])
                errors[:, place, repeat] = [_error(model, X, labels, at) for at in (rows, test)]
                for key, value in _bounds(model, take(X, rows), labels[rows], delta, keys).items():
                    found.setdefault(key, np.full((len(sizes), repeats), np.nan))[place, repeat] = value
        display = cls(sizes=sizes, train_errors=errors[0], test_errors=errors[1], bounds=found, delta=delta)
        return display.plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        ax = one_panel(ax, figsize=(6.4, 5.2))
        self.ax_, self.figure_, self.bands_ = ax, ax.figure, []
        self.train_ = self._draw(self.train_errors, "training error", COLOURS[0], "o")
        self.test_ = self._draw(self.test_errors, "test error", COLOURS[4], "s")
        top = 1.0 if self.bounds else max(1.15 * self.test_errors.max(), 0.02)
        self.bounds_ = {}
        means = {key: _mean(self.bounds[key]) for key in BOUNDS if key in self.bounds}
        self.vacuous_ = [key for key, mean in means.items() if np.nanmin(mean) >= 1.0]
        for key, mean in means.items():
            if key not in self.vacuous_:
                self._draw_bound(key, mean)
        if self.vacuous_:
            self._name_vacuous()
        ax.set(xlabel="training rows", ylabel="error", ylim=(0.0, 1.02 * top), xscale="log")
        ax.set_xticks(self.sizes, [str(size) for size in self.sizes])
        ax.minorticks_off()
        if legend:
            legend_below(ax)
        return self

    def _draw(self, errors: NDArray[Any], name: str, colour: str, mark: str) -> Any:
        mean, spread = errors.mean(axis=1), errors.std(axis=1)
        low, high = np.maximum(mean - spread, 0.0), mean + spread
        self.bands_.append(self.ax_.fill_between(self.sizes, low, high, color=colour, alpha=0.18, linewidth=0))
        return self.ax_.plot(self.sizes, mean, color=colour, marker=mark, markersize=5, linewidth=1.8, label=name)[0]

    def _draw_bound(self, key: str, mean: NDArray[Any]) -> None:
        k = len(self.bounds_)
        style = {"color": INK, "linestyle": DASHES[(k + 1) % len(DASHES)], "marker": BOUND_MARKS[k], "linewidth": 1.0}
        # Where it is vacuous, it runs along the top.
        (line,) = self.ax_.plot(self.sizes, np.minimum(mean, 1.0), markersize=5, label=f"bound: {BOUNDS[key]}", **style)
        self.bounds_[key] = line

    def _name_vacuous(self) -> None:
        words = ", ".join(BOUNDS[key] for key in self.vacuous_)
        self.ax_.set_title(f"1 or more, so vacuous: {words}", fontsize="small", loc="left", color="0.35")


def _mean(values: NDArray[Any]) -> NDArray[Any]:
    """Over the repeats in which a bound applies; NaN where it applies in none."""
    counts = np.isfinite(values).sum(axis=1)
    sums = np.nansum(values, axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _require_two_classes(estimator: Any, labels: NDArray[Any]) -> None:
    classes = np.unique(labels)
    if len(classes) != 2:
        raise DataError(f"y must have two classes for the bounds to apply, got {len(classes)}")
    # An estimator that is not fitted has no classes to show.
    if not hasattr(estimator, "decision_function"):
        require_classifier(estimator, "LearningCurveDisplay")


def _keys(bounds: Sequence[str] | None) -> list[str]:
    keys = list(BOUNDS if bounds is None else bounds)
    unknown = [key for key in keys if key not in BOUNDS]
    if unknown:
        raise ParameterError(f"bounds must be among {', '.join(map(repr, BOUNDS))}, got {unknown[0]!r}")
    return keys


def _sizes(train_sizes: Sequence[int] | None, labels: NDArray[Any], test_size: float) -> NDArray[np.intp]:
    most = len(labels) - int(np.ceil(test_size * len(labels)))
    if train_sizes is None:
        return np.unique(np.geomspace(min(20, most), most, 8).astype(np.intp))
    sizes = np.unique(np.asarray(train_sizes, dtype=np.intp))
    if len(sizes) == 0 or sizes[0] < 2 or sizes[-1] > most:
        raise ParameterError(
            f"train_sizes must be from 2 to {most}, the rows outside the test part, got {train_sizes!r}"
        )
    return sizes


def _mixed(rows: NDArray[np.intp], labels: NDArray[Any]) -> NDArray[np.intp]:
    """The rows with both classes among the first two, so that the smallest fit has two classes."""
    other = int(np.argmax(labels[rows] != labels[rows[0]]))
    rows = rows.copy()
    rows[[1, other]] = rows[[other, 1]]
    return rows


def _error(model: Any, X: Any, labels: NDArray[Any], rows: NDArray[np.intp]) -> float:
    return float(np.mean(model.predict(take(X, rows)) != labels[rows]))


def _bounds(model: Any, X: Any, y: NDArray[Any], delta: float, keys: list[str]) -> dict[str, float]:
    """Values of those bounds that apply to a fitted model."""
    if not keys:
        return {}
    report = theory.report(model, X, y, delta)
    return {key: float(report[key].value) for key in keys if report[key].applies}
