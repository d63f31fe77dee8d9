import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError
from mercer.problems.version_space.centres import VersionSpace, decrement_from_excess, suboptimality


def space(seed, slack=0.0, bias="penalized", n=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    signs = np.where(X[:, 0] + 0.1 > 0, 1.0, -1.0)
    return X, VersionSpace(signs, rng.uniform(0.2, 3.0, n), slack, bias)


def test_walls_have_length_one_and_the_sign_of_the_label():
    X, problem = space(0)
    gram, factors = problem.walls(X @ X.T)
    rows = np.column_stack([X, np.ones(len(X))])
    normals = problem.signs[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]
    np.testing.assert_allclose(gram, normals @ normals.T, atol=1e-12)
    np.testing.assert_allclose(factors[:, None] * rows, normals)


def test_the_length_of_a_row_does_not_matter():
    X, problem = space(1, bias="none")
    longer = X * np.linspace(0.1, 9.0, len(X))[:, None]
    np.testing.assert_allclose(problem.walls(X @ X.T)[0], problem.walls(longer @ longer.T)[0], atol=1e-12)


def test_slack_gives_every_row_a_coordinate_of_its_own():
    X, problem = space(2, slack=0.5, bias="none")
    rows = np.hstack([X, np.diag(np.sqrt(0.5 / problem.weights))])
    normals = problem.signs[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]
    np.testing.assert_allclose(problem.walls(X @ X.T)[0], normals @ normals.T, atol=1e-12)


def test_a_row_without_length_is_refused():
    problem = VersionSpace(np.ones(2), np.ones(2), 0.0, "none")
    with pytest.raises(DataError, match=r"k\(x, x\) must be positive, got 0 for row 1.*slack=1.0"):
        problem.walls(np.diag([1.0, 0.0]))
    assert VersionSpace(np.ones(2), np.ones(2), 0.0, "penalized").walls(np.diag([1.0, 0.0]))[0].shape == (2, 2)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.7]), st.sampled_from(["penalized", "none"]))
def test_weak_duality_and_the_gap_in_two_ways(seed, slack, bias):
    X, problem = space(seed, slack, bias)
    rng = np.random.default_rng(seed)
    beta = problem.signs * rng.uniform(0.01, 1.0, len(X))
    K = X @ X.T
    found = problem.certificate(beta, K @ beta, problem.intercept(beta, 0.0))
    margins = problem.margins(beta, K @ beta)
    if margins.min() <= 0:
        assert found.primal == found.gap == np.inf
        return
    Q = K + (bias == "penalized") + np.diag(slack / problem.weights)
    total = problem.weights.sum()
    primal = 0.5 * total * beta @ Q @ beta - problem.weights @ np.log(margins)
    assert found.primal == pytest.approx(primal)
    assert found.gap == pytest.approx(found.primal - found.dual, rel=1e-9, abs=1e-9)
    assert found.gap >= 0.0
    assert found.smallest_margin == pytest.approx(margins.min())


def test_the_decrement_is_bounded_without_a_hessian():
    rng = np.random.default_rng(3)
    for _ in range(50):
        walls = np.abs(rng.normal(size=(9, 4)))
        c = rng.uniform(0.3, 2.0, 9)
        alpha = rng.uniform(0.5, 1.5, 9)
        w = walls.T @ alpha / c.sum()
        s = walls @ w
        gradient = c.sum() * w - walls.T @ (c / s)
        hessian = c.sum() * np.eye(4) + walls.T @ ((c / s**2)[:, None] * walls)
        exact = np.sqrt(gradient @ np.linalg.solve(hessian, gradient) / c.min())
        assert exact <= decrement_from_excess(alpha * s / c - 1.0, c) * (1 + 1e-12)


def test_self_concordance_says_nothing_of_a_long_step():
    c = np.array([2.0, 3.0])
    assert suboptimality(1.0, c) == np.inf
    assert suboptimality(0.1, c) == pytest.approx(-2.0 * (0.1 + np.log(0.9)))
    assert 0 <= suboptimality(1e-9, c) <= 2e-18


def test_a_point_outside_has_no_finite_certificate():
    X, problem = space(4)
    beta = -problem.signs
    found = problem.certificate(beta, X @ X.T @ beta, 0.0)
    assert found.gap == found.relative_gap == np.inf
    assert found.dual == -np.inf
    assert found.box_violation > 0
    assert found.smallest_margin < 0


def test_entries_of_a_certificate():
    """Two rows along one axis, without a bias: margins are 2 and 1 for beta = (2, 1), and c = (1, 3)."""
    problem = VersionSpace(np.ones(2), np.array([1.0, 3.0]), 0.0, "none")
    beta = np.array([2.0, 1.0])
    found = problem.certificate(beta, np.array([2.0, 1.0]), 0.0)
    half = 0.5 * (8.0 * 2.0 + 4.0 * 1.0)
    assert found.primal == pytest.approx(half - np.log(2.0))
    assert found.dual == pytest.approx((1 + np.log(8.0)) + 3 * (1 + np.log(4.0 / 3.0)) - half)
    assert found.relative_gap == pytest.approx((found.primal - found.dual) / found.primal)
    assert found.kkt_violation == pytest.approx(8.0 * 2.0 - 1.0)
    assert (found.equality_residual, found.box_violation, found.smallest_margin) == (0.0, 0.0, 1.0)
    assert (found.n_free, found.n_bounded, found.n_zero) == (2, 0, 0)
    # One coefficient that is not positive is enough to have no dual value.
    for other in (0.0, -0.5):
        some = problem.certificate(np.array([2.0, other]), np.array([2.0, 1.0]), 0.0)
        assert (some.dual, some.gap, some.relative_gap) == (-np.inf, np.inf, np.inf)
        assert some.box_violation == -4.0 * other
        assert (some.n_free, some.n_zero) == ((1, 1) if other == 0.0 else (2, 0))
    assert str(found).count("Newton decrement") == 1


def test_only_a_penalised_bias_has_an_intercept():
    beta = np.array([0.5, -0.2, 0.1])
    signs, weights = np.array([1.0, -1.0, 1.0]), np.ones(3)
    assert VersionSpace(signs, weights, 0.0, "penalized").intercept(beta, 7.0) == pytest.approx(0.4)
    assert VersionSpace(signs, weights, 0.0, "none").intercept(beta, 7.0) == 0.0


def test_a_point_on_a_wall_is_outside():
    problem = VersionSpace(np.ones(2), np.ones(2), 0.0, "none")
    found = problem.certificate(np.array([0.5, 0.5]), np.array([0.0, 1.0]), 0.0)
    assert found.primal == np.inf
    without = problem.certificate(np.array([0.0, 0.5]), np.array([1.0, 1.0]), 0.0)
    assert without.dual == -np.inf
