"""Certificates of least squares, against the equations written out."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.problems.kernel_methods.least_squares import LeastSquaresCertificate, certificate

SCALE = np.array([1.0, 2.0, 0.5, 1.5])


@pytest.fixture
def matrices(rng):
    """K of rank two, and SKS."""
    X = rng.normal(size=(4, 2))
    K = X @ X.T
    return K, SCALE[:, None] * K * SCALE


def certified(SKS, targets, alpha, cutoff=1e-10):
    values = np.linalg.eigvalsh(SKS)[2:]
    operator = SimpleNamespace(product=lambda V: SKS @ V)
    return certificate(operator, SCALE, targets, alpha, values, cutoff), values


def test_entries_for_any_coefficients(matrices, rng):
    K, SKS = matrices
    targets, alpha = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    found, values = certified(SKS, targets, alpha)
    assert found.loss == pytest.approx(sum(SCALE**2 @ (targets - K @ alpha) ** 2))
    assert found.norm == pytest.approx(np.sqrt(np.trace(alpha.T @ K @ alpha)))
    shares = []
    for y, a in zip(targets.T, alpha.T, strict=True):
        left = SKS @ (SCALE * y - SCALE * (K @ a))
        shares.append(
            np.linalg.norm(left) / (values[-1] * (np.linalg.norm(SCALE * y) + values[-1] * np.linalg.norm(a / SCALE)))
        )
    assert found.residual == pytest.approx(max(shares))
    assert (found.rank, found.cutoff) == (2, 1e-10)
    assert found.condition == pytest.approx(values[1] / values[0])
    assert not found.is_optimal()
    assert found.as_dict()["rank"] == 2
    assert "rank 2" in str(found)


def test_the_solution_by_a_pseudo_inverse_is_optimal(matrices, rng):
    _, SKS = matrices
    targets = rng.normal(size=(4, 2))
    alpha = SCALE[:, None] * (np.linalg.pinv(SKS, rcond=1e-10) @ (SCALE[:, None] * targets))
    found, _ = certified(SKS, targets, alpha)
    assert found.is_optimal(1e-13)


def test_a_kernel_that_is_zero_everywhere(rng):
    operator = SimpleNamespace(product=np.zeros_like)
    found = certificate(operator, SCALE, rng.normal(size=(4, 1)), np.zeros((4, 1)), np.zeros(0), 0.0)
    assert (found.rank, found.condition, found.residual, found.norm) == (0, 1.0, 0.0, 0.0)


def test_no_targets():
    operator = SimpleNamespace(product=np.copy)
    found = certificate(operator, SCALE, np.zeros((4, 0)), np.zeros((4, 0)), np.ones(4), 0.0)
    assert (found.residual, found.loss, found.norm) == (0.0, 0.0, 0.0)


def test_a_matrix_that_is_not_definite_has_no_negative_norm():
    operator = SimpleNamespace(product=np.negative)
    assert certificate(operator, SCALE, np.zeros((4, 1)), np.ones((4, 1)), np.ones(1), 0.0).norm == 0.0


def test_what_was_cut_off_may_be_left_of_the_equations():
    assert LeastSquaresCertificate(1.0, 1.0, 1e-5, 2, 1.0, cutoff=1e-5).is_optimal()
    assert not LeastSquaresCertificate(1.0, 1.0, 1e-5, 2, 1.0, cutoff=1e-6).is_optimal()
    assert LeastSquaresCertificate(1.0, 1.0, 1e-8, 2, 1.0).is_optimal()
    assert not LeastSquaresCertificate(1.0, 1.0, 1.5e-8, 2, 1.0).is_optimal()
