"""Chords between solutions: what is promised of the gap holds."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.paths.chord_path import ChordPath, Node, approximate_path, chord_bound
from mercer.solvers.result import Status
from tests.oracles import clarabel_qp


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return RBF(0.7)(X), np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, 1.0, -1.0)


def node_at(K, signs, C):
    problem = SoftMargin(signs, np.full(len(signs), C))
    beta, _ = clarabel_qp.solve(K, signs, problem.C)
    # An interior point never quite reaches a bound.
    share = np.round(signs * beta / C, 6)
    beta = np.where((share == 0) | (share == 1), signs * C * share, beta)
    bias = problem.dual().bias(beta, signs - K @ beta)
    seen = problem.certificate(beta, K @ beta, bias)
    loss = np.maximum(0.0, 1.0 - signs * (K @ beta + bias)).sum()
    return Node(C, beta, bias, loss, seen.primal, seen.dual, Status.OPTIMAL)


def test_the_bound_of_a_chord_holds_everywhere_on_it(problem):
    K, signs = problem
    left, right = node_at(K, signs, 0.5), node_at(K, signs, 3.0)
    bound = chord_bound(left, right)
    for share in np.linspace(0, 1, 9):
        C = (1 - share) * left.C + share * right.C
        beta = (1 - share) * left.beta + share * right.beta
        bias = (1 - share) * left.bias + share * right.bias
        seen = SoftMargin(signs, np.full(60, C)).certificate(beta, K @ beta, bias)
        assert seen.gap <= bound * left.dual + 1e-9
        assert seen.box_violation < 1e-12


def test_intervals_are_halved_until_the_bound_is_met(problem):
    K, signs = problem
    path = approximate_path(lambda C, _start, _tol: node_at(K, signs, C), 0.01, 100.0, 0.05, Limits())
    assert path.status == Status.OPTIMAL
    assert path.bounds.max() <= 0.05
    assert (np.diff(path.breakpoints) > 0).all()
    finer = approximate_path(lambda C, _start, _tol: node_at(K, signs, C), 0.01, 100.0, 0.01, Limits())
    assert len(finer.breakpoints) > len(path.breakpoints)


def test_every_solution_begins_from_a_feasible_point_between_its_neighbours(problem):
    K, signs = problem
    starts = {}

    def solve(C, start, _tol):
        starts[C] = start
        return node_at(K, signs, C)

    path = approximate_path(solve, 0.01, 100.0, 0.01, Limits())
    first, *others = starts.items()
    assert first == (0.01, None)
    assert len(others) == len(path.breakpoints) - 1
    for C, start in others:
        assert (signs * start >= -1e-12).all()
        assert (signs * start <= C * (1.0 + 1e-12)).all()
        assert abs(start.sum()) <= 1e-6 * C


def test_a_stop_leaves_what_was_solved(problem):
    K, signs = problem
    limits = Limits()
    calls = []

    def solve(C, _start, _tol):
        calls.append(C)
        if len(calls) == 3:
            limits.report(None)
        return node_at(K, signs, C)

    limits.callbacks = (lambda _: True,)
    path = approximate_path(solve, 0.01, 100.0, 0.001, limits)
    assert path.status == Status.INTERRUPTED
    assert len(path.breakpoints) == 3


def test_between_solutions_coefficients_lie_on_the_chord():
    nodes = [
        Node(C, np.array(beta), bias, 0.0, 1.0, 1.0, Status.OPTIMAL)
        for C, beta, bias in ((1.0, [1.0, -1.0], 0.0), (3.0, [3.0, -1.0], 4.0), (5.0, [3.0, 0.0], 6.0))
    ]
    path = ChordPath(nodes, Status.OPTIMAL)
    for C, beta, bias in (
        (1.0, [1.0, -1.0], 0.0),
        (2.5, [2.5, -1.0], 3.0),
        (3.0, [3.0, -1.0], 4.0),
        (4.0, [3.0, -0.5], 5.0),
    ):
        found = path.at(C)
        np.testing.assert_allclose(found[0], beta)
        assert found[1] == pytest.approx(bias)
    np.testing.assert_allclose(path.at(5.0)[0], [3.0, 0.0])
    assert path.C_end == 5.0
    # What is handed out may be changed.
    path.at(1.0)[0][:] = 0.0
    assert nodes[0].beta[0] == 1.0
    assert ChordPath(nodes[:1], Status.OPTIMAL).at(9.0)[1] == 0.0


def test_the_bound_of_a_chord_by_hand():
    left = Node(1.0, np.zeros(1), 0.0, 8.0, 5.5, 5.0, Status.OPTIMAL)
    right = Node(2.0, np.zeros(1), 0.0, 4.0, 10.25, 10.0, Status.OPTIMAL)
    assert chord_bound(left, right) == pytest.approx((0.5 + 1.0) / 5.0)
    assert left.gap == 0.5


def test_every_solution_is_asked_to_be_better_than_the_chords(problem):
    K, signs = problem
    asked = []

    def solve(C, _start, tol):
        asked.append(tol)
        return node_at(K, signs, C)

    approximate_path(solve, 0.01, 100.0, 0.05, Limits())
    assert len(set(asked)) == 1
    assert 0.0 < asked[0] < 0.05
