"""Which solver takes a linear machine, and what is told of two in a row."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer import LinearSVC, ParameterError
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.problems.linear.machine import LinearMargin
from mercer.solvers.limits import Limits
from mercer.solvers.linear import solve
from mercer.solvers.result import Status


def products_of(X):
    return RowProducts(view_rows(X), X.shape[1])


@pytest.mark.parametrize(
    ("n", "n_features", "expected"),
    [
        (solve.TINY, solve.TINY, True),
        (solve.TINY + 1, solve.TINY + 2, False),
        (10**6, solve.DIRECT - 1, True),
        (10**6, solve.DIRECT, False),
        (solve.DIRECT, solve.DIRECT - 1, True),
    ],
)
def test_newton_takes_few_features_and_small_problems(n, n_features, expected):
    assert solve._has_small_systems(SimpleNamespace(n=n, n_features=n_features)) == expected


def test_passes_of_one_solver_and_steps_of_the_next_are_added(rng, monkeypatch):
    """Coordinate descent that is too slow hands over to Newton's method, which goes on from there."""
    monkeypatch.setattr(solve, "_has_small_systems", lambda products: False)
    monkeypatch.setattr(solve, "PATIENCE", 0.0)
    X = rng.normal(size=(300, 40)) * 10.0 ** rng.uniform(-2, 2, 40)
    signs = np.where(X @ rng.normal(size=40) + rng.normal(size=300) > 0, 1.0, -1.0)
    problem = LinearMargin(signs, np.full(300, 100.0), "hinge")
    passes = []
    descend = solve.dual_cd.solve
    monkeypatch.setattr(
        solve.dual_cd, "solve", lambda *args, **named: passes.append(descend(*args, **named)) or passes[0]
    )
    found = solve.solve(products_of(X), problem.dual(), gap_tol=1e-6, limits=Limits())
    alone = solve.solve(products_of(X), problem.dual(), gap_tol=1e-6, limits=Limits(), solver="newton")
    assert passes[0].status is None
    assert found.status is Status.OPTIMAL
    assert found.iterations > passes[0].iterations > 0
    assert found.trace[: len(passes[0].trace)] == passes[0].trace
    assert found.iterations == passes[0].iterations + found.trace[-1].iterations
    assert found.trace[-1].dual == pytest.approx(alone.trace[-1].dual, rel=1e-5)


def test_a_solver_that_does_not_exist_is_refused(rng):
    X = rng.normal(size=(5, 2))
    problem = LinearMargin(np.array([1.0, -1.0, 1.0, -1.0, 1.0]), np.ones(5), "hinge")
    with pytest.raises(ParameterError, match="solver must be one of"):
        solve.solve(products_of(X), problem.dual(), gap_tol=1e-6, limits=Limits(), solver="fast")


@pytest.mark.parametrize("options", [{"penalty": "l1"}, {"dual": True}, {"dual": False}, {"loss": "hinge"}])
def test_the_trace_of_a_linear_machine_ends_with_the_gap_that_is_certified(options, rng):
    X = rng.normal(size=(80, 4))
    model = LinearSVC(tol=1e-5, **options).fit(X, X[:, 0] + 0.5 * rng.normal(size=80) > 0)
    last = model.trace_[-1]
    assert 0.0 <= last.gap <= 1e-5
    assert last.dual == pytest.approx(model.certificate_.dual, rel=1e-4)
    assert [point.iterations for point in model.trace_] == sorted(point.iterations for point in model.trace_)
