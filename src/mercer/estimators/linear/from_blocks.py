"""Linear machines learnt from blocks of rows: memory is bounded by blocks, not by rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.weights import (
    row_weights,
    sample_weights,
    target_weights,
    total_weight,
    weights_of_classes,
)
from mercer.estimators.linear.solve import usable_starts
from mercer.estimators.out_of_core.passes import Passes, feature_blocks
from mercer.io.blocks.blocks import Blocks
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve_many
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.linear_result import LinearSolution
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits

# Up to this many numbers, double precision from the start costs next to nothing.
SMALL = 2_000_000


def factors_of_classes(model: Any, codes: IndexArray, weights: FloatArray | None) -> tuple[float, FloatArray | float]:
    """(total weight of the rows, the factor on C of each row, or of all)."""
    n, factor = float(len(codes)), cast("FloatArray | float", 1.0)
    if model.class_weight is not None:
        factor = weights_of_classes(model.class_weight, model.classes_, codes)[codes]
    if weights is None:
        return n, factor
    weights = sample_weights(weights, codes, model.classes_)
    return total_weight(weights), factor * weights


def factors_of_targets(n: int, weights: FloatArray | None) -> tuple[float, FloatArray | float]:
    """The same for targets that are quantities."""
    if weights is None:
        return float(n), 1.0
    weights = target_weights(row_weights(weights, n), n)
    return total_weight(weights), weights


def block_limits(model: Any, what: str) -> "Limits":
    """The limits of a fit by blocks, if the model's parameters allow one; `what` names it in errors."""
    model._check_shared((model.loss,))
    model._require_by_blocks(what)
    return model._limits()


def block_task(model: Any, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> "BlockTask":
    """The training data of a model, from blocks or rows; sets its classes and columns."""
    return model._block_task(X, y, sample_weight, limits)


def gap_goal(model: Any) -> float:
    """The relative gap that a model requires."""
    return float(model._goal)


@dataclass
class BlockTask:
    """Targets and weights read from blocks.

    Attributes
    ----------
    blocks : Blocks
    truth : ndarray (n,)
        The index of each row's class, or its target.
    targets : list of ndarray (n,)
        Of each machine.
    n : float
        The weight of all rows.
    factors : ndarray (n,) or float
        On C, of each row or of all: the weights, and those of the classes.
    weights : ndarray (n,) or None
    """

    blocks: Blocks
    truth: Array
    targets: list[Array]
    n: float
    factors: FloatArray | float
    weights: FloatArray | None = None

    def machines(self, model: Any, factors: FloatArray | float) -> list[BlockMachine]:
        """The machines of a model, with these factors on its C."""
        C, epsilon = model._C_of_rows(self.n, factors), float(getattr(model, "epsilon", 0.0))
        scale = float(model.intercept_scaling)
        return [BlockMachine(each, C, model.loss, epsilon, model._bias, scale) for each in self.targets]


def class_task(model: Any, blocks: Blocks, codes: IndexArray, weights: FloatArray | None) -> BlockTask:
    """A machine for two classes, or one for each class against the rest."""
    targets = machine_targets(model, codes)
    return BlockTask(blocks, codes, targets, *factors_of_classes(model, codes, weights), weights)


def machine_targets(model: Any, codes: IndexArray) -> list[Array]:
    """The sides of the rows in each machine."""
    positive = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    return [np.where(codes == c, np.int8(1), np.int8(-1)) for c in positive]


def solve_task(model: Any, task: BlockTask, limits: "Limits") -> None:
    """Solve all machines in the same passes; sets the fitted attributes of the model."""
    source = feature_blocks(task.blocks, limits, len(task.targets), model.n_jobs, model.memory_limit)
    starts = _starts(model, source.n, source.n_features, len(task.targets))
    solve_from(model, source, task.machines(model, task.factors), starts, limits)


def steps_dtype(source: Passes) -> type:
    """The precision of the steps; certificates are always in double."""
    return np.float64 if source.n * source.n_features <= SMALL else np.float32


def solve_from(
    model: Any,
    source: Passes,
    machines: Sequence[BlockMachine],
    starts: Sequence[BlockSolution | None],
    limits: "Limits",
) -> None:
    """Solve the machines of a model from some start, and set its fitted attributes."""
    found = solve_many(
        source, machines, gap_tol=model._goal, limits=limits, starts=starts, dtype=steps_dtype(source)
    )  # fmt: skip
    weights = np.stack([each.coefficients for each in found])
    model.coef_ = weights if hasattr(model, "classes_") else weights[0]
    model.intercept_ = np.array([each.bias for each in found])
    if hasattr(model, "classes_"):
        model._calibration = None
    model.status_ = Status.worst([each.status for each in found])
    model.n_iter_ = max(each.iterations for each in found)
    model.n_passes_, model.rows_read_ = source.passes, source.rows_read
    certificates = [each.certificate for each in found]
    if all(each is not None for each in certificates):
        model._heed(certificates)
    model.certificate_ = one_or_all(certificates)
    model.trace_ = one_or_all([each.trace for each in found])
    model._last = [_kept(each) for each in found] if model.warm_start else None


def _kept(found: BlockSolution) -> LinearSolution:
    return LinearSolution(found.w, found.bias, found.beta, found.status, found.iterations, found.trace)


def _starts(model: Any, n: int, d: int, n_machines: int) -> list[BlockSolution | None]:
    """The solutions of the last fit, if they match this one."""
    last = usable_starts(getattr(model, "_last", None) if model.warm_start else None, n, d, n_machines)
    return [None if s is None else _begun(s) for s in last]


def _begun(last: LinearSolution) -> BlockSolution:
    return BlockSolution(last.w, last.w, last.bias, last.beta, cast(Status, last.status), last.iterations, None)
