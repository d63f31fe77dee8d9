"""Solvers, step by step: the real ones, stopped after every step and asked where they stand.

Nothing is imitated here. SMO's compiled pair steps are run one at a time over one working set; the perceptron
visits one item at a time; SGD takes one step at a time; and chunking is watched through the kernel
matrix that it reads its chunks from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits
from mercer.solvers.reference import chunking
from mercer.solvers.stochastic import perceptron
from mercer.solvers.stochastic.kernel_pegasos import KernelIterate
from mercer.solvers.stochastic.pegasos import Steps
from mercer.solvers.stochastic.visit_order import Sampler


@dataclass(frozen=True)
class Step:
    """Where a solver stands.

    Attributes
    ----------
    beta : ndarray (n,)
        Signed coefficients of the expansion.
    bias : float
    gradient : ndarray (n,)
        p - K beta, of the dual that is solved or bounded.
    working : tuple of int
        The points that the step has just worked on.
    primal, dual : float
        Objectives; NaN where the method has none.
    note : str
        What happened, in a few words.
    """

    beta: NDArray[Any]
    bias: float
    gradient: NDArray[Any]
    working: Sequence[int] = ()
    primal: float = np.nan
    dual: float = np.nan
    note: str = ""


@dataclass(frozen=True)
class Recording:
    """The steps of one run, and whether it came to its end."""

    steps: list[Step] = field(default_factory=list)
    is_finished: bool = True


def _judged(problem: SoftMargin, K: NDArray[Any], beta: NDArray[Any], working: Any, note: str) -> Step:
    """A step of a dual method: both objectives from the data and the coefficients alone."""
    dual, projections = problem.dual(), K @ beta
    gradient = dual.linear - projections - dual.shift * beta.sum()
    bias = problem.intercept(beta, dual.bias(beta, gradient))
    return Step(
        beta=beta.copy(),
        bias=float(bias),
        gradient=gradient,
        working=[int(place) for place in working],
        primal=problem.primal(beta, projections, bias),
        dual=dual.objective(beta, gradient),
        note=note,
    )


def record_smo(problem: SoftMargin, K: NDArray[Any], most: int, tol: float = 1e-3) -> Recording:
    """Pair steps (single steps without a free bias), one after the other.

    Parameters
    ----------
    problem : SoftMargin
    K : ndarray (n, n)
    most : int
        Steps at most.
    tol : float
        Violation of the KKT conditions at the end.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.svm.soft_margin import SoftMargin
    >>> from mercer.studio.playground.recording import record_smo
    >>> X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    >>> problem = SoftMargin(np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 100.0))
    >>> record_smo(problem, X @ X.T, 100).steps[-1].beta.round(3)
    array([-0.5, -0.5,  1. ,  0. ])
    """
    n, matrix = len(K), StoredMatrix.of(K)
    dual = problem.dual()
    beta = np.zeros(n)
    working = WorkingSet(dual, matrix, np.arange(n), beta, dual.gradient(matrix, beta))
    steps = [_judged(problem, K, beta, (), "every alpha is 0")]
    one = Limits(max_iter=1)
    while len(steps) <= most:
        before = working.beta.copy()
        if working.run(tol, one, 0) == 0:
            return Recording(steps)
        moved = np.flatnonzero(working.beta != before)
        steps.append(_judged(problem, K, working.beta, moved, _pair_note(problem, before, working.beta, moved)))
    return Recording(steps, is_finished=False)


def _pair_note(problem: SoftMargin, before: NDArray[Any], after: NDArray[Any], moved: NDArray[Any]) -> str:
    parts = [
        f"alpha {place + 1}: {abs(before[place]):.3g} → {abs(after[place]):.3g}"
        + (" (at C)" if abs(after[place]) >= problem.C[place] else "")
        for place in moved
    ]
    return ", ".join(parts)


class _WatchedMatrix:
    """A kernel matrix that remembers which chunk was last taken from it."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.chunk: NDArray[Any] = np.zeros(0, np.intp)

    def in_double(self) -> "_WatchedMatrix":
        return self

    def view(self, places: NDArray[Any]) -> Any:
        self.chunk = places
        return self._matrix.view(places)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._matrix, name)


def record_chunking(problem: SoftMargin, K: NDArray[Any], most: int, chunk: int = 8, tol: float = 1e-3) -> Recording:
    """Rounds of chunking, each with its chunk; parameters as in `record_smo`.

    `chunk` is how many violators join the support vectors.
    """
    matrix, dual = _WatchedMatrix(StoredMatrix.of(K)), problem.dual()
    steps = [_judged(problem, K, np.zeros(len(K)), (), "every alpha is 0")]
    while len(steps) <= most:
        matrix.chunk = np.zeros(0, np.intp)
        # A callback that answers true ends the run after one round; the next begins where it ended.
        found = chunking.solve(
            dual,
            cast(Any, matrix),
            tol=tol,
            limits=Limits(callbacks=[lambda _point: True]),
            start=steps[-1].beta,
            inner=solve_dual,
            chunk=chunk,
            convex=True,
        )
        if len(matrix.chunk) == 0:
            return Recording(steps)
        note = f"a chunk of {len(matrix.chunk)} points, solved by itself"
        steps.append(_judged(problem, K, found.beta, matrix.chunk, note))
    return Recording(steps, is_finished=False)


