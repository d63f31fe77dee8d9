"""Principal components of coordinates, against those of their singular values."""

import numpy as np
import pytest

from mercer.solvers.low_rank.basis import left_of_trace
from mercer.solvers.low_rank.components import _certificate, components, with_signs


@pytest.mark.parametrize(("m", "count"), [(5, 3), (5, 5), (5, 9)])
def test_components_are_singular_vectors_of_centred_rows(m, count, rng):
    Z = rng.normal(size=(40, m)) * np.arange(1, m + 1) + 7.0
    found = components(Z.copy(), count)
    kept = min(m, count)
    U, sizes, V = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.values, sizes[:kept] ** 2)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(U[:, :kept]), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.directions), np.abs(V[:kept].T), atol=1e-9)
    # Vectors, directions and offsets have their signs in common.
    np.testing.assert_allclose(Z @ found.directions + found.offsets, found.vectors * sizes[:kept], atol=1e-9)
    assert found.rank == kept
    assert found.certificate.residual <= 1e-12
    assert found.certificate.explained == pytest.approx((sizes[:kept] ** 2).sum() / (sizes**2).sum())


def test_directions_in_which_nothing_varies_are_none(rng):
    Z = rng.normal(size=(30, 1)) @ rng.normal(size=(1, 4)) + 3.0
    found = components(Z, 3)
    assert found.rank == 1
    assert not found.values[1:].any()
    assert not found.vectors[:, 1:].any()
    nothing = components(np.ones((5, 2)), 2)
    assert nothing.rank == 0
    assert nothing.certificate.explained == 0.0


def test_a_certificate_tells_the_worst_of_each_kind(rng):
    Z = rng.normal(size=(30, 4))
    Z -= Z.mean(axis=0)
    U, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    values = sizes**2
    off = values.copy()
    off[2] += 0.5
    proof = _certificate(Z, off, U)
    assert proof.residual == pytest.approx(0.5 / off.max())
    np.testing.assert_allclose(proof.residuals, [0.0, 0.0, 0.5 / off.max(), 0.0], atol=1e-12)
    assert _certificate(Z, values, 1.1 * U).orthogonality == pytest.approx(0.21)


def test_what_landmarks_leave_is_a_share_of_how_rows_vary(rng):
    Z = rng.normal(size=(20, 3)) + 1.0
    sizes = (Z**2).sum(axis=1)
    left, share = left_of_trace(Z, sizes + np.where(np.arange(20) < 5, 2.0, 0.0))
    assert left == pytest.approx(10.0)
    assert share == pytest.approx(10.0 / (((Z - Z.mean(axis=0)) ** 2).sum() + 10.0))
    # Rounding below zero counts as nothing, and of one row nothing varies.
    assert left_of_trace(Z, sizes - 1e-9)[0] == 0.0
    assert left_of_trace(Z[:1], sizes[:1] - 1e-9) == (0.0, 0.0)


def test_the_sign_of_a_component_does_not_depend_on_that_of_its_coordinates(rng):
    """Otherwise it would be LAPACK's, which differs between machines."""
    coordinates = rng.normal(size=(30, 3)) * [3.0, 2.0, 1.0]
    first, turned = components(coordinates.copy(), 3), components(coordinates * [-1.0, 1.0, -1.0], 3)
    np.testing.assert_allclose(turned.vectors, first.vectors, atol=1e-9)
    np.testing.assert_allclose(turned.directions, first.directions * [[-1.0], [1.0], [-1.0]], atol=1e-9)
    np.testing.assert_allclose(first.vectors, with_signs(first.vectors))
