import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from mercer import Status
from mercer.solvers.limits import Limits
from mercer.solvers.version_space import analytic_centre as module
from mercer.solvers.version_space.analytic_centre import analytic_centre
from mercer.solvers.version_space.ball_centre import ball_centre
from tests.oracles import clarabel_centre


def random_walls(seed, n=25, d=4):
    rng = np.random.default_rng(seed)
    walls, w = rng.normal(size=(n, d)), rng.normal(size=d)
    walls *= np.sign(walls @ w)[:, None]
    return walls / np.linalg.norm(walls, axis=1)[:, None], rng.uniform(0.3, 2.0, n)


def centre_of(walls, weights, tol=1e-8, limits=None, start=None):
    gram = walls @ walls.T
    if start is None:
        start = ball_centre(gram, limits=Limits()).alpha
    return analytic_centre(gram, weights, start, tol=tol, limits=limits or Limits())


def barrier(w, walls, weights):
    return 0.5 * weights.sum() * w @ w - weights @ np.log(walls @ w)


@pytest.mark.parametrize("seed", range(10))
def test_clarabel_finds_the_same_with_exponential_cones(seed):
    walls, weights = random_walls(seed)
    found = centre_of(walls, weights)
    assert found.status is Status.OPTIMAL
    w = walls.T @ found.alpha
    theirs, value = clarabel_centre.solve(walls, weights)
    np.testing.assert_allclose(w, theirs, atol=1e-5)
    assert barrier(w, walls, weights) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_scipy_finds_the_same_on_the_sphere(seed):
    # The other form: the product of the margins under the constraint |w| <= 1, without the quadratic.
    walls, weights = random_walls(seed, n=12, d=3)
    w = walls.T @ centre_of(walls, weights).alpha
    result = minimize(
        lambda v: -weights @ np.log(walls @ v) + weights.sum() * np.log(np.linalg.norm(v)),
        0.9 * walls.T @ ball_centre(walls @ walls.T, limits=Limits()).alpha,
        jac=lambda v: -walls.T @ (weights / (walls @ v)) + weights.sum() * v / (v @ v),
        method="trust-constr",
        constraints=LinearConstraint(walls, 1e-6, np.inf, keep_feasible=True),
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 2000},
    )
    np.testing.assert_allclose(w, result.x / np.linalg.norm(result.x), atol=1e-4)


def test_its_length_is_one_and_every_wall_pushes_with_its_weight():
    walls, weights = random_walls(3)
    found = centre_of(walls, weights)
    w = walls.T @ found.alpha
    assert np.linalg.norm(w) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(weights.sum() * found.alpha * (walls @ w), weights, rtol=1e-10)


def test_a_weight_of_two_is_a_wall_twice():
    walls, _ = random_walls(5, n=10)
    twice = centre_of(np.vstack([walls, walls[:3]]), np.ones(13))
    weighted = centre_of(walls, np.r_[2.0, 2.0, 2.0, np.ones(7)])
    np.testing.assert_allclose(np.vstack([walls, walls[:3]]).T @ twice.alpha, walls.T @ weighted.alpha, atol=1e-10)


def test_walls_that_are_far_away_matter_too():
    # The ball centre of these three walls is in the middle; ten more on one side move the analytic one.
    few = np.array([[1.0, 0.2], [-1.0, 0.2]])
    few /= np.linalg.norm(few, axis=1)[:, None]
    many = np.vstack([few, np.repeat([[0.6, 0.8]], 10, axis=0)])
    assert (few.T @ centre_of(few, np.ones(2)).alpha)[0] == pytest.approx(0.0, abs=1e-9)
    assert (many.T @ centre_of(many, np.ones(12)).alpha)[0] > 0.05


def test_the_dual_value_bounds_the_minimum_along_the_way():
    walls, weights = random_walls(8, n=60, d=10)
    found = centre_of(walls, weights)
    minimum = barrier(walls.T @ found.alpha, walls, weights)
    duals = [point.dual for point in found.trace if np.isfinite(point.dual)]
    assert duals
    assert max(duals) <= minimum + 1e-9
    assert duals[-1] == pytest.approx(minimum, abs=1e-6)
    assert [point.iterations for point in found.trace] == list(range(len(found.trace)))


def test_the_decrement_bounds_the_distance_to_the_minimum():
    walls, weights = random_walls(2, n=40, d=6)
    minimum = barrier(walls.T @ centre_of(walls, weights).alpha, walls, weights)
    for steps in range(1, 8):
        short = centre_of(walls, weights, limits=Limits(max_iter=steps))
        if short.decrement < 1.0 and short.status is Status.ITERATION_LIMIT:
            kappa = weights.min()
            allowed = -kappa * (short.decrement + np.log1p(-short.decrement))
            assert barrier(walls.T @ short.alpha, walls, weights) - minimum <= allowed + 1e-9


def test_limits():
    walls, weights = random_walls(1, n=40, d=6)
    short = centre_of(walls, weights, limits=Limits(max_iter=1))
    assert short.status is Status.ITERATION_LIMIT
    assert (walls @ (walls.T @ short.alpha)).min() > 0
    assert centre_of(walls, weights, limits=Limits(time_limit=1e-9)).status is Status.TIME_LIMIT
    assert centre_of(walls, weights, limits=Limits(callbacks=[lambda point: True])).status is Status.INTERRUPTED


def test_a_tolerance_beyond_rounding_ends_as_inaccurate():
    walls, weights = random_walls(1, n=40, d=6)
    found = centre_of(walls, weights, tol=1e-300)
    assert found.status is Status.OPTIMAL_INACCURATE
    assert found.decrement < 1e-10


def test_a_gram_matrix_with_negative_eigenvalues_is_told_apart():
    bad = np.array([[1.0, -5.0, 5.0], [-5.0, 1.0, 5.0], [5.0, 5.0, 1.0]])
    assert analytic_centre(bad, np.ones(3), np.ones(3), tol=1e-8, limits=Limits()).status is Status.NOT_CONVEX


@pytest.mark.parametrize(
    ("decrement", "fruitless", "iterations", "max_iter", "status"),
    [
        (1e-8, 0, 0, 0, Status.OPTIMAL),
        (1.0, 0, 3, 3, Status.ITERATION_LIMIT),
        (1.0, 0, 2, 3, None),
        (1.0, 2, 5, -1, None),
        (1.0, 3, 5, -1, Status.STALLED),
        (module.INACCURATE, 3, 5, -1, Status.OPTIMAL_INACCURATE),
        (1.0, 0, module.MOST_STEPS, -1, Status.STALLED),
        (1.0, 0, module.MOST_STEPS - 1, -1, None),
    ],
)
def test_each_way_to_end(decrement, fruitless, iterations, max_iter, status):
    limits = Limits(max_iter=max_iter)
    assert module._ending(decrement, 1e-8, fruitless, iterations, limits) is status


@pytest.mark.parametrize("seed", range(6))
def test_few_newton_steps_are_enough(seed):
    """A barrier of this kind is self-concordant: damped steps, then quadratic convergence; ten or so in all."""
    walls, weights = random_walls(seed)
    assert centre_of(walls, weights, tol=1e-10, limits=Limits(max_iter=40)).status is Status.OPTIMAL


@pytest.mark.parametrize("most", [0, 1, 3])
def test_steps_towards_a_centre_are_counted_to_the_last(most):
    gram, start = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([0.9, 0.05])
    found = analytic_centre(gram, np.array([1.0, 30.0]), start, tol=1e-15, limits=Limits(max_iter=most))
    assert (found.status, found.iterations, len(found.trace)) == (Status.ITERATION_LIMIT, most, most + 1)
