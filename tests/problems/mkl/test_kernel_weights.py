"""Alignment of kernels with targets, and the hulls of EasyMKL, against matrices written out."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.problems.mkl import easy_mkl
from mercer.problems.mkl.alignment import AlignmentProblem, alignment_problem, class_targets

WEIGHTS = np.array([1, 2, 1, 3, 1])
CODES = np.array([0, 1, 2, 1, 0])


@pytest.fixture
def matrices(rng):
    return np.array([X @ X.T + 1.0 for X in rng.normal(size=(3, 5, 2))])


def several(matrices):
    """As `SeveralKernels`, of plain matrices."""
    return SimpleNamespace(
        inner_products=lambda w, stop: np.einsum("mij,lij,i,j->ml", matrices, matrices, w, w),
        products=lambda coefficients, stop: matrices @ coefficients,
    )


@pytest.mark.parametrize("centred", [False, True])
def test_a_weight_is_that_many_rows(centred, matrices):
    targets = class_targets(CODES, 3)
    found = alignment_problem(several(matrices), targets, WEIGHTS.astype(float), centred)
    copies = np.repeat(np.arange(5), WEIGHTS)
    H = np.eye(8) - (1.0 / 8 if centred else 0.0)
    whole = [H @ K[np.ix_(copies, copies)] @ H for K in matrices]
    T = targets[copies] @ targets[copies].T
    T = H @ T @ H
    for m in range(3):
        assert found.a[m] == pytest.approx(np.sum(whole[m] * T))
        for other in range(3):
            assert found.M[m, other] == pytest.approx(np.sum(whole[m] * whole[other]))
    assert found.target_norm == pytest.approx(np.linalg.norm(T))
    mu = np.array([0.5, 0.0, 2.0])
    K = sum(m * each for m, each in zip(mu, whole, strict=True))
    assert found.alignment(mu) == pytest.approx(np.sum(K * T) / (np.linalg.norm(K) * np.linalg.norm(T)))
    assert found.alignment(np.zeros(3)) == 0.0


def test_targets_agree_within_a_class_and_not_between_two():
    targets = class_targets(CODES, 3)
    for i, c in np.ndindex(5, 3):
        assert targets[i, c] == (1.0 if CODES[i] == c else -0.5)
    assert class_targets(np.array([0, 1]), 2).tolist() == [[1.0, -1.0], [-1.0, 1.0]]
    assert class_targets(np.array([0]), 1).tolist() == [[1.0]]


def test_a_small_alignment_is_no_zero():
    assert AlignmentProblem(np.array([[1e-8]]), np.array([1e-4]), 0.5).alignment(np.ones(1)) == pytest.approx(2.0)


SIGNS = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
LAMBDA = 0.3


def objective(K, gamma, copies):
    beta = SIGNS * gamma
    return (1 - LAMBDA) * beta @ K @ beta + LAMBDA * sum(g * g / c for g, c in zip(gamma, copies, strict=True))


def nearest(K, copies):
    """Both distributions, by a general optimiser."""
    constraints = [{"type": "eq", "fun": lambda g, s=s: g[s == SIGNS].sum() - 1.0} for s in (1.0, -1.0)]
    start = np.where(SIGNS > 0, 1 / 2, 1 / 3)
    found = minimize(
        lambda g: objective(K, g, copies), start, bounds=[(0, None)] * 5, constraints=constraints, tol=1e-14
    )
    return found.x


@pytest.mark.parametrize("copies", [np.ones(5), np.array([1.0, 3.0, 2.0, 1.0, 1.0])])
def test_nearest_points_of_hulls_are_a_soft_margin_up_to_scale(copies, matrices):
    K = matrices[0] + matrices[1]
    gamma = nearest(K, copies)
    beta = SIGNS * gamma
    # The soft margin's solution is the multiple of beta at which its dual is largest, without a gap.
    problem = easy_mkl.hull_problem(SIGNS, LAMBDA, copies)
    ridge = LAMBDA / (1 - LAMBDA) / copies
    scale = 2.0 / (beta @ K @ beta + ridge @ beta**2)
    alpha = scale * beta
    values = K @ alpha
    margins = SIGNS * (values + ridge * alpha)
    on = gamma > 1e-5
    # On the margin: y (f + ridge alpha + b) = 1 with one b for all.
    biases = (1.0 - margins[on]) * SIGNS[on]
    assert np.ptp(biases) == pytest.approx(0.0, abs=1e-4)
    assert pytest.approx(1.0 / (2.0 * ridge)) == problem.C
    assert easy_mkl.hull_ridge(LAMBDA, copies) == pytest.approx(ridge)
    assert easy_mkl.distributions(alpha) == pytest.approx(beta, abs=1e-6)


def test_points_that_take_no_part():
    assert easy_mkl.hull_ridge(0.5, np.array([0.0, 2.0])).tolist() == [0.0, 0.5]
    assert easy_mkl.distributions(np.zeros(2)).tolist() == [0.0, 0.0]
    assert np.isinf(easy_mkl.ridged_hull_problem(SIGNS).C).all()
