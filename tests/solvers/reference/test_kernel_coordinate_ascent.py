import numpy as np
import pytest

from mercer import SVC, ParameterError, Status
from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.reference import kernel_coordinate_ascent, pegasos_then_smo
from tests.oracles import clarabel_qp

SOLVERS = {"dual_cd": kernel_coordinate_ascent.solve, "sgd": pegasos_then_smo.solve}


def made(n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.5, 1.0, -1.0)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)], ids=["linear", "rbf"])
def test_the_optimum_is_reached(kernel, loss, bias, name):
    X, y = made()
    K, problem = kernel(X), SoftMargin(y, np.full(len(y), 1.5), loss, bias)
    if (name, loss) == ("sgd", "squared_hinge"):
        with pytest.raises(ParameterError, match="hinge loss only"):
            SOLVERS[name](problem.dual(), StoredMatrix.of(K), tol=1e-7, limits=Limits(), convex=True)
        return
    found = SOLVERS[name](problem.dual(), StoredMatrix.of(K), tol=1e-7, limits=Limits(), convex=True)
    assert found.status is Status.OPTIMAL
    certificate = problem.certificate(found.beta, K @ found.beta, problem.intercept(found.beta, found.bias))
    assert certificate.kkt_violation <= 1e-7
    _, dual = clarabel_qp.solve(K, y, np.full(len(y), 1.5), loss, bias)
    assert certificate.dual == pytest.approx(dual, rel=1e-7)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_passes_alone_come_near(bias):
    """Coordinate steps do the work, and pair steps only the end."""
    X, y = made(n=300)
    problem, matrix = SoftMargin(y, np.ones(len(y)), "hinge", bias).dual(), StoredMatrix.of(RBF(0.5)(X))
    beta = np.zeros(len(y))
    kernel_coordinate_ascent._passes(problem, matrix, beta, 1e-3, Limits())
    exact = kernel_coordinate_ascent.solve(problem, matrix, tol=1e-9, limits=Limits(), convex=True)
    assert dual_of(problem, matrix, beta) > 0.999 * problem.objective(exact.beta, exact.gradient)
    assert abs(beta.sum()) <= 1e-3 or bias != "free"


def dual_of(problem, matrix, beta):
    beta = problem.feasible(beta)
    return problem.objective(beta, problem.gradient(matrix, beta))


def test_stochastic_steps_alone_find_the_support_vectors():
    X, y = made(n=300)
    problem = SoftMargin(y, np.ones(len(y)), "hinge", "none").dual()
    matrix = StoredMatrix.of(RBF(0.5)(X))
    start, steps = pegasos_then_smo._stochastic_steps(problem, matrix, Limits())
    exact = pegasos_then_smo.solve(problem, matrix, tol=1e-9, limits=Limits(), convex=True)
    assert steps == 10 * 300
    assert dual_of(problem, matrix, start) > 0.7 * problem.objective(exact.beta, exact.gradient)
    assert np.mean((problem.feasible(start) != 0) == (exact.beta != 0)) > 0.75


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_hold(solver):
    X, y = made(n=900)
    assert SVC(solver=solver, time_limit=1e-9).fit(X, y).status_ is Status.TIME_LIMIT
    assert SVC(solver=solver, max_iter=3).fit(X, y).status_ is Status.ITERATION_LIMIT
    assert SVC(solver=solver, memory_limit=10_000).fit(X, y).status_ is Status.MEMORY_LIMIT


@pytest.mark.parametrize("solver", SOLVERS)
def test_svc_takes_the_same_bits_twice(solver):
    X, y = made(n=500)
    first, second = (SVC(solver=solver).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
    assert first.status_ is Status.OPTIMAL


def test_a_hard_margin_is_sent_to_a_solver_that_can():
    with pytest.raises(ParameterError, match=r'needs a finite C; solver="smo" takes C=inf'):
        SVC(solver="sgd", C=np.inf).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("solver", ["smo", "chunking", "dual_cd", "sgd", "qp"])
@pytest.mark.parametrize("most", [1, 7, 400])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_more_steps_than_allowed(solver, most):
    X, y = made(n=450)
    model = SVC(solver=solver, max_iter=most, tol=1e-10).fit(X, y)
    assert model.n_iter_[0] <= most
    assert model.certificate_.box_violation == 0.0
    assert model.certificate_.equality_residual <= 1e-9


@pytest.mark.parametrize("name", SOLVERS)
def test_steps_of_both_parts_are_counted(name):
    X, y = made(n=40)
    problem, matrix = SoftMargin(y, np.full(40, 1.5), "hinge", "free").dual(), StoredMatrix.of(RBF(0.5)(X))
    found = SOLVERS[name](problem, matrix, tol=1e-7, limits=Limits(), convex=True)
    assert found.iterations >= max(point.iterations for point in found.trace)
    assert found.iterations > 0
