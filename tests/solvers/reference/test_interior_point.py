from types import SimpleNamespace

import numpy as np
import pytest

from mercer import SVC, ParameterError, Status
from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.reference import interior_point
from tests.oracles import clarabel_qp
from tests.oracles.kkt import judge


def made(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)], ids=["primal form", "dual form"])
def test_both_forms_solve_every_problem(kernel, loss, bias, monkeypatch):
    X, y = made()
    used = []
    for name in ("_primal_form", "_dual_form"):
        original = getattr(interior_point, name)
        monkeypatch.setattr(interior_point, name, lambda *a, o=original, n=name: used.append(n) or o(*a))
    K, problem = kernel(X), SoftMargin(y, np.full(len(y), 1.5), loss, bias)
    found = interior_point.solve(problem.dual(), StoredMatrix.of(K), tol=1e-9, limits=Limits())
    assert used == ["_primal_form" if isinstance(kernel, Linear) else "_dual_form"]
    assert found.status is Status.OPTIMAL
    certificate = problem.certificate(found.beta, K @ found.beta, problem.intercept(found.beta, found.bias))
    assert certificate.kkt_violation <= 1e-9
    _, dual = clarabel_qp.solve(K, y, np.full(len(y), 1.5), loss, bias)
    assert certificate.dual == pytest.approx(dual, rel=1e-8)


def test_the_interior_point_alone_finds_the_faces():
    """Pair steps only confirm: the bounds are read off the interior point rightly."""
    X, y = made(n=150, d=6, seed=3)
    stored = StoredMatrix.of(RBF(0.2)(X))
    problem = SoftMargin(y, np.full(len(y), 2.0)).dual()
    beta, _, is_solved = interior_point._interior_point(problem, stored, Limits())
    assert is_solved
    exact = interior_point.solve(problem, stored, tol=1e-9, limits=Limits()).beta
    np.testing.assert_array_equal(beta == 0, exact == 0)
    np.testing.assert_array_equal(np.abs(beta) == 2.0, np.abs(exact) == 2.0)
    np.testing.assert_allclose(beta, exact, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_svc_by_quadratic_program(kernel):
    X, y = made(n=120)
    model = SVC(kernel=kernel, gamma=0.5, solver="qp", tol=1e-8).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    gram = X @ X.T if kernel == "linear" else RBF(0.5)(X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    judge(gram, y, np.ones(len(y)), beta, model.intercept_[0])
    other = SVC(kernel=kernel, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)


def test_an_indefinite_kernel_is_sent_to_a_solver_that_can():
    X, y = made()
    with pytest.raises(ParameterError, match=r'positive semidefinite kernel.*solver="smo" trains with it'):
        SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0, solver="qp").fit(X, y)


def test_too_many_points_are_sent_to_a_solver_that_can(monkeypatch):
    monkeypatch.setattr(interior_point, "LARGEST", 50)
    with pytest.raises(ParameterError, match=r'at most 50 points, got 80; solver="smo"'):
        SVC(solver="qp").fit(*made())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_hold():
    X, y = made(n=300, d=10)
    assert SVC(solver="qp", time_limit=1e-9).fit(X, y).status_ is Status.TIME_LIMIT
    assert SVC(solver="qp", memory_limit=10_000).fit(X, y).status_ is Status.MEMORY_LIMIT
    assert SVC(solver="qp", max_iter=2, tol=1e-8).fit(X, y).status_ is Status.ITERATION_LIMIT


@pytest.mark.parametrize("C", [1e8, 1e10])
def test_a_large_box_is_no_program_without_a_solution(C):
    # Clarabel ends such programs with "DualInfeasible".
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(27, 4)), np.where(rng.random(27) < 0.5, 1, -1)
    model = SVC(C=C, gamma=1.2, bias="none", solver="qp", tol=1e-4).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-4)


def test_a_matrix_beyond_memory_is_not_begun():
    X, y = made(n=20)
    problem, matrix = SoftMargin(y, np.ones(20)).dual(), StoredMatrix.of(RBF(0.5)(X))
    enough = interior_point.BYTES_A_PAIR * 20 * 20
    found = interior_point.solve(problem, matrix, limits=Limits(), memory=enough - 1)
    assert found.status is Status.MEMORY_LIMIT
    assert not found.beta.any()
    assert interior_point.solve(problem, matrix, limits=Limits(), memory=enough).status is Status.OPTIMAL


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize(("loss", "C"), [("hinge", 1.5), ("squared_hinge", 1.5), ("squared_hinge", 0.2)])
def test_both_forms_find_one_point_with_its_multipliers(loss, C, bias):
    X, y = made(n=30)
    K, ends = RBF(0.3)(X) + 1e-6 * np.eye(30), {"stop": lambda: False, "max_iter": 100}
    problem = SoftMargin(y, np.full(30, C), loss, bias).dual()
    first, residual, _ = interior_point._dual_form(problem, K, ends)
    second, same, _ = interior_point._primal_form(problem, np.linalg.cholesky(K), ends)
    np.testing.assert_allclose(first, second, atol=1e-5)
    np.testing.assert_allclose(residual, same, atol=1e-5)
    # Where a coefficient is between its bounds its multiplier is zero.
    inside = (first > problem.lower + 1e-3) & (first < problem.upper - 1e-3)
    assert inside.any()
    np.testing.assert_allclose(residual[inside], 0.0, atol=1e-5)


def test_a_run_that_is_stopped_leaves_a_feasible_point_with_its_gradient_and_bias(monkeypatch):
    X, y = made(n=20)
    problem, matrix = SoftMargin(y, np.ones(20)).dual(), StoredMatrix.of(RBF(0.5)(X))
    reached = []
    limits = SimpleNamespace(stop=lambda: bool(reached), reached=lambda: Status.TIME_LIMIT)

    def interrupted(*_):
        reached.append(True)
        return 3.0 * y, 7, True

    monkeypatch.setattr(interior_point, "_interior_point", interrupted)
    found = interior_point.solve(problem, matrix, limits=limits)
    assert (found.status, found.iterations) == (Status.TIME_LIMIT, 7)
    assert ((found.beta >= problem.lower) & (found.beta <= problem.upper)).all()
    assert found.beta.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.gradient, y - RBF(0.5)(X) @ found.beta)
    assert found.bias == problem.bias(found.beta, found.gradient)
