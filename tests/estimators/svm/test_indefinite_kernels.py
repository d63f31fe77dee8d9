"""Kernels that are not positive semidefinite are told of, also where no step meets the curvature."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.solvers.result import Status

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
U = X / np.linalg.norm(X, axis=1, keepdims=True)
HOLLOW = rng.normal(size=(30, 30))
HOLLOW = HOLLOW + HOLLOW.T
np.fill_diagonal(HOLLOW, 0.0)
MACHINES = [
    (SVC(), np.arange(30) % 2),
    (NuSVC(nu=0.3), np.arange(30) % 2),
    (NuSVC(nu=0.3), np.arange(30) % 3),
    (SVR(), X[:, 0]),
    (NuSVR(), X[:, 0]),
    (OneClassSVM(), None),
    (SVDD(nu=0.0), None),
]


@pytest.mark.parametrize("matrix", [-np.eye(30), HOLLOW], ids=["negative", "hollow"])
@pytest.mark.parametrize(("model", "y"), MACHINES, ids=lambda value: type(value).__name__)
def test_an_indefinite_matrix_is_told_of(model, y, matrix):
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model.set_params(kernel="precomputed").fit(matrix, y)
    assert model.status_ is Status.NOT_CONVEX


@pytest.mark.filterwarnings("ignore:(the margin is|there is no half-space):sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("model", "y"), MACHINES, ids=lambda value: type(value).__name__)
def test_a_matrix_of_low_rank_is_not_taken_for_one(model, y, dtype):
    model.set_params(kernel="precomputed").fit((U @ U.T).astype(dtype), y)
    assert model.status_ is Status.OPTIMAL
