r"""Newton's method on linear machines, with one pass over the blocks per step.

Losses with kinks are rounded off by a proximal term around dual coefficients, which moves with them and loses weight:
the method of multipliers, as in `mercer.solvers.linear.proximal_newton` (Rockafellar 1976; Yan & Li 2020). There,
a step takes several passes over the rows, which are in memory. Here a pass is expensive, since rows come from a file,
a kernel or another machine, so each returns everything needed at a point: both objectives, gradient, Hessian, slopes
along the step that led there in case it was too long, and the same for the moved centres.

The full step is taken first, and shortened afterwards if it did not lower the objective. Several machines (classes,
strengths, folds) take their steps in the same passes. The solution on an in-memory sample of the rows is the start.

Cost of a step: one pass, of n m^2 multiplications for the rows whose response varies and 4 n m for all; then m^3 / 3.
Beyond `DIRECT` features the system is solved by conjugate gradients, with one pass per iteration.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.threads import Stopped, blas_threads_for
from mercer._types import FloatArray
from mercer.problems.linear.block_machine import BlockMachine, RowLosses
from mercer.solvers.blocks.kept import Kept
from mercer.solvers.blocks.passes import CHUNK, Asked, Take, answer
from mercer.solvers.blocks.penalty import Penalty
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.blocks.source import FeatureBlocks, LocalBlocks, Told
from mercer.solvers.blocks.steps import Newton
from mercer.solvers.elsewhere import State, in_force, workers_in_force
from mercer.solvers.limits import Limits

# Size in bytes of the in-memory sample, and the relative gap it is solved to.
SAMPLE_BYTES, SAMPLE_GAP = 2**25, 1e-2
# A sample pays only if there are this many times as many rows, and it has this many rows per feature. A smaller one
# says little about the rest and takes as long to solve as it saves.
WORTH_A_SAMPLE, ROWS_FOR_EACH_FEATURE = 3, 50
# The sample is taken from blocks of this many times as many rows, and from at least so many blocks.
SPREAD, FEWEST_BLOCKS = 3, 8


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
        Precision of the features in the steps; certificates are always in double precision.
    proves : bool
        Whether to compute certificates, which a mere starting point does not need.

    Returns
    -------
    list of BlockSolution
    """
    limits = Limits() if limits is None else limits
    kept = Kept(blocks, machines, factor)
    given = list(starts or [None] * len(machines))
    penalty, states = Penalty(blocks.n_features, factor), kept.states()
    if states is None and any(start is None for start in given):
        found = _from_sample(blocks, machines, limits, penalty, dtype)
        given = [own or guess for own, guess in zip(given, found, strict=True)]
    return _solved(blocks, machines, given, gap_tol, limits, penalty, np.dtype(dtype), kept, states, proves)


def _solved(
    blocks: FeatureBlocks,
    machines: Sequence[BlockMachine],
    starts: Sequence[BlockSolution | None],
    gap_tol: float,
    limits: Limits,
    penalty: Penalty,
    dtype: "np.dtype[Any]",
    kept: Kept | None = None,
    states: list[State] | None = None,
    proves: bool = False,
) -> list[BlockSolution]:
    each = zip(machines, starts, strict=True)
    keeps = blocks.keeps
    steps = [Newton(machine, penalty, start, gap_tol, dtype, limits, proves, keeps) for machine, start in each]
    for one, state in zip(steps, states or (), strict=states is not None):
        one.go_on(state)
    with blas_threads_for(penalty.m):
        _take_turns(blocks, steps, kept)
    return [one.solution() for one in steps]


