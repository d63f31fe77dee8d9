"""Newton systems in coordinates, by conjugate gradients."""

import numpy as np
import pytest

from mercer.problems.kernel_methods import kernel_risk, multinomial
from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
from mercer.problems.kernel_methods.multinomial import SoftmaxRoot
from mercer.solvers.smooth import feature_newton, feature_system
from mercer.solvers.smooth.feature_newton import FactoredSystem
from mercer.solvers.smooth.feature_system import IteratedSystem


def never():
    return False


def case(rng, k, r=12, n=60):
    """(coordinates, root of a Hessian, right-hand sides that a free bias allows)."""
    L, C = rng.normal(size=(n, r)) * 0.6 ** np.arange(r), rng.uniform(0.5, 2.0, n)
    root = DiagonalRoot(np.sqrt(C)) if k == 1 else SoftmaxRoot(rng.dirichlet(np.ones(k), n), C)
    right_b = rng.normal(size=k)
    return L, root, rng.normal(size=(r, k)), right_b - (right_b.mean() if k > 1 else 0.0)


def test_principal_axes_are_orthogonal_largest_first(rng):
    L = rng.normal(size=(30, 5)) * [0.1, 3.0, 1.0, 2.0, 0.5]
    system = IteratedSystem(L, 1, False, never)
    np.testing.assert_allclose(system.axes.T @ system.axes, np.eye(5), atol=1e-12)
    gram = (L @ system.axes).T @ (L @ system.axes)
    np.testing.assert_allclose(gram, np.diag(system.sizes), atol=1e-4)
    assert (np.diff(system.sizes) < 0).all()


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("is_careful", "in_single"), [(False, True), (True, True), (False, False)])
def test_a_step_is_that_of_the_factored_hessian(monkeypatch, rng, k, has_bias, is_careful, in_single):
    # A block of two coordinates leaves the rest to the diagonal and to iterations.
    monkeypatch.setattr(feature_system, "BLOCK", 2)
    monkeypatch.setattr(feature_system, "LEAST", 2)
    L, root, right_w, right_b = case(rng, k)
    expected = FactoredSystem(L, has_bias).solved(root, right_w, right_b, False, 0.0)
    system = IteratedSystem(L, k, has_bias, never, in_single)
    found = system.solved(root, right_w, right_b, is_careful, 1e-5)
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
def test_a_root_applied_twice_is_the_hessian(rng, k):
    _, root, _, _ = case(rng, k, r=3)
    values = rng.normal(size=(60, k))
    np.testing.assert_allclose(root.applied(values), root.times(root.transposed_times(values)), atol=1e-12)


@pytest.mark.parametrize("k", [1, 4])
def test_blocks_do_not_depend_on_how_many_rows_are_scaled_at_a_time(monkeypatch, rng, k):
    L, root, _, _ = case(rng, k, r=3)
    whole = root.blocks(L)
    for where in (kernel_risk, multinomial):
        monkeypatch.setattr(where, "PANEL", 7)
    np.testing.assert_allclose(root.blocks(L), whole, atol=1e-12)
    units = np.eye(3 * k).reshape(k, 3, 3 * k)
    moved = np.stack([root.applied(L @ units[:, :, j].T) for j in range(3 * k)], axis=-1)
    np.testing.assert_allclose(np.einsum("ni,ncj->cij", L, moved).reshape(3 * k, 3 * k), whole, atol=1e-12)


@pytest.mark.parametrize("k", [1, 4])
def test_a_careful_factor_does_not_depend_on_how_many_rows_join_it_at_a_time(monkeypatch, rng, k):
    L, root, right_w, right_b = case(rng, k)
    system = FactoredSystem(L, True)
    whole = system.solved(root, right_w, right_b, True, 0.0)
    monkeypatch.setattr(feature_newton, "ROWS_OF_A_PART", 7)
    for one, other in zip(system.solved(root, right_w, right_b, True, 0.0), whole, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
