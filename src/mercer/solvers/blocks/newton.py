r"""Newton's method on linear machines, one pass over the blocks a step.

Losses with kinks are rounded off by a proximal term around dual coefficients, which moves with them and loses weight:
the method of multipliers, as in `mercer.solvers.linear.proximal_newton` (Rockafellar 1976; Yan & Li 2020). There,
a step takes several passes over the rows, which are in memory. Here a pass is dear, for rows come from a file, from a
kernel or from another machine, so each gives all there is to know at a point: both objectives, gradient, curvature,
slopes along the step that led there in case it was too long, and the same for the centres moved.

The whole step is taken on trust, and shortened after the fact where it did not lower the objective. Several machines
(classes, strengths, folds) take their steps in the same passes. A sample of the rows, kept in memory, says where to
begin.

Cost of a step: one pass, of n m^2 multiplications for the rows whose response moves and 4 n m for all; then m^3 / 3.
Beyond `DIRECT` features the system is solved by conjugate gradients, a pass for each of their steps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.threads import Stopped
from mercer._types import FloatArray
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.kept import Kept
from mercer.solvers.blocks.passes import CHUNK, Asked, Take, answer
from mercer.solvers.blocks.penalty import Penalty
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.blocks.source import FeatureBlocks, LocalBlocks
from mercer.solvers.blocks.steps import Newton
from mercer.solvers.elsewhere import in_force
from mercer.solvers.limits import Limits

# Bytes of the sample that is kept in memory, and how coarsely it is solved.
SAMPLE_BYTES, SAMPLE_GAP = 2**25, 1e-2
# A sample is no use unless there are so many times as many rows, and it has so many for each feature: fewer say little
# of the others, and are solved in no less time than is saved.
WORTH_A_SAMPLE, ROWS_FOR_EACH_FEATURE = 3, 50


def solve(
    blocks: FeatureBlocks,
    machine: BlockMachine,
    *,
    gap_tol: float = 1e-4,
    limits: Limits | None = None,
    start: BlockSolution | None = None,
    factor: FloatArray | None = None,
    dtype: DTypeLike = np.float64,
) -> BlockSolution:
    """Solve one linear machine over blocks; see `solve_many`."""
    return solve_many(
        blocks, [machine], gap_tol=gap_tol, limits=limits, starts=[start], factor=factor, dtype=dtype
    )[0]  # fmt: skip


def solve_many(
    blocks: FeatureBlocks,
    machines: Sequence[BlockMachine],
    *,
    gap_tol: float = 1e-4,
    limits: Limits | None = None,
    starts: Sequence[BlockSolution | None] | None = None,
    factor: FloatArray | None = None,
    dtype: DTypeLike = np.float64,
    proves: bool = True,
) -> list[BlockSolution]:
    """Solve linear machines over the same blocks, all in the same passes.

    Parameters
    ----------
    blocks : FeatureBlocks
    machines : sequence of BlockMachine
    gap_tol : float
        Stop when the duality gap is at most this share of the primal objective.
    limits : Limits, optional
    starts : sequence of BlockSolution or None, optional
        Where to begin; by default, at the solution of a sample of the rows.
    factor : ndarray (m, m), optional
        L, lower triangular, of the penalty |L' v|^2 / 2.
    dtype : float32 or float64
        Precision of the features in the steps; certificates are in double precision in any case.
    proves : bool
        Whether there are certificates: who asks for a place to begin needs none.

    Returns
    -------
    list of BlockSolution
    """
    limits = Limits() if limits is None else limits
    kept = Kept(blocks, machines, factor)
    given = list(starts or [None] * len(machines))
    if all(start is None for start in given):
        given = list(kept.starts() or given)
    penalty = Penalty(blocks.n_features, factor)
    if any(start is None for start in given):
        found = _from_sample(blocks, machines, limits, penalty, dtype)
        given = [own or guess for own, guess in zip(given, found, strict=True)]
    return _solved(blocks, machines, given, gap_tol, limits, penalty, np.dtype(dtype), kept, proves)


def _solved(
    blocks: FeatureBlocks,
    machines: Sequence[BlockMachine],
    starts: Sequence[BlockSolution | None],
    gap_tol: float,
    limits: Limits,
    penalty: Penalty,
    dtype: "np.dtype[Any]",
    kept: Kept | None = None,
    proves: bool = False,
) -> list[BlockSolution]:
    each = zip(machines, starts, strict=True)
    steps = [Newton(machine, penalty, start, gap_tol, dtype, limits, proves) for machine, start in each]
    _take_turns(blocks, steps, kept)
    return [one.solution() for one in steps]


def _from_sample(
    blocks: FeatureBlocks, machines: Sequence[BlockMachine], limits: Limits, penalty: Penalty, dtype: DTypeLike
) -> list[BlockSolution | None]:
    """Where a sample of the rows would have the machines; nowhere, if there are too few rows for that to be of use."""
    nothing: list[BlockSolution | None] = [None] * len(machines)
    most = SAMPLE_BYTES // (np.dtype(dtype).itemsize * max(1, blocks.n_features))
    if blocks.n < WORTH_A_SAMPLE * most or most < ROWS_FOR_EACH_FEATURE * blocks.n_features or len(blocks.sizes) == 1:
        return nothing
    every = -(-blocks.n // most)
    places, whole, first = [], [], 0
    for size in blocks.sizes:
        # The same stride over all rows, wherever blocks end.
        mine = np.arange(-first % every, size, every)
        places.append(mine)
        whole.append(first + mine)
        first += size
    asked = [Asked(0.0, False, Take())]
    try:
        _, parts = blocks.total(answer, (asked,), [((None, mine),) for mine in places], dtype)
    except Stopped:
        return nothing
    rows = _stacked([part for [part] in parts])
    chosen = np.concatenate(whole)
    spans = [slice(begin, begin + CHUNK) for begin in range(0, len(chosen), CHUNK)]
    few = LocalBlocks(
        lambda i, kind: rows[spans[i]].astype(kind, copy=False),
        [len(chosen[span]) for span in spans],
        blocks.n_features,
    )
    samples, quiet = [machine.sample(chosen) for machine in machines], limits.unwatched()
    alone: list[BlockSolution | None] = [None] * len(machines)
    with in_force(None):  # they are in memory here
        return list(_solved(few, samples, alone, SAMPLE_GAP, quiet, penalty, np.dtype(dtype)))


def _stacked(parts: list[Any]) -> Any:
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _take_turns(blocks: FeatureBlocks, machines: "list[Newton]", checkpoint: Kept | None) -> None:
    """Passes over the blocks, each for all the machines that have not ended."""
    spans = blocks.spans()
    runs = [(machine, machine.run()) for machine in machines]
    waiting = [(machine, run, next(run)) for machine, run in runs]
    while waiting:
        dtype = max((machine.dtype for machine, _, _ in waiting), key=lambda kind: kind.itemsize)
        asked = [request for _, _, request in waiting]
        own = [tuple((m.machine.rows(span), m.told(span, a)) for m, _, a in waiting) for span in spans]
        try:
            sums, kept = blocks.total(answer, (asked,), own, dtype)
        except Stopped:
            for machine, _, _ in waiting:
                machine.end_early()
            return
        going = []
        for place, (machine, run, _) in enumerate(waiting):
            try:
                going.append((machine, run, run.send((sums[place], [each[place] for each in kept]))))
            except StopIteration:
                continue
        waiting = going
        if checkpoint is not None:
            checkpoint.keep(machines, is_solved=not waiting)
