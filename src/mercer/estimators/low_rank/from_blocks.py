"""Kernel machines that learn from `Blocks`: the options they support, and the targets of blocks."""

from typing import TYPE_CHECKING, Any

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.auto_strength import is_auto
from mercer.estimators.out_of_core.given import require_alone
from mercer.estimators.out_of_core.targets import labels_of, note_columns, targets_of

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks
    from mercer.solvers.limits import Limits


def labels_to_learn(
    model: Any, blocks: "Blocks", y: Any, sample_weight: Any, limits: "Limits"
) -> tuple[Array, IndexArray, FloatArray | None]:
    """(classes, the position of each row's label among them, weights or None); sets the columns of the model."""
    _require_by_blocks(model, blocks, y, sample_weight)
    return labels_of(blocks, model.n_jobs, limits.stop)


def targets_to_learn(
    model: Any, blocks: "Blocks", y: Any, sample_weight: Any, limits: "Limits"
) -> tuple[FloatArray, FloatArray | None]:
    """(targets of all rows as numbers, weights or None); sets the columns of the model."""
    _require_by_blocks(model, blocks, y, sample_weight)
    return targets_of(blocks, model.n_jobs, limits.stop)


def _require_by_blocks(model: Any, blocks: "Blocks", y: Any, sample_weight: Any) -> None:
    require_alone(y, sample_weight)
    name = type(model).__name__
    if model.approximation is None:
        raise ParameterError(
            f"{name} compares all pairs of rows, but Blocks may be larger than memory; with approximation=LowRank(...) "
            "SVC, SVR, KernelRidge and KernelLogisticRegression learn from them, and so do LinearSVC and LinearSVR"
        )
    for parameter in ("kernel", "C"):
        if is_auto(getattr(model, parameter, None)):
            raise ParameterError(
                f"{parameter}='auto' needs rows in memory, but X is Blocks; fit it to a sample of them, and pass "
                f"what it chose ({parameter}_)"
            )
    note_columns(model, blocks)
