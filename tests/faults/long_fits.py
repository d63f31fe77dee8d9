"""A fit of every estimator that takes longer than anyone waits for; all of them can be ended."""

from contextlib import suppress

import numpy as np
from numba.core import event
from scipy import sparse

import mercer
from mercer.kernels import RBF, Linear, Polynomial


def rows(n, d):
    return np.random.default_rng(0).normal(size=(n, d))


def labels(n, n_classes=2):
    """Labels that no rule gives: with a large C, more work than anyone waits for."""
    return np.random.default_rng(1).integers(0, n_classes, n)


def targets(n):
    return np.random.default_rng(2).normal(size=n)


def in_plain_python(A, B):
    """A kernel that is a function of the user's, of two whole sets."""
    return np.array([np.exp(-0.02 * ((a - B) ** 2).sum(axis=1)) for a in A])


def slow_pair(x, y):
    """And one of two items, in plain Python."""
    return float(np.exp(-0.02 * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))))


def classes(n=9000, d=20, n_classes=2):
    return rows(n, d), labels(n, n_classes)


def quantities(n=9000, d=20):
    return rows(n, d), targets(n)


def apart(n=4000, d=3000):
    """Rows that a hyperplane separates, whatever their labels."""
    return rows(n, d), labels(n)


MANY = [0.01 * 1.1**k for k in range(20)]
HARD = {"C": 1e6, "gamma": 0.01, "tol": 1e-9}
SEVERAL = [RBF(gamma=0.01), RBF(gamma=0.05), Linear(), Polynomial(degree=2, gamma=0.05, coef0=1.0)]

