import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer import DataError, NotPositiveSemidefiniteError, ParameterError, Status, theory
from mercer.kernels import RBF, Custom, Linear, Polynomial, Precomputed, Sigmoid
from mercer.theory import radius


def by_subgradients(X, steps=3_000):
    """Radius by the method of Badoiu & Clarkson (2003), which shares nothing with the dual."""
    centre = X[0].copy()
    for step in range(1, steps):
        far = X[np.argmax(((X - centre) ** 2).sum(axis=1))]
        centre += (far - centre) / (step + 1)
    return float(np.sqrt(((X - centre) ** 2).sum(axis=1).max()))


def require_certified(ball, points):
    """Enclosing, and no larger than the dual allows, recomputed from explicit features."""
    centre = ball.weights @ points
    distances = np.linalg.norm(points - centre, axis=1)
    assert ball.weights.min() >= 0
    assert ball.weights.sum() == pytest.approx(1.0)
    assert distances.max() <= ball.radius * (1 + 1e-9)
    assert 0.0 <= ball.gap <= 1e-6 * max(ball.radius, 1e-300)
    assert distances[ball.support] == pytest.approx(ball.radius, rel=1e-3)


@pytest.mark.parametrize("n", [5, radius.INTERIOR_POINT_SIZE, radius.INTERIOR_POINT_SIZE + 1, 3000])
def test_every_way_of_solving_finds_the_smallest_ball(n, rng):
    X = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + 7.0
    ball = theory.smallest_ball(X)
    assert ball.status == Status.OPTIMAL
    require_certified(ball, X)
    other = by_subgradients(X)
    assert ball.radius == pytest.approx(other, rel=1e-3)
    assert ball.radius <= other + 1e-9


def test_the_two_solvers_agree(rng, monkeypatch):
    X = rng.normal(size=(80, 4))
    interior = theory.smallest_ball(X, RBF(gamma=0.3))
    monkeypatch.setattr(radius, "INTERIOR_POINT_SIZE", 0)
    pairs = theory.smallest_ball(X, RBF(gamma=0.3))
    assert pairs.radius == pytest.approx(interior.radius, rel=1e-8)
    assert pairs.weights == pytest.approx(interior.weights, abs=1e-5)


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("kernel", [Polynomial(degree=2, gamma=1.0, coef0=1.0), Linear(), 3.0 * Linear()])
def test_the_ball_of_a_kernel_is_that_of_its_features(kernel, n, rng):
    X = rng.uniform(size=(n, 3))
    require_certified(theory.smallest_ball(X, kernel), kernel.feature_map(X))


@given(st.integers(2, 12), st.floats(0.1, 30.0), st.integers(0, 2**32 - 1))
def test_points_of_a_simplex(n, side, seed):
    """n points at mutual distance s have the circumradius s sqrt((n - 1) / (2 n)), turned and moved anyhow."""
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    X = side / np.sqrt(2.0) * turn + np.random.default_rng(seed).normal(size=n)
    ball = theory.smallest_ball(X)
    assert ball.radius == pytest.approx(side * np.sqrt((n - 1) / (2 * n)), rel=1e-6)
    assert len(ball.support) == n


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_far_from_the_origin_no_digits_are_lost(shift, rng):
    X = rng.normal(size=(500, 2))
    assert theory.smallest_ball(X + shift).radius == pytest.approx(theory.smallest_ball(X).radius, rel=1e-7)


@pytest.mark.parametrize("n", [50, 500])
def test_every_kind_of_rows(n, rng):
    X = np.maximum(rng.normal(size=(n, 5)), 0.0)
    expected = theory.smallest_ball(X).radius
    K = X @ X.T
    items = [tuple(row) for row in X]
    pairwise = Custom(lambda s, t: float(np.dot(s, t)), pairwise=True)
    assert theory.smallest_ball(sparse.csr_matrix(X)).radius == pytest.approx(expected, rel=1e-7)
    assert theory.smallest_ball(X.astype(np.float32)).radius == pytest.approx(expected, rel=1e-5)
    assert theory.smallest_ball(K, Precomputed()).radius == pytest.approx(expected, rel=1e-7)
    assert theory.smallest_ball(X, lambda A, B: A @ B.T).radius == pytest.approx(expected, rel=1e-7)
    if n < 100:
        assert theory.smallest_ball(items, pairwise).radius == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("n", [1, 4, 400])
def test_equal_points_have_no_radius(n):
    ball = theory.smallest_ball(np.full((n, 2), 3.0))
    assert ball.radius == pytest.approx(0.0, abs=1e-7)
    assert ball.gap <= 1e-7


