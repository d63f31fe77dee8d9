"""Kernel weights: the set they come from, cuts, and one certificate for machines and weights."""

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_family import SeveralKernels
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.mkl.alignment import alignment_problem, class_targets
from mercer.problems.mkl.easy_mkl import distributions, hull_problem
from mercer.problems.mkl.weighted_kernels import (
    Judged,
    WeightSet,
    joint_certificate,
    primal_and_dual,
    untaught_primal,
)
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.mkl.alignment import align


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 7.0])
def test_the_support_value_is_the_largest_product(p, rng):
    allowed, q = WeightSet(p), rng.uniform(size=5)
    assert np.linalg.norm(allowed.equal(5), p) == pytest.approx(1.0)
    best = allowed.support_value(q, None)
    for _ in range(200):
        mu = allowed.normalised(rng.exponential(size=5))
        assert allowed.violation(mu) <= 1e-12
        assert mu @ q <= best + 1e-12
    exact = np.eye(5)[q.argmax()] if p == 1.0 else allowed.normalised(q ** (1.0 / (p - 1.0)))
    assert exact @ q == pytest.approx(best)


def test_weights_outside_their_set_and_fixed_ones():
    assert WeightSet(1.0).violation(np.array([0.7, 0.5])) == pytest.approx(0.2)
    assert WeightSet(2.0).violation(np.array([-0.1, 0.5])) == pytest.approx(0.1)
    fixed = WeightSet(None)
    assert fixed.violation(np.array([3.0, 4.0])) == 0.0
    assert fixed.support_value(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
    np.testing.assert_allclose(fixed.normalised(np.zeros(2)), [0.5, 0.5])


def solved(problem, K):
    return solve_dual(problem.dual(), StoredMatrix.of(K), tol=1e-10, limits=Limits(), convex=True)


@pytest.mark.parametrize("kind", ["hinge", "squared_hinge", "penalized", "regression"])
def test_a_solution_is_a_cut_below_all_machines(kind, rng):
    X = rng.normal(size=(25, 2))
    signs, C = np.where(rng.random(25) < 0.5, 1.0, -1.0), np.full(25, 2.0)
    problem = {
        "hinge": SoftMargin(signs, C),
        "squared_hinge": SoftMargin(signs, C, "squared_hinge"),
        "penalized": SoftMargin(signs, C, bias="penalized"),
        "regression": EpsilonRegression(X[:, 0] ** 2, C, 0.1),
    }[kind]
    grams = [Linear()(X), RBF(gamma=1.0)(X)]

    def judged(mu):
        found = solved(problem, mu[0] * grams[0] + mu[1] * grams[1])
        primal, dual = primal_and_dual(problem, found.beta, found.gradient)
        q = np.array([found.beta @ K @ found.beta for K in grams])
        return Judged(mu, [found], primal, dual + 0.5 * mu @ q, q)

    here = judged(np.array([0.5, 0.5]))
    assert here.machines_gap == pytest.approx(0.0, abs=1e-7)
    for share in (0.0, 0.1, 0.9, 1.0):
        other = judged(np.array([share, 1.0 - share]))
        assert here.constant - 0.5 * other.weights @ here.q <= other.primal + 1e-7
        assert here.bound(WeightSet(1.0)) <= other.primal + 1e-7


def test_one_certificate_for_several_machines(rng):
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    models = [SVC(kernel=RBF(gamma=g)).fit(X, y) for g in (0.5, 2.0)]
    both = [model.certificate_ for model in models]
    allowed, mu, q = WeightSet(1.0), np.array([0.25, 0.75]), np.array([4.0, 2.0])
    joint = joint_certificate(allowed, mu, q, both)
    assert joint.weights_gap == pytest.approx(0.5 * (4.0 - 2.5))
    assert joint.primal == pytest.approx(both[0].primal + both[1].primal)
    assert joint.dual == pytest.approx(both[0].dual + both[1].dual - 0.75)
    assert joint.gap == pytest.approx(joint.primal - joint.dual)
    assert joint.n_free == both[0].n_free + both[1].n_free
    assert joint.kkt_violation == max(each.kkt_violation for each in both)
    assert "weights: gap 7.50e-01" in str(joint)
    assert joint.as_dict()["weights_violation"] == 0.0
    assert joint_certificate(WeightSet(None), mu, q, both).weights_gap == 0.0


# --- alignment ------------------------------------------------------------------------------


def by_hand(K, T, weights, centred):
    S = np.diag(weights)
    if centred:
        H = np.eye(len(K)) - np.outer(np.ones(len(K)), weights) / weights.sum()
        K, T = H @ K @ H.T, H @ T @ H.T
    root = np.sqrt(S)
    K, T = root @ K @ root, root @ T @ root
    return (K * T).sum() / (np.linalg.norm(K) * np.linalg.norm(T))


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_alignment_is_the_cosine_of_matrices(centred, n_classes, rng):
    X = rng.normal(size=(30, 2))
    codes, weights = rng.integers(n_classes, size=30), rng.uniform(0.5, 2.0, 30)
    grams = [Linear()(X), RBF(gamma=1.0)(X), RBF(gamma=0.1)(X)]
    kernels = [Linear(), RBF(gamma=1.0), RBF(gamma=0.1)]
    several = SeveralKernels(kernels, [Linear().prepare(X)] * 3)
    targets = class_targets(codes, n_classes)
    problem = alignment_problem(several, targets, weights, centred)
    for _ in range(5):
        mu = rng.uniform(size=3)
        K = sum(w * G for w, G in zip(mu, grams, strict=True))
        assert problem.alignment(mu) == pytest.approx(by_hand(K, targets @ targets.T, weights, centred))
    best = align(problem)
    assert best.sum() == pytest.approx(1.0)
    for _ in range(300):
        assert problem.alignment(rng.exponential(size=3) * (rng.random(3) < 0.7)) <= problem.alignment(best) + 1e-9


def test_equal_kernels_have_equal_weights_and_scales_do_not_matter(rng):
    X = rng.normal(size=(30, 2))
    codes = (X[:, 0] > 0).astype(int)
    rows = Linear().prepare(X)
    kernels = [Linear(), Linear(), 1e6 * RBF(gamma=1.0)]
    problem = alignment_problem(SeveralKernels(kernels, [rows] * 3), class_targets(codes, 2), np.ones(30), True)
    mu = align(problem)
    assert mu[0] == pytest.approx(mu[1], rel=1e-4)
    small = alignment_problem(
        SeveralKernels([Linear(), RBF(gamma=1.0)], [rows] * 2), class_targets(codes, 2), np.ones(30), True
    )
    assert problem.alignment(mu) == pytest.approx(small.alignment(align(small)), rel=1e-6)


def test_no_alignment_at_all_gives_equal_weights():
    X = np.array([[1.0], [1.0], [1.0], [1.0]])
    several = SeveralKernels([Linear(), Linear()], [Linear().prepare(X)] * 2)
    problem = alignment_problem(several, class_targets(np.array([0, 0, 1, 1]), 2), np.ones(4), True)
    np.testing.assert_allclose(align(problem), [0.5, 0.5])


# --- EasyMKL --------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.05, 0.5, 0.95])
def test_the_squared_hinge_finds_the_nearest_points_of_the_hulls(lam, rng):
    from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program

    X = rng.normal(size=(20, 2))
    signs = np.where(np.arange(20) % 2, 1.0, -1.0)
    K, copies = Linear()(X) + RBF(gamma=1.0)(X), rng.uniform(0.5, 2.0, 20)
    beta = distributions(solved(hull_problem(signs, lam, copies), K).beta)
    assert beta[signs > 0].sum() == pytest.approx(1.0)
    assert beta[signs < 0].sum() == pytest.approx(-1.0)
    value = (1.0 - lam) * beta @ K @ beta + lam * beta**2 @ (1.0 / copies)
    Q = 2.0 * ((1.0 - lam) * K * np.outer(signs, signs) + lam * np.diag(1.0 / copies))
    A = np.vstack([signs > 0, signs < 0, np.eye(20)]).astype(float)
    found = solve_quadratic_program(Q, np.zeros(20), A, np.append([1.0, 1.0], np.zeros(20)), n_equalities=2)
    assert value == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_better_weights_are_the_best_for_the_same_functions(p):
    """They minimise the sum of |w_m|^2 / mu_m, with |w_m|^2 = mu_m^2 q_m, over the ball of the p-norm."""
    allowed, q, mu = WeightSet(p), np.array([4.0, 1.0, 9.0]), np.array([0.5, 0.3, 0.2])
    judged = Judged(mu, [], 1.0, 1.0, q)
    best = judged.better_weights(allowed)
    assert np.sum(best**p) == pytest.approx(1.0)
    cost = np.sum(mu**2 * q / best)
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = rng.uniform(0.05, 1.0, size=3)
        other /= np.sum(other**p) ** (1 / p)
        assert cost <= np.sum(mu**2 * q / other) + 1e-12
    # What rounding has made negative is nothing.
    assert Judged(mu, [], 1.0, 1.0, np.array([4.0, -1e-18, 9.0])).better_weights(allowed)[1] == 0.0


@pytest.mark.parametrize(
    ("primal", "untaught", "scale"), [(0.5, 1.0, 0.5), (-3.0, 1.0, 3.0), (0.0, 1e10, 1e-3), (0.0, 1e16, 1.0)]
)
def test_the_unit_of_gaps_is_the_objective_unless_that_is_rounding(primal, untaught, scale):
    assert Judged(np.ones(1), [], primal, 1.0, np.ones(1), untaught).scale == pytest.approx(scale)


def test_the_gap_of_weights_and_machines_together():
    """The bound is G - max mu q / 2 over the set: of the simplex, the largest q."""
    judged = Judged(np.array([0.5, 0.5]), [], 5.0, 6.0, np.array([2.0, 4.0]))
    assert judged.bound(WeightSet(1.0)) == 4.0
    assert judged.gap(WeightSet(1.0)) == pytest.approx(0.2)
    assert judged.machines_gap == pytest.approx(5.0 - (6.0 - 1.5))
    assert Judged(np.ones(1), [], np.inf, 1.0, np.ones(1)).gap(WeightSet(1.0)) == np.inf


def test_the_objective_of_a_model_without_coefficients():
    """Every point pays C; at a bias of 1 those of the first class pay nothing, and at 0 in the middle all do."""
    assert untaught_primal(SoftMargin(np.array([1.0, -1.0, -1.0]), np.array([1.0, 2.0, 4.0]))) == 7.0
    assert untaught_primal(SoftMargin(np.array([1.0, -1.0]), np.full(2, np.inf))) == 0.0
