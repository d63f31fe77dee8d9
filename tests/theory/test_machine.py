import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from mercer import KernelMachine, PegasosSVC, theory
from mercer.theory.machine import read_machine


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(80, 2))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)


def test_lambda_of_stochastic_gradients_is_half_their_alpha(rows):
    for model in (PegasosSVC(alpha=0.1, T=2000, bias="none"), PegasosSVC(C=1.0 / 8.0, T=2000, bias="none")):
        assert read_machine(model.fit(*rows), *rows).lam == pytest.approx(0.05)
        assert theory.report(model, *rows).hinge >= 0.0
    theirs = SGDClassifier(alpha=0.1, fit_intercept=False, random_state=0).fit(*rows)
    assert read_machine(theirs, *rows).lam == pytest.approx(0.05)


def test_a_kernel_machine_has_the_penalty_of_an_svm(rows):
    machine = read_machine(KernelMachine(loss="hinge", alpha=0.3).fit(*rows), *rows)
    assert machine.penalty == "l2"
    assert machine.lam is None
