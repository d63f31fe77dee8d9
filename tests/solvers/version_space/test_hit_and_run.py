import numpy as np
import pytest
from scipy import stats

from mercer import Status
from mercer.problems.version_space.spherical_polygon import SphericalPolygon
from mercer.solvers.limits import Limits
from mercer.solvers.version_space import hit_and_run
from mercer.solvers.version_space.analytic_centre import analytic_centre
from mercer.solvers.version_space.ball_centre import ball_centre
from mercer.solvers.version_space.hit_and_run import Body, centre_of_mass
from mercer.solvers.version_space.hit_and_run_steps import walk


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_walls(seed, n, d):
    rng = np.random.default_rng(seed)
    walls, w = rng.normal(size=(n, d)), rng.normal(size=d)
    return unit(walls * np.sign(walls @ w)[:, None])


def analytic(walls):
    gram = walls @ walls.T
    start = ball_centre(gram, limits=Limits()).alpha
    return analytic_centre(gram, np.ones(len(gram)), start, tol=1e-6, limits=Limits()).alpha


def sampled(walls, seed=0, n_draws=4000, tol=0.01, min_ess=2000, limits=None, n_jobs=None):
    seeds = np.random.SeedSequence(seed).spawn(4)
    options = {"seeds": seeds, "n_draws": n_draws, "tol": tol, "min_ess": min_ess}
    return centre_of_mass(walls @ walls.T, analytic(walls), **options, limits=limits or Limits(), n_jobs=n_jobs)


def angle(left, right):
    return float(np.arccos(np.clip(unit(left) @ unit(right), -1.0, 1.0)))


@pytest.mark.parametrize(("low", "high"), [(-0.3, 1.2), (0.2, 0.21), (-1.5, 1.5)])
def test_on_an_arc_it_is_the_middle(low, high):
    # Weight vectors (cos t, sin t) with low < t < high; extra walls change nothing.
    walls = np.array(
        [
            [-np.sin(low), np.cos(low)],
            [np.sin(high), -np.cos(high)],
            [np.cos((low + high) / 2), np.sin((low + high) / 2)],
        ]
    )
    found = sampled(walls)
    assert found.status is Status.OPTIMAL
    w, middle = walls.T @ found.alpha, np.array([np.cos((low + high) / 2), np.sin((low + high) / 2)])
    assert angle(w, middle) < 4 * found.diagnostics.angle_error
    # A uniform angle on an arc of length L has the standard deviation L / sqrt(12).
    assert found.diagnostics.angle_error < 0.05 * (high - low)


@pytest.mark.parametrize("seed", range(6))
def test_on_the_sphere_it_is_the_exact_centre_of_mass(seed):
    walls = random_walls(seed, 5 + 5 * seed, 3)
    found = sampled(walls)
    exact = SphericalPolygon.of_walls(walls, walls.T @ analytic(walls)).centre_of_mass
    assert found.status is Status.OPTIMAL
    assert angle(walls.T @ found.alpha, exact) < 4 * found.diagnostics.angle_error
    assert found.diagnostics.angle_error < 0.03


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_of_an_orthant_it_is_the_diagonal(d):
    found = sampled(np.eye(d), min_ess=500)
    assert angle(found.alpha, np.ones(d)) < max(4 * found.diagnostics.angle_error, 1e-7)


def test_of_a_skew_cone_it_agrees_with_rejection_sampling():
    walls = random_walls(11, 7, 4)
    found = sampled(walls)
    draws = unit(np.random.default_rng(1).normal(size=(2_000_000, 4)))
    members = draws[(draws @ walls.T > 0).all(axis=1)]
    assert len(members) > 2000
    error = np.sqrt((1 - np.linalg.norm(members.mean(axis=0)) ** 2) / len(members)) / np.linalg.norm(
        members.mean(axis=0)
    )
    assert angle(walls.T @ found.alpha, members.mean(axis=0)) < 4 * (found.diagnostics.angle_error + error)