def test_the_scale_of_the_rows_does_not_matter(rng):
    X = rng.normal(size=(40, 3))
    for factor in (1e-8, 1e8):
        assert theory.smallest_ball(factor * X).radius == pytest.approx(factor * theory.smallest_ball(X).radius)


@pytest.mark.parametrize("n", [50, 500])
def test_an_indefinite_kernel_has_no_ball(n, rng):
    X = rng.normal(size=(n, 2))
    with pytest.raises(NotPositiveSemidefiniteError, match="not positive semidefinite on X"):
        theory.smallest_ball(X, Sigmoid(gamma=1.0, coef0=-1.0))


def test_a_time_limit_leaves_a_ball_and_its_gap(rng):
    X = rng.normal(size=(4000, 5))
    ball = theory.smallest_ball(X, RBF(gamma=1.0), time_limit=1e-9)
    assert ball.status == Status.TIME_LIMIT
    assert ball.weights.sum() == pytest.approx(1.0)
    assert ball.lower < ball.radius <= np.sqrt(2.0)


def test_it_says_how_good_it_is(rng):
    assert "points on the sphere" in str(theory.smallest_ball(rng.normal(size=(9, 2))))


@pytest.mark.parametrize("X", [np.empty((0, 2)), [[np.nan]], [[np.inf, 1.0]]])
def test_rows_must_be_there_and_finite(X):
    with pytest.raises(DataError):
        theory.smallest_ball(X)


def test_tol_must_be_positive():
    with pytest.raises(ParameterError, match="tol must be a positive"):
        theory.smallest_ball([[1.0]], tol=0.0)


def test_the_radius_about_the_origin_is_the_largest_norm(rng):
    X = rng.normal(size=(30, 4))
    assert theory.radius_about_origin(X) == pytest.approx(np.linalg.norm(X, axis=1).max())
    assert theory.radius_about_origin(X, RBF(gamma=2.0)) == 1.0
    assert theory.smallest_ball(X).radius <= theory.radius_about_origin(X)


def test_a_negative_square_is_no_norm():
    with pytest.raises(NotPositiveSemidefiniteError, match=r"k\(x, x\) must not be negative"):
        theory.radius_about_origin([[1.0]], Sigmoid(gamma=1.0, coef0=-3.0))
    with pytest.raises(DataError, match="at least one row"):
        theory.radius_about_origin(np.empty((0, 2)))


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.5)])
def test_the_spread_is_that_of_the_whole_matrix(kernel, rng, monkeypatch):
    monkeypatch.setattr(radius, "ENTRIES_AT_ONCE", 100)  # several blocks
    X = rng.normal(size=(31, 2)) + 3.0
    K = kernel(X)
    assert theory.kernel_spread(X, kernel) == pytest.approx(np.diag(K).max() - K.min())


@given(st.integers(1, 15), st.sampled_from(["linear", "rbf"]), st.integers(0, 2**32 - 1))
def test_more_points_never_make_it_smaller_and_repeated_ones_change_nothing(n, kernel, seed):
    X = np.random.default_rng(seed).normal(size=(n + 3, 2))
    kernel = Linear() if kernel == "linear" else RBF(gamma=0.7)
    ball = theory.smallest_ball(X, kernel)
    assert theory.smallest_ball(X[:n], kernel).radius <= ball.radius + 1e-7
    assert theory.smallest_ball(np.vstack([X, X[::-1]]), kernel).radius == pytest.approx(ball.radius, rel=1e-6)
    # Jung's theorem: between half the diameter and the diameter over the square root of two.
    squares = np.add.outer(kernel.diag(X), kernel.diag(X)) - 2.0 * kernel(X)
    diameter = float(np.sqrt(squares.max()))
    assert 0.5 * diameter <= ball.radius + 1e-7 <= diameter / np.sqrt(2.0) + 2e-7


@pytest.mark.parametrize("n", [300, 3000])
def test_ctrl_c_leaves_a_ball_and_its_gap(n, rng):
    X = rng.normal(size=(n, 2))
    calls = []

    def interrupted(A, B):
        calls.append(len(A))
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    ball = theory.smallest_ball(X, interrupted)
    assert ball.status == Status.INTERRUPTED
    assert ball.weights.sum() == pytest.approx(1.0)
    assert ball.lower <= theory.smallest_ball(X, RBF(gamma=1.0)).radius <= ball.radius + 1e-9
