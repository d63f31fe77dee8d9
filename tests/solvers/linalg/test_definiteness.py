"""Whether a kernel matrix is seen to be indefinite, and who says so."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, KernelLogisticRegression, KernelMachine, RankSVM, Status
from mercer.kernels import RBF
from mercer.solvers.linalg.definiteness import is_definite, is_seen_indefinite

MACHINES = {
    "huber": KernelMachine(loss="huber"),
    "squared": KernelMachine(loss="squared"),
    "pinball": KernelMachine(loss="pinball"),
    "hinge": KernelMachine(loss="hinge"),
    "logistic": KernelMachine(loss="logistic"),
    "logistic regression": KernelLogisticRegression(),
    "ranking": RankSVM(),
    "ranking by the hinge": RankSVM(loss="hinge"),
    "crammer_singer": SVC(multi_class="crammer_singer"),
}


def targets(name, X):
    return X[:, 0] if name in ("huber", "squared", "pinball") else np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.mark.parametrize("name", MACHINES)
def test_an_indefinite_kernel_is_told_and_the_model_is_usable(name, rng):
    X = rng.normal(size=(40, 3))
    model = MACHINES[name].set_params(kernel="sigmoid", gamma=2.0, coef0=1.0)
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model.fit(X, targets(name, X))
    assert model.status_ is Status.NOT_CONVEX
    assert len(model.predict(X)) == 40


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 30.0])
@pytest.mark.parametrize("name", MACHINES)
def test_a_matrix_rounded_to_single_precision_is_no_alarm(name, gamma, rng):
    X = rng.normal(size=(120, 3))
    gram = RBF(gamma)(X, X).astype(np.float32)
    assert np.linalg.eigvalsh(gram.astype(np.float64))[0] < 1e-7 or gamma > 1.0
    model = MACHINES[name].set_params(kernel="precomputed").fit(gram, targets(name, X))
    assert model.status_ is Status.OPTIMAL


@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0, 100.0])
def test_entries_that_hardly_differ_are_rounded_without_alarm(gamma, rng):
    X = rng.normal(size=(900, 4)).astype(np.float32)
    squares = (X**2).sum(axis=1)
    gram = np.exp(-np.float32(gamma) * (squares[:, None] + squares - 2.0 * X @ X.T))
    assert gram.dtype == np.float32
    assert not is_seen_indefinite(gram.astype(np.float64))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e150])
def test_a_small_negative_eigenvalue_is_seen_and_rounding_is_not(scale, rng):
    factor = rng.normal(size=(50, 20))
    gram = factor @ factor.T
    assert not is_seen_indefinite(scale * gram)
    assert is_seen_indefinite(scale * (gram - 1e-3 * np.eye(50)))


def test_zeros_are_semidefinite_and_overflow_is_no_alarm():
    assert not is_seen_indefinite(np.zeros((5, 5)))
    assert not is_seen_indefinite(np.full((5, 5), 1e308))


def test_a_matrix_that_is_not_symmetric_is_not_definite():
    gram = np.eye(3)
    assert is_definite(gram, 1e-9)
    gram[0, 1] = 1e-3
    assert not is_definite(gram, 1e-9)
    assert is_definite(gram, 1e-2)
    assert not is_definite(np.diag([1.0, -1e-3]), 1e-9)
    assert is_definite(np.diag([1.0, -1e-3]), 1e-2)