def record_perceptron(
    signs: NDArray[Any],
    K: NDArray[Any],
    most: int,
    *,
    with_bias: bool = True,
    eta: float = 1.0,
    each_visit: bool = True,
) -> Recording:
    """Visits of the online perceptron in the order of the points; ends with an epoch without a mistake.

    Parameters
    ----------
    signs : ndarray (n,)
    K : ndarray (n, n)
    most : int
        Steps at most, and ten times as many visits.
    with_bias : bool
    eta : float
    each_visit : bool
        Whether every visit is a step, or only those that end with an update.
    """
    n, shift = len(K), float(with_bias)
    machine = perceptron.ItemPerceptron(StoredMatrix.of(K), "online", eta, shift)
    copies, steps, since_mistake = np.ones(n), [_visited(machine, signs, (), "w is 0")], 0
    for visit in range(10 * most):
        i, updates = visit % n, machine.updates
        machine.epoch(signs, copies, np.array([i]), perceptron.never)
        is_mistake = machine.updates > updates
        since_mistake = 0 if is_mistake else since_mistake + 1
        if is_mistake:
            note = f"point {i + 1} is on the wrong side: y x is added to w (update {machine.updates})"
            steps.append(_visited(machine, signs, (i,), note))
        elif each_visit or since_mistake == n:
            steps.append(_visited(machine, signs, (i,), f"point {i + 1} is on the right side"))
        if since_mistake == n:
            return Recording(steps)
        if len(steps) > most:
            break
    return Recording(steps, is_finished=False)


def _visited(machine: Any, signs: NDArray[Any], working: Sequence[int], note: str) -> Step:
    margins = signs * machine.scores
    return Step(
        beta=machine.beta.copy(),
        bias=machine.shift * float(machine.beta.sum()),
        gradient=signs - machine.scores,
        working=list(working),
        primal=float(np.maximum(0.0, -margins).sum()),
        note=note,
    )


def record_pegasos(
    problem: SoftMargin, K: NDArray[Any], most: int, *, seed: int = 0, averaged: bool = False
) -> Recording:
    """Steps of stochastic gradient descent on Soft-SVM with lambda = 1 / (C n).

    The dual curve is a bound: the coefficients, cut back to the box, are feasible for the dual.

    Parameters
    ----------
    problem : SoftMargin
        With a penalised bias or none.
    K : ndarray (n, n)
    most : int
        Steps.
    seed : int
        Which rows are drawn.
    averaged : bool
        Whether to show the mean of the iterates or the last one.
    """
    n = len(K)
    lam = 1.0 / float(problem.C.sum())
    steps_of = Steps(lam, 1, np.inf, problem.bias == "penalized", averaged)
    iterate, matrix = KernelIterate(n, steps_of), StoredMatrix.of(K)
    order = Sampler(n, seed, "replacement").draw(0, most)
    steps, best = [_bounded(problem, K, np.zeros(n), (), "w is 0", -np.inf)], -np.inf
    for t, i in enumerate(order, 1):
        before = iterate.beta[i]
        iterate.advance(matrix, problem.signs, np.ones(n), np.array([i]))
        what = "short of the margin: y x is added" if iterate.beta[i] != before else "beyond the margin"
        note = f"step {t}, point {int(i) + 1} is {what}"
        steps.append(_bounded(problem, K, iterate.coefficients(), (int(i),), note, best))
        best = max(best, steps[-1].dual)
    return Recording(steps)


def _bounded(
    problem: SoftMargin, K: NDArray[Any], beta: NDArray[Any], working: Sequence[int], note: str, best: float
) -> Step:
    """As `_judged`, of coefficients that may leave the box: the dual is that of the nearest feasible ones."""
    dual, projections = problem.dual(), K @ beta
    feasible = dual.feasible(beta)
    bias = problem.intercept(beta, 0.0)
    at_feasible = dual.linear - K @ feasible - dual.shift * feasible.sum()
    return Step(
        beta=beta.copy(),
        bias=float(bias),
        gradient=dual.linear - projections - dual.shift * beta.sum(),
        working=list(working),
        primal=problem.primal(beta, projections, bias),
        dual=max(best, dual.objective(feasible, at_feasible)),
        note=note,
    )


RECORDERS: dict[str, Callable[..., Recording]] = {
    "perceptron": record_perceptron,
    "smo": record_smo,
    "pegasos": record_pegasos,
    "chunking": record_chunking,
}
