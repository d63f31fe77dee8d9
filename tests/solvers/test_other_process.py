"""Work in another process: the same numbers, and an end at any moment."""

import io
import sys
import time
from functools import wraps

import numpy as np
import pytest
from scipy import sparse

from mercer._jit.threads import Stopped
from mercer.solvers import other_process
from mercer.solvers.linalg import clarabel_qp, dense_eigen


def never():
    return False


def waiting(seconds):
    """What is asked to run for longer than anybody waits."""
    time.sleep(seconds)
    return {}


def only_there(function):
    """The same function to the other process, and none that could be called here."""

    @wraps(function)
    def here(**_):
        pytest.fail("it was done here")

    return here


@pytest.fixture
def matrix(rng):
    A = rng.normal(size=(40, 40))
    return A @ A.T


def test_numbers_are_those_that_are_found_here(matrix):
    there = other_process.call(
        only_there(dense_eigen.find_pairs), never, {"matrix": matrix.copy()}, count=3, driver="evr"
    )
    here = dense_eigen.find_pairs(matrix.copy(), 3, "evr")
    np.testing.assert_allclose(there["values"], here["values"], rtol=1e-13)
    np.testing.assert_allclose(np.abs(there["vectors"]), np.abs(here["vectors"]), atol=1e-9)


def test_it_is_ended_at_once():
    begin = time.monotonic()
    with pytest.raises(Stopped):
        other_process.call(waiting, lambda: True, {}, seconds=600)
    assert time.monotonic() - begin < 60


def test_without_a_process_the_work_is_done_here(matrix, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    found = other_process.call(dense_eigen.find_values, never, {"matrix": matrix})
    np.testing.assert_allclose(found["values"], np.linalg.eigvalsh(matrix))


def test_a_process_that_cannot_do_it_leaves_it_to_us(matrix, monkeypatch):
    monkeypatch.setattr(other_process, "_PROGRAM", "import sys; sys.exit(3)")
    found = other_process.call(dense_eigen.find_values, never, {"matrix": matrix})
    np.testing.assert_allclose(found["values"], np.linalg.eigvalsh(matrix))


def test_memory_that_runs_out_there_is_not_asked_for_here(matrix, monkeypatch):
    monkeypatch.setattr(other_process, "_PROGRAM", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(MemoryError, match="find_values"):
        other_process.call(dense_eigen.find_values, never, {"matrix": matrix})


def test_a_large_program_is_solved_there_and_a_small_one_here(monkeypatch, matrix):
    called = []
    real = other_process.call
    monkeypatch.setattr(other_process, "call", lambda *args, **kw: called.append(1) or real(*args, **kw))
    A, c, p = np.eye(40), np.zeros(40), -np.ones(40)
    here = clarabel_qp.solve_quadratic_program(matrix, p, A, c, stop=never)
    assert not called
    monkeypatch.setattr(clarabel_qp, "AT_ONCE", 10)
    there = clarabel_qp.solve_quadratic_program(matrix, p, A, c, stop=never)
    assert called
    np.testing.assert_array_equal(here.u, there.u)
    assert (here.status, here.iterations, here.value) == (there.status, there.iterations, there.value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_a_matrix_is_put_together_as_it_was_taken_apart(form):
    matrix = form(np.array([[1, 0, 2], [0, 3, 0]]))
    arrays = other_process.matrix_arrays("A", matrix)
    assert all(isinstance(each, np.ndarray) for each in arrays.values())
    found = other_process.matrix_of("A", arrays)
    assert found.dtype == np.float64
    dense = found.toarray() if sparse.issparse(found) else found
    assert dense.tolist() == [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]


def test_what_arrives_is_numbers_and_never_a_pickle():
    pipe = io.BytesIO(b'{"arrays": ["a"]}\n')
    pipe.seek(0, io.SEEK_END)
    np.lib.format.write_array(pipe, np.array([print], dtype=object), allow_pickle=True)
    pipe.seek(0)
    with pytest.raises(ValueError, match="allow_pickle"):
        other_process._receive(pipe)
