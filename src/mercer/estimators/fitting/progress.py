"""The messages of a fit: one line per round, or a bar in a notebook, and a warning if it falls short of its goal."""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from mercer.estimators.fitting.pace import Pace, standing
from mercer.estimators.notebook.bar import NotebookBar, in_notebook
from mercer.solvers.limits import Limits
from mercer.solvers.result import SOLVED, Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.fitting.protocols import Setup
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.fitting.two_class import Solved


_REMEDIES = {
    Status.OPTIMAL_INACCURATE: "Scale the features, or ask for less with a larger tol.",
    # The first sentence is LIBSVM's, by way of scikit-learn: programs look for it.
    Status.ITERATION_LIMIT: (
        "Solver terminated early (max_iter={max_iter}).  Consider pre-processing your data with StandardScaler "
        "or MinMaxScaler. To continue, raise max_iter, or set warm_start=True and fit again."
    ),
    Status.TIME_LIMIT: "To continue, raise time_limit, or set warm_start=True and fit again.",
    Status.MEMORY_LIMIT: "Raise memory_limit.",
    Status.STALLED: "Scale the features, or lower C.",
    Status.NOT_CONVEX: "mercer_check(kernel, X) shows why; other parameters, or another kernel, give one optimum.",
    Status.INTERRUPTED: "To continue, set warm_start=True and fit again.",
}


def warn_unless_optimal(
    status: Status,
    max_iter: int = -1,
    remedies: Mapping[Status, str] | None = None,
    judge: str = "certificate_",
    stacklevel: int = 3,
) -> None:
    """Warn at the line that called `fit` if the status is anything but OPTIMAL.

    `remedies` override the usual ones of some statuses; `judge` is the attribute to consult; `stacklevel` counts the
    calls back to that line, this one being 1.
    """
    if status == Status.OPTIMAL:
        return
    remedy = {**_REMEDIES, **(remedies or {})}[status].format(max_iter=max_iter)
    message = f"{status.name}: {status.meaning}. {remedy} The model can be used; {judge} says how good it is."
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


def is_zero(status: Status, data: "TrainingData", setup: "Setup", solved: "Solved") -> bool:
    """Whether the optimum of a problem is w = 0, so that its function is rounding noise."""
    if status == Status.NOT_CONVEX:
        return False  # squared lengths may be negative, and the status says so
    return any(
        solution.status in SOLVED
        and solution.is_gradient_complete
        and problem.is_zero(solution, data.diagonal(task.indices))
        for problem, task, solution in zip(setup.problems, setup.tasks, solved.solutions, strict=True)
    )


def watchers(estimator: "BaseEstimator", line: Callable[[Any], str]) -> list[Callable[[Any], Any]]:
    """The observers of a fit: a printed line if `verbose` is set, and the user's callbacks.

    `line` describes a round in words.
    """
    return [*([_Teller(estimator, line)] if estimator.verbose else []), *(estimator.callbacks or [])]


class _Teller:
    """A callback that writes one line per round to standard error, or moves a bar in a notebook."""

    def __init__(self, estimator: "BaseEstimator", line: Callable[[Any], str]) -> None:
        self._line = line
        self._bar = NotebookBar(type(estimator).__name__) if in_notebook() else None
        self._pace = Pace.of(estimator) if getattr(estimator, "tol", None) else None

    def __call__(self, point: Any) -> None:
        if self._pace is not None:
            self._pace.note(point)
        if getattr(point, "stage", "solve") == "problems" and not point.working_set:
            return  # none is solved yet
        words = _stage(point) or self._line(point)
        if self._bar is None:
            sys.stderr.write(f"[mercer] {point.seconds:8.2f} s  {words}\n")
            return
        self._bar.show(self._share(point), f"{point.seconds:.1f} s  {' '.join(words.split())}")

    def _share(self, point: Any) -> float | None:
        if getattr(point, "stage", "solve") in ("kernel", "pass"):
            return point.working_set / max(1, point.active)
        return self._pace.share if self._pace is not None else None

    def finish(self, has_ended_well: bool) -> None:
        """Fall silent: the fit is over."""
        if self._bar is not None:
            self._bar.finish(has_ended_well)


def say_that_it_is_over(limits: Limits, has_ended_well: bool) -> None:
    """Complete the bar of a finished fit, if it has one."""
    for each in limits.callbacks:
        if isinstance(each, _Teller):
            each.finish(has_ended_well)


def _stage(point: Any) -> str:
    """A line for anything but a round: the kernel matrix under way, a problem solved, rows passed; else nothing."""
    stage = getattr(point, "stage", "solve")
    if stage == "kernel":
        return f"kernel matrix {point.working_set:3d}%"
    if stage == "problems":
        return f"{point.working_set} of {point.active} problems solved"
    if stage == "pass":
        which = f"pass {point.iterations}" if point.iterations else "first look"
        return f"{which}: {point.working_set:,} of {point.active:,} rows"
    return ""


def round_line(estimator: "BaseEstimator") -> Callable[[Any], str]:
    """The result of a round in words, with an estimate of the time left."""
    pace = Pace.of(estimator)

    def line(point: Any) -> str:
        pace.note(point)
        return (
            f"{point.iterations:9d} steps  {standing(point)}  dual {point.dual:.8g}  "
            f"{point.route or 'solver'}: working set {point.working_set} of {point.active}, {pace.words()}"
        )

    return line


def epoch_line(point: Any) -> str:
    """The same for methods that go through the data in epochs."""
    return f"epoch {point.iterations:6d}  loss {point.violation:9.2e}  mistakes {point.working_set} of {point.active}"


def step_line(point: Any) -> str:
    """The same for a point of stochastic gradient descent."""
    return f"{point.iterations:9d} steps  mean loss {point.loss:9.2e}  {100 * point.short:5.1f}% short of the margin"


def residual_line(point: Any) -> str:
    """The same for methods that solve equations."""
    return f"{point.iterations:6d} steps  residual {point.violation:9.2e}"
