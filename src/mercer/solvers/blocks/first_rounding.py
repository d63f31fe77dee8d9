"""Around which coefficients, and over which width, losses with kinks are rounded off at first."""

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


def mean_residual(machine: BlockMachine) -> float:
    """The unit of the width: 1 for margins, and the mean deviation of targets."""
    if machine.loss.of == "margin":
        return 1.0
    targets = np.asarray(machine.targets, np.float64)
    return max(float(np.mean(np.abs(targets - np.mean(targets)))), 1e-12)
