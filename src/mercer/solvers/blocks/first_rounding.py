"""At which bias the steps begin, and around which coefficients and over which width losses with kinks are rounded."""

import numpy as np

from mercer._types import FloatArray
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.solution import BlockSolution


def first_centre(machine: BlockMachine, start: BlockSolution | None) -> FloatArray:
    """Given coefficients, or the middle of the box, so that the rounding covers both sides of the kink."""
    dual = machine.rows(slice(None)).dual(machine.constant, machine.is_free)
    if start is not None and len(start.beta) == len(dual):
        return np.clip(start.beta, dual.lower, dual.upper)
    return 0.5 * (dual.lower + dual.upper)


def first_bias(machine: BlockMachine) -> float:
    """Where a free bias begins: for a regression at the mean target, which may be far from 0."""
    is_known = machine.is_free and machine.loss.of != "margin"
    return float(np.mean(machine.targets, dtype=np.float64)) if is_known else 0.0


def mean_residual(machine: BlockMachine, bias: float) -> float:
    """The unit of the width: 1 for margins, and the mean distance of targets from where the steps begin.

    A zone narrower than that might hold no row at the first step, and so no curvature.
    """
    if machine.loss.of == "margin":
        return 1.0
    return max(float(np.mean(np.abs(np.asarray(machine.targets, np.float64) - bias))), 1e-12)
