"""The exact path against an interior point, on ordinary and on degenerate data."""

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError
from mercer.kernels import RBF, Linear, Polynomial
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.paths import exact_path
from mercer.solvers.paths.exact_path import follow_path
from mercer.solvers.paths.parametric_events import Cycling
from mercer.solvers.result import Status
from tests.oracles import clarabel_qp

GRID = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
TWICE = np.vstack([GRID, GRID])


def noisy(n, d=3, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > shift, 1.0, -1.0)


def path_of(K, signs, weights=None, bias="free", C_max=1e3, limits=None):
    weights = np.ones(len(signs)) if weights is None else weights
    return follow_path(StoredMatrix.of(K), np.asarray(signs, float), weights, bias, C_max, limits)


def worst_error(path, K, C, bias="free"):
    """How far the solution at C is from feasible, and its dual value from Clarabel's."""
    beta, _ = path.at(C)
    bounds = C * path.weights
    _, best = clarabel_qp.solve(K, path.signs, bounds, bias=bias)
    Q = K + (1.0 if bias == "penalized" else 0.0)
    dual = path.signs @ beta - 0.5 * beta @ Q @ beta
    alpha = path.signs * beta
    box = max(0.0, -alpha.min(), (alpha - bounds).max()) / C
    total = abs(beta.sum()) / C if bias == "free" else 0.0
    return max(abs(dual - best) / max(1.0, abs(best)), box, total)


@pytest.mark.parametrize("bias", ["free", "none", "penalized"])
@pytest.mark.parametrize(("n", "seed", "kernel"), [(20, 0, RBF(0.5)), (61, 1, Linear()), (90, 2, RBF(0.2))])
def test_path_is_clarabels_solution_at_every_C(n, seed, kernel, bias):
    X, signs = noisy(n, seed=seed, shift=0.3 * seed)
    K = kernel(X)
    path = path_of(K, signs, bias=bias)
    assert path.status == Status.OPTIMAL
    for C in np.exp(np.random.default_rng(seed).uniform(np.log(1e-3), np.log(1e3), 6)):
        assert worst_error(path, K, C, bias) < 1e-8


