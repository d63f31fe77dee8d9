import numpy as np
import pytest

from mercer import SVDD, DataError, theory
from mercer.kernels import RBF, Linear, Polynomial


@pytest.fixture
def cloud(rng):
    return rng.normal(size=(150, 3))


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Polynomial(2, 1.0, 1.0)])
def test_hard_ball_is_the_smallest(cloud, kernel):
    model, ball = SVDD(kernel=kernel, nu=0.0, tol=1e-10).fit(cloud), theory.smallest_ball(cloud, kernel)
    assert model.radius_ == pytest.approx(ball.radius, rel=1e-6)
    assert (model.predict(cloud) == 1).all()
    assert model.certificate_.primal == pytest.approx(ball.radius**2, rel=1e-6)


def test_centre_and_distances_of_a_linear_ball(cloud):
    model = SVDD(kernel="linear", nu=0.1).fit(cloud)
    distances = np.linalg.norm(cloud - model.center_, axis=1)
    np.testing.assert_allclose(model.score_samples(cloud), -(distances**2), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(cloud), model.radius_**2 - distances**2, atol=1e-9)
    assert (distances > model.radius_ + 1e-6).mean() <= 0.1
    with pytest.raises(AttributeError, match="sphere"):
        _ = model.coef_
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVDD().fit(cloud).center_


def test_ball_needs_norms_of_new_points(cloud):
    with pytest.raises(DataError, match="diagonal entries are equal"):
        SVDD(kernel="precomputed").fit(cloud @ cloud.T)
    called = SVDD(kernel=lambda a, b: a @ b.T, nu=0.1).fit(cloud)
    named = SVDD(kernel="linear", nu=0.1).fit(cloud)
    np.testing.assert_allclose(called.decision_function(cloud), named.decision_function(cloud), atol=1e-8)
