"""Steps of a ranking that are computed directly, where conjugate gradients are slow."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.rank import Ranking
from mercer.problems.svm.rank_pairs import GivenPairs, GradedPairs
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.smooth import ranking_newton
from mercer.solvers.smooth.feature_newton import coordinates


def ranking(pairs, C, loss, n=40, d=3):
    """(problem, K) of rows whose kernel matrix has rank d."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d))
    grades = np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5]).astype(float)
    better, worse = np.nonzero(grades[:, None] > grades[None])
    chosen = GradedPairs(grades, np.zeros(n, np.int64)) if pairs == "graded" else GivenPairs(better, worse)
    return Ranking(chosen, C, rng.uniform(0.5, 2.0, n), loss), X @ X.T


@pytest.mark.parametrize("pairs", ["graded", "given"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_direct_step_solves_the_newton_equations(pairs, loss, rng):
    problem, K = ranking(pairs, 10.0, loss)
    steps = ranking_newton._Steps(problem, StoredMatrix.of(K), 1e-9, Limits(), None, None, convex=True)
    point, residual = problem.at(K @ rng.normal(size=40)), rng.normal(size=40)
    step, image = steps._directly(point, residual, coordinates(K, is_definite=True))
    np.testing.assert_allclose(image, K @ step, atol=1e-9)
    np.testing.assert_allclose(step + point.curved(image), residual, atol=1e-9)


@pytest.mark.parametrize("convex", [True, False])
def test_direct_steps_end_where_the_others_do(convex, monkeypatch):
    problem, K = ranking("graded", 1.0, "hinge", d=12)
    found = []
    for slow in (0, 10**9):
        monkeypatch.setattr(ranking_newton, "SLOW", slow)
        solution = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6, convex=convex)
        assert solution.status is Status.OPTIMAL
        found.append(0.5 * solution.beta @ K @ solution.beta + problem.at(K @ solution.beta).hinges)
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_where_rounding_leaves_no_factor_conjugate_gradients_go_on(monkeypatch):
    """So large a C leaves nothing of the identity in I + L'HL."""
    problem, K = ranking("graded", 1e25, "squared_hinge", d=12)
    monkeypatch.setattr(ranking_newton, "SLOW", 0)
    solved = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6)
    assert np.isfinite(solved.beta).all()
    monkeypatch.setattr(ranking_newton, "FEW_ROWS", 0)
    plain = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6)
    risk = problem.at(K @ solved.beta).risk
    assert risk <= problem.at(K @ plain.beta).risk * (1.0 + 1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_callbacks_see_every_step_as_it_is_kept(loss):
    problem, K = ranking("graded", 1.0, loss)
    seen = []
    found = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6, limits=Limits(callbacks=[seen.append]))
    assert len(seen) > 2
    assert seen == found.trace
    counts = [point.iterations for point in seen]  # of all widths of the hinge
    assert counts == sorted(counts)
    assert counts[-1] == found.iterations
    assert seen[-1].gap <= 1e-6


def test_a_looser_tolerance_of_the_gap_alone_is_what_is_asked_for():
    problem, K = ranking("graded", 1.0, "hinge")
    tight, loose = (
        ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6, gap_tol=gap_tol) for gap_tol in (1e-8, 1e-2)
    )
    assert tight.iterations > loose.iterations
    values = [0.5 * s.beta @ K @ s.beta + problem.at(K @ s.beta).hinges for s in (tight, loose)]
    assert values[0] <= values[1] <= values[0] * 1.0102


@pytest.mark.parametrize("most", [0, 1, 3])
def test_steps_of_a_ranking_are_limited(most):
    problem, K = ranking("graded", 1.0, "hinge")
    found = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-12, limits=Limits(max_iter=most))
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == most


def test_where_no_step_is_left_the_distance_decides_how_it_ended(monkeypatch):
    monkeypatch.setattr(ranking_newton._Steps, "_step", lambda *_: False)
    monkeypatch.setattr(ranking_newton._Steps, "_settled", lambda *_: False)
    problem, K = ranking("given", 1.0, "squared_hinge")[:2]
    found = ranking_newton.solve(problem, StoredMatrix.of(K), tol=1e-6, limits=Limits())
    assert found.status is Status.STALLED
