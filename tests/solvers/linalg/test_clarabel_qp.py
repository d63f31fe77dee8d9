import numpy as np
import pytest
from scipy import sparse

from mercer import DataError, Status
from mercer.solvers.linalg.clarabel_qp import solve_arrays, solve_quadratic_program
from mercer.solvers.other_process import matrix_arrays


def test_multipliers_and_value_satisfy_the_kkt_conditions(rng):
    half = rng.normal(size=(6, 6))
    Q, p = half @ half.T, rng.normal(size=6)
    A, c = rng.normal(size=(4, 6)), rng.normal(size=4)
    found = solve_quadratic_program(Q, p, A, c, n_equalities=1)
    assert found.status == Status.OPTIMAL
    rest = A @ found.u - c
    assert Q @ found.u + p == pytest.approx(A.T @ found.multipliers, abs=1e-7)
    assert rest[0] == pytest.approx(0.0, abs=1e-8)
    assert rest[1:].min() >= -1e-8
    assert found.multipliers[1:].min() >= -1e-8
    assert (found.multipliers * rest) == pytest.approx(np.zeros(4), abs=1e-6)
    assert found.value == pytest.approx(0.5 * found.u @ Q @ found.u + p @ found.u)


def test_sparse_matrices_are_matrices():
    dense = solve_quadratic_program(np.eye(2), [-1.0, 1.0], np.eye(2), np.zeros(2))
    thin = solve_quadratic_program(sparse.eye_array(2), [-1.0, 1.0], sparse.eye_array(2), np.zeros(2))
    assert dense.u == pytest.approx([1.0, 0.0], abs=1e-8)
    assert thin.u == pytest.approx(dense.u)


def test_what_has_no_solution_says_so():
    with pytest.raises(DataError, match="no solution: Clarabel ends with PrimalInfeasible"):
        solve_quadratic_program(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 1.0])
    with pytest.raises(DataError, match="no solution: Clarabel ends with DualInfeasible"):
        solve_quadratic_program(np.zeros((1, 1)), [-1.0], [[1.0]], [0.0])


def test_a_time_limit_ends_it(rng):
    half = rng.normal(size=(300, 300))
    found = solve_quadratic_program(half @ half.T, np.ones(300), np.eye(300), np.zeros(300), time_limit=1e-6)
    assert found.status == Status.TIME_LIMIT


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_matrix])
def test_a_program_of_named_arrays_is_the_same(form, rng):
    """As another process is given it."""
    half = rng.normal(size=(5, 5))
    Q, p, A, c = half @ half.T, rng.normal(size=5), rng.normal(size=(3, 5)), rng.normal(size=3)
    here = solve_quadratic_program(Q, p, A, c, n_equalities=1)
    arrays = {**matrix_arrays("Q", form(Q)), **matrix_arrays("A", form(A))}
    there = solve_arrays(p, c, 1, None, 100, **arrays)
    assert there["u"] == pytest.approx(here.u, abs=1e-9)
    assert there["multipliers"] == pytest.approx(here.multipliers, abs=1e-7)
    assert float(there["value"]) == pytest.approx(here.value)
    assert str(there["status"]) == "Solved"
    assert int(there["iterations"]) == here.iterations
