import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC


@pytest.fixture(scope="session")
def compiled():
    """Pay for compilation once, so that the time of a test is that of the fault it meets."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for tol in (1e-3, 1e-8):  # single and double precision
            for bias in ("free", "none"):
                for rows in (X, sparse.csr_matrix(X)):
                    for kernel in ("linear", "poly", "rbf", "sigmoid"):
                        _ = SVC(kernel=kernel, tol=tol, bias=bias, max_iter=50).fit(rows, y).certificate_
                SVC(kernel="precomputed", tol=tol, bias=bias).fit(X @ X.T, y)
