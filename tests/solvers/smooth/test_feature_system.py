"""Newton systems in coordinates, by conjugate gradients."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
from mercer.problems.kernel_methods.multinomial import SoftmaxRoot
from mercer.solvers.smooth import feature_system
from mercer.solvers.smooth.feature_newton import FactoredSystem
from mercer.solvers.smooth.feature_system import IteratedSystem, principal


def never():
    return False


def case(rng, k, r=12, n=60):
    """(principal coordinates, root of a Hessian, right-hand sides that a free bias allows)."""
    L, C = principal(rng.normal(size=(n, r)) * 0.6 ** np.arange(r)), rng.uniform(0.5, 2.0, n)
    root = DiagonalRoot(np.sqrt(C)) if k == 1 else SoftmaxRoot(rng.dirichlet(np.ones(k), n), C)
    right_b = rng.normal(size=k)
    return L, root, rng.normal(size=(r, k)), right_b - (right_b.mean() if k > 1 else 0.0)


def test_principal_coordinates_are_orthogonal_largest_first_and_of_the_same_matrix(rng):
    L = rng.normal(size=(30, 5)) * [0.1, 3.0, 1.0, 2.0, 0.5]
    found = principal(L)
    np.testing.assert_allclose(found @ found.T, L @ L.T, atol=1e-12)
    gram = found.T @ found
    np.testing.assert_allclose(gram, np.diag(gram.diagonal()), atol=1e-12)
    assert (np.diff(gram.diagonal()) < 0).all()


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("is_careful", [False, True])
def test_a_step_is_that_of_the_factored_hessian(monkeypatch, rng, k, has_bias, is_careful):
    # A block of two coordinates leaves the rest to the diagonal and to iterations.
    monkeypatch.setattr(feature_system, "BLOCK", 2)
    monkeypatch.setattr(feature_system, "LEAST", 2)
    L, root, right_w, right_b = case(rng, k)
    expected = FactoredSystem(L, has_bias).solved(root, right_w, right_b, False, 0.0)
    found = IteratedSystem(L, k, has_bias, never).solved(root, right_w, right_b, is_careful, 1e-5)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7 if is_careful else 1e-3)


@pytest.mark.parametrize("k", [1, 3])
def test_a_step_leaves_no_more_than_the_share_it_may(monkeypatch, rng, k):
    monkeypatch.setattr(feature_system, "BLOCK", 2)
    monkeypatch.setattr(feature_system, "LEAST", 2)
    L, root, right_w, right_b = case(rng, k)
    expected, _ = FactoredSystem(L, False).solved(root, right_w, right_b, False, 0.0)
    system = IteratedSystem(L, k, False, never)
    errors = [
        np.linalg.norm(system.solved(root, right_w, right_b, False, share)[0] - expected) / np.linalg.norm(expected)
        for share in (0.3, 1e-2, 1e-4)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[0] < 0.6
    assert errors[2] < 1e-3


def test_a_stop_ends_a_step_after_its_first_iteration(monkeypatch, rng):
    asked = []
    monkeypatch.setattr(feature_system, "BLOCK", 2)
    monkeypatch.setattr(feature_system, "LEAST", 2)
    L, root, right_w, right_b = case(rng, 3)

    def at_once():
        asked.append(True)
        return True

    found = IteratedSystem(L, 3, True, at_once).solved(root, right_w, right_b, False, 1e-6)
    assert len(asked) == 1
    assert np.isfinite(found[0]).all()


def test_numbers_that_are_none_have_no_step(rng):
    L, root, right_w, right_b = case(rng, 3)
    right_w[0, 0] = np.nan
    assert IteratedSystem(L, 3, True, never).solved(root, right_w, right_b, False, 1e-2) is None


@pytest.mark.parametrize("k", [1, 4])
def test_a_root_applied_twice_is_the_hessian_and_its_diagonal(rng, k):
    L, root, _, _ = case(rng, k, r=3)
    values = rng.normal(size=(60, k))
    np.testing.assert_allclose(root.applied(values), root.times(root.transposed_times(values)), atol=1e-12)
    blocks = root.blocks(L).diagonal().reshape(k, 3).T
    np.testing.assert_allclose(root.diagonal(L), blocks, atol=1e-12)