def test_the_draws_are_uniform_on_the_arc():
    walls = np.array([[0.0, 1.0], [1.0, -0.2]])
    body = Body(unit(walls) @ unit(walls).T, analytic(unit(walls)))
    rng, count, thinning = np.random.default_rng(3), 40_000, 20
    draws, point = np.empty((count // thinning, 2)), 0.5 * body.centre
    chosen, uniforms = rng.integers(0, len(body.directions), count), rng.random(count)
    distances = body.walls @ point
    written = walk(body.directions, body.rates, chosen, uniforms, point, distances, draws, thinning, 0)
    assert written == len(draws)
    # The angle to the first wall is uniform between 0 and the opening of the cone, which is below pi / 2.
    opening = np.pi - np.arccos(unit(walls)[0] @ unit(walls)[1])
    angles = np.arcsin(draws @ body.walls[0])
    assert stats.kstest(angles / opening, "uniform").pvalue > 1e-3
    np.testing.assert_allclose(distances, body.walls @ point, atol=1e-10)


def test_the_coordinates_of_a_body_are_those_of_its_walls():
    walls = random_walls(2, 20, 4)
    body = Body(walls @ walls.T, analytic(walls))
    assert body.rank == 4
    np.testing.assert_allclose(body.walls @ body.walls.T, walls @ walls.T, atol=1e-10)
    np.testing.assert_allclose(body.rates, body.directions @ body.walls.T, atol=1e-12)
    point = np.array([0.3, -0.2, 0.5, 0.1])
    np.testing.assert_allclose(body.walls.T @ body.coefficients(point), point, atol=1e-10)
    # One basis is conjugate for the barrier at the centre.
    weighted = body.walls / (body.walls @ body.centre)[:, None]
    hessian = weighted.T @ weighted + len(walls) * np.eye(4)
    axes = body.directions[: body.rank]
    np.testing.assert_allclose(axes @ hessian @ axes.T, np.eye(4), atol=1e-9)
    # The other moves one of the independent walls at a time.
    one_each = body.rates[body.rank :, body.pivots]
    np.testing.assert_allclose(one_each, np.diag(one_each.diagonal()), atol=1e-10)


def test_too_short_chains_are_told():
    walls = random_walls(0, 60, 30)
    found = sampled(walls, n_draws=64, limits=Limits(max_iter=60))
    assert found.status is Status.ITERATION_LIMIT
    assert found.diagnostics.steps == 60
    assert found.diagnostics.r_hat > 1.1
    assert not found.diagnostics.has_converged()
    enough = sampled(walls, n_draws=500, min_ess=400, tol=0.02)
    assert enough.status is Status.OPTIMAL
    assert enough.diagnostics.r_hat < found.diagnostics.r_hat
    assert enough.diagnostics.angle_error < found.diagnostics.angle_error


def test_with_next_to_no_steps_the_analytic_centre_remains():
    walls = random_walls(0, 60, 30)
    found = sampled(walls, limits=Limits(max_iter=3))
    assert found.diagnostics.n_draws == 0
    assert found.diagnostics.r_hat == np.inf
    assert angle(walls.T @ found.alpha, walls.T @ analytic(walls)) < 1e-6


def test_the_seed_decides_and_nothing_else():
    walls = random_walls(4, 30, 6)
    one, two, other = sampled(walls, n_jobs=1), sampled(walls, n_jobs=2), sampled(walls, seed=1)
    np.testing.assert_array_equal(one.alpha, two.alpha)
    assert one.diagnostics == two.diagnostics
    assert angle(walls.T @ one.alpha, walls.T @ other.alpha) > 0


def test_rounds_go_on_until_the_goal():
    walls = random_walls(5, 50, 20)
    found = sampled(walls, n_draws=200, tol=0.02, min_ess=200)
    assert found.status is Status.OPTIMAL
    assert len(found.trace) > 1
    iterations = [point.iterations for point in found.trace]
    assert iterations == [iterations[0] * 2**k for k in range(len(iterations))]
    assert found.trace[-1].violation == pytest.approx(found.diagnostics.r_hat - 1.0)
    assert found.trace[-1].dual > 0


def test_a_callback_and_the_clock_end_it():
    walls = random_walls(5, 50, 20)
    heard = sampled(walls, tol=1e-9, limits=Limits(callbacks=[lambda point: True]))
    assert heard.status is Status.INTERRUPTED
    assert heard.diagnostics.n_draws > 0
    assert sampled(walls, tol=1e-9, limits=Limits(time_limit=1e-9)).status is Status.TIME_LIMIT


def test_the_worst_of_all_directions_is_what_diagnostics_tell(monkeypatch):
    monkeypatch.setattr(hit_and_run, "effective_sample_size", lambda draws: np.linspace(900.0, 300.0, draws.shape[2]))
    monkeypatch.setattr(hit_and_run, "r_hat", lambda draws: np.linspace(1.0, 1.5, draws.shape[2]))
    found = sampled(random_walls(0, 5, 3), n_draws=200, limits=Limits(max_iter=2000)).diagnostics
    assert (found.effective_sample_size, found.r_hat) == (300.0, 1.5)
