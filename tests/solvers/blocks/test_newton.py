"""Linear machines over blocks: the same as in memory, the same however the rows are divided."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import cholesky

from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer._jit.threads import Stopped
from mercer.problems.linear.block_machine import BlockMachine
from mercer.problems.linear.machine import LinearMargin, LinearTube
from mercer.solvers.blocks import newton, steps
from mercer.solvers.blocks.newton import solve, solve_many
from mercer.solvers.blocks.source import LocalBlocks
from mercer.solvers.limits import Limits
from mercer.solvers.linear import proximal_newton
from mercer.solvers.result import Status


def rows(n=600, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = X @ rng.normal(size=d) + 0.8 * rng.normal(size=n) + 0.5
    return X, np.where(f > 0, 1.0, -1.0), f


def blocks_of(X, size=128, **options):
    bounds = [*range(0, X.shape[0], size), X.shape[0]]
    spans = [slice(a, b) for a, b in pairwise(bounds)]
    return LocalBlocks(
        lambda i, dtype: X[spans[i]].astype(dtype), [s.stop - s.start for s in spans], X.shape[1], **options
    )


def reference(X, problem, gap_tol=1e-10):
    products = RowProducts(view_rows(X), X.shape[1])
    found = proximal_newton.solve(products, problem.dual(), gap_tol=gap_tol, limits=Limits())
    return found, problem.certificate(products, found.w, found.bias, found.beta)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_margins_have_the_objective_of_the_solver_in_memory(loss, bias, C):
    X, y, _ = rows()
    weights = C * np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    _, told = reference(X, LinearMargin(y, weights, loss, bias))
    found = solve(blocks_of(X), BlockMachine(y, weights, loss, bias=bias), gap_tol=1e-8)
    assert found.status == Status.OPTIMAL
    assert found.certificate.primal == pytest.approx(told.primal, rel=1e-7)
    assert found.certificate.gap <= 1e-8 * found.certificate.primal
    assert found.certificate.box_violation == 0.0


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_tubes_have_the_objective_of_the_solver_in_memory(loss, bias):
    X, _, f = rows()
    C = np.full(len(f), 3.0)
    _, told = reference(X, LinearTube(f, C, loss, bias, epsilon=0.2))
    found = solve(blocks_of(X), BlockMachine(f, 3.0, loss, epsilon=0.2, bias=bias), gap_tol=1e-8)
    assert found.status == Status.OPTIMAL
    assert found.certificate.primal == pytest.approx(told.primal, rel=1e-7)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "pinball"])
@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("far", [1e3, -1e6])
def test_a_free_bias_finds_targets_far_from_zero(far, C, loss):
    """Rounded over the spread of the targets alone, the losses of far residuals have no curvature."""
    X, _, f = rows(160)
    near, there = (
        solve(blocks_of(X), BlockMachine(t, C, loss, epsilon=0.01, bias="free"), gap_tol=1e-4) for t in (f, f + far)
    )
    assert there.status == Status.OPTIMAL
    assert there.certificate.primal == pytest.approx(near.certificate.primal, rel=3e-4)
    assert there.iterations <= 1.2 * near.iterations + 2
    assert there.bias == pytest.approx(far, rel=1e-2)


@pytest.mark.parametrize("bias", ["penalized", "none"])
def test_targets_that_a_bias_does_not_reach_take_few_steps(bias):
    X, _, f = rows()
    machine = BlockMachine(f + 1e6, 1e4, "epsilon_insensitive", epsilon=0.01, bias=bias)
    found = solve(blocks_of(X * np.geomspace(0.01, 100.0, 8)), machine, gap_tol=1e-4, limits=Limits(max_iter=40))
    assert found.status == Status.OPTIMAL


def test_a_step_may_be_too_long_by_many_powers_of_ten():
    """Two rows are left in the rounded zone, for six unknowns."""
    rng = np.random.default_rng(0)
    X, scales = rng.normal(size=(40, 5)), np.geomspace(0.01, 100.0, 5)
    f = X @ rng.normal(size=5) + 0.8 * rng.normal(size=40)
    machine = BlockMachine(f, 1e4, "epsilon_insensitive", epsilon=1.0, bias="free")
    _, told = reference(X * scales, LinearTube(f, np.full(40, 1e4), "epsilon_insensitive", "free", epsilon=1.0))
    found = solve(blocks_of(X * scales, 16), machine, gap_tol=1e-4)
    assert found.status == Status.OPTIMAL
    assert found.certificate.primal == pytest.approx(told.primal, rel=2e-4)


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("seed", [2, 4])
def test_rows_that_can_be_separated_end_however_large_C_is(loss, bias, seed):
    """The primal falls by ten powers of ten before the gap is a share of it, and then few rows move for long."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, 40)) * 10.0 ** rng.uniform(1.0, 3.0, 40)
    signs = np.where(X @ (rng.normal(size=40) / X.std(axis=0)) > 0.0, 1.0, -1.0)
    found = solve(blocks_of(X, 500), BlockMachine(signs, 1e4, loss, bias=bias))
    assert found.status is Status.OPTIMAL
    assert found.certificate.relative_gap <= 1e-4


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["logistic", "huber", "pinball", "squared"])
def test_other_losses_close_their_gap(loss, bias):
    X, y, f = rows()
    targets = y if loss == "logistic" else f
    found = solve(blocks_of(X), BlockMachine(targets, 2.0, loss, bias=bias), gap_tol=1e-8)
    assert found.status == Status.OPTIMAL
    assert found.certificate.gap <= 1e-8 * found.certificate.primal


