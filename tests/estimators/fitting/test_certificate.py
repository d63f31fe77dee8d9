"""A status is what the certificates say, wherever in a fit they are read."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import Status
from mercer._jit.threads import Stopped
from mercer.estimators.fitting import certifiers
from mercer.problems.svm.hard_margin import HardMargin
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.problems.version_space.perceptron import PerceptronProgram
from mercer.solvers.dual_qp.state import DualState
from mercer.solvers.limits import limits_in_force
from mercer.solvers.linalg import shifted_system

X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
y = np.array([0, 0, 1, 1])


def products(A, B):
    """A function for a kernel: its certificates are computed in `fit`, for its matrix is not kept."""
    return A @ B.T


def that_denies(certificate):
    """The certificate of a problem, but with conditions that do not hold."""

    def denied(*args):
        return replace(certificate(*args), kkt_violation=1.0)

    return denied


@pytest.mark.parametrize(
    ("machine", "problem"), [(mercer.HardMarginSVC, HardMargin), (mercer.KernelPerceptron, PerceptronProgram)]
)
def test_a_certificate_that_a_fit_reads_by_itself_is_heeded(machine, problem, monkeypatch):
    assert machine(kernel=products).fit(X, y).status_ == Status.OPTIMAL
    monkeypatch.setattr(problem, "certificate", that_denies(problem.certificate))
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE"):
        model = machine(kernel=products).fit(X, y)
    assert model.status_ == Status.OPTIMAL_INACCURATE


def far_rows():
    """Rows around a million, whose inner products have lost all but some digits."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 4)) + 1e6
    labels = (rows[:, 0] + 0.5 * rng.normal(size=60) > 1e6).astype(int)
    return rows, labels


