"""The machines of a fit at given kernel weights: solve them, judge them, certify them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._jit.once import computed_once
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.certifiers import ProblemCertifier
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved
from mercer.problems.mkl.weighted_kernels import Judged, joint_certificate, primal_and_dual, untaught_primal
from mercer.solvers.dual_qp.policy import allows_single
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.mkl.bundle_newton import curvature_of
from mercer.solvers.result import Solution, Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import Setup
    from mercer.estimators.fitting.training import Budget
    from mercer.estimators.mkl.kernels import BaseKernelData
    from mercer.kernels.gram.kernel_family import SeveralKernels
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.mkl.weighted_kernels import WeightedCertificate, WeightSet


# Share of the required gap that the machines may use up; they are solved more accurately until they do.
SHARE = 0.25
# The finest tolerance, in units of the targets if those are small.
FINEST_TOL = 1e-11
# Machines that ended short of their tolerance restart while the gap falls to this share.
AGAIN = 0.5
# Entries between this and its inverse, and products of them, fit into single precision.
FAR_FROM_ONE = 1e15
# Beyond this many free points a factorisation takes longer than the steps it saves.
MOST_FREE = 3000


class Machines:
    """All problems of a fit, over weighted sums of the same kernels.

    Parameters
    ----------
    data : BaseKernelData
    several : SeveralKernels
        Normalised.
    setup : TwoClassProblems or OneProblem
    budget : Budget
    limits : Limits
    tol : float
        Of the machines.
    gap_tol : float or None
        Of the whole; the machines are solved to a share of it. None: to `tol` only.
    counts : ndarray (n,), optional
        How many rows each row counts for.
    """

    if TYPE_CHECKING:
        partial: Any
        _last: Any

    def __init__(
        self,
        data: "BaseKernelData",
        several: "SeveralKernels",
        setup: Any,
        budget: "Budget",
        limits: "Limits",
        tol: float,
        gap_tol: float | None = None,
        counts: FloatArray | None = None,
    ) -> None:
        self.data, self.several, self.setup, self.budget = data, several, setup, budget
        self.counts = np.ones(several.n) if counts is None else counts
        self.limits, self.tol, self.gap_tol = limits.with_max_iter(-1).unwatched(), tol, gap_tol
        self.partial, self._last = None, None

    def __getstate__(self) -> dict[str, Any]:
        # For a cluster's worker.
        return {**vars(self), "partial": None, "_last": None}

    @property
    def are_kept(self) -> bool:
        """Whether the matrices of all kernels are in memory."""
        return self.several.matrices is not None

    def matrix(self, weights: FloatArray, ridge: FloatArray | None = None) -> "KernelMatrix":
        """The weighted sum of the kernel matrices: in memory, with a ridge if given, or on demand."""
        if self.are_kept:
            return self.several.weighted(weights, self._precision(weights), ridge)
        self.data.choose(weights)
        return self.data.matrix(self.tol, self.gap_tol, self.budget, self.data.n_jobs)

    def _precision(self, weights: FloatArray) -> type[np.floating[Any]]:
        """Single if machines of many points are solved once, to a tolerance that allows for rounding."""
        largest = cast(Any, max(len(task.indices) for task in self.setup.tasks))
        if self.gap_tol is not None or not allows_single(largest, self.tol):
            return np.float64
        largest = float((weights @ self.several.diagonals()).max(initial=0.0))
        return np.float32 if 1.0 / FAR_FROM_ONE < largest < FAR_FROM_ONE else np.float64

    def release(self, matrix: "KernelMatrix") -> None:
        """Reuse the memory of a sum that is no longer needed."""
        if self.are_kept:
            cast(Any, matrix).release()

    def solutions(
        self,
        matrix: "KernelMatrix",
        betas: Sequence[FloatArray] | None = None,
        setup: Any = None,
        problems: Sequence[Any] | None = None,
    ) -> list[Solution]:
        """Solve every problem, or the replacements given, from `betas` if given."""
        setup = setup or self.setup
        problems = problems or setup.problems

        def solve(problem: Any, part: "KernelMatrix", k: int) -> Solution:
            return solve_dual(
                problem.dual(),
                part,
                tol=self.tol,
                limits=self.limits,
                start=None if betas is None else betas[k],
                memory=self.budget.working,
                convex=self.data.is_convex,
            )

        return solve_all(problems, setup.tasks, matrix, self.budget, solve, self.limits, self.data.n_jobs)

    def solve(self, weights: FloatArray, start: Any = None) -> Judged | None:
        """The machines at these weights, as a `Judged`; None if a limit came first."""
        matrix, betas = self.matrix(weights), None if start is None else start.betas
        least = np.inf
        while True:
            solutions = self.solutions(matrix, betas)
            self.partial = weights, solutions
            if self.limits.stop() or any(_was_ended(one) for one in solutions):
                return None
            judged = self._judged(weights, matrix, solutions)
            is_solved = all(one.status == Status.OPTIMAL for one in solutions)
            # Machines that ended short of a tolerance do not reach a smaller one. They restart where they ended, with
            # recomputed gradients, as long as that helps.
            is_in_vain = not is_solved and judged.machines_gap > AGAIN * least
            if self._is_fine(judged) or self.tol <= self._finest or is_in_vain:
                if self._last is None:
                    self.release(matrix)
                return judged
            if is_solved:
                self.tighten()
            else:
                least = judged.machines_gap
            betas = judged.betas

    def tighten(self) -> bool:
        """Solve the machines more accurately from now on; False if that is impossible."""
        is_coarse = self.tol > self._finest
        self.tol = max(self._finest, 0.1 * self.tol)
        return is_coarse

    @computed_once
    def _finest(self) -> float:
        spread = max(float(np.ptp(problem.dual().linear)) for problem in self.setup.problems)
        return FINEST_TOL * min(1.0, spread or 1.0)

    def _is_fine(self, judged: Judged) -> bool:
        return self.gap_tol is None or judged.machines_gap <= SHARE * self.gap_tol * judged.scale

    def judge(self, weights: FloatArray, betas: Sequence[FloatArray]) -> Judged:
        """Evaluate given coefficients at these weights."""
        matrix = self.matrix(weights)
        solutions = []
        for problem, task, beta in zip(self.setup.problems, self.setup.tasks, betas, strict=True):
            dual = problem.dual()
            part = matrix if len(task.indices) == matrix.n else matrix.view(task.indices)
            gradient = dual.gradient(part, beta)
            solutions.append(Solution(beta, gradient, dual.bias(beta, gradient), Status.OPTIMAL, 0))
        return self._judged(weights, matrix, solutions)

    @computed_once
    def _untaught(self) -> float:
        return float(sum(untaught_primal(problem) for problem in self.setup.problems))

    def _judged(self, weights: FloatArray, matrix: "KernelMatrix", solutions: list[Solution]) -> Judged:
        each = zip(self.setup.problems, solutions, strict=True)
        values = np.array([primal_and_dual(problem, one.beta, one.gradient) for problem, one in each])
        primal, dual = values.sum(axis=0)
        if self.gap_tol is None:
            # No other weights will be tried.
            return Judged(weights, solutions, float(primal), float(dual), np.zeros(len(weights)))
        chosen, coefficients = self._support([one.beta for one in solutions])
        products = self.several.products(coefficients, chosen)
        q = np.einsum("mst,st->m", products, coefficients)
        judged = Judged(weights, solutions, float(primal), float(dual + 0.5 * weights @ q), q, self._untaught)
        self._last = judged, matrix, chosen, products
        return judged

    def _support(self, betas: Sequence[FloatArray]) -> tuple[IndexArray, FloatArray]:
        """Points with a coefficient in some problem, and the coefficients, one column per problem."""
        return support_table(self.setup, betas, len(self.setup.codes))

    def contributions(self, betas: Sequence[FloatArray]) -> FloatArray:
        """beta' K_m beta of each kernel, summed over the problems."""
        chosen, coefficients = self._support(betas)
        return self.several.quadratic_forms(coefficients, chosen)

    def curvature(self, judged: Judged) -> FloatArray:
        """Second derivatives of the objective in the weights, at the last solution."""
        _, matrix, chosen, products = self._last
        place = np.full(len(self.setup.codes), -1)
        place[chosen] = np.arange(len(chosen))
        H = np.zeros((len(judged.weights), len(judged.weights)))
        each = zip(self.setup.problems, self.setup.tasks, judged.solutions, strict=True)
        for t, (problem, task, solution) in enumerate(each):
            dual = problem.dual()
            # An empty box, or a zero coefficient, moves nothing.
            free = task.indices[np.flatnonzero(dual.is_free(solution.beta))]
            if 0 < len(free) <= MOST_FREE:
                block = matrix.submatrix(free, np.empty((len(free), len(free)), matrix.dtype)).astype(np.float64)
                H += curvature_of(dual, solution.beta, block, products[:, place[free], t].T)
        return H


