"""Whether probabilities are calibrated: observed frequencies against probabilities, with confidence bands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._errors import DataError, ParameterError
from mercer.plot.drawing.canvas import legend_below, panels
from mercer.plot.drawing.checks import final_model, require_attribute
from mercer.plot.drawing.palette import line_styles

# Edges of the histogram of all probabilities.
STEPS = np.linspace(0.0, 1.0, 21)


@dataclass(frozen=True, eq=False)
class Reliability:
    """The nonempty bins of one model.

    Attributes
    ----------
    probability, share : ndarray of shape (n_bins,)
        Mean predicted probability, and fraction of the rows that belong to the class.
    low, high : ndarray of shape (n_bins,)
        Wilson's (1927) confidence interval of the fraction.
    counts : ndarray of shape (n_bins,)
    histogram : ndarray of shape (20,)
        Rows by probability, in steps of 0.05 whatever the bins are.
    error : float
        Expected calibration error: mean of abs(share - probability) over the rows.
    brier : float
        Mean squared error of the probabilities.
    """

    probability: NDArray[Any]
    share: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    counts: NDArray[Any]
    histogram: NDArray[Any]
    error: float
    brier: float


class CalibrationDisplay:
    """Reliability curve with confidence bands, and below it the number of rows in each bin.

    Rows are sorted into bins by predicted probability; each bin shows the fraction that belongs to the class. For a
    calibrated model the two agree, on the diagonal. Bands are Wilson's intervals: a bin of few rows may
    be off the diagonal by chance, and the band shows whether it could be.

    Make one with :meth:`from_estimator`, or :meth:`from_predictions`, which also compares models.

    Parameters
    ----------
    curves : dict of str to Reliability
    confidence : float
        Of the bands.
    pos_label : object
        The class the probabilities refer to.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        Curve, and counts.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.
    lines_ : list of Line2D
    bands_ : list of FillBetweenPolyCollection
    counts_ : list of artists
    diagonal_ : Line2D

    Examples
    --------
    >>> from mercer.plot import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 0, 1, 1, 1, 0], [0.1, 0.2, 0.8, 0.9, 0.3, 0.7], n_bins=2)
    >>> display.curves["model"].counts
    array([3, 3])
    """

    def __init__(self, *, curves: Mapping[str, Reliability], confidence: float = 0.95, pos_label: Any = None) -> None:
        self.curves = dict(curves)
        self.confidence = confidence
        self.pos_label = pos_label

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw the probabilities that a fitted classifier gives for new rows.

        Parameters
        ----------
        estimator : fitted classifier
            With `predict_proba`.
        X, y
            Rows and their labels.
        name : str, optional
        pos_label : object, optional
            Class whose probability is assessed; the last by default.
        **options
            See :meth:`from_predictions`.
        """
        model = final_model(estimator)
        predict_proba = require_attribute(model, "predict_proba", cls.__name__, "SVC(probability=True) has it")
        classes = list(model.classes_)
        wanted = classes[-1] if pos_label is None else pos_label
        if wanted not in classes:
            raise ParameterError(f"pos_label must be one of {', '.join(map(str, classes))}, got {wanted!r}")
        given = np.asarray(predict_proba(X))[:, classes.index(wanted)]
        return cls.from_predictions(y, {name or type(model).__name__: given}, pos_label=wanted, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike | Mapping[str, ArrayLike],
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        confidence: float = 0.95,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw given probabilities, of one model or, by name, of several.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_prob : array-like of shape (n,), or dict of str to such
            Probabilities of `pos_label`.
        pos_label : object, optional
            The larger of two labels by default.
        n_bins : int
        strategy : {"uniform", "quantile"}
            Bins of equal width, or with equally many rows.
        confidence : float
            Of the bands.
        ax : matplotlib Axes or two of them, optional
        legend : bool

        Returns
        -------
        CalibrationDisplay
            Already drawn.
        """
        labels = np.asarray(y_true)
        classes = np.unique(labels)
        if pos_label is None and len(classes) > 2:
            raise ParameterError(f"pos_label must say which of the {len(classes)} classes the probabilities are for")
        wanted = classes[-1] if pos_label is None else pos_label
        if not 0.0 < confidence < 1.0:
            raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}")
        given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
        hits = labels == wanted
        curves = {key: reliability(hits, p, n_bins, strategy, confidence) for key, p in given.items()}
        return cls(curves=curves, confidence=confidence, pos_label=wanted).plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        self.axes_ = panels(ax, rows=2, figsize=(6.0, 6.4), sharex=True, height_ratios=(3, 1))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        above, below = self.axes_
        (self.diagonal_,) = above.plot([0, 1], [0, 1], color="0.6", linewidth=0.9, zorder=0)
        self.lines_, self.bands_, self.counts_ = [], [], []
        for style, (name, curve) in zip(line_styles(len(self.curves)), self.curves.items(), strict=True):
            self._draw(name, curve, style)
        above.set_title(f"bands: {self.confidence:.0%} confidence", fontsize="small", loc="left")
        above.set(ylabel=f"share that was {self.pos_label}", xlim=(-0.01, 1.01), ylim=(-0.02, 1.02))
        below.set(xlabel=f"probability of {self.pos_label}", ylabel="rows", ylim=(0, None))
        if legend:
            legend_below(below, columns=1, gap=0.42, handles=self.lines_)
        return self

    def _draw(self, name: str, curve: Reliability, style: dict[str, Any]) -> None:
        above, below = self.axes_
        label = f"{name}: calibration error {curve.error:.3f}, Brier {curve.brier:.3f}"
        at, colour = curve.probability, style["color"]
        self.lines_ += above.plot(at, curve.share, markersize=5, linewidth=1.6, label=label, **style)
        band = {"color": colour, "alpha": 0.15, "linewidth": 0}
        self.bands_.append(above.fill_between(at, curve.low, curve.high, **band))
        line = {"color": colour, "linestyle": style["linestyle"], "linewidth": 1.4}
        self.counts_.append(below.stairs(curve.histogram, STEPS, **line))


def reliability(
    hits: NDArray[np.bool_],
    probabilities: ArrayLike,
    n_bins: int = 10,
    strategy: str = "uniform",
    confidence: float = 0.95,
) -> Reliability:
    """Bins of the probabilities, the fraction of hits in each, and its confidence interval."""
    given = _checked(hits, probabilities)
    edges = _edges(given, n_bins, strategy)
    place = np.clip(np.searchsorted(edges, given, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    used = np.flatnonzero(counts)
    sums = (np.bincount(place, weights=w, minlength=len(counts))[used] for w in (given, hits.astype(float)))
    probability, share = (total / counts[used] for total in sums)
    low, high = wilson_interval(share, counts[used], confidence)
    error = float(np.abs(share - probability) @ counts[used] / len(given))
    brier = float(np.mean((given - hits) ** 2))
    histogram = np.histogram(given, STEPS)[0]
    return Reliability(probability, share, low, high, counts[used], histogram, error, brier)


def wilson_interval(share: NDArray[Any], counts: NDArray[Any], confidence: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Wilson's (1927) interval of a fraction, which stays in [0, 1] even for few rows."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + confidence / 2))
    middle = share + z * z / (2 * counts)
    reach = z * np.sqrt(share * (1 - share) / counts + z * z / (4.0 * counts**2))
    scale = 1.0 + z * z / counts
    return np.maximum((middle - reach) / scale, 0.0), np.minimum((middle + reach) / scale, 1.0)


def _checked(hits: NDArray[np.bool_], probabilities: ArrayLike) -> NDArray[Any]:
    given = np.asarray(probabilities, dtype=np.float64)
    if given.shape != hits.shape or given.ndim != 1 or len(given) == 0:
        raise DataError(f"y_prob must be one probability for each of the {len(hits)} labels, got shape {given.shape}")
    if not ((given >= 0.0) & (given <= 1.0)).all():
        raise DataError(
            f"y_prob must be probabilities, from 0 to 1, got {given.min():g} to {given.max():g}; "
            "decision values are not probabilities"
        )
    return given


def _edges(given: NDArray[Any], n_bins: int, strategy: str) -> NDArray[Any]:
    if n_bins < 1:
        raise ParameterError(f"n_bins must be positive, got {n_bins!r}")
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.quantile(given, np.linspace(0.0, 1.0, n_bins + 1)))
        return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1e-12])
    raise ParameterError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}")