def _from_sample(
    blocks: FeatureBlocks, machines: Sequence[BlockMachine], limits: Limits, penalty: Penalty, dtype: DTypeLike
) -> list[BlockSolution | None]:
    """The solution on a sample of the rows, as a starting point; None if there are too few rows for it to pay."""
    nothing: list[BlockSolution | None] = [None] * len(machines)
    most = rows_of_sample(blocks.n_features, dtype)
    if most == 0 or blocks.n < WORTH_A_SAMPLE * most or len(blocks.sizes) == 1:
        return nothing
    looked_at = _spread(blocks.sizes, SPREAD * most)
    every, whole, first = -(-sum(blocks.sizes[i] for i in looked_at) // most), [], 0
    starts = np.cumsum([0, *blocks.sizes])
    # Workers of a cluster read the others too, for the passes to come.
    skipped = None if workers_in_force() is None else ((None,), (np.zeros(0, np.intp),))
    own: list[Any] = [skipped] * len(blocks.sizes)
    for i in looked_at:
        # One stride over all of their rows, regardless of block boundaries.
        mine = np.arange(-first % every, blocks.sizes[i], every)
        own[i] = (None,), (mine,)
        whole.append(starts[i] + mine)
        first += blocks.sizes[i]
    asked = {0: Asked(0.0, False, Take())}
    try:
        found = [part for part in blocks.map(answer, (asked,), own, dtype) if part is not None]
    except Stopped:
        return nothing
    rows = _stacked([part for _, [part] in found])
    chosen = np.concatenate(whole)
    spans = [slice(begin, begin + CHUNK) for begin in range(0, len(chosen), CHUNK)]
    few = LocalBlocks(
        lambda i, kind: rows[spans[i]].astype(kind, copy=False),
        [len(chosen[span]) for span in spans],
        blocks.n_features,
    )
    samples, quiet = [machine.sample(chosen) for machine in machines], limits.unwatched()
    alone: list[BlockSolution | None] = [None] * len(machines)
    with in_force(None):  # the sample is in memory here
        return list(_solved(few, samples, alone, SAMPLE_GAP, quiet, penalty, np.dtype(dtype)))


def rows_of_sample(n_features: int, dtype: DTypeLike) -> int:
    """How many rows a sample has; 0 if there are too many features for it to tell anything."""
    most = SAMPLE_BYTES // (np.dtype(dtype).itemsize * max(1, n_features))
    return most if most >= ROWS_FOR_EACH_FEATURE * n_features else 0


def _spread(sizes: Sequence[int], rows: int) -> list[int]:
    """Blocks at equal distances with so many rows together, eight at least."""
    count = min(len(sizes), max(-(-rows * len(sizes) // sum(sizes)), FEWEST_BLOCKS))
    return [int(i) for i in np.unique(np.linspace(0, len(sizes) - 1, count).round())]


def _stacked(parts: list[Any]) -> Any:
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


class _Rows:
    """The losses of each block's rows, for every machine."""

    def __init__(self, machines: Sequence[BlockMachine], spans: list[slice]) -> None:
        self.machines, self.spans = machines, spans

    def __getitem__(self, place: int) -> tuple[list[RowLosses]]:
        return ([machine.rows(self.spans[place]) for machine in self.machines],)


def _handed_over(kept: list[list[Any]], k: int) -> list[Any]:
    """What each block told machine k; nothing but the list returned holds it any longer."""
    parts = [each[k] for each in kept]
    for each in kept:
        each[k] = None
    return parts


def _take_turns(blocks: FeatureBlocks, machines: "list[Newton]", checkpoint: Kept | None) -> None:
    """Passes over the blocks, each serving all machines that ask in the same precision; single precision first.

    A machine's bits therefore do not depend on the progress of the others, and certificates share their passes.
    """
    spans = blocks.spans()
    rows = _Rows([machine.machine for machine in machines], spans)
    runs = [machine.run() for machine in machines]
    waiting = {place: next(run) for place, run in enumerate(runs)}
    while waiting:
        dtype = min((machines[place].dtype for place in waiting), key=lambda kind: kind.itemsize)
        asked = {place: request for place, request in waiting.items() if machines[place].dtype == dtype}
        news = [([machines[place].told(span) for place in asked],) for span in spans]
        try:
            sums, kept = blocks.total(answer, (asked,), Told(rows, news), dtype)
        except Stopped:
            for place in waiting:
                machines[place].end_early()
            return
        for k, place in enumerate(asked):
            try:
                waiting[place] = runs[place].send((sums[k], _handed_over(kept, k)))
            except StopIteration:
                del waiting[place]
        if checkpoint is not None:
            checkpoint.keep(machines, is_solved=not waiting)
