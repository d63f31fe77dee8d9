"""Steps of hit-and-run, each against the chord of ball and cone found by bisection."""

import numpy as np
import pytest

from mercer.solvers.version_space.hit_and_run_steps import walk


def inside(point, Z):
    return point @ point <= 1.0 and (Z @ point > 0.0).all()


def end_of_chord(point, direction, Z):
    """How far one may go, by halving."""
    low, high = 0.0, 4.0 / np.linalg.norm(direction)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(point + middle * direction, Z) else (low, middle)
    return low


def space(seed, n=5, r=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, r))
    point = 0.3 * np.ones(r)
    Z *= np.sign(Z @ point)[:, None]
    return Z, point, rng.normal(size=(4, r))


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_goes_to_its_share_of_the_chord(seed, n):
    Z, point, directions = space(seed, n)
    chosen, uniforms = np.array([2, 0, 3, 3, 1]), np.array([0.1, 0.9, 0.5, 0.0, 0.7])
    distances, draws, expected = Z @ point, np.empty((5, 3)), point.copy()
    for k, u in zip(chosen, uniforms, strict=True):
        direction = directions[k]
        low, high = -end_of_chord(expected, -direction, Z), end_of_chord(expected, direction, Z)
        expected = expected + (low + max(u, 1e-9) * (high - low)) * direction
    uniforms = np.maximum(uniforms, 1e-9)
    written = walk(directions, directions @ Z.T, chosen, uniforms, point, distances, draws, 1, 0)
    assert written == 5
    np.testing.assert_allclose(point, expected, atol=1e-6)
    np.testing.assert_allclose(distances, Z @ point, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1.0)
    np.testing.assert_allclose(draws[-1], point / np.linalg.norm(point))


@pytest.mark.parametrize(("thinning", "phase", "steps"), [(2, 0, [1, 3, 5]), (3, 1, [1, 4]), (3, 0, [2, 5])])
def test_draws_are_what_every_so_many_steps_leave(thinning, phase, steps):
    Z, point, directions = space(1)
    rng = np.random.default_rng(0)
    chosen, uniforms = rng.integers(4, size=6), rng.random(6)
    draws, all_draws = np.full((6, 3), np.nan), np.empty((6, 3))
    walk(directions, directions @ Z.T, chosen, uniforms, point.copy(), Z @ point, all_draws, 1, 0)
    written = walk(directions, directions @ Z.T, chosen, uniforms, point, Z @ point, draws, thinning, phase)
    assert written == len(steps)
    np.testing.assert_allclose(draws[:written], all_draws[steps])
    assert np.isnan(draws[written:]).all()


def test_a_point_at_the_end_of_its_chord_stays_in_the_cone():
    """Rounding must not carry it through a wall, and a wall that is met still has a distance."""
    Z, point, directions = np.array([[1.0, 0.0]]), np.array([0.5, 0.5]), np.array([[-1.0, 0.0], [0.0, 1.0]])
    distances = Z @ point
    walk(directions, directions @ Z.T, np.array([0, 0]), np.ones(2), point, distances, np.empty((2, 2)), 1, 0)
    assert distances[0] > 0.0
    assert 0.0 <= point[0] <= 1e-9
    # On the ball itself nothing is left of a chord along its tangent.
    point, distances = np.array([1.0, 0.0]), np.array([1.0])
    walk(directions, directions @ Z.T, np.array([1]), np.array([0.3]), point, distances, np.empty((1, 2)), 1, 0)
    assert point.tolist() == [1.0, 0.0]
