"""What must be true after every fit, whoever asked for it: OPTIMAL is what the certificate says, and a prediction is
what the coefficients say.

`watching` wraps the `fit` of every public estimator for as long as it is open; tests/conftest.py opens it around every
test. So a test of anything at all, a picture or a command, is a test of this too.
"""

import functools
import warnings
from contextlib import contextmanager

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

import mercer
from mercer import Status
from mercer.kernels import RBF

# Rows of the training data at which predictions are compared.
ROWS = 12
# Certificates of more points than this take longer than a test should: those of tests on large data are read by them.
MOST_POINTS = 4000
# What docs/svc.md states: a kernel entry in double precision is off by no more than this, times the size of entries.
ENTRY = 1e-11


def estimators():
    """Every public estimator class that is fitted."""
    found = (getattr(mercer, name) for name in mercer.__all__)
    return [
        each for each in found if isinstance(each, type) and issubclass(each, BaseEstimator) and hasattr(each, "fit")
    ]


def check(model, X):
    """Raise AssertionError where a fitted model says of itself what is not so."""
    if getattr(model, "status_", None) == Status.OPTIMAL and _count(X) <= MOST_POINTS:
        for certificate in certificates_of(model):
            assert is_reached(model, certificate), (
                f"{model!r} is OPTIMAL, and its certificate denies it:\n{certificate}"
            )
    if hasattr(model, "_values") and hasattr(model, "expansion_") and _are_numbers(X):
        compare_values(model, X)


def is_reached(model, certificate):
    """Whether a certificate shows what the parameters of a model ask for."""
    name, tol, gap_tol = type(model).__name__, getattr(model, "tol", None), getattr(model, "gap_tol", None)
    if name.startswith("Linear"):
        return certificate.relative_gap <= (tol if gap_tol is None else gap_tol)
    if name.startswith("MKL"):
        gap_tol = gap_tol if model.method in ("simple", "lp-norm") else None
    elif "Perceptron" in name:
        # An averaged perceptron is not the one that has made no more mistakes.
        return model.method == "averaged" or certificate.kkt_violation <= 1e-6
    elif "Pegasos" in name or getattr(model, "solver_", None) == "randomized":
        return True  # they promise steps, and say what these came to
    if not hasattr(certificate, "kkt_violation"):
        return certificate.is_optimal() or (tol is not None and certificate.is_optimal(tol))
    if getattr(model, "approximation", None) is not None and gap_tol is None and certificate.relative_gap <= tol:
        return True  # over blocks, the gap ends a fit (docs/scale.md)
    return certificate.kkt_violation <= tol if gap_tol is None else certificate.relative_gap <= gap_tol


def certificates_of(model):
    """The certificates, as they would be read now, without the model noticing; none where there are none."""
    unnoticed = _twin(model)
    if vars(model).get("_evidence") is not None:
        vars(unnoticed)["_evidence"] = _twin(vars(model)["_evidence"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = unnoticed.certificate_
    except (AttributeError, mercer.DataError):
        return []
    assert getattr(unnoticed, "status_", None) == getattr(model, "status_", None), (
        "to read a certificate changed status_"
    )
    return found if isinstance(found, list) else [found]


def _twin(thing):
    """The same attributes in another object, by no way that the class could notice."""
    twin = object.__new__(type(thing))
    vars(twin).update(vars(thing))
    return twin


def compare_values(model, X):
    """What a model evaluates at some training rows is K c + b in double precision, within the stated error."""
    expansion = model.expansion_
    places = np.linspace(0, X.shape[0] - 1, min(ROWS, X.shape[0])).astype(int)
    rows, vectors = X[places], expansion.vectors
    if not _are_numbers(vectors) or not _are_numbers(rows):
        return
    entries = _entries(expansion.kernel, rows, vectors)
    exact, sizes = np.tile(expansion.intercepts, (len(places), 1)), np.zeros(expansion.n_functions)
    for group in expansion.groups:
        exact[:, group.outputs] += entries[:, group.begin : group.end] @ group.coefficients
        sizes[group.outputs] += np.abs(group.coefficients).sum(axis=0)
    error = ENTRY * np.abs(entries).max(initial=1.0) * np.maximum(sizes, np.abs(expansion.intercepts))
    if rows.dtype == np.float32:
        error = error + (model.tol or 0.0)
    assert (np.abs(model._values(rows) - exact) <= error).all(), f"{model!r} predicts otherwise than its coefficients"


def _entries(kernel, rows, vectors):
    rows, vectors = (each.astype(np.float64) for each in (rows, vectors))
    if isinstance(kernel, RBF):
        rows, vectors = (each.toarray() if sparse.issparse(each) else each for each in (rows, vectors))
        return np.exp(-kernel.gamma * cdist(rows, vectors, "sqeuclidean"))
    return kernel(rows, vectors)


def _count(X):
    return X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else 0


def _are_numbers(X):
    is_matrix = isinstance(X, np.ndarray) or (sparse.issparse(X) and X.format == "csr")
    return is_matrix and X.ndim == 2 and X.shape[0] > 0 and X.dtype in (np.float32, np.float64)


def _watched(cls, fit):
    @functools.wraps(fit)
    def watched(self, X, *args, **kwargs):
        done = fit(self, X, *args, **kwargs)
        if type(self) is cls:
            check(self, X)
        return done

    return watched


@contextmanager
def watching():
    """Check every fit of every estimator, wherever it is called."""
    before = {cls: vars(cls).get("fit") for cls in estimators()}
    for cls in before:
        cls.fit = _watched(cls, cls.fit)
    try:
        yield
    finally:
        for cls, fit in before.items():
            if fit is None:
                del cls.fit
            else:
                cls.fit = fit
