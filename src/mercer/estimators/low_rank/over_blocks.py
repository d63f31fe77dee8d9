"""Problems restricted to landmarks, solved over blocks of kernel values: many rows, in bounded memory."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._types import FloatArray, IndexArray
from mercer.estimators.low_rank.block_data import BlockData
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.low_rank.restricted import SAMPLE, SHARE, Landmarks, Restricted
from mercer.kernels.gram.kernel_matrix import is_ordered
from mercer.problems.certificate import Certificate
from mercer.problems.distance import Distance
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import rows_of_sample, solve_many
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.low_rank.kernel_blocks import KernelBlocks, RowsInMemory

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import Budget
    from mercer.solvers.limits import Limits

# Most machines solved in the same passes: each has matrices of its own.
TOGETHER = 8
# Error of entries in single precision.
ROUNDED = 1e-5
# Relative gap to which a sample is solved, and the most bytes of its kernel values.
SAMPLE_GAP, SAMPLE_BYTES = 1e-3, 2**28
# For the start: one landmark in this many, the relative gap, and the number of kernel values from which it pays.
COARSE, COARSE_GAP, WORTH_COARSE = 8, 5e-3, 1_000_000
# From this many rows for each one of a sample, that is the better start: half as many passes.
ROWS_FOR_A_SAMPLE = 16
LEAST_SQUARES = "squared_epsilon_insensitive"


class BlockSolved:
    """`Solved` for solutions over blocks, one per problem."""

    def __init__(self, tasks: list[Any], solutions: list[BlockSolution], places: list[IndexArray]) -> None:
        self.tasks, self.solutions, self.places = tasks, solutions, places
        self.statuses = [each.status for each in solutions]
        self.iterations = np.array([each.iterations for each in solutions], dtype=np.int32)
        self.intercepts = np.array([each.bias for each in solutions])

    def betas(self) -> list[FloatArray]:
        """Signed dual coefficients of each problem."""
        return [each.beta[places] for each, places in zip(self.solutions, self.places, strict=True)]

    def traces(self) -> list[Any]:
        """The trace of each solver."""
        return [each.trace for each in self.solutions]


class BlockFit:
    """The problems of a fit over the same blocks.

    Parameters
    ----------
    marks : Landmarks
    setup : Setup
    objectives : list of Objective
        One for each problem.
    gap_tol : float
        Relative duality gap at which to stop.
    budget : Budget
    limits : Limits
    """

    def __init__(
        self, marks: Landmarks, setup: Any, objectives: list[Objective], gap_tol: float, budget: "Budget",
        limits: "Limits",
    ) -> None:  # fmt: skip
        self.marks, self.setup, self.limits = marks, setup, limits
        self.gap_tol, self.objectives = gap_tol, objectives
        self.rows = marks.rows_in_blocks
        # With 10^7 rows, a copy of what is there already counts.
        are_all = len(self.rows) == marks.data.shape[0]
        self.places = [
            task.indices if are_all else np.searchsorted(self.rows, task.indices) for task in setup.tasks
        ]  # fmt: skip
        self.memory = marks.memory(budget)
        self.blocks = self._kernel_blocks(marks.basis, marks.row_blocks())

    def _kernel_blocks(self, basis: Any, rows: Any) -> KernelBlocks:
        data = self.marks.data
        if isinstance(data, BlockData):
            return KernelBlocks(basis, rows, self.memory, data.room.n_jobs, data.kept.stop)
        return KernelBlocks(basis, rows, self.memory, self.marks.n_jobs, self.limits.stop)

    def solve(self, before: Restricted | None) -> Restricted:
        """Solve all problems, starting from a solution with fewer landmarks if there is one."""
        machines = [self._machine(k) for k in range(len(self.objectives))]
        starts = self._coarse_starts(machines) if before is None else self._starts(before)
        solutions = self._solved(self.blocks, machines, starts, self.gap_tol, self.limits)
        solved = BlockSolved(self.setup.tasks, solutions, self.places)
        certificates = [self._certificate(each, machine) for each, machine in zip(solutions, machines, strict=True)]
        distances = [self._distance(*each) for each in zip(solutions, self.places, certificates, strict=True)]
        coefficients = np.stack([each.coefficients for each in solutions], axis=1)
        support = self.marks.support(coefficients, self.setup.codes, self.setup.n_classes)
        return Restricted(solved, self.marks, support, certificates, distances)

    def _distance(self, solution: BlockSolution, places: IndexArray, certificate: Certificate) -> Distance:
        if solution.image is not None:
            # With 10^7 rows, copies of what is there already count.
            are_all = len(places) == len(solution.beta) and is_ordered(places)
            beta, rows = (solution.beta, self.rows) if are_all else (solution.beta[places], self.rows[places])
            return self.marks.distance(beta, rows, certificate.primal, solution.image)
        # The coefficients behind the gap are unknown. With zero ones the dual is 0, and the gap is the primal.
        value = max(0.0, certificate.dual)
        return Distance(value, value / max(1.0, abs(certificate.primal)), "bounded", 1.0, 0)

    def scores(self, folds: IndexArray) -> tuple[list[FloatArray], list[Any]]:
        """(out-of-fold decision values of the rows of each problem, statuses)."""
        own = folds[self.rows]
        names = [fold for fold in np.unique(own) if fold >= 0]
        machines = [self._machine(k, own != fold) for k in range(len(self.objectives)) for fold in names]
        solutions = self._solved(self.blocks, machines, [None] * len(machines), self.gap_tol, self.limits)
        values = self.blocks.values(np.stack([each.coefficients for each in solutions], axis=1))
        values += np.array([each.bias for each in solutions])
        found = []
        for k, places in enumerate(self.places):
            mine = values[places, k * len(names) : (k + 1) * len(names)]
            column = np.maximum(np.searchsorted(names, own[places]), 0)
            found.append(mine[np.arange(len(places)), column])
        return found, [each.status for each in solutions]

    def _machine(self, k: int, kept: Any = None) -> BlockMachine:
        return machine_of(self.objectives[k], self.places[k], len(self.rows), kept)

    def _solved(
        self, blocks: KernelBlocks, machines: list[BlockMachine], starts: list[Any], gap_tol: float, limits: "Limits",
        proves: bool = True,
    ) -> list[BlockSolution]:  # fmt: skip
        found: list[BlockSolution] = []
        for begin in range(0, len(machines), TOGETHER):
            some = slice(begin, begin + TOGETHER)
            found += solve_many(
                blocks, machines[some], gap_tol=gap_tol, limits=limits, starts=starts[some],
                factor=blocks.basis.factor, dtype=self.marks.dtype, proves=proves,
            )  # fmt: skip
            if len(machines) > 1:
                limits.report_solved(len(found), len(machines))
        return found

    def _coarse_starts(self, machines: list[BlockMachine]) -> list[Any]:
        """Solutions over some of the landmarks, if there are many: a cheap and close start.

        A Gram matrix of an eighth of the landmarks costs a sixty-fourth, and tells nearly as well which rows are at a
        bound.
        """
        basis, n = self.marks.basis, len(self.rows)
        count = basis.size // COARSE
        nothing: list[Any] = [None] * len(machines)
        if n * count < WORTH_COARSE or n >= ROWS_FOR_A_SAMPLE * rows_of_sample(basis.size, self.marks.dtype) > 0:
            return nothing  # `solve_many` begins with a sample of so many rows, for which few of the blocks are read
        blocks = self._kernel_blocks(basis.first(count), self.blocks.rows)
        found = self._solved(blocks, machines, nothing, COARSE_GAP, self.limits.unwatched(), proves=False)
        return [self._extended(each) for each in found]

    def _extended(self, solution: BlockSolution) -> BlockSolution:
        """The same function with the other landmarks added at zero coefficients."""
        basis = self.marks.basis
        coefficients: FloatArray = np.zeros(basis.size)
        coefficients[: len(solution.coefficients)] = solution.coefficients
        w = basis.factor.T @ coefficients
        return BlockSolution(
            w, coefficients, solution.bias, solution.beta, solution.status, 0, None, [], solution.width
        )

    def _starts(self, before: Restricted) -> list[BlockSolution]:
        """The present solutions in the basis of more landmarks, from their dual coefficients."""
        basis, starts = self.marks.basis, []
        images = self.blocks.combination(np.stack([old.beta for old in before.solved.solutions], axis=1))
        for old, image in zip(before.solved.solutions, images.T, strict=True):
            w = solve_triangular(basis.factor, image, lower=True)
            starts.append(
                BlockSolution(w, basis.coefficients(w), old.bias, old.beta, old.status, 0, None, [], old.width)
            )
        return starts

    def _certificate(self, solution: BlockSolution, machine: BlockMachine) -> Certificate:
        """The solver's certificate; if it stopped before it had one, that of its weights and zero dual coefficients."""
        if solution.certificate is not None:
            return solution.certificate
        values = self.blocks.values(solution.coefficients[:, None])[:, 0] + solution.bias
        return machine.certificate(solution.w, solution.bias, values, solution.beta, np.zeros(len(solution.w)))


