r"""A version space that can be drawn: weight vectors of three coordinates, a polygon on the sphere.

With k relevant walls, in order, with unit normals z_1, ..., z_k pointing inwards, the corners are
:math:`z_j \times z_{j+1}`, the area is :math:`2\pi - \sum_j \angle(z_j, z_{j+1})`, and the integral
of u over the polygon is

.. math::
    \int u \, dA = \tfrac12 \sum_j \theta_j z_j,

where :math:`\theta_j` is the length of the edge on wall j (the divergence theorem on the cone).
Its direction is the centre of mass, exactly.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from mercer._errors import DataError
from mercer._types import FloatArray


@dataclass(frozen=True)
class SphericalPolygon:
    """The unit vectors on the inner side of every wall.

    Attributes
    ----------
    normals : ndarray (k, 3)
        Normals of the relevant walls, in order around the polygon.
    walls : ndarray of int (k,)
        Their positions among the given walls.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.version_space.spherical_polygon import SphericalPolygon
    >>> octant = SphericalPolygon.of_walls(np.eye(3), np.ones(3))
    >>> octant.area / np.pi, octant.centre_of_mass
    (0.5, array([0.577, 0.577, 0.577]))
    """

    normals: np.ndarray
    walls: np.ndarray

    @classmethod
    def of_walls(cls, normals: FloatArray, inside: FloatArray) -> Self:
        """From the normals of all walls, shape (n, 3), and a vector inside all of them.

        A wall is relevant if its normal is a corner of the hull of all normals, seen from `inside`.
        """
        normals = normals / np.linalg.norm(normals, axis=1)[:, None]
        heights = normals @ inside
        if not heights.min() > 0:
            raise DataError("`inside` must lie on the inner side of every wall")
        flat = (normals / heights[:, None]) @ tangents(inside).T
        try:
            order = ConvexHull(flat).vertices
        except (QhullError, ValueError) as error:
            raise DataError("the version space has fewer than three corners; more rows give it some") from error
        return cls(normals[order], order)

    @property
    def corners(self) -> FloatArray:
        """The corner between each wall and the next."""
        found = np.cross(self.normals, np.roll(self.normals, -1, axis=0))
        return found / np.linalg.norm(found, axis=1)[:, None]

    @property
    def edge_lengths(self) -> FloatArray:
        """How long each wall's edge is, in radians."""
        return _angles(np.roll(self.corners, 1, axis=0), self.corners)

    @property
    def area(self) -> float:
        """Area on the unit sphere, whose own is 4 pi."""
        return float(2.0 * np.pi - _angles(self.normals, np.roll(self.normals, -1, axis=0)).sum())

    @property
    def centre_of_mass(self) -> FloatArray:
        """Direction of the mean of all vectors of the polygon."""
        total = self.edge_lengths @ self.normals
        return total / np.linalg.norm(total)


def tangents(direction: FloatArray) -> FloatArray:
    """Two unit vectors, shape (2, 3), that with `direction` form a right-handed system."""
    axis = direction / np.linalg.norm(direction)
    least = np.eye(3)[np.argmin(np.abs(axis))]
    first = np.cross(least, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


def _angles(left: FloatArray, right: FloatArray) -> FloatArray:
    """Angle between rows; accurate for small angles too."""
    return np.arctan2(np.linalg.norm(np.cross(left, right), axis=1), (left * right).sum(axis=1))