def _was_ended(solution: Solution) -> bool:
    """Whether a limit came before a solution."""
    return solution.status == Status.MEMORY_LIMIT or not solution.is_gradient_complete


def support_table(setup: "Setup", betas: Sequence[FloatArray], n: int) -> tuple[IndexArray, FloatArray]:
    """(points with a coefficient in some problem, their coefficients, one column per problem)."""
    table = np.zeros((n, len(betas)))
    for t, (task, beta) in enumerate(zip(setup.tasks, betas, strict=True)):
        table[task.indices, t] = beta
    chosen = np.flatnonzero(table.any(axis=1))
    # At least one point, so that products are well defined.
    chosen = chosen if len(chosen) else np.arange(min(1, n))
    return chosen, table[chosen]


class WeightedSolved(Solved):
    """As `Solved`, with the status and the trace of the search for weights.

    Attributes
    ----------
    allowed : WeightSet
    """

    def __init__(
        self,
        setup: "Setup",
        solutions: list[Solution],
        allowed: "WeightSet",
        status: Status,
        iterations: int,
        trace: Sequence[Any],
    ) -> None:
        super().__init__(setup, [replace(one, status=status) for one in solutions])
        self.allowed, self.statuses, self._trace = allowed, [status], trace
        self.iterations = np.array([max(1, iterations)], dtype=np.int32)

    def traces(self) -> list[Any]:
        return [self._trace]


