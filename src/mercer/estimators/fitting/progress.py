"""What a fit says to people: a line a round, and a warning when it ends short of its goal."""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from mercer.estimators.fitting.pace import Pace, standing
from mercer.solvers.result import Status

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
        "or MinMaxScaler. A larger max_iter, or warm_start=True and another fit, goes on."
    ),
    Status.TIME_LIMIT: "A larger time_limit, or warm_start=True and another fit, goes on.",
    Status.MEMORY_LIMIT: "Raise memory_limit.",
    Status.STALLED: "Scale the features, or lower C.",
    Status.NOT_CONVEX: "mercer_check(kernel, X) shows why; other parameters, or another kernel, have one optimum.",
    Status.INTERRUPTED: "warm_start=True and another fit goes on.",
}


def warn_unless_optimal(
    status: Status, max_iter: int = -1, remedies: Mapping[Status, str] | None = None, judge: str = "certificate_"
) -> None:
    """Warn at the line that called `fit` when the status is anything but OPTIMAL.

    `remedies` replace the usual ones of some statuses; `judge` is the attribute to look at.
    """
    if status == Status.OPTIMAL:
        return
    remedy = {**_REMEDIES, **(remedies or {})}[status].format(max_iter=max_iter)
    message = f"{status.name}: {status.meaning}. {remedy} The model can be used; {judge} says how good it is."
    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def warn_of_zero(status: Status, data: "TrainingData", setup: "Setup", solved: "Solved", told: str) -> None:
    """Warn where the optimum of a problem is w = 0, so that its function is rounding noise; `told` says what to do.

    To be called by `_keep`, so that the line is that which called `fit`.
    """
    if status == Status.NOT_CONVEX:
        return  # squared lengths may be negative, and that has been said
    for problem, task, solution in zip(setup.problems, setup.tasks, solved.solutions, strict=True):
        if solution.status not in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE) or not solution.is_gradient_complete:
            continue
        if problem.is_zero(solution, data.diagonal(task.indices)):
            warnings.warn(told, ConvergenceWarning, stacklevel=5)
            return


def watchers(estimator: "BaseEstimator", show: Callable[[Any], Any]) -> list[Callable[[Any], Any]]:
    """Who is told how a fit stands: `show`, where `verbose` asks for it, and the user's callbacks."""
    return [*([_staged(show)] if estimator.verbose else []), *(estimator.callbacks or [])]


def _staged(show: Callable[[Any], Any]) -> Callable[[Any], None]:
    """`show`, and a line for what is no round: the kernel matrix in the making, a problem solved, rows passed."""

    def staged(point: Any) -> None:
        stage = getattr(point, "stage", "solve")
        if stage == "kernel":
            sys.stderr.write(f"[mercer] {point.seconds:8.2f} s  kernel matrix {point.working_set:3d} %\n")
        elif stage == "problems":
            sys.stderr.write(
                f"[mercer] {point.seconds:8.2f} s  {point.working_set} of {point.active} problems solved\n"
            )
        elif stage == "pass":
            sys.stderr.write(
                f"[mercer] {point.seconds:8.2f} s  pass {point.iterations or 'to look'}: {point.working_set:,} of "
                f"{point.active:,} rows\n"
            )
        else:
            show(point)

    return staged


def round_printer(estimator: "BaseEstimator") -> Callable[[Any], None]:
    """A callback that prints a line on standard error, with an estimate of the time left."""
    pace = Pace.of(estimator)

    def print_round(point: Any) -> None:
        pace.note(point)
        sys.stderr.write(
            f"[mercer] {point.seconds:8.2f} s  {point.iterations:9d} steps  {standing(point)}  "
            f"dual {point.dual:.8g}  {point.route or 'solver'}: working set {point.working_set} of {point.active}, "
            f"{pace.words()}\n"
        )

    return print_round


def print_epoch(point: Any) -> None:
    """As the lines of `round_printer`, for methods that go through the data in epochs."""
    line = (
        f"[mercer] {point.seconds:8.2f} s  epoch {point.iterations:6d}  loss {point.violation:9.2e}  "
        f"mistakes {point.working_set} of {point.active}"
    )
    sys.stderr.write(line + "\n")


def print_step(point: Any) -> None:
    """The same for a point of stochastic gradient descent."""
    sys.stderr.write(
        f"[mercer] {point.seconds:8.2f} s  {point.iterations:9d} steps  mean loss {point.loss:9.2e}  "
        f"{100 * point.short:5.1f} % short of the margin\n"
    )


def print_residual(point: Any) -> None:
    """The same for methods that solve equations."""
    sys.stderr.write(f"[mercer] {point.seconds:8.2f} s  {point.iterations:6d} steps  residual {point.violation:9.2e}\n")
