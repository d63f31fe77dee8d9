"""Whether rows are given as `Blocks`, and what must then be left out."""

import sys
from typing import Any

from mercer._errors import ParameterError


def are_blocks(X: Any) -> bool:
    """Whether rows come as `Blocks`; if their module was never imported they cannot, and importing it is slow."""
    module = sys.modules.get("mercer.io.blocks.blocks")
    return module is not None and isinstance(X, module.Blocks)


def require_alone(y: Any, sample_weight: Any) -> None:
    """Refuse separate targets, since blocks have their own."""
    for name, value, own in (("y", y, "target"), ("sample_weight", sample_weight, "weight")):
        if value is not None:
            raise ParameterError(
                f"{name} must be omitted when X is Blocks, which carry their own: Blocks(..., {own}=...)"
            )


def no_sum_of_losses(model: Any) -> ParameterError:
    """The error of a machine that cannot learn from `Blocks`."""
    return ParameterError(
        f"this {type(model).__name__} is not a sum of one loss over all rows, so it cannot learn from Blocks; SVC (in "
        "pairs, or each class against the rest), SVR, KernelRidge and KernelLogisticRegression of two classes can with "
        "approximation=LowRank(...), and so can LinearSVC and LinearSVR"
    )
