"""How far a fit over blocks is, kept by whoever is in force for that, so that another fit goes on from there."""

import hashlib
from collections.abc import Sequence

import numpy as np

from mercer._types import FloatArray
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.source import FeatureBlocks
from mercer.solvers.blocks.steps import Newton
from mercer.solvers.elsewhere import State, keeper_in_force


class Kept:
    """What is kept of the machines over some blocks; nothing where nobody keeps.

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
        """Where each machine was, or None."""
        return None if self.keeper is None else self.keeper.recall(self.problem)

    def keep(self, machines: Sequence[Newton], is_solved: bool) -> None:
        """Keep where the machines are."""
        if self.keeper is not None:
            self.keeper.keep(self.problem, lambda: [machine.state() for machine in machines], is_solved)


def _name(blocks: FeatureBlocks, machines: Sequence[BlockMachine], factor: FloatArray | None) -> str:
    """A name for the problem: of shape, targets, weights and losses, but not of features, which nobody reads for it."""
    digest = hashlib.sha256(np.asarray([blocks.n_features, *blocks.sizes], np.int64).tobytes())
    for machine in machines:
        words = f"{machine.loss.name} {machine.epsilon!r} {machine.bias} {machine.scale!r} {factor is None}"
        digest.update(words.encode())
        for array in (machine.targets, machine.C, () if machine.offsets is None else machine.offsets):
            digest.update(np.ascontiguousarray(array, np.float64).tobytes())
    if factor is not None:
        digest.update(np.ascontiguousarray(factor, np.float64).tobytes())
    return digest.hexdigest()[:32]
