"""The compiled steps against the book's algorithm, written plainly."""

import numpy as np
import pytest
from scipy import sparse

from mercer import DataError, ParameterError, Status
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic.pegasos import LinearIterate, Steps, ball_radius, run_steps, solve
from mercer.solvers.stochastic.visit_order import Sampler
from tests.faults.own_time import Stopwatch
from tests.solvers.stochastic.plain_sgd import iterates

FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix}


@pytest.fixture
def two_classes(rng):
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.7)
    return X, np.where(X @ rng.normal(size=6) + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variant", [{}, {"batch_size": 3}, {"projected": True}, {"batch_size": 4, "projected": True}])
def test_the_iterates_are_those_of_the_book(two_classes, form, dtype, variant):
    X, signs = two_classes
    X, lam, T = X.astype(dtype), 0.05, 300
    batch = variant.get("batch_size", 1)
    radius = 1 / np.sqrt(lam) if variant.get("projected") else np.inf
    order = Sampler(len(signs), seed=7).draw(0, T * batch)
    plain = iterates(X.astype(np.float64), signs, lam, order, batch, radius)
    mean = solve(FORMS[form](X), signs, lam, T=T, seed=7, **variant)
    last = solve(FORMS[form](X), signs, lam, T=T, seed=7, average=False, **variant)
    assert mean.weights == pytest.approx(plain[:-1].mean(axis=0), rel=1e-9, abs=1e-12)
    assert last.weights == pytest.approx(plain[-1], rel=1e-9, abs=1e-12)
    assert mean.status == Status.OPTIMAL
    assert mean.iterations == T


def test_many_projections_do_not_cost_the_mean_its_digits(rng):
    # Rows so long that the first thousand steps are projected: the scale must be put into theta.
    X = 300.0 * rng.normal(size=(50, 4))
    signs = np.where(rng.random(50) < 0.5, 1.0, -1.0)
    lam, T = 1e-3, 3000
    plain = iterates(X, signs, lam, Sampler(50, seed=1).draw(0, T), radius=1 / np.sqrt(lam))
    found = solve(X, signs, lam, T=T, projected=True, seed=1)
    assert found.weights == pytest.approx(plain[:-1].mean(axis=0), rel=1e-6, abs=1e-9)


def test_a_penalised_bias_is_a_feature_that_is_one(two_classes):
    X, signs = two_classes
    with_bias = solve(X, signs, 0.1, T=500, bias="penalized", seed=3)
    as_feature = solve(np.column_stack([X, np.ones(len(X))]), signs, 0.1, T=500, seed=3)
    assert [*with_bias.weights, with_bias.intercept] == pytest.approx(as_feature.weights)


def test_a_run_in_two_parts_is_the_run_in_one(two_classes):
    X, signs = two_classes
    sampler, ones = Sampler(len(signs), seed=5), np.ones(len(signs))
    parts, whole = (LinearIterate(6, Steps(0.1)) for _ in range(2))
    for T in (100, 157):
        run_steps(parts, X, signs, ones, sampler, T, Limits())
    run_steps(whole, X, signs, ones, sampler, 257, Limits())
    assert (parts.mean() == whole.mean()).all()


def test_the_trace_says_how_many_rows_fell_short(two_classes):
    X, signs = two_classes
    found = solve(X, signs, 0.1, T=20_000)
    assert [point.iterations for point in found.trace] == sorted({point.iterations for point in found.trace})
    assert found.trace[-1].iterations == 20_000
    assert 0 < found.trace[-1].short < 1
    assert found.trace[-1].loss == pytest.approx(np.maximum(0, 1 - signs * (X @ found.weights)).mean(), abs=0.1)


def test_epochs_are_visits_to_every_row(two_classes):
    X, signs = two_classes
    assert solve(X, signs, 0.1, epochs=2.5).iterations == 100
    assert solve(X, signs, 0.1, epochs=2.5, batch_size=8).iterations == 13


def test_a_callback_ends_the_run_and_leaves_the_iterates_so_far(two_classes):
    X, signs = two_classes
    found = solve(X, signs, 0.1, T=1_000_000, limits=Limits(callbacks=[lambda point: point.iterations > 30_000]))
    assert found.status == Status.INTERRUPTED
    assert found.iterations < 1_000_000
    assert (found.weights == solve(X, signs, 0.1, T=found.iterations).weights).all()


def test_a_time_limit_holds(two_classes):
    X, signs = two_classes
    limits, watch = Limits(time_limit=0.3), Stopwatch()
    assert solve(X, signs, 0.1, T=10**12, limits=limits).status == Status.TIME_LIMIT
    assert watch.seconds < 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of T and epochs is needed"),
        ({"T": 5, "epochs": 1}, "T and epochs cannot both be given"),
        ({"T": 5, "bias": "free"}, 'bias must be "none" or "penalized".*smo'),
    ],
)
def test_what_cannot_be_run_is_refused(two_classes, arguments, message):
    with pytest.raises(ParameterError, match=message):
        solve(*two_classes, 0.1, **arguments)


def test_rows_that_overflow_are_refused():
    with pytest.raises(DataError, match="overflow"):
        solve(np.array([[1e200], [-1e200]]), np.array([1.0, -1.0]), 0.1, T=100)


def test_the_radius_of_the_ball_is_that_of_the_paper():
    assert ball_radius(0.04, np.ones(3)) == pytest.approx(5.0)


@pytest.mark.parametrize("bias", ["none", "penalized"])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("variant", [{}, {"batch_size": 3}, {"batch_size": 2, "projected": True}])
def test_a_few_steps_with_and_without_a_bias(two_classes, variant, average, bias):
    """So few that code which is not compiled takes them at once."""
    X, signs = two_classes[0][:8], two_classes[1][:8]
    lam, T, batch = 0.3, 14, variant.get("batch_size", 1)
    radius = 1 / np.sqrt(lam) if variant.get("projected") else np.inf
    rows = np.column_stack([X, np.ones(8)]) if bias == "penalized" else X
    plain = iterates(rows, signs, lam, Sampler(8, seed=2).draw(0, T * batch), batch, radius)
    expected = plain[:-1].mean(axis=0) if average else plain[-1]
    found = solve(X, signs, lam, T=T, seed=2, bias=bias, average=average, **variant)
    weights = [*found.weights, found.intercept] if bias == "penalized" else found.weights
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12)