HARD = {
    "squared hinge, large C": mercer.SVC(kernel="linear", C=1e6, loss="squared_hinge", bias="penalized"),
    "hinge, large C": mercer.SVC(kernel="linear", C=1e8, bias="penalized"),
    "Huber's loss": mercer.KernelMachine("huber", kernel="linear", alpha=1e-6),
    "components": mercer.KernelPCA(3, kernel="linear"),
    "components, not centred": mercer.KernelSVD(3, kernel="linear"),
    "ridge": mercer.KernelRidge(kernel="linear", alpha=1e-9),
    "discriminant": mercer.KernelFisherDiscriminant(kernel="linear", alpha=1e-9),
    "one class": mercer.OneClassSVM(kernel="linear", tol=1e-9),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", HARD)
def test_reading_the_certificate_changes_no_status(name):
    rows, labels = far_rows()
    model = clone(HARD[name]).fit(rows, labels)
    status = model.status_
    assert model.certificate_ is not None
    assert model.status_ == status


def test_a_fit_that_rounding_could_have_spoilt_is_certified_before_it_ends(monkeypatch):
    rows, labels = far_rows()
    monkeypatch.setattr(SoftMargin, "certificate", that_denies(SoftMargin.certificate))
    with pytest.warns(ConvergenceWarning):
        hard = mercer.SVC(kernel="linear", C=1e3, bias="penalized").fit(rows, labels)
    assert hard.status_ != Status.OPTIMAL


def test_a_start_far_out_leaves_no_error_behind():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    weights = np.where(np.arange(200) % 2, 1e6, 1e-6)
    model = mercer.SVC(C=1e8, gamma=0.3, kernel="laplacian", solver="sgd").fit(rows, labels, weights)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.kkt_violation <= 1e-9


def mid_size():
    """So many rows that their kernel is computed in single precision, and so few that nothing is sampled."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(600, 4))
    return rows, (rows[:, 0] + rng.normal(size=600) > 0).astype(int)


def test_single_precision_that_was_compared_with_double_leaves_no_doubt(monkeypatch):
    monkeypatch.setattr(DualState, "rounding_error", lambda *_: 0.0)
    model = mercer.SVC().fit(*mid_size())
    assert model.status_ == Status.OPTIMAL
    assert model._evidence._found is None  # until it is read


def test_errors_of_single_precision_that_leave_little_room_have_a_fit_certified(monkeypatch):
    # No more than half of the room that the solver leaves below `tol`, as it asks for itself, and more than a quarter.
    spaces = []

    def seen(state, *_):
        spaces.append(0.001 - state.problem.distance(*state.extremes()))
        return 0.45 * spaces[-1]

    monkeypatch.setattr(DualState, "rounding_error", seen)
    model = mercer.SVC(tol=1e-3).fit(*mid_size())
    assert len(spaces) > 0
    assert model.status_ == Status.OPTIMAL
    assert model._evidence._found is not None


def test_a_kernel_method_is_certified_in_its_fit_unless_the_solver_has_seen_that_it_is_solved(monkeypatch):
    monkeypatch.setattr(certifiers, "QUICK_ROWS", 100)
    rows, labels = mid_size()
    sure = mercer.KernelRidge(kernel="rbf", alpha=1.0, tol=1e-6).fit(rows, labels)
    assert sure.status_ == Status.OPTIMAL
    assert sure._evidence._found is None
    assert sure.certificate_.residual <= 1e-6
    monkeypatch.setattr(shifted_system.RegularisedSolution, "known_residual", np.inf)
    assert mercer.KernelRidge(kernel="rbf", alpha=1.0, tol=1e-6).fit(rows, labels)._evidence._found is not None


def test_a_time_limit_that_comes_before_the_certificate_ends_the_fit(monkeypatch):
    rows, labels = mid_size()

    def late(self, *_):
        limits_in_force().deadline = 0.0
        raise Stopped

    monkeypatch.setattr(mercer.KernelRidge, "_operator", _once_then(mercer.KernelRidge._operator, late))
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = mercer.KernelRidge(kernel="rbf", time_limit=100.0).fit(rows, labels)
    assert model.status_ == Status.TIME_LIMIT


@pytest.mark.parametrize(("n", "C"), [(62, 2.8e6), (186, 9e9)])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("offset", [1e4, 1e5])
def test_far_from_the_origin_a_violation_is_that_of_distances_by_differences(offset, layout, n, C, rng):
    """A certificate that computes its distances as the solver does would prove another kernel: 1e-7 said, 0.48 true."""
    rows, labels = rng.normal(size=(n, 11)) + offset, np.where(rng.random(n) < 0.5, 1, -1)
    model = mercer.SVC(C=C, gamma=0.01, tol=1e-6).fit(layout(rows), labels)
    beta = np.zeros(n, np.longdouble)
    beta[model.support_] = model.expansion_.groups[0].coefficients[:, 0]
    exact = rows.astype(np.longdouble)
    squares = ((exact[:, None] - exact[None]) ** 2).sum(axis=2)
    slopes = labels - np.exp(-np.longdouble(model.gamma) * squares) @ beta
    may_rise, may_fall = beta < np.where(labels > 0, C, 0.0), beta > np.where(labels > 0, 0.0, -C)
    violation = float(slopes[may_rise].max() - slopes[may_fall].min())
    assert model.status_ == Status.OPTIMAL
    assert violation <= model.tol
    assert model.certificate_.kkt_violation == pytest.approx(violation, abs=1e-8)


@pytest.mark.parametrize("n", [120, 900])
@pytest.mark.parametrize(("loss", "tol"), [("hinge", 1e-3), ("squared_hinge", 1e-4)])
def test_weights_of_any_size_leave_status_and_certificate_of_one_mind(loss, tol, n, rng):
    """From 1e-6 to 1e6: fits were OPTIMAL beside a violation of six times the tolerance."""
    rows = rng.normal(size=(n, 4))
    labels = rows[:, 0] + 0.5 * rng.normal(size=n) > 0
    model = mercer.SVC(C=10.0, loss=loss, tol=tol).fit(rows, labels, sample_weight=10.0 ** rng.uniform(-6, 6, n))
    assert model.status_ == Status.OPTIMAL
    assert model.certificate(full=True).kkt_violation <= tol


def _once_then(first, then):
    """A method that is another one from its second call on."""
    calls = []

    def method(*args):
        calls.append(args)
        return first(*args) if len(calls) == 1 else then(*args)

    return method
