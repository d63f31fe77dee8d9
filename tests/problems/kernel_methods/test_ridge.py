"""Ridge regression and its leave-one-out errors, against solving every system anew."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.ridge import LeaveOneOut, Ridge, RidgeCertificate

WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.0])


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(5, 3))
    return X @ X.T + 0.1 * np.eye(5)


@pytest.fixture
def problem(rng):
    return Ridge(rng.normal(size=(5, 2)), np.array([0.5, 2.0]), np.sqrt(WEIGHTS))


def solution(gram, problem, rows=slice(None)):
    """(K + lambda / W) alpha = y for each target, of some of the rows."""
    K, weights = gram[rows][:, rows], WEIGHTS[rows]
    return np.column_stack(
        [
            np.linalg.solve(K + lam * np.diag(1.0 / weights), y[rows])
            for lam, y in zip(problem.penalties, problem.targets.T, strict=True)
        ]
    )


def objectives(gram, problem, alpha):
    primal = dual = 0.0
    for lam, y, a in zip(problem.penalties, problem.targets.T, alpha.T, strict=True):
        error, energy = y - gram @ a, a @ gram @ a
        primal += 0.5 * error @ (WEIGHTS * error) + 0.5 * lam * energy
        dual += lam * y @ a - 0.5 * lam**2 * a @ (a / WEIGHTS) - 0.5 * lam * energy
    return primal, dual


def test_objectives_of_any_coefficients(gram, problem, rng):
    alpha = rng.normal(size=(5, 2))
    primal, dual = objectives(gram, problem, alpha)
    found = problem.certificate(alpha, gram @ alpha)
    assert (found.primal, found.dual) == pytest.approx((primal, dual))
    assert found.gap == pytest.approx(primal - dual)
    assert found.relative_gap == pytest.approx((primal - dual) / max(1.0, abs(primal)))
    left = np.sqrt(WEIGHTS)[:, None] * (problem.targets - gram @ alpha - problem.penalties * alpha / WEIGHTS[:, None])
    norms = np.linalg.norm(np.sqrt(WEIGHTS)[:, None] * problem.targets, axis=0)
    assert found.residual == pytest.approx((np.linalg.norm(left, axis=0) / norms).max())
    assert not found.is_optimal()


def test_the_solution_is_optimal(gram, problem):
    alpha = solution(gram, problem)
    found = problem.certificate(alpha, gram @ alpha)
    assert found.is_optimal(1e-12)
    assert found.gap == pytest.approx(0.0, abs=1e-20)
    assert found.as_dict()["primal"] == found.primal
    assert "residual of the normal equations" in str(found)


def test_a_residual_at_the_tolerance_is_within_it():
    assert RidgeCertificate(1.0, 1.0, 0.0, 0.0, 1e-6).is_optimal()
    assert not RidgeCertificate(1.0, 1.0, 0.0, 0.0, 1.5e-6).is_optimal()


def test_targets_of_zero_have_their_residual_as_it_is(gram):
    problem = Ridge(np.zeros((5, 1)), np.array([1.0]), np.ones(5))
    alpha = np.full((5, 1), 2.0)
    left = (gram + np.eye(5)) @ alpha
    assert problem.certificate(alpha, gram @ alpha).residual == pytest.approx(np.linalg.norm(left))


def test_no_targets_leave_nothing(gram):
    problem = Ridge(np.zeros((5, 0)), np.zeros(0), np.ones(5))
    assert problem.certificate(np.zeros((5, 0)), np.zeros((5, 0))).residual == 0.0


def inverse_diagonal(gram, problem):
    S = np.diag(problem.scale)
    inverses = [np.linalg.inv(S @ gram @ S + lam * np.eye(5)) for lam in problem.penalties]
    return np.column_stack([each.diagonal() for each in inverses])


def test_each_row_is_predicted_by_the_model_that_never_saw_it(gram, problem):
    found = LeaveOneOut.of(problem, solution(gram, problem), inverse_diagonal(gram, problem))
    expected = np.empty((5, 2))
    for i in range(5):
        others = np.delete(np.arange(5), i)
        expected[i] = gram[i, others] @ solution(gram, problem, others)
    assert found.predictions == pytest.approx(expected)
    errors = problem.targets - expected
    mean = (WEIGHTS[:, None] * errors**2).sum() / (2 * WEIGHTS.sum())
    assert found.mean_squared_error == pytest.approx(mean)


def test_generalised_cross_validation_of_equal_weights(gram, rng):
    """Golub, Heath and Wahba 1979: n |(I - A) y|^2 / tr(I - A)^2 with the influence matrix A."""
    lam, y = 0.7, rng.normal(size=5)
    problem = Ridge(y[:, None], np.array([lam]), np.ones(5))
    inverse = np.linalg.inv(gram + lam * np.eye(5))
    found = LeaveOneOut.of(problem, (inverse @ y)[:, None], inverse.diagonal()[:, None])
    rest = np.eye(5) - gram @ inverse
    assert found.generalized == pytest.approx(np.sum((rest @ y) ** 2) / 5 / (np.trace(rest) / 5) ** 2)


def test_generalised_errors_of_weighted_rows_are_scaled_like_the_rows(gram, problem):
    """The equations are those of rows and targets times the root of a weight, which are of equal weight."""
    S = problem.scale[:, None]
    alpha, diagonal = solution(gram, problem), inverse_diagonal(gram, problem)
    scaled = Ridge(S * problem.targets, problem.penalties, np.ones(5))
    plain = LeaveOneOut.of(scaled, alpha / S, diagonal)
    found = LeaveOneOut.of(problem, alpha, diagonal)
    assert found.generalized == pytest.approx(plain.generalized * 5 / WEIGHTS.sum())


def test_what_a_pseudo_inverse_does_not_say_is_not_a_number():
    problem = Ridge(np.ones((2, 1)), np.array([0.0]), np.ones(2))
    found = LeaveOneOut.of(problem, np.ones((2, 1)), np.array([[0.0], [2.0]]))
    assert np.isnan(found.predictions[0, 0])
    assert found.predictions[1, 0] == 1.0 - 0.5


def test_rows_that_took_no_part_have_no_prediction():
    found = LeaveOneOut(np.array([[1.0], [2.0]]), 0.5, 0.25)
    wider = found.like(np.zeros(3), np.array([True, False, True]))
    assert wider.predictions == pytest.approx(np.array([1.0, np.nan, 2.0]), nan_ok=True)
    assert (wider.mean_squared_error, wider.generalized) == (0.5, 0.25)
