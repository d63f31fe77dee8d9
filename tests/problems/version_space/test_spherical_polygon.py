import numpy as np
import pytest

from mercer import DataError
from mercer.problems.version_space.spherical_polygon import SphericalPolygon, tangents


def random_walls(rng, n):
    """Walls around a random direction, as those of separable rows are."""
    inside = rng.normal(size=3)
    inside /= np.linalg.norm(inside)
    normals = rng.normal(size=(n, 3))
    return normals * np.sign(normals @ inside)[:, None], inside


def uniform_members(normals, rng, n):
    """Unit vectors on the inner side of all walls, by rejection."""
    draws = rng.normal(size=(n, 3))
    draws /= np.linalg.norm(draws, axis=1)[:, None]
    return draws[(draws @ normals.T > 0).all(axis=1)]


def test_an_octant():
    octant = SphericalPolygon.of_walls(np.eye(3), np.array([1.0, 2.0, 0.5]))
    assert octant.area == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(octant.edge_lengths, np.pi / 2)
    np.testing.assert_allclose(octant.centre_of_mass, np.full(3, 1 / np.sqrt(3)))
    assert sorted(octant.walls) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_area_and_centre_of_mass_are_those_of_random_members(seed):
    rng = np.random.default_rng(seed)
    normals, inside = random_walls(rng, 3 + seed)
    polygon = SphericalPolygon.of_walls(normals, inside)
    members = uniform_members(normals, rng, 400_000)
    share = len(members) / 400_000
    assert polygon.area / (4 * np.pi) == pytest.approx(share, abs=4 * np.sqrt(share / 400_000))
    mean = members.mean(axis=0)
    error = np.sqrt((1 - mean @ mean) / len(members)) / np.linalg.norm(mean)
    assert np.arccos(polygon.centre_of_mass @ mean / np.linalg.norm(mean)) < 4 * error


def test_corners_lie_on_their_walls_and_inside_of_the_others():
    normals, inside = random_walls(np.random.default_rng(7), 30)
    polygon = SphericalPolygon.of_walls(normals, inside)
    heights = polygon.corners @ normals.T / np.linalg.norm(normals, axis=1)
    assert heights.min() > -1e-9
    assert ((np.abs(heights) < 1e-9).sum(axis=1) >= 2).all()
    # A wall that does not matter does not change anything.
    kept = SphericalPolygon.of_walls(normals[polygon.walls], inside)
    assert kept.area == pytest.approx(polygon.area)


def test_too_few_walls_have_no_corners():
    with pytest.raises(DataError, match="fewer than three corners"):
        SphericalPolygon.of_walls(np.eye(3)[:2], np.ones(3))


def test_a_vector_outside_is_refused():
    with pytest.raises(DataError, match="`inside` must lie on the inner side of every wall"):
        SphericalPolygon.of_walls(np.eye(3), np.array([1.0, 1.0, -1.0]))


def test_tangents_complete_a_right_handed_system():
    for direction in np.random.default_rng(0).normal(size=(20, 3)):
        axis = direction / np.linalg.norm(direction)
        system = np.vstack([tangents(direction), axis])
        np.testing.assert_allclose(system @ system.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(system) == pytest.approx(1.0)
