"""A status is what the certificates say, wherever in a fit they are read."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import Status
from mercer.problems.svm.hard_margin import HardMargin
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
