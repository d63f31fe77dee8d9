"""Dense rows of which most numbers are zero: their products skip the zeros, and nobody can tell.

`tests/every_fit.py` compares the predictions of each of these fits with their coefficients in double precision.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer import SVC, SVR, KernelRidge, LowRank, NuSVC, OneClassSVM, Status
from mercer.kernels.items.sparse_rows import is_mostly_zeros

MACHINES = [
    SVC(C=10.0, gamma=0.02),
    SVC(C=10.0, kernel="linear"),
    SVC(kernel="poly", degree=2),
    SVC(gamma=0.02, approximation=LowRank(100)),
    NuSVC(nu=0.3, gamma=0.02),
    SVR(C=10.0, gamma=0.02),
    KernelRidge(alpha=1.0, kernel="rbf", gamma=0.02),
    OneClassSVM(nu=0.2, gamma=0.02),
]


def indicators(n=900, dtype=np.float64):
    """Categories as indicator columns, beside a few numbers."""
    rng = np.random.default_rng(0)
    X = np.zeros((n, 120))
    X[np.arange(n)[:, None], rng.integers(0, 20, (n, 5)) + 20 * np.arange(5)] = 1.0
    X[:, 100:106] = rng.normal(size=(n, 6))
    score = X @ rng.normal(size=120)
    return X.astype(dtype), np.sign(score - np.median(score) + 0.5 * rng.normal(size=n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_dense_and_sparse_storage_give_the_same_machine(machine, dtype):
    X, y = indicators(dtype=dtype)
    assert is_mostly_zeros(X)
    # Answers within the default tolerance of the optimum may differ by more than 1e-5; within this one they may not.
    machine = clone(machine).set_params(tol=1e-7)
    answers = []
    for rows in (X, sparse.csr_array(X)):
        model = machine.fit(rows, y)
        assert getattr(model, "status_", Status.OPTIMAL) == Status.OPTIMAL
        answers.append(getattr(model, "decision_function", model.predict)(rows[:200]))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_has_the_answer_it_has_among_others(dtype):
    X, y = indicators(dtype=dtype)
    model = SVC(C=10.0, gamma=0.02).fit(X, y)
    alone = [model.decision_function(X[i : i + 1])[0] for i in range(10)]
    np.testing.assert_allclose(model.decision_function(X)[:10], alone, rtol=1e-5, atol=1e-5)


def test_rows_without_zeros_can_be_predicted_too():
    X, y = indicators()
    full = X + 0.01
    model = SVC(C=10.0, gamma=0.02).fit(X, y)
    distances = ((full[:50, None] - model.support_vectors_[None]) ** 2).sum(axis=2)
    expected = np.exp(-0.02 * distances) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(full)[:50], expected, rtol=1e-10, atol=1e-10)