LONG = {
    "SVC": (lambda: mercer.SVC(**HARD), classes),
    "SVC, one working set": (lambda: mercer.SVC(**HARD), lambda: classes(1900)),
    "SVC, pairs": (lambda: mercer.SVC(**HARD), lambda: classes(6000, n_classes=8)),
    "SVC, Crammer-Singer": (lambda: mercer.SVC(**HARD, multi_class="crammer_singer"), lambda: classes(3000, 20, 5)),
    "SVC, interior point": (lambda: mercer.SVC(C=10.0, solver="qp"), lambda: classes(4000)),
    "SVC, interior point, low rank": (
        lambda: mercer.SVC(kernel="linear", C=10.0, solver="qp"),
        lambda: classes(5000, 300),
    ),
    "SVC, chunking": (lambda: mercer.SVC(**HARD, solver="chunking"), classes),
    "SVC, probability": (lambda: mercer.SVC(C=1e3, gamma=0.01, probability=True), lambda: classes(4000)),
    "SVC, function": (lambda: mercer.SVC(kernel=in_plain_python, C=1e3), lambda: classes(6000)),
    "NuSVC": (lambda: mercer.NuSVC(nu=0.5, gamma=0.01, tol=1e-9), classes),
    "LinearSVC": (
        lambda: mercer.LinearSVC(loss="hinge", C=1e4, solver="dual_cd", tol=1e-12, max_iter=-1),
        lambda: (sparse.random(6000, 400, density=0.1, format="csr", random_state=0), labels(6000, 3)),
    ),
    "LinearCV": (
        lambda: mercer.LinearCV(mercer.LinearSVC(loss="logistic", tol=1e-9), Cs=[1.1**k for k in range(-50, 50)]),
        lambda: classes(40_000, 50, 3),
    ),
    "HardMarginSVC": (lambda: mercer.HardMarginSVC(kernel="rbf", gamma=0.001), lambda: apart(6000, 200)),
    "RampSVC": (lambda: mercer.RampSVC(**HARD), lambda: classes(2000)),
    "Perceptron": (lambda: mercer.Perceptron(max_iter=10**8, tol=None), lambda: classes(5000)),
    "Perceptron, program": (lambda: mercer.Perceptron(method="lp"), lambda: classes(15_000, 100)),
    "KernelPerceptron": (lambda: mercer.KernelPerceptron(RBF(gamma=0.01), max_iter=10**8), classes),
    "PegasosSVC": (lambda: mercer.PegasosSVC(alpha=1e-6, T=10**11), classes),
    "PegasosSVC, kernel": (lambda: mercer.PegasosSVC(alpha=1e-6, T=10**9, kernel="rbf"), classes),
    "KernelLogisticRegression": (lambda: mercer.KernelLogisticRegression(C=1e5, gamma=0.05, tol=1e-9), classes),
    "KernelFisherDiscriminant": (lambda: mercer.KernelFisherDiscriminant(alpha=1e-9), lambda: classes(12_000)),
    "KernelMachine": (lambda: mercer.KernelMachine(loss="logistic", alpha=1e-9, tol=1e-9), classes),
    "BayesPointMachine": (lambda: mercer.BayesPointMachine(tol=1e-9, random_state=0), lambda: classes(2500)),
    "AnalyticCenterMachine": (mercer.AnalyticCenterMachine, lambda: classes(5000)),
    "MKLClassifier": (lambda: mercer.MKLClassifier(SEVERAL, C=1e4, tol=1e-9), lambda: classes(3000)),
    "SVCCV": (
        lambda: mercer.SVCCV(Cs=[1e4, 1e5, 1e6], gammas=MANY, tol=1e-7, refit=False),
        lambda: classes(2000),
    ),
    # A search that is ended fits its winner to all rows, always: many folds make it long, few rows that last fit short.
    "AutoKernelClassifier": (lambda: mercer.AutoKernelClassifier(cv=20), lambda: classes(500)),
    "SVR": (lambda: mercer.SVR(C=1e5, gamma=0.01, tol=1e-9), quantities),
    "NuSVR": (lambda: mercer.NuSVR(C=1e5, gamma=0.01, tol=1e-9), quantities),
    "LinearSVR": (
        lambda: mercer.LinearSVR(C=1e4, solver="dual_cd", tol=1e-12, max_iter=-1),
        lambda: (sparse.random(6000, 400, density=0.1, format="csr", random_state=0), targets(6000)),
    ),
    "KernelRidge": (lambda: mercer.KernelRidge(alpha=1e-9, kernel="rbf", solver="cholesky"), lambda: quantities(9000)),
    "KernelRidge, iterations": (lambda: mercer.KernelRidge(alpha=1e-9, kernel="rbf", solver="cg"), quantities),
    "KernelRidge, penalties": (
        lambda: mercer.KernelRidge(kernel="rbf", alphas=[1e-3, 1e-2, 0.1]),
        lambda: quantities(4000),
    ),
    "KernelRidge, function": (lambda: mercer.KernelRidge(kernel=slow_pair), lambda: quantities(1500)),
    "KernelLeastSquares": (lambda: mercer.KernelLeastSquares(kernel="rbf"), lambda: quantities(4000)),
    "MKLRegressor": (lambda: mercer.MKLRegressor(SEVERAL, C=1e4, tol=1e-9), lambda: quantities(3000)),
    "SVRCV": (
        lambda: mercer.SVRCV(Cs=[1e4, 1e5, 1e6], gammas=MANY, tol=1e-7, refit=False),
        lambda: quantities(2000),
    ),
    "AutoKernelRegressor": (lambda: mercer.AutoKernelRegressor(cv=20), lambda: quantities(500)),
    "OneClassSVM": (lambda: mercer.OneClassSVM(nu=0.3, gamma=0.01, tol=1e-9), lambda: (rows(60_000, 20), None)),
    "SVDD": (lambda: mercer.SVDD(nu=0.3, gamma=0.01, tol=1e-9), lambda: (rows(60_000, 20), None)),
    "MKLOneClassSVM": (lambda: mercer.MKLOneClassSVM(SEVERAL, nu=0.3, tol=1e-9), lambda: (rows(6000, 20), None)),
    "KernelPCA": (lambda: mercer.KernelPCA(50, kernel="rbf", tol=1e-12), lambda: (rows(12_000, 20), None)),
    "KernelPCA, dense": (
        lambda: mercer.KernelPCA(kernel="rbf", eigen_solver="dense"),
        lambda: (rows(4000, 20), None),
    ),
    "KernelPCA, function": (lambda: mercer.KernelPCA(5, kernel=slow_pair), lambda: (rows(1500, 20), None)),
    "KernelSVD": (
        lambda: mercer.KernelSVD(50, kernel="rbf", eigen_solver="randomized"),
        lambda: (rows(15_000, 20), None),
    ),
    "RankSVM": (lambda: mercer.RankSVM(kernel="rbf", C=1e4, tol=1e-9), lambda: (rows(5000, 20), labels(5000, 5))),
}


def with_limits(model, **limits):
    """The model with these limits; a search over linear machines has those of its machine."""
    of = "" if set(limits) <= set(model.get_params(deep=False)) else "estimator__"
    return model.set_params(**{of + name: limit for name, limit in limits.items()})


def prepare(name):
    """(how to make the estimator, its data); what its fit calls within a second is compiled, or found on disk."""
    make, data = LONG[name]
    X, y = data()
    for rows_used in (slice(0, 60), slice(None)):
        while True:
            with event.install_recorder("numba:compile") as compiled, suppress(mercer.TimeLimitError):
                with_limits(make(), time_limit=2.0).fit(X[rows_used], None if y is None else y[rows_used])
            if not compiled.buffer:
                break
    return make, X, y
