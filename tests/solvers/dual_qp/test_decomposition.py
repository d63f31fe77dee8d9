"""The solver as one function: statuses, limits, starts and the trace."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mercer import SVC
from mercer.kernels import RBF
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.nu import NuMargin
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import decomposition, policy
from mercer.solvers.dual_qp.state import DualState
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from tests.oracles.kkt import assert_solved, judge


@pytest.fixture
def data(rng):
    X = rng.normal(size=(300, 3))
    signs = np.where(X[:, 0] + X[:, 1] ** 2 + 0.4 * rng.normal(size=300) > 1, 1.0, -1.0)
    return X, signs, SoftMargin(signs, np.full(300, 5.0))


@pytest.fixture
def matrix(data):
    return StoredMatrix.of(RBF(0.5)(data[0]))


@pytest.fixture
def small_working_sets(monkeypatch):
    monkeypatch.setattr(policy, "DIRECT_SIZE", 20)
    monkeypatch.setattr(decomposition, "WORKING_SIZE", 30)


def evaluated(X, dtype=np.float64):
    kernel = RBF(0.5)
    return EvaluatedMatrix(
        kernel, lambda dtype, rows=None: kernel.prepare(X if rows is None else X[rows], dtype), dtype
    )


def assert_right(solution, data, tol):
    X, signs, problem = data
    verdict = judge(RBF(0.5)(X), signs, problem.C, solution.beta, problem.intercept(solution.beta, solution.bias))
    assert_solved(verdict, tol)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6, 1e-9])
def test_a_solution_to_any_tolerance(tol, data, matrix):
    solution = decomposition.solve(data[2].dual(), matrix, tol=tol)
    assert solution.status is Status.OPTIMAL
    assert solution.is_gradient_complete
    assert_right(solution, data, tol)


def test_a_problem_without_points():
    nothing = DualProblem(np.empty(0), np.empty(0), np.empty(0))
    assert decomposition.solve(nothing, StoredMatrix.of(np.empty((0, 0)))).status is Status.OPTIMAL


@pytest.mark.parametrize("steps", [1, 5, 50])
def test_max_iter_is_exact_and_leaves_a_feasible_solution(steps, data, matrix):
    solution = decomposition.solve(data[2].dual(), matrix, tol=1e-9, limits=Limits(max_iter=steps))
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == steps
    assert abs(solution.beta.sum()) < 1e-12
    assert np.abs(solution.beta).max() <= 5.0


@pytest.mark.usefixtures("small_working_sets")
@pytest.mark.parametrize("steps", [1, 37, 400])
def test_max_iter_is_exact_in_rounds_too(steps, data):
    solution = decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-9, limits=Limits(max_iter=steps))
    assert (solution.status, solution.iterations) == (Status.ITERATION_LIMIT, steps)


def test_a_warm_start_at_the_solution_needs_no_step(data, matrix):
    first = decomposition.solve(data[2].dual(), matrix, tol=1e-4)
    again = decomposition.solve(data[2].dual(), matrix, tol=1e-4, start=first.beta)
    assert again.iterations == 0
    assert again.bias == pytest.approx(first.bias, abs=1e-6)
    assert_right(again, data, 1e-4)


def test_a_fit_that_was_stopped_goes_on_where_it_was(data, matrix):
    whole = decomposition.solve(data[2].dual(), matrix, tol=1e-6)
    part = decomposition.solve(data[2].dual(), matrix, tol=1e-6, limits=Limits(max_iter=whole.iterations // 2))
    rest = decomposition.solve(data[2].dual(), matrix, tol=1e-6, start=part.beta)
    assert rest.status is Status.OPTIMAL
    assert rest.iterations < whole.iterations
    assert_right(rest, data, 1e-6)


def test_a_start_outside_the_box_is_brought_in(data, matrix):
    solution = decomposition.solve(data[2].dual(), matrix, tol=1e-4, start=np.full(300, 1e6))
    assert solution.status is Status.OPTIMAL
    assert_right(solution, data, 1e-4)


def test_the_start_itself_is_left_alone(data, matrix):
    start = np.zeros(300)
    decomposition.solve(data[2].dual(), matrix, start=start)
    assert not start.any()


@pytest.mark.parametrize("gap_tol", [1e-2, 1e-5, 1e-8])
def test_a_gap_is_reached_whatever_the_tolerance(gap_tol, data, matrix):
    problem = data[2]
    solution = decomposition.solve(problem.dual(), matrix, tol=0.5, gap=problem.gap, gap_tol=gap_tol)
    assert solution.status is Status.OPTIMAL
    assert problem.gap(solution.beta, problem.dual().gradient(matrix, solution.beta)) <= gap_tol


@pytest.mark.usefixtures("small_working_sets")
def test_a_callback_may_end_the_fit(data):
    seen = []

    def enough(point):
        seen.append(point)
        return len(seen) == 2

    solution = decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-9, limits=Limits(callbacks=[enough]))
    assert solution.status is Status.INTERRUPTED
    assert solution.trace == seen
    assert solution.beta.any()


@pytest.mark.usefixtures("small_working_sets")
def test_the_trace_tells_what_happened(data):
    solution = decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-6)
    trace = solution.trace
    assert trace[-1].iterations == solution.iterations
    for name in ("seconds", "iterations", "dual"):
        values = [getattr(point, name) for point in trace]
        assert values == sorted(values)
    assert all(2 <= point.working_set <= point.active <= 300 for point in trace)
    # The violation, like the dual, is that after the round.
    assert trace[0].violation > 1e-6
    assert trace[-1].violation <= 1e-6
    assert trace[0].gap > 100 * trace[-1].gap
    # The gap is that with the bias of the last round, which is somewhere between the extremes: a convex function of it,
    # with a corner at every gradient, so that no value between is above those at the ends, or below that at a corner.
    dual = data[2].dual()
    ends = dual.extremes(solution.beta, solution.gradient)
    corners = [b for b in solution.gradient if min(ends) <= b <= max(ends)]
    gaps = [dual.relative_gap(solution.beta, solution.gradient, b, trace[-1].dual) for b in (*ends, *corners)]
    assert min(gaps) - 1e-14 <= trace[-1].gap <= max(gaps[:2]) + 1e-14


@pytest.mark.usefixtures("small_working_sets")
def test_rounds_find_what_one_working_set_finds(data, matrix):
    direct = decomposition.solve(data[2].dual(), matrix, tol=1e-7)
    rounds = decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-7)
    np.testing.assert_allclose(rounds.beta, direct.beta, atol=1e-4)
    assert rounds.bias == pytest.approx(direct.bias, abs=1e-6)
    assert_right(rounds, data, 1e-7)


def test_an_indefinite_matrix_has_a_status_of_its_own(data):
    X, _, problem = data
    matrix = StoredMatrix.of(RBF(0.5)(X) - 3.0 * np.eye(300))
    assert decomposition.solve(problem.dual(), matrix, convex=False).status is Status.NOT_CONVEX


def test_too_little_memory_for_a_working_set_has_a_status_of_its_own(data):
    solution = decomposition.solve(data[2].dual(), evaluated(data[0]), memory=100)
    assert solution.status is Status.MEMORY_LIMIT
    assert not solution.beta.any()


def test_memory_that_the_system_refuses_has_a_status_of_its_own(data, matrix, monkeypatch):
    def refuse(*_args, **_more):
        raise MemoryError

    monkeypatch.setattr(decomposition, "WorkingSet", refuse)
    assert decomposition.solve(data[2].dual(), matrix).status is Status.MEMORY_LIMIT


def test_single_precision_ends_as_accurate_as_double(data):
    """C = 1e5: products of single-precision entries with such coefficients lose more than tol."""
    X, signs, _ = data
    problem = SoftMargin(signs, np.full(300, 1e5))
    solution = decomposition.solve(problem.dual(), evaluated(X, np.float32), tol=1e-3)
    assert solution.status is Status.OPTIMAL
    verdict = judge(RBF(0.5)(X), signs, problem.C, solution.beta, solution.bias)
    assert_solved(verdict, 1e-3)


def far_and_near(rng, distance, n=900):
    """Points around the origin, and a few so far away that single precision does not tell them apart."""
    X = rng.normal(size=(n, 3))
    X[: n // 30] += distance
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("C", [1.0, 50.0])
def test_rows_far_away_are_solved_as_if_in_double_precision(C, rng, monkeypatch):
    monkeypatch.setattr(policy, "DIRECT_SIZE", 200)
    monkeypatch.setattr(decomposition, "SMALLEST_WORKING_SIZE", 200)
    X, signs = far_and_near(rng, 3000.0)
    origin, kernel, problem = X.mean(axis=0), RBF(0.5), SoftMargin(signs, np.full(len(X), C))

    def prepare(dtype, rows=None):
        return kernel.prepare(X if rows is None else X[rows], dtype, origin=origin, check=False)

    matrix = EvaluatedMatrix(kernel, prepare, np.float32, far=1e6)
    assert matrix.is_rough
    np.testing.assert_array_equal(matrix.rough_rows(), np.arange(len(X) // 30))
    solution = decomposition.solve(problem.dual(), matrix, tol=1e-3)
    assert solution.status is Status.OPTIMAL
    verdict = judge(kernel(X), signs, problem.C, solution.beta, problem.intercept(solution.beta, solution.bias))
    assert_solved(verdict, 1e-3)


def test_only_rows_far_away_are_computed_again_in_double(rng, monkeypatch):
    asked = []
    again = EvaluatedMatrix.product_in_double

    def watched(self, columns, coefficients, rows):
        asked.append(len(rows))
        return again(self, columns, coefficients, rows)

    monkeypatch.setattr(EvaluatedMatrix, "product_in_double", watched)
    X, signs = far_and_near(rng, 60.0)
    model = SVC(gamma=0.5).fit(X, np.where(signs > 0, "in", "out"))
    assert model.status_ is Status.OPTIMAL
    assert asked
    assert max(asked) < len(X) // 3


def test_blas_is_held_to_one_thread_between_the_parallel_regions(data):
    """Its threads would wait in a loop for work that is too short for them, on the cores of others."""
    seen = []

    def watch(_point):
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    with threadpool_limits(2, user_api="blas"):
        decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-3, limits=Limits(callbacks=[watch]))
        after = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    assert set(seen) == {1}
    assert after == {2}


def test_two_groups_end_where_they_should_from_the_worst_of_starts(rng):
    """Gradients of such a start vary far more than those of the solution."""
    n = 4000
    X = 0.2 * rng.normal(size=(n, 6))
    signs = np.where(5.0 * X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    problem = NuMargin(signs, np.ones(n), 0.6, np.ones(n)).dual()
    # All on one side: a gradient as large as can be.
    solutions = [
        decomposition.solve(problem, evaluated(X), tol=1e-3, start=start) for start in (problem.filled(X[:, 1]), None)
    ]
    for solution in solutions:
        assert solution.status == Status.OPTIMAL
        assert problem.violation(solution.beta, problem.gradient(evaluated(X), solution.beta)) <= 1.1e-3
    values = [problem.objective(s.beta, s.gradient) for s in solutions]
    assert values[0] == pytest.approx(values[1], rel=1e-4)


@pytest.mark.usefixtures("small_working_sets")
def test_a_deadline_in_a_product_keeps_the_model(data, monkeypatch):
    """Where the time is over while a gradient is brought up to date, what was solved is the answer."""
    limits, moves, move = Limits(), [], DualState.move

    def too_late(state, *arguments):
        moves.append(len(arguments[2]))
        if len(moves) == 4:
            limits.deadline = limits.begin
        move(state, *arguments)

    monkeypatch.setattr(DualState, "move", too_late)
    solution = decomposition.solve(data[2].dual(), evaluated(data[0]), tol=1e-9, limits=limits)
    assert solution.status is Status.TIME_LIMIT
    assert len(moves) == 4
    assert np.count_nonzero(solution.beta) > 0
    assert not solution.is_gradient_complete


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_working_set_is_larger_than_memory_allows(dtype, data, small_working_sets, monkeypatch):
    monkeypatch.setattr(decomposition, "WORKING_SIZE", 200)
    memory = (100 + 2 * decomposition.LANES) ** 2 * np.dtype(dtype).itemsize
    solution = decomposition.solve(data[2].dual(), evaluated(data[0], dtype), tol=1e-3, memory=memory)
    assert solution.status is Status.OPTIMAL
    assert max(point.working_set for point in solution.trace) <= 100
    assert_right(solution, data, 1e-3)


def test_more_steps_than_were_thought_to_be_enough_are_no_end_while_the_gap_falls(
    data, matrix, small_working_sets, monkeypatch
):
    monkeypatch.setattr(decomposition, "most_steps", lambda problem: 400)
    solution = decomposition.solve(data[2].dual(), matrix, tol=1e-6)
    assert solution.iterations > 400
    assert solution.status is Status.OPTIMAL
    assert_right(solution, data, 1e-6)