def test_least_squares_is_ridge_regression():
    X, _, f = rows()
    found = solve(blocks_of(X), BlockMachine(f, 0.5, "squared", bias="none"), gap_tol=1e-12)
    np.testing.assert_allclose(found.w, np.linalg.solve(X.T @ X + np.eye(8), X.T @ f), rtol=1e-9)


def test_how_many_work_does_not_show_in_the_bits():
    X, y, _ = rows(1000)
    machine = BlockMachine(y, 1.0, "hinge", bias="free")
    one, two = (solve(blocks_of(X, n_jobs=jobs), machine, gap_tol=1e-6) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.beta, two.beta)


def test_machines_in_the_same_passes_are_those_solved_alone():
    X, y, f = rows()
    machines = [BlockMachine(y, C, "hinge", bias="free") for C in (0.1, 10.0)] + [BlockMachine(f, 1.0, "squared")]
    together = solve_many(blocks_of(X), machines, gap_tol=1e-6)
    for machine, found in zip(machines, together, strict=True):
        alone = solve(blocks_of(X), machine, gap_tol=1e-6)
        np.testing.assert_array_equal(alone.w, found.w)
        assert alone.status == found.status == Status.OPTIMAL


def test_rows_without_weight_take_no_part():
    X, y, _ = rows()
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    part = weights > 0
    with_zeros = solve(blocks_of(X), BlockMachine(y, weights, "hinge"), gap_tol=1e-9)
    without = solve(blocks_of(X[part]), BlockMachine(y[part], 1.0, "hinge"), gap_tol=1e-9)
    assert with_zeros.certificate.primal == pytest.approx(without.certificate.primal, rel=1e-8)
    assert not with_zeros.beta[~part].any()


def test_a_factor_is_another_length_of_the_weights():
    X, y, _ = rows()
    Z = np.random.default_rng(5).normal(size=(8, 8))
    L = cholesky(Z @ Z.T + np.eye(8), lower=True)
    found = solve(blocks_of(X), BlockMachine(y, 1.0, "squared_hinge", bias="free"), factor=L, gap_tol=1e-9)
    whitened = np.linalg.solve(L, X.T).T
    plain = solve(blocks_of(whitened), BlockMachine(y, 1.0, "squared_hinge", bias="free"), gap_tol=1e-9)
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(X @ found.coefficients, whitened @ plain.w, atol=1e-3)
    np.testing.assert_allclose(L.T @ found.coefficients, found.w, rtol=1e-9)


