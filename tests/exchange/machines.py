"""Data and fitted models of scikit-learn's LIBSVM that several tests exchange."""

import numpy as np
from sklearn import svm

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 0.7},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": -0.2},
}
TYPES = {
    "SVC": svm.SVC,
    "NuSVC": svm.NuSVC,
    "SVR": svm.SVR,
    "NuSVR": svm.NuSVR,
    "OneClassSVM": svm.OneClassSVM,
}


def rows(n=60, d=5, n_classes=2, seed=0):
    """Rows, labels that depend on them, and rows that nobody has seen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 0.3 * rng.normal(size=(n, n_classes))
    y = np.array([-1, 1, 3, 4, 8])[:n_classes][scores.argmax(axis=1)]
    return X, y, rng.normal(size=(40, d))


def targets(X):
    """Quantities that depend on rows."""
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


def fitted(name, kernel, n_classes=2, **options):
    """One of scikit-learn's machines, and rows to compare it on."""
    X, y, new = rows(n_classes=n_classes)
    options = {**KERNELS[kernel], **options}
    if name == "NuSVC":
        options["nu"] = 0.2
    model = TYPES[name](**options)
    model.fit(X, y if "SVC" in name else targets(X))
    return model, new


def assert_same(ours, theirs, tol=1e-12):
    """Equal relative to the largest of the numbers."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tol * max(1.0, np.abs(theirs).max())


def values(model, X):
    """Decision values, or predictions where there are none."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
