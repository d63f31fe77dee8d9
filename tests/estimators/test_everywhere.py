"""Rows of any container, precision, offset and scale: what a fit says of itself is true there too.

The check itself is tests/every_fit.py, which stands around every fit of every test; here the data are the hard ones.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import Status
from tests.every_fit import check

N = 36
REGRESSORS = ("SVR", "NuSVR", "KernelRidge")
DETECTORS = ("OneClassSVM", "SVDD")
CLASSIFIERS = (
    "SVC", "NuSVC", "KernelLogisticRegression", "RampSVC", "HardMarginSVC", "KernelMachine", "MKLClassifier",
)  # fmt: skip
LINEAR = ("LinearSVC", "LinearSVR")
NAMES = (*REGRESSORS, *DETECTORS, *CLASSIFIERS, *LINEAR, "RankSVM", "KernelPCA")


def targets(name, Z):
    """What to learn from rows that stand at the origin."""
    if name in (*REGRESSORS, "LinearSVR"):
        return np.sin(Z[:, 0]) + 0.1 * Z[:, 1]
    if name == "RankSVM":
        return np.digitize(Z[:, 0], [-0.5, 0.5])
    return np.where(Z[:, 0] > Z[:, 1] ** 2 - 0.5, 1, -1)


def machine(name, scale):
    """An estimator whose kernel, where it has one, sees rows of this scale as it sees those of scale 1."""
    gamma = 0.5 / scale**2
    options = {} if name in LINEAR else {"kernel": "rbf", "gamma": gamma}
    if name == "MKLClassifier":
        options = {"kernels": [mercer.kernels.RBF(gamma), mercer.kernels.RBF(4.0 * gamma)], "method": "average"}
    return getattr(mercer, name)(**options)


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", NAMES)
def test_what_a_fit_says_is_true_at_any_offset_and_scale(name, container, dtype, offset):
    Z = np.random.default_rng(7).normal(size=(N, 2))
    y = targets(name, Z)
    for scale in (1e-12, 1.0, 1e12):
        X = container(((Z + offset) * scale).astype(dtype))
        model = machine(name, scale)
        with warnings.catch_warnings():
            # Single precision rounds rows with an offset together, and what is left may be hard or contradictory.
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(X, y)
            except mercer.NotSeparableError:
                assert name == "HardMarginSVC"
                assert dtype == np.float32
                assert offset == 1e6
                continue
        check(model, X)
        if dtype == np.float64 and name not in LINEAR:
            assert model.status_ == Status.OPTIMAL
