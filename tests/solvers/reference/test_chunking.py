import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, Status
from mercer.kernels import RBF, Linear
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.endings import MOST_STEPS
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.reference import chunking, interior_point
from mercer.solvers.result import Solution
from tests.oracles import clarabel_qp


def made(n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.5, 1.0, -1.0)


@pytest.mark.parametrize("inner", [solve_dual, interior_point.solve], ids=["smo", "qp"])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)], ids=["linear", "rbf"])
def test_small_chunks_come_to_the_optimum(kernel, loss, bias, inner):
    X, y = made()
    K, problem = kernel(X), SoftMargin(y, np.full(len(y), 1.5), loss, bias)
    found = chunking.solve(
        problem.dual(), StoredMatrix.of(K), tol=1e-7, limits=Limits(), convex=True, inner=inner, chunk=20
    )
    assert found.status is Status.OPTIMAL
    assert len(found.trace) > 1
    certificate = problem.certificate(found.beta, K @ found.beta, problem.intercept(found.beta, found.bias))
    assert certificate.kkt_violation <= 1e-7
    _, dual = clarabel_qp.solve(K, y, np.full(len(y), 1.5), loss, bias)
    assert certificate.dual == pytest.approx(dual, rel=1e-7)


def test_every_chunk_holds_the_support_vectors_and_raises_the_dual():
    X, y = made(n=300)
    problem = SoftMargin(y, np.ones(len(y)))
    sizes, duals = [], []
    limits = Limits(callbacks=[lambda point: sizes.append(point.working_set) or duals.append(point.dual)])
    found = chunking.solve(problem.dual(), StoredMatrix.of(RBF(0.5)(X)), tol=1e-6, limits=limits, convex=True, chunk=30)
    assert (np.diff(duals) > 0).all()
    assert sizes[0] <= 32
    assert sizes[-1] >= np.count_nonzero(found.beta)


def test_svc_by_chunking():
    X, y = made(n=900)
    model = SVC(solver="chunking", tol=1e-6).fit(X, y)
    other = SVC(tol=1e-6).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-4)


def test_a_gap_can_be_asked_for():
    X, y = made(n=900)
    model = SVC(solver="chunking", tol=0.1, gap_tol=1e-7).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_hold():
    X, y = made(n=900)
    assert SVC(solver="chunking", time_limit=1e-9).fit(X, y).status_ is Status.TIME_LIMIT
    assert SVC(solver="chunking", max_iter=3).fit(X, y).status_ is Status.ITERATION_LIMIT
    assert SVC(solver="chunking", memory_limit=10_000).fit(X, y).status_ is Status.MEMORY_LIMIT


def test_it_goes_on_from_where_it_was():
    X, y = made(n=900)
    model = SVC(solver="chunking", warm_start=True, tol=1e-5).fit(X, y)
    assert len(model.fit(X, y).trace_) <= 1


def test_a_tolerance_that_rounding_does_not_reach_ends_all_the_same():
    """Kernel values of 1e22 are known to a million: after as many steps as any solver takes, it says so."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 1)) < 0.5, [[2e11, 4e10]], [[1e10, 3e10]]) + 2e10 * rng.normal(size=(60, 2))
    y = np.where(rng.random(60) < 0.2, 1, -1)
    with pytest.warns(ConvergenceWarning, match="STALLED|OPTIMAL_INACCURATE"):
        model = SVC(kernel="linear", bias="penalized", solver="chunking", C=85.0, tol=1e-8).fit(X, y)
    assert model.n_iter_[0] <= 2 * MOST_STEPS


@pytest.mark.parametrize("most", [0, 7])
def test_steps_of_all_chunks_are_limited_together(most):
    X, y = made()
    problem = SoftMargin(y, np.ones(len(y)))
    found = chunking.solve(
        problem.dual(), StoredMatrix.of(RBF(0.5)(X)), tol=1e-9, limits=Limits(max_iter=most), convex=True, chunk=20
    )
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == most


@pytest.mark.parametrize(
    ("status", "ending"), [(Status.OPTIMAL_INACCURATE, Status.STALLED), (Status.NOT_CONVEX, Status.NOT_CONVEX)]
)
def test_chunks_that_never_solve_their_part_end_with_its_status(status, ending):
    X, y = made(n=40)
    problem = SoftMargin(y, np.ones(len(y))).dual()

    def idle(part, *_, **__):
        return Solution(np.zeros(len(part)), part.linear, 0.0, status, 1)

    found = chunking.solve(
        problem, StoredMatrix.of(RBF(0.5)(X)), tol=1e-9, limits=Limits(), convex=True, inner=idle, chunk=20
    )
    assert found.status is ending
    assert not found.beta.any()


def test_a_part_that_is_solved_in_few_steps_is_no_standstill():
    """What a chunk leaves unsolved is gone on with, as long as the dual grows."""
    X, y = made(n=40)
    K, problem = RBF(0.5)(X), SoftMargin(y, np.ones(len(y)))

    def hasty(part, matrix, *, limits, **options):
        return solve_dual(part, matrix, limits=limits.at_most(3), **options)

    found = chunking.solve(
        problem.dual(), StoredMatrix.of(K), tol=1e-5, limits=Limits(), convex=True, inner=hasty, chunk=20
    )
    assert found.status is Status.OPTIMAL
    certificate = problem.certificate(found.beta, K @ found.beta, problem.intercept(found.beta, found.bias))
    assert certificate.kkt_violation <= 1e-5
