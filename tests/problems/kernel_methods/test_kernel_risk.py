"""Any convex loss with any kernel, against the formulas of the representer theorem."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot, KernelRisk, every_few
from mercer.problems.losses.residual_losses import CONVEX_LOSSES

SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
TARGETS = np.array([0.5, -2.0, 1.5, 0.0, 3.0])
C = np.array([1.0, 2.0, 0.5, 1.0, 4.0])
CASES = [(name, bias) for name in CONVEX_LOSSES for bias in ("free", "penalized", "none")]


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(5, 2))
    return X @ X.T


def risk(name, bias="none"):
    loss = CONVEX_LOSSES[name]
    return KernelRisk(SIGNS if loss.of == "margin" else TARGETS, C, loss, bias)


def arguments(problem, f):
    """z, point by point: y f of a margin, f - y of a residual."""
    is_margin = problem.loss.of == "margin"
    return np.array([y * z if is_margin else z - y for y, z in zip(problem.targets, f, strict=True)])


@pytest.mark.parametrize(("name", "bias"), CASES)
def test_both_objectives(name, bias, gram):
    problem = risk(name, bias)
    beta = problem.feasible(0.3 * problem.response(np.zeros(5)))
    f = gram @ beta
    b = problem.intercept(beta, 0.25)
    assert b == {"free": 0.25, "penalized": float(beta.sum()), "none": 0.0}[bias]
    half = 0.5 * float(beta @ f) + (0.5 * b**2 if bias == "penalized" else 0.0)
    losses = sum(c * float(problem.loss.value(z)) for c, z in zip(C, arguments(problem, f + b), strict=True))
    assert problem.primal(beta, f, b) == pytest.approx(half + losses)
    s = problem.targets if problem.loss.of == "margin" else np.ones(5)
    o = np.zeros(5) if problem.loss.of == "margin" else problem.targets
    paid = sum(C[i] * float(problem.loss.conjugate(-s[i] * beta[i] / C[i])) for i in range(5))
    assert problem.dual_value(beta, f) == pytest.approx(float(beta @ (s * o)) - paid - half)
    # No bias is better than any other where the coefficients sum to zero: weak duality in every case.
    assert problem.primal(beta, f, b) >= problem.dual_value(beta, f) - 1e-9
    certificate = problem.certificate(beta, f, b)
    assert certificate.gap == pytest.approx(problem.primal(beta, f, b) - problem.dual_value(beta, f))
    assert problem.gap(beta, f, b) == pytest.approx(certificate.relative_gap)
    assert certificate.box_violation <= 1e-12


@pytest.mark.parametrize("name", CONVEX_LOSSES)
def test_coefficients_and_curvatures_are_derivatives_of_the_risk(name):
    problem, f, h = risk(name), np.array([0.3, 0.4, -0.2, 0.2, 1.7]), 1e-6  # at no kink
    for i in range(5):
        step = h * np.eye(5)[i]
        slope = (problem.risk(f + step) - problem.risk(f - step)) / (2 * h)
        assert problem.response(f)[i] == pytest.approx(-slope, rel=1e-5, abs=1e-6)
        bend = -(problem.response(f + step) - problem.response(f - step))[i] / (2 * h)
        if hasattr(problem.loss, "curvature"):  # of those that Newton steps are made for
            assert problem.curvature(f)[i] == pytest.approx(bend, rel=1e-4, abs=1e-5)
            assert problem.root(f).values[i] ** 2 == pytest.approx(bend, rel=1e-4, abs=1e-5)
    assert problem.stationarity(problem.response(f), f) == 0.0
    assert problem.stationarity(problem.response(f) + 0.5, f) == pytest.approx(0.5 / C.min())


@pytest.mark.parametrize("name", CONVEX_LOSSES)
def test_the_box_is_where_the_conjugate_is_finite(name):
    problem = risk(name)
    lower, upper = problem.box()
    for i in range(5):
        for end, outward in ((lower[i], -1e-6), (upper[i], 1e-6)):
            if np.isfinite(end):
                beta = np.zeros(5)
                beta[i] = end
                assert np.isfinite(problem.dual_value(beta, np.zeros(5)))
                beta[i] = end + outward
                assert problem.dual_value(beta, np.zeros(5)) == -np.inf


def test_every_few_rows_by_their_targets():
    np.testing.assert_array_equal(every_few(np.array([5.0, 1.0, 4.0, 2.0, 3.0, 0.0]), 2), [0, 1, 4])
    chosen, part = risk("squared").sample(2)
    np.testing.assert_array_equal(part.targets, TARGETS[chosen])
    np.testing.assert_array_equal(part.C, 2.0 * C[chosen])
    assert risk("logistic").sample(5) is None  # one label is not there


def test_a_diagonal_root():
    root = DiagonalRoot(np.array([1.0, 2.0, 3.0]))
    factor = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(root.times(factor), np.diag([1.0, 2.0, 3.0]) @ factor)
    np.testing.assert_array_equal(root.blocks(factor), factor.T @ np.diag([1.0, 4.0, 9.0]) @ factor)
    assert root.in_single().values.dtype == np.float32
    assert root.largest == 9.0
    assert root.total.tolist() == [[14.0]]


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("name", [name for name, loss in CONVEX_LOSSES.items() if loss.form is not None])
def test_the_quadratic_dual_is_the_dual(name, bias, gram):
    problem = risk(name, bias)
    dual, beta = problem.quadratic(), problem.feasible(0.3 * problem.response(np.zeros(5)))
    lower, upper = problem.box()
    np.testing.assert_array_equal(dual.lower, lower)
    np.testing.assert_array_equal(dual.upper, upper)
    assert dual.has_equality == (bias == "free")
    assert dual.shift == float(bias == "penalized")
    gradient = dual.gradient_of(beta, gram @ beta)
    assert dual.objective(beta, gradient) == pytest.approx(problem.dual_value(beta, gram @ beta))
    # The gradient is that of the objective where that has one.
    inside = beta != 0
    for i in np.flatnonzero(inside):
        step = 1e-6 * np.eye(5)[i]
        ends = [problem.dual_value(beta + sign * step, gram @ (beta + sign * step)) for sign in (1.0, -1.0)]
        kink = dual.kink * np.sign(beta[i])
        assert gradient[i] - kink == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


def test_a_loss_without_a_box_leaves_coefficients_free():
    lower, upper = risk("logistic").box()
    np.testing.assert_array_equal(lower, np.minimum(SIGNS * C, 0.0))
    np.testing.assert_array_equal(upper, np.maximum(SIGNS * C, 0.0))
    lower, upper = risk("exponential").box()
    assert np.isinf(upper[SIGNS > 0]).all()
    assert (lower[SIGNS > 0] == 0.0).all()
    assert np.isinf(lower[SIGNS < 0]).all()
    assert (upper[SIGNS < 0] == 0.0).all()


def test_no_eigenvalue_of_a_diagonal_is_larger_than_its_largest_square():
    assert DiagonalRoot(np.array([-3.0, 0.5])).largest == 9.0


@pytest.mark.parametrize("name", CONVEX_LOSSES)
def test_with_a_free_bias_feasible_coefficients_sum_to_zero(name):
    found = risk(name, "free").feasible(risk(name).response(np.ones(5)))
    assert found.sum() == pytest.approx(0.0, abs=1e-12)
    certificate = risk(name, "free").certificate(np.array([0.3, -0.1, 0.1, -0.2, 0.4]), np.zeros(5), 0.0)
    assert certificate.equality_residual == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["logistic", "exponential"])
def test_the_violation_of_a_smooth_loss_is_at_the_values_with_their_bias(name):
    problem = risk(name)
    f, b = np.array([0.5, -1.0, 0.2, 1.0, -0.3]), 0.75
    assert problem.certificate(problem.response(f + b), f, b).kkt_violation == pytest.approx(0.0, abs=1e-15)
