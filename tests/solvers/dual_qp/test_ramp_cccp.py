import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.ramp import RampMargin
from mercer.solvers.dual_qp import ramp_cccp
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from tests.oracles import clarabel_box


def noisy(seed=0, n=120, d=2, share=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < share, -signs, signs)


def solve(problem, K, **options):
    options = {"tol": 1e-8, "limits": Limits(), "convex": True, **options}
    return ramp_cccp.solve(problem, StoredMatrix.of(K), **options)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("s", [0.0, -1.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_falls_from_step_to_step(seed, s, bias):
    X, signs = noisy(seed)
    found = solve(RampMargin(signs, np.ones(len(signs)), s, bias), X @ X.T)
    assert found.status is Status.OPTIMAL
    objectives = np.array([step.objective for step in found.steps])
    bounds = np.array([step.bound for step in found.steps])
    assert (np.diff(objectives) <= 1e-9).all()
    assert (bounds >= objectives - 1e-9).all()
    # The tangent touches where the last step ended, and a minimum is not above it.
    assert (bounds[1:] <= objectives[:-1] + 1e-9).all()
    assert bounds[-1] == pytest.approx(objectives[-1])
    assert found.steps[0].n_outliers == 0


def test_the_end_is_a_fixed_point_with_a_certificate():
    X, signs = noisy(4)
    K = X @ X.T
    found = solve(RampMargin(signs, np.full(len(signs), 2.0), 0.0, "free"), K)
    projections = K @ found.beta
    margins = signs * (projections + found.bias)
    np.testing.assert_array_equal(found.problem.current_outliers, margins < 0.0)
    certificate = found.problem.certificate(found.beta, projections, found.bias)
    assert certificate.is_stationary(1e-8)
    assert certificate.primal == pytest.approx(certificate.ramp_objective, rel=1e-12)
    assert certificate.gap <= 1e-8 * certificate.primal
    assert len(found.steps) > 2


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_the_last_convex_problem_is_solved_as_clarabel_solves_it(bias):
    X, signs = noisy(2, n=60)
    K = X @ X.T + 0.1 * np.eye(len(X))
    found = solve(RampMargin(signs, np.ones(len(signs)), -0.5, bias), K)
    dual = found.problem.dual()
    beta, value = clarabel_box.solve(K + dual.shift, dual.linear, dual.lower, dual.upper, dual.has_equality)
    gradient = dual.linear - (K + dual.shift) @ found.beta
    assert dual.objective(found.beta, gradient) == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(found.beta, beta, atol=1e-5)
    assert found.problem.current_outliers.any()


def test_no_nearby_point_is_better():
    X, signs = noisy(6)
    problem = RampMargin(signs, np.ones(len(signs)), 0.0, "free")
    found = solve(problem, X @ X.T)
    w, b = X.T @ found.beta, found.bias

    def objective(w, b):
        return 0.5 * w @ w + np.minimum(1.0, np.maximum(0.0, 1.0 - signs * (X @ w + b))).sum()

    here = objective(w, b)
    assert here == pytest.approx(found.steps[-1].objective)
    rng = np.random.default_rng(0)
    assert min(objective(w + 1e-4 * rng.normal(size=2), b + 1e-4 * rng.normal()) for _ in range(2000)) >= here - 1e-9


def test_far_to_the_left_the_ramp_is_the_hinge():
    X, signs = noisy()
    K = X @ X.T
    problem = RampMargin(signs, np.ones(len(signs)), -1e6, "free")
    found = solve(problem, K)
    hinge = solve_dual(problem.dual(), StoredMatrix.of(K), tol=1e-8, limits=Limits(), convex=True)
    assert len(found.steps) == 1
    np.testing.assert_array_equal(found.beta, hinge.beta)


def test_outliers_are_no_support_vectors():
    X, signs = noisy(3)
    found = solve(RampMargin(signs, np.ones(len(signs)), 0.0, "free"), X @ X.T)
    assert found.problem.current_outliers.sum() > 5
    np.testing.assert_array_equal(found.beta[found.problem.current_outliers], 0.0)


def test_the_steps_are_bounded():
    X, signs = noisy(4)
    found = solve(RampMargin(signs, np.full(len(signs), 2.0), 0.0, "free"), X @ X.T, max_steps=2)
    assert found.status is Status.ITERATION_LIMIT
    assert len(found.steps) == 2


def test_a_callback_ends_it_between_two_steps():
    X, signs = noisy(4)
    problem, K = RampMargin(signs, np.full(len(signs), 2.0), 0.0, "free"), X @ X.T
    seen = []

    def stop_in_the_second(point):
        seen.append(point)
        return len(seen) == 2

    found = solve(problem, K, limits=Limits(callbacks=[stop_in_the_second]))
    assert found.status is Status.INTERRUPTED
    assert len(found.steps) == 2
    assert found.problem.current_outliers.sum() == found.steps[-1].n_outliers > 0


def test_an_unfinished_step_leaves_the_last_finished_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    signs = np.where((X[:, 0] > 0) ^ (rng.random(500) < 0.2), 1.0, -1.0)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    problem = RampMargin(signs, np.full(500, 10.0), 0.0, "free")
    steps = [step.iterations for step in solve(problem, K, tol=1e-4).steps]
    assert max(steps[1:]) > 0
    # No room for the first problem: what there is of it is kept, and it has no outliers.
    short = solve(problem, K, tol=1e-4, limits=Limits(max_iter=steps[0] // 2))
    assert short.status is Status.ITERATION_LIMIT
    assert short.steps == []
    assert np.any(short.beta)
    assert not short.problem.current_outliers.any()


def test_iterations_of_all_steps_are_counted():
    X, signs = noisy(4)
    found = solve(RampMargin(signs, np.full(len(signs), 2.0), 0.0, "free"), X @ X.T)
    assert found.iterations == sum(step.iterations for step in found.steps)
    assert len(found.trace) >= len(found.steps)


def test_a_rough_solution_is_refined_rather_than_let_the_objective_rise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    signs = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(700) < 0.2), 1.0, -1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    found = solve(RampMargin(signs, np.full(700, 10.0), 0.0, "free"), K, tol=0.3)
    objectives = np.array([step.objective for step in found.steps])
    assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()
    assert found.status in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE)


def test_random_outliers_are_up_to_half_of_the_rows():
    sets = ramp_cccp.random_outliers(2000, 200, np.random.RandomState(0))
    shares = np.array([each.mean() for each in sets])
    assert shares.max() <= 0.55
    assert shares.min() <= 0.05
    assert 0.2 <= shares.mean() <= 0.3


def test_a_start_of_coefficients_is_for_the_first_set_alone(monkeypatch):
    starts = []
    first = ramp_cccp.solve

    def noted(*args, start=None, **named):
        starts.append(start)
        return first(*args, start=start, **named)

    monkeypatch.setattr(ramp_cccp, "solve", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    problem = RampMargin(np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(20), 0.0)
    start, sets = np.zeros(20), [None, *ramp_cccp.random_outliers(20, 2, np.random.RandomState(0))]
    found = ramp_cccp.solve_from_several(
        problem, StoredMatrix.of(X @ X.T), sets, limits=Limits(), start=start, tol=1e-6, convex=True
    )
    assert starts[0] is start
    assert starts[1:] == [None, None]
    assert found.steps[-1].objective == min(found.objectives)
    assert len(found.objectives) == 3