class WeightedCertifier(ProblemCertifier):
    """One certificate for machines and weights together, from data and coefficients alone."""

    def _certify(self) -> list[Any]:
        data = cast(Any, self.data)
        return [certify(data.several(), data.weights, self.setup, self.solved)]


def certify(several: "SeveralKernels", weights: FloatArray, setup: "Setup", solved: Any) -> "WeightedCertificate":
    """The certificate of machines and weights, from the kernels and the coefficients."""
    betas = solved.betas()
    table = np.zeros((several.n, len(betas)))
    for t, (task, beta) in enumerate(zip(setup.tasks, betas, strict=True)):
        table[task.indices, t] = beta
    products = several.products(table)
    q = np.einsum("mit,it->m", products, table)
    projections = np.tensordot(weights, products, 1)
    each = zip(setup.problems, setup.tasks, betas, solved.intercepts, strict=True)
    machines = [
        problem.certificate(beta, projections[task.indices, t], float(intercept))
        for t, (problem, task, beta, intercept) in enumerate(each)
    ]
    return joint_certificate(solved.allowed, weights, q, machines)


def stopped_at(limits: "Limits", error: BaseException | None) -> Status:
    """The status of a fit that ended before its first step."""
    return Status.MEMORY_LIMIT if isinstance(error, MemoryError) else limits.reached() or Status.STALLED


def empty_solutions(setup: "Setup", status: Status) -> list[Solution]:
    """No support vectors in any machine."""
    return [Solution.empty(len(task.indices), status) for task in setup.tasks]


ENDINGS = (Stopped, MemoryError)
