"""The half-space and the ball of one class against their formulas, written out point by point."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.problems.svm.one_class import OneClass, SoftBall


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(5, 2))
    return X @ X.T + 0.1 * np.eye(5)


WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 0.5])
BETA = np.array([0.5, 1.0, 0.0, 0.5, 0.5])


def test_the_sum_of_the_half_space_is_a_share_of_the_weight():
    dual = OneClass(WEIGHTS, 0.5).dual()
    assert dual.total == pytest.approx(2.5)
    np.testing.assert_array_equal(dual.linear, np.zeros(5))
    np.testing.assert_array_equal(dual.lower, np.zeros(5))
    np.testing.assert_array_equal(dual.upper, WEIGHTS)


@pytest.mark.parametrize("bias", [-0.25, 0.25, -8.0])
def test_the_border_of_the_half_space_is_moved_out_by_a_share_of_its_size(bias):
    moved = OneClass(WEIGHTS, 0.5).intercept(None, bias) - bias
    assert moved == pytest.approx(1e-10 * abs(bias), rel=1e-4)


def test_both_objectives_of_the_half_space(gram):
    one, rho = OneClass(WEIGHTS, 0.5), 0.7
    f = gram @ BETA
    half = 0.5 * sum(BETA[i] * BETA[j] * gram[i, j] for i in range(5) for j in range(5))
    losses = sum(u * max(0.0, rho - z) for u, z in zip(WEIGHTS, f, strict=True))
    certificate = one.certificate(BETA, f, -rho)
    assert certificate.primal == pytest.approx(half - 2.5 * rho + losses)
    assert certificate.dual == pytest.approx(-half)
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    assert (certificate.n_free, certificate.n_bounded, certificate.n_zero) == (2, 2, 1)
    may_rise, may_fall = -f[[0, 1, 2]], -f[[0, 1, 3, 4]]
    assert certificate.kkt_violation == pytest.approx(max(0.0, may_rise.max() - may_fall.min()))
    assert certificate.equality_residual == pytest.approx(0.0, abs=1e-15)


def test_the_gap_of_the_half_space_is_that_of_its_best_bias(gram):
    one, f = OneClass(WEIGHTS, 0.5), gram @ BETA
    bias = one.dual().bias(BETA, -f)
    assert one.gap(BETA, -f) == pytest.approx(one.certificate(BETA, f, bias).relative_gap)


def test_one_point_is_its_own_half_space():
    """w = x of norm 2, so <w, x> = 4 = rho, the sum being the weight."""
    certificate = OneClass(np.array([1.0]), 1.0).certificate(np.array([1.0]), np.array([4.0]), -4.0)
    assert (certificate.primal, certificate.dual, certificate.gap) == (-2.0, -2.0, 0.0)


def test_costs_of_the_ball_let_a_share_of_the_weight_be_outside():
    np.testing.assert_allclose(SoftBall.with_share(np.ones(5), WEIGHTS, 0.4).costs, WEIGHTS / 2.0)
    assert np.isinf(SoftBall.with_share(np.ones(5), WEIGHTS, 0.0).costs).all()


def test_the_dual_of_the_ball():
    dual = SoftBall(np.array([2.0, 4.0, 6.0]), np.array([0.5, np.inf, 2.0])).dual()
    np.testing.assert_array_equal(dual.linear, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(dual.lower, np.zeros(3))
    np.testing.assert_array_equal(dual.upper, [0.5, 1.0, 1.0])
    assert dual.total == 1.0


def test_radius_and_border_of_the_ball():
    ball = SoftBall(np.array([2.0, 4.0]), np.ones(2))
    assert ball.squared_radius(0.75, 0.5) == 2.0
    assert ball.squared_radius(-3.0, 0.5) == 0.0
    assert ball.intercept(None, 0.25) - 0.25 == pytest.approx(4e-10, rel=1e-4)


@pytest.mark.parametrize("hard", [(), (1,), (0, 3)])
@pytest.mark.parametrize("intercept", [0.1, -0.4])
def test_both_objectives_of_the_ball(gram, hard, intercept):
    beta, costs, diag = BETA / BETA.sum(), np.array([0.5, 1.0, 0.25, 0.5, 0.75]), np.diag(gram).copy()
    costs[list(hard)] = np.inf
    f, norm = gram @ beta, float(beta @ gram @ beta)
    distances = [diag[i] - 2.0 * f[i] + norm for i in range(5)]
    np.testing.assert_allclose(SoftBall(diag, costs).distances(beta, f), distances)
    # Whoever must not be outside is enclosed, however large the ball becomes.
    radius = max([0.0, 2.0 * intercept + norm, *(distances[i] for i in hard)])
    outside = sum(costs[i] * max(0.0, distances[i] - radius) for i in range(5) if i not in hard)
    certificate = SoftBall(diag, costs).certificate(beta, f, intercept)
    assert certificate.primal == pytest.approx(radius + outside)
    assert certificate.dual == pytest.approx(float(beta @ diag) - norm)


def test_distances_are_not_negative_by_rounding():
    ball = SoftBall(np.array([1.0]), np.ones(1))
    assert ball.distances(np.array([1.0]), np.array([1.0 + 1e-15]))[0] == 0.0


def test_two_points_have_the_ball_around_their_middle():
    ball, beta = SoftBall(np.ones(2), np.ones(2)), np.array([0.5, 0.5])
    gram = np.array([[1.0, -1.0], [-1.0, 1.0]])
    certificate = ball.certificate(beta, gram @ beta, 0.5)
    assert (certificate.primal, certificate.dual, certificate.gap) == (1.0, 1.0, 0.0)
    assert ball.gap(beta, 0.5 * ball.diag - gram @ beta) == pytest.approx(0.0, abs=1e-15)


def test_the_conditions_of_the_ball_are_those_of_distances(gram):
    """Of points with a coefficient none may be nearer to the centre than one that may have more of it."""
    beta = np.array([0.4, 0.0, 0.25, 0.1, 0.25])
    costs = np.array([0.5, 0.5, 0.25, 0.5, 0.25])
    f = gram @ beta
    distances = np.array([gram[i, i] - 2.0 * f[i] + beta @ f for i in range(5)])
    certificate = SoftBall(np.diagonal(gram).copy(), costs).certificate(beta, f, 0.0)
    may_rise, may_fall = distances[[0, 1, 3]], distances[[0, 2, 3, 4]]
    assert certificate.kkt_violation == pytest.approx(0.5 * max(0.0, may_rise.max() - may_fall.min()))


def test_the_gap_of_the_ball_is_that_of_its_best_radius(gram):
    ball, beta = SoftBall(np.diagonal(gram).copy(), np.full(5, 0.5)), np.array([0.4, 0.0, 0.25, 0.1, 0.25])
    gradient = 0.5 * ball.diag - gram @ beta
    bias = ball.dual().bias(beta, gradient)
    assert ball.gap(beta, gradient) == pytest.approx(ball.certificate(beta, gram @ beta, bias).relative_gap)


def test_a_half_space_of_what_cancels_is_none():
    one = OneClass(np.ones(2), 1.0)
    for product, is_zero in ((1e-16, True), (0.5, False)):
        found = SimpleNamespace(beta=np.ones(2), gradient=np.full(2, -product))
        assert one.is_zero(found, np.ones(2)) == is_zero
