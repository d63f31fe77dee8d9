"""How a fit closed in on its optimum: objective and gap against time, for one model or several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._errors import ParameterError
from mercer.plot.drawing.canvas import panels
from mercer.plot.drawing.checks import final_model, require_attribute
from mercer.plot.drawing.palette import line_styles

SCALES = {"seconds": "seconds", "iterations": "iterations"}
# A relative gap below this is rounding error.
ROUNDING = 1e-16
# A trace ends at the dual value of the certificate, to within the precision of the solver.
SAME = 1e-2


@dataclass(frozen=True, eq=False)
class Run:
    """The trace of one problem, with its final certificate.

    Attributes
    ----------
    name : str
    seconds, iterations, dual : ndarray of shape (rounds,)
        The state after each round.
    primal : float
        The primal objective of the certificate.
    gap : ndarray of shape (rounds,)
        (primal - dual) / max(1, primal): after each round, the dual was at most this far from the optimum.
    """

    name: str
    seconds: NDArray[Any]
    iterations: NDArray[Any]
    dual: NDArray[Any]
    primal: float

    @property
    def gap(self) -> NDArray[Any]:
        """The relative gap; the optimum lies between the certified primal value and any dual value."""
        return np.maximum((self.primal - self.dual) / max(1.0, abs(self.primal)), ROUNDING)


class ConvergenceDisplay:
    """Dual objective and duality gap of a fit, round by round.

    The dual objective rises towards the optimum and never passes it; the primal objective of the certificate
    is never below it. So the distance between the two, on a logarithmic scale, bounds how far each round was
    from the optimum. Markers are rounds; what happens within a round is not recorded.

    Make one with :meth:`from_estimator` or, to compare, :meth:`from_estimators`.

    Parameters
    ----------
    runs : list of Run
        Lines to draw; runs of the same name share a style.
    against : {"seconds", "iterations"}
        The horizontal axis.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        Objective, and gap.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.
    objectives_, gaps_ : list of Line2D
        One for each run.
    bounds_ : list of Line2D
        The certified primal value of each run.
    note_ : matplotlib Text or None
        A sentence above the plot, if every run ended in its first round and there is no line to draw.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer import LinearSVC
    >>> from mercer.plot import ConvergenceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(LinearSVC(solver="dual_cd").fit(scale(X), y))
    >>> display.axes_[1].get_yscale()
    'log'
    """

    def __init__(self, *, runs: list[Run], against: str = "seconds") -> None:
        self.runs = runs
        self.against = against

    @classmethod
    def from_estimator(cls, estimator: Any, *, against: str = "seconds", ax: Any = None, legend: bool = False) -> Self:
        """Draw the trace of one fitted model; see :meth:`from_estimators`."""
        name = type(getattr(estimator, "best_estimator_", estimator)).__name__
        return cls.from_estimators({name: estimator}, against=against, ax=ax, legend=legend)

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any], *, against: str = "seconds", ax: Any = None, legend: bool = True
    ) -> Self:
        """Draw the traces of fitted models side by side.

        Parameters
        ----------
        estimators : dict of str to fitted model
            With `trace_` and `certificate_`; those of several classes have a line for each problem.
        against : {"seconds", "iterations"}
            The horizontal axis. Iterations of different solvers are not comparable.
        ax : matplotlib Axes or two of them, optional
        legend : bool

        Returns
        -------
        ConvergenceDisplay
            Already drawn.
        """
        if against not in SCALES:
            raise ParameterError(f"against must be 'seconds' or 'iterations', got {against!r}")
        runs = [run for name, estimator in estimators.items() for run in _runs(name, estimator, cls.__name__)]
        if not runs:
            raise ParameterError("estimators must name at least one model, got none")
        return cls(runs=runs, against=against).plot(ax=ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw into `ax` or a new figure, and return the display."""
        self.axes_ = panels(ax, rows=2, figsize=(6.4, 5.6), sharex=True)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.objectives_, self.gaps_, self.bounds_ = [], [], []
        names = list(dict.fromkeys(run.name for run in self.runs))
        styles = dict(zip(names, line_styles(len(names)), strict=True))
        labelled = set()
        for run in self.runs:
            name = run.name if run.name not in labelled else "_nolegend_"
            labelled.add(run.name)
            self._draw(run, styles[run.name], name)
        self.axes_[0].set_ylabel("dual objective")
        self.axes_[1].set(ylabel="relative gap", yscale="log", xlabel=SCALES[self.against])
        if self.against == "iterations":
            self.axes_[1].set_xscale("log" if min(run.iterations[0] for run in self.runs) > 0 else "linear")
        self.note_ = self._noted() if all(len(run.dual) == 1 for run in self.runs) else None
        if legend:
            self.axes_[1].legend(frameon=False, fontsize="small")
        return self

    def _noted(self) -> Any:
        """A single round has a result but no course to draw."""
        first, n = self.runs[0], len(self.runs)
        steps, gap = sum(int(run.iterations[-1]) for run in self.runs), max(float(run.gap[-1]) for run in self.runs)
        what = "Solved" if n == 1 else f"{n} problems, each solved"
        words = f"{what} in one round: {steps:,} steps, relative gap {gap:.0e}"
        words += f",\ndual objective {first.dual[-1]:.6g}" if n == 1 else ""
        return self.axes_[0].set_title(words, fontsize="medium")

    def _draw(self, run: Run, style: dict[str, Any], name: str) -> None:
        at = getattr(run, self.against)
        marks = {"markersize": 4, "markevery": max(1, len(at) // 25), "linewidth": 1.6, "label": name, **style}
        above, below = self.axes_
        self.objectives_ += above.plot(at, run.dual, **marks)
        self.bounds_.append(above.axhline(run.primal, color=style["color"], linewidth=0.7, linestyle="dashed"))
        self.gaps_ += below.plot(at, run.gap, **marks)


def _runs(name: str, estimator: Any, display: str) -> list[Run]:
    model = final_model(estimator)
    remedy = "support vector machines and linear machines have it"
    trace = require_attribute(model, "trace_", display, remedy)
    certificates = require_attribute(model, "certificate_", display, remedy)
    traces = trace if trace and isinstance(trace[0], list | tuple) else [trace]
    certificates = certificates if isinstance(certificates, list | tuple) else [certificates]
    if len(traces) != len(certificates):
        raise ParameterError(
            f"{name!r} has {len(certificates)} certificates for {len(traces)} traces, so no gap is known"
        )
    return [_run(name, *pair) for pair in zip(traces, certificates, strict=True)]


def _run(name: str, trace: list[Any], certificate: Any) -> Run:
    dual = np.array([getattr(point, "dual", np.nan) for point in trace], dtype=np.float64)
    primal = getattr(certificate, "primal", np.nan)
    if not dual.any() or not np.isfinite([*dual, primal]).all():
        raise ParameterError(
            f"the trace of {name!r} keeps no dual objective, so it has no gap to draw; solvers "
            "'smo', 'chunking', 'dual_cd' and 'newton' keep one"
        )
    if abs(dual[-1] - certificate.dual) > SAME * max(1.0, abs(primal)):
        raise ParameterError(f"the trace of {name!r} is in other units than its certificate, so no gap can be drawn")
    seconds, iterations = (np.array([getattr(point, key) for point in trace]) for key in SCALES)
    return Run(name, seconds, iterations, dual, float(primal))
