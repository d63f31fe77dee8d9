"""Ways to choose kernel weights, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.estimators.mkl.cv import best_by_folds
from mercer.estimators.mkl.solve import ENDINGS, WeightedSolved, empty_solutions, stopped_at
from mercer.problems.mkl.alignment import alignment_problem
from mercer.problems.mkl.easy_mkl import distributions, hull_problem, hull_ridge, ridged_hull_problem
from mercer.problems.mkl.weighted_kernels import WeightSet
from mercer.solvers.mkl import bundle_newton, lp_norm
from mercer.solvers.mkl.alignment import align
from mercer.solvers.mkl.search import WeightSearch
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.mkl.solve import Machines
    from mercer.solvers.limits import Limits


# Methods that minimise the machines' objective over the weights too.
JOINT = ("simple", "lp-norm")
FIXED = WeightSet(None)


def allowed_weights(method: str, p: float) -> WeightSet:
    """The set over which a method minimises; `FIXED` if it chooses weights by other means."""
    if method not in JOINT:
        return FIXED
    return WeightSet(1.0 if method == "simple" else float(p))


def solve_with_weights(
    machines: "Machines",
    model: "BaseEstimator",
    limits: "Limits",
    targets: Callable[[], FloatArray],
    folds: Callable[[], Any],
) -> tuple[FloatArray, WeightedSolved]:
    """(weights, WeightedSolved) by the method of the model.

    Parameters
    ----------
    machines : Machines
    model
        `method`, `p`, `lam` and `gap_tol` are read.
    limits : Limits
    targets : callable
        Gives targets of shape (n, t).
    folds : callable
        Gives a `FoldScores`.
    """
    allowed = allowed_weights(model.method, model.p)
    search = WeightSearch(allowed, machines, np.inf if allowed is FIXED else model.gap_tol, limits)
    try:
        status = _run(search, machines, model, targets, folds)
    except ENDINGS as end:
        status = stopped_at(limits, end)
    return _outcome(search, machines, allowed, _ending(machines, limits) if status is None else status)


def _ending(machines: "Machines", limits: "Limits") -> Status:
    """The status of a search whose machines were stopped by a limit."""
    status = limits.reached()
    if status is None and machines.partial is not None:
        status = Status.worst(one.status for one in machines.partial[1])
    return status or Status.STALLED


def _run(
    search: Any,
    machines: "Machines",
    model: "BaseEstimator",
    targets: Callable[[], FloatArray],
    folds: Callable[[], Any],
) -> Status | None:
    n_kernels = len(machines.several)
    if model.method in JOINT:
        solver = bundle_newton if search.allowed.p == 1.0 else lp_norm
        return solver.minimise(search, n_kernels)
    weights = _chosen(model, machines, targets, folds)
    found = search.visit(weights)
    return None if found is None else Status.worst(one.status for one in found.solutions)


def _chosen(
    model: "BaseEstimator", machines: "Machines", targets: Callable[[], FloatArray], folds: Callable[[], Any]
) -> FloatArray:
    """Weights of sum 1, chosen without the objective of the machines."""
    if model.method == "average":
        return FIXED.equal(len(machines.several))
    if model.method == "easy":
        return _easy(machines, model.lam)
    if model.method == "cv":
        return best_by_folds(folds(), len(machines.several))
    centred = model.method == "centered_alignment"
    return align(alignment_problem(machines.several, targets(), machines.counts, centred, machines.limits.stop))


def _easy(machines: "Machines", lam: float) -> FloatArray:
    """The contribution of each kernel to the distance between the classes."""
    tasks, counts, ones = machines.setup.tasks, machines.counts, np.ones(len(machines.several))
    if machines.are_kept:
        # A copy of the sum with the ridge would cost as much as many steps.
        matrix = machines.matrix(ones, hull_ridge(lam, counts))
        problems = [ridged_hull_problem(task.signs) for task in tasks]
    else:
        matrix = machines.matrix(ones)
        problems = [hull_problem(task.signs, lam, counts[task.indices]) for task in tasks]
    solutions = machines.solutions(matrix, problems=problems)
    machines.release(matrix)
    q = machines.contributions([distributions(one.beta) for one in solutions])
    return FIXED.normalised(np.maximum(q, 0.0))


def _outcome(
    search: Any, machines: "Machines", allowed: WeightSet, status: Status
) -> tuple[FloatArray, WeightedSolved]:
    """The best point, or if none was finished, the present one."""
    if search.best is not None:
        weights, solutions = search.best.weights, search.best.solutions
    elif machines.partial is not None:
        weights, solutions = machines.partial
    else:
        weights = allowed.equal(len(machines.several))
        solutions = empty_solutions(machines.setup, status)
    solved = WeightedSolved(machines.setup, solutions, allowed, status, search.iterations, search.trace)
    return weights, solved
