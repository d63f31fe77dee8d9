"""scikit-learn's own tests of KernelPCA and KernelRidge, run against Mercer's.

As in `test_sklearn_svm`: a test that cannot apply is named below with its reason, and nothing is left out in any other
way.
"""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import DataError
from mercer.solvers.result import Status
from tests.conformance.borrowed import as_class, functions_of, load

CANNOT_APPLY = {
    "KernelPCA": {
        "test_kernel_pca_precomputed_non_symmetric": (
            "no kernel has such a matrix: one made by mistake must not be centred into another one in silence"
        ),
        "test_precomputed_kernel_not_psd": (
            "components of the positive eigenvalues exist, so they are kept as the best there is, as after any "
            "other ending short of OPTIMAL: status_ is NOT_CONVEX and the warning names the remedy"
        ),
    },
    "KernelRidge": {},
}

TESTS = {
    "KernelPCA": functions_of(
        load("decomposition.tests.test_kernel_pca", "decomposition", KernelPCA=mercer.KernelPCA),
    ),
    "KernelRidge": functions_of(load("tests.test_kernel_ridge", "kernel_ridge", KernelRidge=mercer.KernelRidge)),
}

# Its Perceptron, beside the components, is stopped after five passes on purpose.
STOPPED = pytest.mark.filterwarnings("ignore:Maximum number of iteration reached")
# Where more components are asked for than there are, scikit-learn is silent and Mercer says so.
FEWER = pytest.mark.filterwarnings("ignore:n_components=.*the centred kernel matrix has rank:UserWarning")

TestKernelPCA = STOPPED(FEWER(as_class("TestKernelPCA", TESTS["KernelPCA"], CANNOT_APPLY["KernelPCA"])))
TestKernelRidge = as_class("TestKernelRidge", TESTS["KernelRidge"], CANNOT_APPLY["KernelRidge"])


@pytest.mark.parametrize("name", TESTS)
def test_every_test_that_is_left_out_exists(name):
    assert set(CANNOT_APPLY[name]) < set(TESTS[name])


EIGEN_SOLVERS = ["auto", "dense", "arpack", "randomized"]


@pytest.mark.parametrize("solver", EIGEN_SOLVERS)
def test_a_matrix_that_is_not_symmetric_is_refused(solver):
    with pytest.raises(DataError, match="symmetric"):
        mercer.KernelPCA(kernel="precomputed", eigen_solver=solver, n_components=1).fit([[1, 2], [3, 40]])


@pytest.mark.filterwarnings("ignore:n_components=7, but the centred kernel matrix has only 4 positive")
@pytest.mark.parametrize("count", [2, 7])
@pytest.mark.parametrize("solver", EIGEN_SOLVERS)
def test_of_an_indefinite_matrix_the_positive_components_are_kept_and_the_others_said(solver, count):
    # Centred, and indefinite far beyond rounding.
    values = np.array([50.0, 8.0, 7.0, 5.0, 0.0, 0.0, -6.0, -15.0])
    centring = np.linalg.qr(np.c_[np.ones(8), np.vander(np.arange(8.0), 8)[:, :7]])[0]
    vectors = np.c_[centring[:, 1:6], centring[:, 0], centring[:, 6:]]
    K = (vectors * values) @ vectors.T
    model = mercer.KernelPCA(kernel="precomputed", eigen_solver=solver, n_components=count)
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model.fit((K + K.T) / 2)
    assert model.status_ == Status.NOT_CONVEX
    np.testing.assert_allclose(model.eigenvalues_, np.maximum(values[:count], 0.0), atol=1e-10)
