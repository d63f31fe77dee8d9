import numpy as np
import pytest

from mercer.solvers.dual_qp.face_newton import newton_on_face


@pytest.fixture
def quadratic(rng):
    """A well-conditioned matrix, the gradient at zero, and a box in which the solution lies."""
    root = rng.normal(size=(20, 20))
    return root @ root.T + np.eye(20), rng.normal(size=20)


def never():
    return False


def test_inside_the_box_one_step_solves_the_system(quadratic):
    K, linear = quadratic
    beta, gradient = np.zeros(20), linear.copy()
    gain = newton_on_face(K, gradient, beta, np.full(20, -9.0), np.full(20, 9.0), has_equality=False, stop=never)
    np.testing.assert_allclose(K @ beta, linear, atol=1e-8)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)
    assert gain == pytest.approx(0.5 * linear @ beta)


def test_an_equality_is_kept_and_the_gradient_becomes_constant(quadratic):
    K, linear = quadratic
    beta, gradient = np.zeros(20), linear.copy()
    newton_on_face(K, gradient, beta, np.full(20, -9.0), np.full(20, 9.0), has_equality=True, stop=never)
    assert beta.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(gradient, gradient.mean(), atol=1e-8)
    np.testing.assert_allclose(gradient, linear - K @ beta, atol=1e-8)


@pytest.mark.parametrize("has_equality", [True, False])
def test_the_box_holds_and_the_dual_rises(quadratic, has_equality):
    K, linear = quadratic
    lower, upper = np.full(20, -0.05), np.full(20, 0.05)
    beta, gradient = np.zeros(20), linear.copy()
    gain = newton_on_face(K, gradient, beta, lower, upper, has_equality, never)
    assert (beta >= lower).all()
    assert (beta <= upper).all()
    np.testing.assert_allclose(gradient, linear - K @ beta, atol=1e-10)
    assert gain == pytest.approx(linear @ beta - 0.5 * beta @ K @ beta)
    assert gain > 0.0
    if has_equality:
        assert beta.sum() == pytest.approx(0.0, abs=1e-12)


def test_bounded_coordinates_do_not_move(quadratic):
    K, linear = quadratic
    beta = np.zeros(20)
    beta[:10] = 9.0
    gradient = linear - K @ beta
    newton_on_face(K, gradient, beta, np.full(20, -9.0), np.full(20, 9.0), has_equality=False, stop=never)
    assert (beta[:10] == 9.0).all()


def test_an_indefinite_matrix_is_left_alone(quadratic):
    _, linear = quadratic
    beta, gradient = np.zeros(20), linear.copy()
    assert (
        newton_on_face(-np.eye(20), gradient, beta, np.full(20, -9.0), np.full(20, 9.0), has_equality=False, stop=never)
        == 0.0
    )
    assert not beta.any()


def test_it_stops_when_it_is_asked_to(quadratic):
    K, linear = quadratic
    beta, gradient = np.zeros(20), linear.copy()
    newton_on_face(K, gradient, beta, np.full(20, -0.05), np.full(20, 0.05), has_equality=False, stop=lambda: True)
    assert np.count_nonzero(np.abs(beta) == 0.05) <= 1