def better_choice(marks: Landmarks, setup: Any, objectives: list[Objective] | None, limits: "Limits") -> str:
    """Uniform landmarks or random pivots, whichever gives the lower objective on a sample of the rows.

    Problems other than linear machines over blocks are replaced by least squares on their labels.
    """
    n = len(marks.used)
    chosen = np.sort(marks.order[: min(n, SAMPLE)])
    count = min(marks.spec.landmarks, max(1, len(chosen) // SHARE))
    machines = []
    for k, task in enumerate(setup.tasks[:TOGETHER]):
        own = Objective(task.signs, np.ones(len(task.signs)), LEAST_SQUARES, "free")
        machine = machine_of(objectives[k] if objectives else own, np.searchsorted(marks.used, task.indices), n)
        machines.append(machine.sample(chosen))
    primals = {}
    for choice in ("uniform", "rpcholesky"):
        basis = marks.basis_within(marks.used[chosen], choice, count)
        rows = RowsInMemory(lambda dtype: marks.data.prepare(dtype, marks.used[chosen]), len(chosen))
        blocks = KernelBlocks(basis, rows, SAMPLE_BYTES, marks.n_jobs)
        found = solve_many(blocks, machines, gap_tol=SAMPLE_GAP, limits=limits.unwatched(), factor=basis.factor)
        primals[choice] = sum(np.inf if each.certificate is None else each.certificate.primal for each in found)
    return min(primals, key=lambda choice: primals[choice])


def machine_of(objective: Objective, places: IndexArray, n: int, kept: Any = None) -> BlockMachine:
    """A problem over all rows that take part in any: those of others have weight zero."""
    if len(places) == n:
        targets, C = objective.targets, objective.C
    else:
        targets, C = np.ones(n), np.zeros(n)
        targets[places], C[places] = objective.targets, objective.C
    C = C if kept is None else C * kept
    return BlockMachine(targets, C, objective.loss, objective.epsilon, objective.bias)
