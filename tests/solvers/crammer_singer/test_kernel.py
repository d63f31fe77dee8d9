"""Crammer and Singer's machine with a kernel: what its trace says, where it begins, when it ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.crammer_singer import KernelCrammerSinger
from mercer.solvers.crammer_singer import kernel
from mercer.solvers.crammer_singer.kernel import _Rounds
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.tolerances import INACCURATE

BIASES = {"penalized": (1.0, False), "none": (0.0, False), "free": (0.0, True)}


def classes(bias, n=60):
    """(problem, K) of three classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    codes = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [-0.5, 0.5]).astype(np.int64)
    scale, is_free = BIASES[bias]
    return KernelCrammerSinger(codes, 3, np.full(n, 2.0), scale, is_free=is_free), RBF(0.5)(X)


def certificate(problem, K, found):
    return problem.certificate(found.beta, K @ found.beta, found.bias)


@pytest.mark.parametrize("bias", BIASES)
def test_the_end_of_the_trace_is_what_the_certificate_says(bias):
    problem, K = classes(bias)
    found = kernel.solve(problem, StoredMatrix.of(K), tol=1e-6)
    proof, last = certificate(problem, K, found), found.trace[-1]
    assert found.status is Status.OPTIMAL
    assert proof.is_optimal(1e-6)
    assert last.dual == pytest.approx(proof.dual, rel=1e-5)
    assert last.gap == pytest.approx(proof.relative_gap, abs=1e-5)
    np.testing.assert_allclose(-found.gradient, K @ found.beta + found.bias, atol=1e-9)


@pytest.mark.parametrize("bias", ["penalized", "none"])
def test_a_solution_to_begin_from_is_the_end(bias):
    problem, K = classes(bias)
    solved = kernel.solve(problem, StoredMatrix.of(K), tol=1e-6)
    again = kernel.solve(problem, StoredMatrix.of(K), tol=1e-5, start=solved.beta)
    assert again.status is Status.OPTIMAL
    assert again.iterations == 0
    assert len(again.trace) == 1
    assert again.trace[0].violation <= 1e-5


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("gap_tol", [1e-2, 1e-7])
def test_a_gap_is_reached_whatever_the_tolerance(bias, gap_tol):
    problem, K = classes(bias)
    found = kernel.solve(problem, StoredMatrix.of(K), tol=0.5, gap_tol=gap_tol)
    assert found.status is Status.OPTIMAL
    assert certificate(problem, K, found).relative_gap <= gap_tol * (1.0 + 1e-6)


@pytest.mark.parametrize("bias", BIASES)
def test_steps_are_counted_to_the_last(bias):
    problem, K = classes(bias)
    found = kernel.solve(problem, StoredMatrix.of(K), tol=1e-9, limits=Limits(max_iter=1))
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == 1
    np.testing.assert_allclose(found.beta.sum(axis=1), 0.0, atol=1e-12)


def test_a_machine_that_is_stuck_says_how_far_it_came():
    def stuck(violation, gap_tol=None, convex=True):
        return _Rounds._stuck(SimpleNamespace(gap_tol=gap_tol, tol=1e-3, convex=convex), violation)

    assert stuck(1e-3) is Status.OPTIMAL
    assert stuck(INACCURATE, gap_tol=1e-9) is Status.OPTIMAL_INACCURATE
    assert stuck(1e-3, gap_tol=1e-9) is stuck(1e-2) is Status.STALLED
    assert stuck(1e-2, convex=False) is Status.NOT_CONVEX
