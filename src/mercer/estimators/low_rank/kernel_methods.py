"""Ridge regression and principal components restricted to landmarks."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._errors import ParameterError
from mercer._types import IndexArray
from mercer.estimators.fitting.tasks import BinaryTask
from mercer.estimators.fitting.training import Budget
from mercer.estimators.low_rank.block_data import BlockData
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.low_rank.over_blocks import LEAST_SQUARES, ROUNDED, better_choice
from mercer.estimators.low_rank.restricted import Landmarks, grown
from mercer.problems.distance import Distance
from mercer.solvers.low_rank import ridge
from mercer.solvers.low_rank.components import LowRankComponents, components
from mercer.solvers.low_rank.kernel_blocks import KernelBlocks

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.problems.kernel_methods.ridge import Ridge, RidgeCertificate
    from mercer.solvers.limits import Limits


@dataclass
class RestrictedRidge:
    """A ridge regression over landmarks, with its certificate."""

    marks: Landmarks
    solution: ridge.LowRankRidge
    certificate: "RidgeCertificate"
    distance: Distance

    @property
    def relative_distance(self) -> float:
        return self.distance.relative


@dataclass
class RestrictedComponents:
    """Principal components over landmarks, with their certificate."""

    marks: Landmarks
    pairs: LowRankComponents
    distance: Distance

    @property
    def relative_distance(self) -> float:
        return self.distance.relative


class _Targets:
    """Several targets in the form in which `better_choice` takes several problems."""

    def __init__(self, problem: "Ridge", used: IndexArray) -> None:
        self.tasks = [BinaryTask(used, column, (0,)) for column in problem.targets.T]


def restricted_ridge(
    estimator: Any, data: "TrainingData", whole: "Ridge", limits: "Limits"
) -> tuple["Ridge", RestrictedRidge]:
    """A ridge regression restricted to an estimator's landmarks, with the problem of its rows.

    Rows of zero weight are dropped, except in `Blocks`, which are read as a whole.
    """
    used = np.flatnonzero(whole.scale)
    marks = Landmarks(estimator, estimator.approximation, data, used, limits)
    rows = marks.rows_in_blocks
    problem = replace(whole, targets=whole.targets[rows], scale=whole.scale[rows])
    some = np.flatnonzero(problem.scale)
    marks.dtype = marks.precision(ROUNDED)
    if marks.choice == "auto":
        # |f|^2 / 2 + sum of C (y - f)^2 is the same objective divided by the penalty.
        shares = [problem.scale**2 / (2.0 * penalty) for penalty in problem.penalties]
        each = zip(problem.targets.T, shares, strict=True)
        objectives = [Objective(y, C, LEAST_SQUARES, "none") for y, C in each]
        marks.choice = better_choice(marks, _Targets(problem, rows), objectives, limits)
    budget = Budget.resolve(estimator.memory_limit, None, data.X)

    def solve(_before: RestrictedRidge | None) -> RestrictedRidge:
        stop = data.kept.stop if isinstance(data, BlockData) else limits.stop
        blocks = KernelBlocks(marks.basis, marks.row_blocks(), marks.memory(budget), marks.n_jobs, stop)
        found = ridge.solve(blocks, marks.basis.factor, problem, estimator.tol, limits, marks.dtype)
        blocks.stop = None  # a result is certified however the steps ended
        image = solve_triangular(marks.basis.factor, blocks.combination(found.alpha), lower=True)
        fitted = blocks.values(marks.basis.coefficients(image))
        counted = replace(problem, targets=problem.targets[some], scale=problem.scale[some])
        certificate = counted.certificate(found.alpha[some], fitted[some])
        sizes = np.sqrt(problem.penalties)
        distance = marks.distance(found.alpha * sizes, rows, certificate.primal, image * sizes)
        return RestrictedRidge(marks, found, certificate, distance)

    return problem, grown(marks, solve)


def restricted_components(estimator: Any, data: "TrainingData", count: int, limits: "Limits") -> RestrictedComponents:
    """Principal components restricted to an estimator's landmarks."""
    everything = np.arange(data.shape[0])
    marks = Landmarks(estimator, estimator.approximation, data, everything, limits)
    if marks.choice == "auto":
        marks.choice = marks.choice_by_trace()
    budget = Budget.resolve(estimator.memory_limit, None, data.X)

    def solve(_before: RestrictedComponents | None) -> RestrictedComponents:
        part = marks.coordinates(budget)
        missed = marks.missed_variance(part.X)
        return RestrictedComponents(marks, components(part.X, min(count, marks.basis.size)), missed)

    return grown(marks, solve)


def require_plain_ridge(model: Any) -> None:
    """Refuse options that `KernelRidge` restricted to landmarks does not support."""
    for name, usual in (("alphas", None), ("leave_one_out", False)):
        if getattr(model, name) is not usual:
            raise ParameterError(f"{name} is not available with an approximation; choose alpha by cross-validation")
    if not np.all(np.asarray(model.alpha) > 0):
        raise ParameterError(f"alpha must be positive with an approximation, got {model.alpha!r}")
