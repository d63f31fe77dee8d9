"""A status is what the certificates say, wherever in a fit they are read."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import Status
from mercer.problems.svm.hard_margin import HardMargin
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.problems.version_space.perceptron import PerceptronProgram

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
    "squared hinge, large C": mercer.SVC(kernel="linear", C=1e6, loss="squared_hinge", bias="penalised"),
    "hinge, large C": mercer.SVC(kernel="linear", C=1e8, bias="penalised"),
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
        hard = mercer.SVC(kernel="linear", C=1e3, bias="penalised").fit(rows, labels)
    assert hard.status_ != Status.OPTIMAL


def test_a_start_far_out_leaves_no_error_behind():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    weights = np.where(np.arange(200) % 2, 1e6, 1e-6)
    model = mercer.SVC(C=1e8, gamma=0.3, kernel="laplacian", solver="sgd").fit(rows, labels, weights)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.kkt_violation <= 1e-9
