"""The problems of a linear fit, solved side by side, each with its certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from mercer._jit.row_products import WORTH_A_THREAD, RowProducts
from mercer._jit.row_views import view_rows
from mercer._jit.threads import one_blas_thread, run_parallel, thread_count
from mercer._types import Rows
from mercer.problems.certificate import Certificate
from mercer.solvers.linear_result import LinearSolution


@dataclass
class LinearFit:
    """A solution and its certificate.

    Two passes over the rows are cheap beside a fit, so the certificate is computed at once and the model need not keep
    the data.
    """

    solution: LinearSolution
    certificate: Certificate


def row_products(X: Rows, n_jobs: int | None) -> RowProducts:
    """X as the solvers see it: the user's own arrays."""
    return RowProducts(view_rows(X), X.shape[1], n_jobs)


def solve_each(
    products: RowProducts,
    problems: Sequence[Any],
    solve: Callable[..., LinearSolution],
    starts: Sequence[LinearSolution | None],
    n_jobs: int | None,
) -> list[LinearFit]:
    """solve(products, problem, start) for every problem: one on all cores, several side by side."""
    with one_blas_thread():
        if len(problems) == 1:
            return [_fit(products, problems[0], solve, starts[0])]
        products.squares()
        is_small = products.n_entries * len(problems) < WORTH_A_THREAD
        workers = 1 if is_small else min(thread_count(n_jobs), len(problems))
        # Not by the number of threads, which would affect the last bits of an answer.
        alone = products if is_small else products.alone()
        fits = cast(list[LinearFit], [None] * len(problems))

        def run(k: int) -> None:
            fits[k] = _fit(alone, problems[k], solve, starts[k])

        run_parallel(run, range(len(problems)), workers)
        return fits


def _fit(
    products: RowProducts, problem: Any, solve: Callable[..., LinearSolution], start: LinearSolution | None
) -> LinearFit:
    # With a huge C objectives overflow, which the status and the certificate report.
    with np.errstate(over="ignore", invalid="ignore"):
        solution = solve(products, problem, start)
        return LinearFit(solution, problem.certificate(products, solution.w, solution.bias, solution.beta))


def usable_starts(
    last: Sequence[LinearSolution] | None, n: int, d: int, n_problems: int
) -> Sequence[LinearSolution | None]:
    """The solutions of the last fit, if they match this one; else a None for each problem."""
    if last is not None and len(last) == n_problems:
        shapes = {(len(s.beta), s.w.shape[-1]) for s in last}
        if shapes == {(n, d)}:
            return last
    return [None] * n_problems
