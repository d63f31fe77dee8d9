"""Passes of coordinate descent: what they leave behind, and how a bias is held."""

import numpy as np
import pytest

from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.problems.linear.dual import LinearDual
from mercer.solvers.limits import Limits
from mercer.solvers.linear import cd_passes
from mercer.solvers.linear.cd_passes import Passes
from mercer.solvers.linear.dual_cd import _Descent, next_wait, passes_left, solve
from mercer.solvers.result import Status


def machine(ridge=0.0, scale=0.0, is_free=False, n=40, size=1.0, seed=0, C=0.3):
    rng = np.random.default_rng(seed)
    X = size * rng.normal(size=(n, 4))
    signs = np.where(X[:, 0] / size + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    upper = np.maximum(C * signs, 0.0) if not ridge else np.where(signs > 0, 1e6, 0.0)
    lower = np.minimum(C * signs, 0.0) if not ridge else np.where(signs < 0, -1e6, 0.0)
    dual = LinearDual(signs, lower, upper, np.full(n, ridge), 0.0, 1.0 if is_free else scale, is_free)
    return X, RowProducts(view_rows(X), 4), dual


def losses(dual, values):
    slack = np.maximum(0.0, 1.0 - dual.linear * values)
    return slack**2 / (2.0 * dual.ridge) if dual.ridge.all() else dual.reach * slack


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize(("scale", "is_free"), [(0.0, False), (0.8, False), (1.0, True)])
def test_many_passes_end_at_the_solution_and_say_so(ridge, scale, is_free):
    X, products, dual = machine(ridge, scale, is_free)
    passes = Passes(products, dual, None, seed=3)
    for k in range(400):
        passes.look_at(passes.all_rows())
        assert passes.run(Limits())
        assert passes.done == k + 1
    beta = passes.beta
    np.testing.assert_allclose(passes.w[:-1], beta @ X, atol=1e-9)
    values = X @ passes.w[:-1] + passes.bias
    primal = dual.penalty(passes.w[:-1], passes.bias) + losses(dual, values).sum()
    assert primal - dual.value(beta, beta @ X) <= 1e-4 * primal
    if not is_free and scale:
        assert passes.bias == pytest.approx(scale**2 * beta.sum(), abs=1e-3)
    # The running estimates of the gap and the loss are those of the rows, once nothing moves any more.
    assert passes.loss == pytest.approx(losses(dual, values).sum(), rel=0.05)
    assert abs(passes.gap) <= 1e-2 * primal
    assert passes.firm <= 1e-2


def test_a_pass_is_cut_into_slices_between_which_it_can_be_stopped(monkeypatch):
    """The same steps as in one piece, and the largest slope, gap and loss of all slices together."""
    found = []
    for entries in (cd_passes.SLICE_ENTRIES, 4 * 7):
        monkeypatch.setattr(cd_passes, "SLICE_ENTRIES", entries)
        _, products, dual = machine(0.5)
        passes = Passes(products, dual, None, seed=3)
        passes.run(Limits())
        assert passes.firm > 0.0
        found.append((passes.beta.copy(), passes.firm, passes.gap, passes.loss))
    for whole, cut in zip(*found, strict=True):
        np.testing.assert_allclose(cut, whole)
    stopped = Limits()
    monkeypatch.setattr(stopped, "stop", lambda: True)
    _, products, dual = machine(0.5)
    passes = Passes(products, dual, None, seed=3)
    assert not passes.run(stopped)
    assert passes.done == 0
    assert 0 < np.count_nonzero(passes.beta) <= 7


def test_a_start_is_put_into_weights_and_bias():
    X, products, dual = machine(0.0, 0.8)
    start = 0.5 * (dual.lower + dual.upper)
    passes = Passes(products, dual, start, seed=0)
    np.testing.assert_allclose(passes.beta, start)
    np.testing.assert_allclose(passes.w[:-1], start @ X)
    assert passes.bias == pytest.approx(0.64 * start.sum())
    # What rows see of the bias is the price and the constant feature together.
    assert passes.price + passes.scale * passes.w[-1] == pytest.approx(passes.bias)


def test_a_sample_is_a_share_of_the_rows():
    _, products, dual = machine()
    passes = Passes(products, dual, None, seed=0)
    passes.sample(4)
    assert len(set(passes.active.tolist())) == 10


def test_a_penalised_bias_is_where_the_objective_is_least(rng):
    _, products, dual = machine(0.0, 0.7)
    descent, values = _Descent(products, dual, None, 0, 1e-6), rng.normal(size=40)

    def objective(b):
        return 0.5 * (b / 0.7) ** 2 + losses(dual, values + b).sum()

    for begin in (-3.0, 0.0, 0.4, 5.0):
        found = descent._penalised_bias(values, begin)
        least = min(objective(b) for b in np.linspace(-4.0, 4.0, 8001))
        assert objective(found) <= objective(begin)
        assert objective(found) <= least + 0.02 * (objective(begin) - least) + 1e-3


@pytest.mark.parametrize("scale", [0.5, 30.0])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_a_bias_settles_however_short_the_rows_are(size, scale):
    """Rows a thousandth as long as the constant feature would move the bias for ever."""
    X, products, dual = machine(0.0, scale, size=size)
    found = solve(products, dual, gap_tol=1e-3, limits=Limits(max_iter=300))
    assert found.status == Status.OPTIMAL
    primal = dual.penalty(found.w, found.bias) + losses(dual, X @ found.w + found.bias).sum()
    assert primal - dual.value(found.beta, found.beta @ X) <= 1e-3 * primal


def test_passes_that_seem_to_remain():
    """A gap that fell from 1 to 0.1 in ten passes needs another twenty to 0.001."""
    assert passes_left((1.0, 10), (0.1, 20), 1e-3) == pytest.approx(20.0)
    # Nothing is known without a fall, or before there are two gaps: as many again, twice.
    assert passes_left((0.1, 10), (0.1, 20), 1e-3) == 40.0
    assert passes_left((np.inf, 0), (0.1, 4), 1e-3) == 8.0
    assert next_wait(0.0, 100) == 1
    assert next_wait(4.0, 100) == 6
    assert next_wait(1e9, 4) == 8
    assert next_wait(1e9, 100) == 50
