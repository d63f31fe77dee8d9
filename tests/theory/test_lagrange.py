"""Worked examples 6 and 13: Lagrange multipliers, and support vectors by Fritz John."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from mercer import SVC, DataError, theory
from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program


def test_the_paraboloid_on_a_line_is_highest_at_a_half():
    """max 1 - x^2 - y^2 where x + y = 1, as the quadratic program that it is."""
    found = solve_quadratic_program(2.0 * np.eye(2), np.zeros(2), [[1.0, 1.0]], [1.0], n_equalities=1)
    assert found.u == pytest.approx([0.5, 0.5], abs=1e-8)
    assert 1.0 - found.value == pytest.approx(0.5)
    # min x^2 + y^2 with g = x + y - 1: gradient (1, 1) + a (1, 1) = 0.
    assert theory.kkt_residuals([1.0, 1.0], [0.0], [[1.0, 1.0]], [-1.0], n_equalities=1).hold()
    assert not theory.kkt_residuals([1.0, 1.0], [0.0], [[1.0, 1.0]], [1.0], n_equalities=1).hold(0.1)


def test_the_plane_on_the_disc_is_highest_at_six_tenths_and_eight_tenths():
    """max 6x + 8y where x^2 + y^2 - 1 <= 0: the dual function is 25/a + a."""

    def dual(a):
        u = np.array([6.0, 8.0]) / (2.0 * a)  # maximises 6x + 8y - a (x^2 + y^2 - 1)
        return u @ [6.0, 8.0] - a * (u @ u - 1.0)

    found = minimize_scalar(dual, bounds=(0.1, 50.0), method="bounded", options={"xatol": 1e-10})
    u = np.array([6.0, 8.0]) / (2.0 * found.x)
    assert found.x == pytest.approx(5.0, abs=1e-6)
    assert found.fun == pytest.approx(10.0)
    assert u == pytest.approx([0.6, 0.8], abs=1e-6)
    assert theory.kkt_residuals([-6.0, -8.0], [u @ u - 1.0], [2.0 * u], [found.x]).hold(1e-5)


def test_with_the_sign_as_misprinted_the_point_is_no_optimum():
    """For g = x^2 + y^2 - 1 >= 0, that is -g <= 0, the multiplier would have to be negative."""
    residuals = theory.kkt_residuals([-6.0, -8.0], [0.0], [[-1.2, -1.6]], [-5.0])
    assert residuals.stationarity < 1e-12
    assert residuals.sign == 5.0


@pytest.mark.parametrize(
    ("arguments", "attribute", "value"),
    [
        (([1.0], [-1.0], [[1.0]], [0.0]), "stationarity", 1.0),
        (([0.0], [0.3], [[1.0]], [0.0]), "infeasibility", 0.3),
        (([2.0], [0.0], [[1.0]], [-2.0]), "sign", 2.0),
        (([-2.0], [-0.5], [[1.0]], [2.0]), "complementarity", 1.0),
    ],
)
def test_each_condition_is_measured(arguments, attribute, value):
    residuals = theory.kkt_residuals(*arguments)
    assert getattr(residuals, attribute) == pytest.approx(value)
    assert not residuals.hold()


def test_every_constraint_has_a_multiplier():
    with pytest.raises(DataError, match="a multiplier for each of 2 constraints, got 1"):
        theory.kkt_residuals([0.0], [0.0, 0.0], [[1.0], [1.0]], [1.0])


@pytest.mark.parametrize("seed", range(5))
def test_hard_svm_is_supported_by_the_rows_on_its_margin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    X = X[np.abs(X[:, 0]) > 0.3]
    y = np.where(X[:, 0] > 0, 1, -1)
    model = SVC(kernel="linear", C=np.inf, bias="none", tol=1e-10).fit(X, y)
    w = model.coef_[0]
    alpha, residual = theory.fritz_john_multipliers(X, y, w)
    assert residual < 1e-8
    assert (np.abs(y * (X @ w) - 1.0)[alpha > 0] <= 1e-6).all()
    assert (alpha > 0).sum() < len(X) / 4
    # The multipliers of the dual are such multipliers, found another way.
    assert set(model.support_) == set(np.flatnonzero(alpha > 1e-9))
    assert alpha[model.support_] == pytest.approx(np.abs(model.dual_coef_[0]), rel=1e-5)
    # They are the KKT multipliers of min |w|^2 / 2 where 1 - y <w, x> <= 0.
    assert theory.kkt_residuals(w, 1.0 - y * (X @ w), -y[:, None] * X, alpha).hold(1e-5)
    assert theory.fritz_john_multipliers(sparse.csr_matrix(X), y, w)[0] == pytest.approx(alpha)


def test_another_separating_w_is_not_supported(rng):
    X = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, -1.0]])
    y = np.array([1, 1, -1])
    best, other = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    assert theory.fritz_john_multipliers(X, y, best)[1] < 1e-12
    assert theory.fritz_john_multipliers(X, y, other)[1] > 0.1
    # No row is on the margin of this one.
    assert theory.fritz_john_multipliers(X, y, 10.0 * best)[1] == 1.0


def test_in_the_soft_case_every_row_is_classed_by_its_kkt_case(rng):
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=80) > 0, 1, -1)
    C = 0.7
    model = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    alpha = np.zeros(80)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    margins = y * model.decision_function(X)
    outside, inside = alpha == 0, alpha >= C * (1 - 1e-9)
    on_it = ~outside & ~inside
    assert (margins[outside] >= 1 - 1e-6).all()
    assert (margins[inside] <= 1 + 1e-6).all()
    assert margins[on_it] == pytest.approx(1.0, abs=1e-6)
    certificate = model.certificate_
    assert (certificate.n_zero, certificate.n_bounded, certificate.n_free) == (outside.sum(), inside.sum(), on_it.sum())