def test_sparse_rows_are_dense_rows():
    X, y, _ = rows()
    X[np.abs(X) < 0.7] = 0.0
    machine = BlockMachine(y, 1.0, "hinge", bias="free")
    dense, thin = (
        solve(blocks_of(X), machine, gap_tol=1e-8),
        solve(blocks_of(sparse.csr_matrix(X)), machine, gap_tol=1e-8),
    )
    assert thin.certificate.primal == pytest.approx(dense.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_many_features_go_without_a_matrix(loss, monkeypatch):
    X, y, _ = rows()
    machine = BlockMachine(y, 1.0, loss, bias="free")
    told = solve(blocks_of(X), machine, gap_tol=1e-7)
    monkeypatch.setattr(steps, "DIRECT", 4)
    found = solve(blocks_of(X), machine, gap_tol=1e-7)
    assert found.status == Status.OPTIMAL
    assert found.certificate.primal == pytest.approx(told.certificate.primal, rel=1e-6)


def test_single_precision_ends_in_double():
    X, y, _ = rows()
    found = solve(blocks_of(X), BlockMachine(y, 1.0, "hinge", bias="free"), gap_tol=1e-9, dtype=np.float32)
    assert found.status == Status.OPTIMAL
    assert found.certificate.gap <= 1e-9 * found.certificate.primal


def test_a_sample_saves_passes(monkeypatch):
    X, y, _ = rows(4000)
    machine, counts = BlockMachine(y, 1.0, "hinge", bias="free"), []
    for size in (2**25, 600 * 8 * 8):
        monkeypatch.setattr(newton, "SAMPLE_BYTES", size)
        blocks = blocks_of(X, 500)
        passes, total = [], blocks.total
        blocks.total = lambda *asked, total=total, passes=passes: passes.append(1) or total(*asked)
        found = solve(blocks, machine, gap_tol=1e-4)
        assert found.status == Status.OPTIMAL
        counts.append(len(passes))
    assert counts[1] < counts[0]


def test_limits_leave_what_is_best_so_far():
    X, y, _ = rows()
    found = solve(blocks_of(X), BlockMachine(y, 100.0, "hinge"), gap_tol=1e-12, limits=Limits(max_iter=2))
    assert found.status == Status.ITERATION_LIMIT
    assert np.isfinite(found.certificate.gap)
    assert found.certificate.box_violation == 0.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_a_pass_that_is_cut_short_leaves_the_gap_of_those_before(loss, bias):
    X, y, _ = rows()
    machine = BlockMachine(y, 1.0, loss, bias=bias)
    least = solve(blocks_of(X), machine, gap_tol=1e-10).certificate.primal
    for whole in range(5):
        found = solve(stopped_after(blocks_of(X), whole), machine, gap_tol=1e-12)
        assert found.status == Status.INTERRUPTED
        if whole == 0:
            assert found.certificate is None
            continue
        penalty = 0.5 * (found.w @ found.w + (found.bias**2 if bias == "penalized" else 0.0))
        primal = penalty + machine.rows(slice(None)).risk(X @ found.coefficients + found.bias)
        assert found.certificate.primal == pytest.approx(primal, rel=1e-12)
        assert found.certificate.dual <= least <= found.certificate.primal
        assert found.certificate.gap == found.certificate.primal - found.certificate.dual
        assert not found.certificate.is_full
        counts = found.certificate.n_free, found.certificate.n_bounded, found.certificate.n_zero
        assert sum(counts) == len(y)
        assert min(counts) >= 0


def stopped_after(blocks, passes):
    """Blocks whose next pass is ended before its end."""
    total, done = blocks.total, []

    def cut_short(*asked):
        if len(done) == passes:
            raise Stopped
        done.append(1)
        return total(*asked)

    blocks.total = cut_short
    return blocks


def test_a_solution_to_begin_from_saves_steps():
    X, y, _ = rows()
    machine = BlockMachine(y, 1.0, "hinge", bias="free")
    first = solve(blocks_of(X), machine, gap_tol=1e-6)
    assert solve(blocks_of(X), machine, gap_tol=1e-6, start=first).iterations < first.iterations / 2


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sums_that_single_precision_makes_indefinite_are_made_in_double(loss):
    """Damping what rounding has spoilt would take ten times as many steps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = np.where(np.hypot(*X.T) + 0.2 * rng.normal(size=len(X)) > 1.0, 1.0, -1.0)
    Z = X[:200]
    kernel = np.exp(-0.5 * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))
    factor = cholesky(kernel[:200] + 1e-6 * np.eye(200), lower=True)
    machine = BlockMachine(y, np.full(len(y), 10.0), loss, bias="free")
    seen = []
    for dtype in (np.float32, np.float64):
        found = solve(blocks_of(kernel, 4096), machine, gap_tol=1e-3, factor=factor, dtype=dtype)
        assert found.status == Status.OPTIMAL
        seen.append(found.iterations)
    assert seen[0] <= 1.5 * seen[1]


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_few_passes_over_the_blocks_are_enough(loss, bias):
    """Steps of first order on rows of such different columns would take hundreds."""
    X, y, _ = rows(n=300)
    X = X * 10.0 ** np.linspace(-1.0, 1.0, 8)
    machine = BlockMachine(y, np.full(len(y), 1.0), loss, bias=bias)
    found = solve(blocks_of(X), machine, gap_tol=1e-8, limits=Limits(max_iter=120))
    assert found.status == Status.OPTIMAL
    assert found.certificate.gap <= 1e-8 * found.certificate.primal


def test_a_point_is_not_passed_over_again_for_its_certificate():
    X, y, _ = rows(3000)
    # As after the solution of a sample.
    start = solve(blocks_of(X[:1000]), BlockMachine(y[:1000], 3.0, "squared_hinge"), gap_tol=1e-8)
    blocks, places = blocks_of(X), []
    total = blocks.total

    def watched(work, shared, own, dtype):
        places.extend(each.what.at.v.tobytes() for each in shared[0].values())
        return total(work, shared, own, dtype)

    blocks.total = watched
    found = solve(blocks, BlockMachine(y, 1.0, "squared_hinge"), gap_tol=1e-4, start=start)
    assert found.status == Status.OPTIMAL
    assert found.certificate.gap <= 1e-4 * found.certificate.primal
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared_epsilon_insensitive"])
def test_a_certificate_asked_for_too_early_is_not_kept(loss, monkeypatch):
    X, y, _ = rows()
    asked = BlockMachine(y, 10.0, loss)
    usual = solve(blocks_of(X), asked, gap_tol=1e-9)
    monkeypatch.setattr(steps, "EXPECTED", np.inf)
    found = solve(blocks_of(X), asked, gap_tol=1e-9)
    assert found.status == Status.OPTIMAL
    assert found.certificate.gap <= 1e-9 * found.certificate.primal
    assert found.certificate.primal == pytest.approx(usual.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(found.coefficients, usual.coefficients, atol=1e-5)


def test_answers_of_the_blocks_are_handed_over_to_their_machine():
    """A certificate's rows may be let go of where they are joined: nothing else holds them."""
    kept = [[np.zeros(2), np.ones(2)], [np.zeros(3), np.ones(3)]]
    parts = newton._handed_over(kept, 1)
    assert [part.sum() for part in parts] == [2.0, 3.0]
    assert [each[1] for each in kept] == [None, None]
    assert [len(each[0]) for each in kept] == [2, 3]