DEGENERATE = {
    "a grid, all distances tied": (GRID, np.where(GRID.sum(1) > 4, 1, -1), Linear()),
    "a chessboard": (GRID, np.where(GRID.sum(1) % 2 == 0, 1, -1), RBF(1.0)),
    "a chessboard and a plane": (GRID, np.where(GRID.sum(1) % 2 == 0, 1, -1), Linear()),
    "every row twice": (TWICE, np.tile(np.where(GRID[:, 0] > 2, 1, -1), 2), RBF(0.3)),
    "contradictions": (TWICE, np.r_[np.where(GRID[:, 0] > 2, 1, -1), np.where(GRID[:, 1] > 2, 1, -1)], RBF(0.3)),
    "contradictions and a plane": (
        TWICE,
        np.r_[np.where(GRID[:, 0] > 2, 1, -1), np.where(GRID[:, 1] > 2, 1, -1)],
        Linear(),
    ),
    "two rows": (np.array([[0.0], [1.0]]), [1, -1], Linear()),
    "one place": (np.ones((10, 2)), [1] * 4 + [-1] * 6, Linear()),
    "a kernel that is zero": (np.zeros((10, 2)), [1] * 4 + [-1] * 6, Linear()),
    "one row against many": (GRID, [1] + [-1] * 24, RBF(1.0)),
    "mirrored classes": (np.vstack([GRID + 0.3, -GRID - 0.3]), [1] * 25 + [-1] * 25, RBF(0.1)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_have_exact_paths(name):
    X, signs, kernel = DEGENERATE[name]
    K = kernel(X)
    path = path_of(K, signs)
    assert path.status == Status.OPTIMAL
    for C in (1e-3, 0.05, 0.7, 30.0, 900.0):
        assert worst_error(path, K, C) < 1e-8


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, gamma=1.5, coef0=1.0)])
def test_long_pieces_of_kernels_of_low_rank_stay_exact(seed, kernel):
    """Most points depend on the free ones, and the last pieces are a hundred times as long as those before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(40, 160)), int(rng.integers(2, 6))))
    if seed % 3 == 0:
        X = np.round(2 * X)
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0.4, 1.0, -1.0)
    K, bias = kernel(X), ("free", "none", "penalized")[seed % 3]
    path = path_of(K, signs, bias=bias)
    assert path.status == Status.OPTIMAL
    for C in (0.3, 40.0, 950.0):
        beta, b = path.at(C)
        problem = SoftMargin(signs, np.full(len(X), C), "hinge", bias)
        found = problem.certificate(beta, K @ beta, problem.intercept(beta, b))
        assert found.gap <= 1e-7 * found.primal


def test_worked_example_ends_in_the_hard_margin():
    X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    path = path_of(Linear()(X), [-1, -1, 1, 1], C_max=np.inf)
    beta, bias = path.at(1e6)
    assert np.allclose(np.abs(beta), [0.5, 0.5, 1.0, 0.0], atol=1e-12)
    assert bias == pytest.approx(-1.0, abs=1e-12)
    assert path.C_end == np.inf


def test_weights_of_two_are_copies():
    X, signs = noisy(30, seed=3)
    weights = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(30), weights.astype(int))
    weighted = path_of(RBF(0.5)(X), signs, weights)
    copied = path_of(RBF(0.5)(X[copies]), signs[copies])
    for C in (0.02, 0.4, 5.0):
        beta, bias = weighted.at(C)
        summed = np.bincount(copies, copied.at(C)[0])
        assert np.allclose(beta, summed, atol=1e-9 * C)
        assert bias == pytest.approx(copied.at(C)[1], abs=1e-8)


def test_coefficients_are_linear_between_breakpoints():
    X, signs = noisy(40, seed=4)
    path = path_of(RBF(0.5)(X), signs)
    place = len(path.breakpoints) // 2
    left, right = path.breakpoints[place : place + 2]
    ends = path.at(left + 1e-12)[0], path.at(right - 1e-12)[0]
    assert np.allclose(path.at(0.5 * (left + right))[0], 0.5 * (ends[0] + ends[1]), atol=1e-9)


def test_a_piece_begins_at_zero_and_at_every_event():
    X, signs = noisy(40, seed=4)
    path = path_of(RBF(0.5)(X), signs)
    assert path.breakpoints[0] == 0.0
    assert (np.diff(path.breakpoints) >= 0).all()
    assert {C for C, _, _ in path.events()} <= {*path.breakpoints, path.C_end}


def test_events_change_the_sets_that_are_reported():
    X, signs = noisy(40, seed=5)
    path = path_of(RBF(0.5)(X), signs)
    events = path.events()
    assert len(events) == path.n_events
    assert [C for C, _, _ in events] == sorted(C for C, _, _ in events)
    C, point, kind = events[-1]
    names = np.array(["zero", "bounded", "free"])
    assert names[path.sets(min(2 * C, 999.0))][point] == kind
    beta, _ = path.at(min(2 * C, 999.0))
    assert (path.sets(min(2 * C, 999.0)) == 0).sum() == (beta == 0).sum()


def test_at_an_event_its_point_and_no_other_changes_its_set():
    X, signs = noisy(40, seed=5)
    path = path_of(RBF(0.5)(X), signs)
    events = path.events()
    times = np.array([0.0, *(C for C, _, _ in events), path.C_end])
    is_alone = (np.diff(times[:-1]) > 1e-6 * times[1:-1]) & (np.diff(times[1:]) > 1e-6 * times[1:-1])
    assert is_alone.sum() > 20
    for k in np.flatnonzero(is_alone):
        _, point, kind = events[k]
        before, after = (path.sets(0.5 * (times[k + i] + times[k + i + 1])) for i in (0, 1))
        assert (np.flatnonzero(before != after) == [point]).all()
        assert ("zero", "bounded", "free")[after[point]] == kind


def test_callbacks_see_the_dual_objective_of_where_the_path_is():
    X, signs = noisy(30, seed=5)
    K, seen = RBF(0.5)(X), []
    path = path_of(K, signs, C_max=2.0, limits=Limits(callbacks=[lambda point: bool(seen.append(point))]))
    beta, _ = path.at(2.0)
    assert seen[-1].dual == pytest.approx(signs @ beta - 0.5 * beta @ K @ beta)
    assert seen[-1].iterations == path.n_events
    assert (seen[-1].working_set, seen[-1].active) == ((path.sets(2.0) == 2).sum(), 30)


def test_an_indefinite_kernel_is_refused_with_a_witness():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(30, 30))
    K = K + K.T
    with pytest.raises(NotPositiveSemidefiniteError) as caught:
        path_of(K, np.where(np.arange(30) % 2 == 0, 1.0, -1.0))
    assert caught.value.witness @ K @ caught.value.witness < 0


def test_limits_leave_the_part_that_is_known():
    X, signs = noisy(60, seed=6)
    K = RBF(0.5)(X)
    short = path_of(K, signs, limits=Limits(max_iter=20))
    assert short.status == Status.ITERATION_LIMIT
    assert 0 < short.C_end < 1e3
    assert worst_error(short, K, 0.9 * short.C_end) < 1e-8
    with pytest.raises(ValueError, match="the path ends at"):
        short.at(1e3)
    seen = []
    stopped = path_of(K, signs, limits=Limits(callbacks=[lambda point: seen.append(point) or True]))
    assert len(seen) == 1
    assert stopped.status in (Status.INTERRUPTED, Status.OPTIMAL)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_weights_and_C_matter_by_their_product_alone(bias):
    X, signs = noisy(25, seed=4, shift=0.5)
    K = RBF(0.5)(X)
    light, heavy = (path_of(K, signs, np.full(25, w), bias=bias, C_max=50.0 / w) for w in (0.003, 40.0))
    for C in (0.1, 1.0, 20.0):
        np.testing.assert_allclose(light.at(C / 0.003)[0], heavy.at(C / 40.0)[0], atol=1e-7)


@pytest.mark.parametrize("bias", ["free", "none", "penalized"])
def test_a_path_that_got_stuck_goes_on_just_beyond(bias, monkeypatch):
    X, signs = noisy(20, seed=1)
    K, stuck = RBF(0.5)(X), []
    lead = exact_path._lead

    def lead_until_stuck(homotopy, C_max, limits, events):
        if len(stuck) < 2:
            lead(homotopy, 0.5 * (1 + len(stuck)), limits, events)
            stuck.append(homotopy.time)
            raise Cycling
        return lead(homotopy, C_max, limits, events)

    monkeypatch.setattr(exact_path, "_lead", lead_until_stuck)
    path = path_of(K, signs, bias=bias, C_max=100.0)
    assert path.status == Status.OPTIMAL
    assert len(path.legs) == 3
    for C in (0.2, 0.7, 3.0, 90.0):
        assert worst_error(path, K, C, bias) < 1e-8


def test_a_path_that_is_stuck_near_its_end_says_so(monkeypatch):
    X, signs = noisy(20, seed=1)
    lead = exact_path._lead

    def lead_until_stuck(homotopy, C_max, limits, events):
        lead(homotopy, C_max, limits, events)
        raise Cycling

    monkeypatch.setattr(exact_path, "_lead", lead_until_stuck)
    path = path_of(RBF(0.5)(X), signs, C_max=10.0)
    assert path.status == Status.STALLED
    assert path.C_end == 10.0
    assert worst_error(path, RBF(0.5)(X), 9.0) < 1e-8


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_coefficients_and_bias_meet_the_conditions_of_optimality_everywhere(kernel):
    X, signs = noisy(30, seed=6, shift=0.4)
    K = kernel(X)
    path = path_of(K, signs, C_max=200.0)
    for C in np.geomspace(0.02, 190.0, 25):
        beta, bias = path.at(C)
        alpha, margins = signs * beta, signs * (K @ beta + bias)
        assert margins[alpha < 1e-9 * C].min(initial=1.0) >= 1.0 - 1e-7
        assert margins[alpha > C * (1.0 - 1e-9)].max(initial=1.0) <= 1.0 + 1e-7
        inside = (alpha >= 1e-9 * C) & (alpha <= C * (1.0 - 1e-9))
        np.testing.assert_allclose(margins[inside], 1.0, atol=1e-7)
