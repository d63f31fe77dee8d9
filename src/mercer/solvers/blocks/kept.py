"""The progress of a fit over blocks, stored by the keeper in force so that another fit can resume it."""

import hashlib
from collections.abc import Sequence

import numpy as np

from mercer._types import FloatArray
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.source import FeatureBlocks
from mercer.solvers.blocks.steps import Newton
from mercer.solvers.elsewhere import State, keeper_in_force


class Kept:
    """The stored states of the machines over some blocks; without a keeper, nothing is stored.

    Parameters
    ----------
    blocks : FeatureBlocks
    machines : sequence of BlockMachine
    factor : ndarray or None
    """

    def __init__(self, blocks: FeatureBlocks, machines: Sequence[BlockMachine], factor: FloatArray | None) -> None:
        self.keeper = keeper_in_force()
        self.problem = "" if self.keeper is None else _name(blocks, machines, factor)

    def states(self) -> list[State] | None:
        """The saved state of each machine, or None."""
        return None if self.keeper is None else self.keeper.recall(self.problem)

    def keep(self, machines: Sequence[Newton], is_solved: bool) -> None:
        """Save the state of the machines."""
        if self.keeper is not None:
            self.keeper.keep(self.problem, lambda: [machine.state() for machine in machines], is_solved)


def _name(blocks: FeatureBlocks, machines: Sequence[BlockMachine], factor: FloatArray | None) -> str:
    """A name for the problem, from its shape, targets, weights and losses; hashing the features would cost a pass."""
    digest = hashlib.sha256(np.asarray([blocks.n_features, *blocks.sizes], np.int64).tobytes())
    for machine in machines:
        words = f"{machine.loss.name} {machine.epsilon!r} {machine.bias} {machine.scale!r} {factor is None}"
        digest.update(words.encode())
        for array in (machine.targets, machine.C, () if machine.offsets is None else machine.offsets):
            digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    if factor is not None:
        digest.update(np.ascontiguousarray(factor, np.float64).tobytes())
    return digest.hexdigest()[:32]
