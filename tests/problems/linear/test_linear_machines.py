"""Linear machines: objectives by loops, weak duality, and solutions found by a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.problems.linear.crammer_singer import CrammerSinger
from mercer.problems.linear.dual import LinearDual, balanced
from mercer.problems.linear.l1 import SparseMargin
from mercer.problems.linear.machine import LinearMargin, LinearTube

SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
NUMBERS = np.array([0.5, -2.0, 1.5, 0.1, 3.0, -1.0, 0.2])
C = np.array([1.0, 2.0, 0.5, 1.0, 4.0, 0.3, 0.0])
EPSILON = 0.3
BIASES = ("free", "penalized", "none")
KINDS = ("hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive")


class Rows:
    """As `RowProducts`, of a plain matrix."""

    def __init__(self, X):
        self.X = X

    def dots(self, w):
        return self.X @ w

    def combination(self, beta):
        return self.X.T @ beta


@pytest.fixture
def X(rng):
    return rng.normal(size=(7, 3))


def machine(loss, bias):
    if "hinge" in loss:
        return LinearMargin(SIGNS, C, loss, bias, 0.5)
    return LinearTube(NUMBERS, C, loss, bias, 0.5, EPSILON)


def plain_loss(loss, i, f):
    slack = max(0.0, 1 - SIGNS[i] * f) if "hinge" in loss else max(0.0, abs(f - NUMBERS[i]) - EPSILON)
    return slack**2 if "squared" in loss else slack


def plain_primal(loss, bias, X, w, b):
    total = 0.5 * float(w @ w) + (0.5 * (b / 0.5) ** 2 if bias == "penalized" else 0.0)
    return total + sum(C[i] * plain_loss(loss, i, float(X[i] @ w) + b) for i in range(7))


def plain_dual(loss, bias, X, beta):
    """By the conjugate of each loss; minus infinity outside its domain."""
    total = -0.5 * float(np.sum((X.T @ beta) ** 2)) - (0.5 * (0.5 * beta.sum()) ** 2 if bias == "penalized" else 0.0)
    for i in range(7):
        p = SIGNS[i] if "hinge" in loss else NUMBERS[i]
        width = 0.0 if "hinge" in loss else EPSILON
        if C[i] > 0 and "squared" in loss:
            total -= beta[i] ** 2 / (4 * C[i])
        total += p * beta[i] - width * abs(beta[i])
    return total


def some_feasible(problem, rng):
    dual = problem.dual()
    return dual.feasible(rng.normal(size=7))


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", KINDS)
def test_objectives_and_weak_duality(loss, bias, X, rng):
    problem = machine(loss, bias)
    for _ in range(5):
        w, b = rng.normal(size=3), 0.0 if bias == "none" else float(rng.normal())
        beta = some_feasible(problem, rng)
        found = problem.certificate(Rows(X), w, b, beta)
        assert found.primal == pytest.approx(plain_primal(loss, bias, X, w, b))
        assert found.dual == pytest.approx(plain_dual(loss, bias, X, beta))
        assert found.primal >= found.dual
        assert found.gap == pytest.approx(found.primal - found.dual)
        assert found.relative_gap == pytest.approx(found.gap / max(1.0, abs(found.primal)))
        assert found.box_violation == 0.0
        assert found.equality_residual == pytest.approx(0.0, abs=1e-12)
        assert found.n_free + found.n_bounded + found.n_zero == 7


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_the_smooth_solution_has_no_gap(loss, bias, X):
    """The least of the primal by BFGS; its beta are minus the slopes of the losses."""
    problem = machine(loss, bias)
    fixed = bias == "none"

    def objective(z):
        return plain_primal(loss, bias, X, z[:3], 0.0 if fixed else z[3])

    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-10})
    w, b = best.x[:3], 0.0 if fixed else best.x[3]
    f, h = X @ w + b, 1e-6
    slopes = [(plain_loss(loss, i, f[i] + h) - plain_loss(loss, i, f[i] - h)) / (2 * h) for i in range(7)]
    found = problem.certificate(Rows(X), w, b, -C * np.array(slopes))
    assert found.relative_gap == pytest.approx(0.0, abs=1e-6)
    assert found.kkt_violation == pytest.approx(0.0, abs=1e-4)
    assert found.n_zero >= 1  # the row of weight zero


@pytest.mark.parametrize("loss", KINDS)
def test_a_row_without_weight_stays_at_zero(loss, rng):
    assert some_feasible(machine(loss, "none"), rng)[6] == 0.0


@pytest.mark.parametrize("loss", KINDS)
def test_bounds_are_those_of_the_loss(loss):
    dual = machine(loss, "free").dual()
    reach = np.where(C > 0, 1e300 if "squared" in loss else C, 0.0)
    low, high = (SIGNS < 0, SIGNS > 0) if "hinge" in loss else (np.ones(7), np.ones(7))
    assert dual.lower.tolist() == (-reach * low).tolist()
    assert dual.upper.tolist() == (reach * high).tolist()
    assert dual.reach.tolist() == reach.tolist()
    assert len(dual) == 7
    assert machine(loss, "free").dual().has_equality
    assert not machine(loss, "penalized").dual().has_equality
    assert (machine(loss, "penalized").dual().scale, machine(loss, "none").dual().scale) == (0.5, 0.0)


def test_a_certificate_counts_and_measures_what_is_outside(X):
    problem = machine("hinge", "free")
    beta = np.array([1.0, -1.0, 0.25, 0.0, 4.5, -0.3, 0.0])
    found = problem.certificate(Rows(X), np.ones(3), 0.5, beta)
    assert found.box_violation == pytest.approx(0.5)
    assert found.equality_residual == pytest.approx(abs(beta.sum()))
    # At a bound: 1.0, 4.5 (outside) and -0.3; inside: -1.0 and 0.25.
    assert (found.n_bounded, found.n_free, found.n_zero) == (3, 2, 2)
    below = np.array([1.0, -2.75, 0.25, 0.0, 4.0, -0.3, 0.0])
    assert problem.certificate(Rows(X), np.ones(3), 0.5, below).box_violation == pytest.approx(0.75)
    assert machine("hinge", "none").certificate(Rows(X), np.ones(3), 0.0, below).equality_residual == 0.0


def violation_by_hand(dual, beta, values):
    """Largest rate at which the objective of one coefficient may still grow, to the left or to the right."""
    found = 0.0
    for i in range(len(beta)):
        gradient = dual.linear[i] - values[i] - dual.ridge[i] * beta[i]
        if beta[i] < dual.upper[i]:
            found = max(found, gradient - (dual.epsilon if beta[i] >= 0 else -dual.epsilon))
        if beta[i] > dual.lower[i]:
            found = max(found, -gradient - (dual.epsilon if beta[i] <= 0 else -dual.epsilon))
    return found


def test_a_violation_is_the_steepest_way_up(rng):
    lower, upper = np.full(6, -1.0), np.full(6, 2.0)
    beta = np.array([-1.0, 2.0, 0.0, 0.5, -0.5, 0.0])
    ridge = np.array([0.0, 0.5, 1.0, 0.25, 0.1, 0.0])
    dual = LinearDual(np.zeros(6), lower, upper, ridge, epsilon=0.2)
    assert dual.at_bounds(beta)[0].tolist() == [True, False, False, False, False, False]
    assert dual.at_bounds(beta)[1].tolist() == [False, True, False, False, False, False]
    # One row at a time has a value that is not the best, so that each of the six is seen.
    best = np.array([-5.0, -5.0, 0.0, -0.5 * 0.25 - 0.2, 0.5 * 0.1 + 0.2, 0.0])
    best[0], best[1] = 9.0, -9.0
    assert dual.violation(beta, best) == pytest.approx(0.0, abs=1e-15)
    for i in range(6):
        for step in (-20.0, -0.5, -0.1, 0.1, 0.5, 20.0):
            values = best.copy()
            values[i] += step
            assert dual.violation(beta, values) == pytest.approx(violation_by_hand(dual, beta, values), abs=1e-12)


def test_coefficients_within_rounding_of_a_bound_are_at_it():
    dual = LinearDual(np.zeros(2), np.array([-1.0, -1.0]), np.array([1.0, 1e300]), np.zeros(2))
    assert dual.at_bounds(np.array([1.0 - 1e-10, 0.5]))[1].tolist() == [True, False]
    assert dual.at_bounds(np.array([1.0 - 1e-8, 0.5]))[1].tolist() == [False, False]
    assert dual.at_bounds(np.array([0.0, -1.0 + 1e-10]))[0].tolist() == [False, True]
    assert LinearDual(*[np.zeros(0)] * 4).violation(np.zeros(0), np.zeros(0)) == 0.0


def test_the_heavier_side_is_made_lighter():
    assert balanced(np.array([3.0, 1.0, -2.0])).tolist() == [1.5, 0.5, -2.0]
    assert balanced(np.array([1.0, -1.0, -3.0])).tolist() == [1.0, -0.25, -0.75]
    assert balanced(np.array([1.0, -1.0])).tolist() == [1.0, -1.0]


# ------------------------------------------------------------ an L1 penalty


def assert_tells(found, primal, dual):
    """That a certificate of feasible coefficients, none of seven at a bound and one zero, has these objectives."""
    assert found.primal == pytest.approx(primal)
    assert found.dual == pytest.approx(dual)
    assert found.primal >= found.dual
    assert found.gap == pytest.approx(found.primal - found.dual)
    assert found.relative_gap == pytest.approx(found.gap / max(1.0, abs(found.primal)))
    assert found.equality_residual == pytest.approx(0.0, abs=1e-12)
    assert found.box_violation == 0.0
    assert (found.n_free, found.n_bounded, found.n_zero) == (6, 0, 1)


def plain_sparse_primal(bias, X, w, b):
    total = np.abs(w).sum() + (abs(b) / 0.5 if bias == "penalized" else 0.0)
    return total + sum(C[i] * max(0.0, 1 - SIGNS[i] * (float(X[i] @ w) + b)) ** 2 for i in range(7))


@pytest.mark.parametrize("bias", BIASES)
def test_objectives_of_sparse_machines(bias, X, rng):
    problem = SparseMargin(SIGNS, C, bias, 0.5)
    for _ in range(5):
        w, b = rng.normal(size=3), 0.0 if bias == "none" else float(rng.normal())
        w[0] = 0.0
        raw = problem.even(np.where(C > 0, SIGNS * rng.uniform(size=7), 0.0))
        beta = problem.feasible(raw, X.T @ raw)
        assert np.abs(X.T @ beta).max() <= 1.0
        if bias == "penalized":
            assert 0.5 * abs(beta.sum()) <= 1.0
        found = problem.certificate(Rows(X), w, b, beta)
        dual = sum(SIGNS[i] * beta[i] - (beta[i] ** 2 / (4 * C[i]) if C[i] else 0.0) for i in range(7))
        assert_tells(found, plain_sparse_primal(bias, X, w, b), dual)
        # No other multiple that is feasible has a larger dual value.
        for factor in (0.9, 0.99, 1.01, 1.1):
            other = factor * beta
            if problem.correlations(other, X.T @ other) <= 1.0:
                assert problem.dual(other) <= found.dual + 1e-12


@pytest.mark.parametrize("bias", BIASES)
def test_a_violation_is_the_distance_of_zero_from_the_subdifferential(bias, X, rng):
    problem = SparseMargin(SIGNS, C, bias, 0.5)
    h = 1e-7
    for w in (np.array([0.5, -1.0, 0.0]), np.array([0.0, 0.0, 0.2]), np.zeros(3)):
        for b in (0.0,) if bias == "none" else (0.0, 0.7, -0.4):
            z = np.append(w, b)

            def both_sides(j, z=z):
                step = h * np.eye(4)[j]
                here = plain_sparse_primal(bias, X, z[:3], z[3])
                ahead = plain_sparse_primal(bias, X, (z + step)[:3], (z + step)[3])
                behind = plain_sparse_primal(bias, X, (z - step)[:3], (z - step)[3])
                return (here - behind) / h, (ahead - here) / h

            # Between the slopes to both sides lies every subgradient of a feature.
            expected = 0.0
            for j in range(3 if bias == "none" else 4):
                left, right = both_sides(j)
                expected = max(expected, left, -right)
            found = problem.certificate(Rows(X), w, b, np.zeros(7)).kkt_violation
            assert found == pytest.approx(expected, abs=1e-5)


def test_what_is_outside_of_a_sparse_dual(X):
    problem = SparseMargin(SIGNS, C, "free", 0.5)
    beta = np.array([3.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = problem.certificate(Rows(X), np.zeros(3), 0.0, beta)
    assert found.box_violation == pytest.approx(max(np.abs(X.T @ beta).max() - 1.0, 0.5))
    assert found.equality_residual == 3.5
    small = np.array([0.0, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert problem.certificate(Rows(X), np.zeros(3), 0.0, small).box_violation == pytest.approx(0.01)
    assert SparseMargin(SIGNS, C, "none").certificate(Rows(X), np.zeros(3), 0.0, beta).equality_residual == 0.0
    assert problem.feasible(np.zeros(7), np.zeros(3)).tolist() == [0.0] * 7
    # Rows of zeros bound nothing: the best multiple is that of the parabola.
    assert problem.feasible(SIGNS * C, np.zeros(3)) == pytest.approx(2.0 * SIGNS * C)
    heavy = SparseMargin(SIGNS, C, "penalized", 0.5)
    assert heavy.correlations(np.full(7, 2.0), np.zeros(3)) == 7.0
    assert problem.correlations(np.full(7, 2.0), np.array([-3.0, 1.0, 2.0])) == 3.0


# ------------------------------------------------------------ several classes at once

CODES = np.array([0, 2, 1, 1, 0, 2, 1])


def plain_crammer_singer(X, W, b, scale):
    total = 0.5 * np.sum(W**2) + (0.5 * np.sum((b / scale) ** 2) if scale else 0.0)
    for i in range(7):
        scores = W @ X[i] + b
        total += C[i] * max((0.0 if m == CODES[i] else 1.0) + scores[m] - scores[CODES[i]] for m in range(3))
    return total


@pytest.mark.parametrize("scale", [0.0, 0.5])
def test_objectives_of_several_classes(scale, X, rng):
    problem = CrammerSinger(CODES, 3, C, scale)
    for _ in range(5):
        W, b = rng.normal(size=(3, 3)), scale * rng.normal(size=3)
        share = rng.dirichlet(np.ones(3), size=7) * C[:, None]
        alpha = np.where(np.eye(3, dtype=bool)[CODES], 0.0, -share)
        alpha[np.arange(7), CODES] = -alpha.sum(axis=1)
        found = problem.certificate(Rows(X), W, b, alpha)
        sums = X.T @ alpha
        dual = -0.5 * np.sum(sums**2) - 0.5 * np.sum((scale * alpha.sum(axis=0)) ** 2)
        dual -= sum(alpha[i, m] for i in range(7) for m in range(3) if m != CODES[i])
        assert_tells(found, plain_crammer_singer(X, W, b, scale), dual)


def test_a_certificate_of_several_classes_counts_and_measures(X):
    problem = CrammerSinger(CODES, 3, C)
    alpha = np.zeros((7, 3))
    alpha[0] = [1.0, -1.0, 0.0]  # at its bound
    alpha[1] = [-0.5, -0.5, 1.0]  # inside
    alpha[2] = [0.25, 0.75, -1.0]  # outside, in both ways: 0.25 above zero, and 0.75 above 0.5
    alpha[3] = [0.0, 0.5, -0.25]  # of sum 0.25
    W, b = np.arange(9.0).reshape(3, 3) / 10, np.array([0.1, 0.2, -0.3])
    found = problem.certificate(Rows(X), W, b, alpha)
    assert (found.n_bounded, found.n_free, found.n_zero) == (2, 2, 3)
    assert found.box_violation == pytest.approx(0.25)
    assert found.equality_residual == pytest.approx(0.25)
    # Largest gradient of a row less the smallest of those that may grow, rows without weight apart.
    expected = 0.0
    for i in range(7):
        gradient = [W[m] @ X[i] + b[m] + (m != CODES[i]) for m in range(3)]
        bounds = [C[i] if m == CODES[i] else 0.0 for m in range(3)]
        inside = [g for g, a, u in zip(gradient, alpha[i], bounds, strict=True) if a < u - 1e-9 * C[i]]
        if C[i] > 0 and inside:
            expected = max(expected, max(gradient) - min(inside))
    assert found.kkt_violation == pytest.approx(expected)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("b", [0.0, 0.7, -0.4, 1.0])
def test_rows_without_features_leave_the_condition_of_the_bias(bias, b):
    """The responses' sum is zero for a free one, within 1/s for one of zero, and 1/s with its sign for another."""
    balance = sum(2.0 * C[i] * SIGNS[i] * max(0.0, 1.0 - SIGNS[i] * b) for i in range(7))
    left = abs(balance - 2.0 * np.sign(b)) if b else max(0.0, abs(balance) - 2.0)
    expected = {"none": 0.0, "free": abs(balance), "penalized": left}[bias]
    found = SparseMargin(SIGNS, C, bias, 0.5).certificate(Rows(np.zeros((7, 2))), np.zeros(2), b, np.zeros(7))
    assert found.kkt_violation == pytest.approx(expected)
