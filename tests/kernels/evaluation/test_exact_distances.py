"""Distances that inner products lose are taken by differences: dense and sparse, alone and in combinations."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone

from mercer import SVC, SVR, KernelLogisticRegression, MKLRegressor, NuSVC, NuSVR, OneClassSVM, Status
from mercer.kernels import RBF, Linear, Matern, RationalQuadratic

CONTAINERS = {"dense": np.asarray, "sparse": sparse.csr_array}


def rows_at(offset, scale=1.0, n=40, d=3):
    return scale * np.random.default_rng(5).normal(size=(n, d)) + offset


def exact_rbf(X, Y, gamma):
    X, Y = (np.asarray(rows, np.longdouble) for rows in (X, Y))
    return np.exp(-np.longdouble(gamma) * ((X[:, None] - Y[None]) ** 2).sum(axis=2)).astype(np.float64)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_gaussian_is_right_wherever_the_rows_are(container, offset, scale):
    X, gamma = rows_at(offset, scale), 0.3 / scale**2
    found = RBF(gamma)(container(X))
    assert np.allclose(found, exact_rbf(X, X, gamma), rtol=0, atol=2e-12)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        (Matern(nu=0.5), lambda squares, _: np.exp(-np.sqrt(squares))),
        (RationalQuadratic(), lambda squares, _: 1.0 / (1.0 + squares / 2.0)),
        (2.0 * RBF(0.5) ** 3, lambda squares, _: 2.0 * np.exp(-1.5 * squares)),
        (RBF(0.5) * RBF(0.25), lambda squares, _: np.exp(-0.75 * squares)),
        (RBF(0.5) + Linear(), lambda squares, dots: np.exp(-0.5 * squares) + dots),
        (RBF(0.5) * Linear(), lambda squares, dots: np.exp(-0.5 * squares) * dots),
        ((1e14 * RBF(0.5) + Linear()).normalized(), None),
    ],
    ids=["matern", "rational", "power", "product", "sum", "linear product", "normalised"],
)
def test_so_are_combinations_and_parts_that_know_no_distances(container, kernel, function):
    X = rows_at(1e6)
    squares, dots = cdist(X, X, "sqeuclidean"), X @ X.T
    if function is None:
        exact = 1e14 * np.exp(-0.5 * squares) + dots
        exact = exact / np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    else:
        exact = function(squares, dots)
    assert np.allclose(kernel(container(X)), exact, rtol=1e-13, atol=1e-12)


def test_sparse_rows_with_different_places_and_none_at_all():
    X = 1e7 * sparse.random_array((25, 60), density=0.1, format="csr", rng=np.random.default_rng(0))
    X = sparse.csr_array(sparse.vstack([X, X + 0.0, sparse.csr_array((2, 60))]))
    gamma = 1e-10
    assert RBF(gamma).prepare(X).by_differences
    assert np.allclose(RBF(gamma)(X), exact_rbf(X.toarray(), X.toarray(), gamma), rtol=0, atol=1e-13)


def test_ordinary_rows_are_not_slowed_down():
    rng = np.random.default_rng(0)
    assert not RBF(0.1).prepare(rng.normal(size=(100, 20))).by_differences
    assert not Linear().prepare(rng.normal(size=(100, 20)) + 1e9).by_differences


MACHINES = [
    SVC(gamma=0.05, C=100.0),
    SVR(gamma=0.05, C=1000.0),
    NuSVC(gamma=0.05, nu=0.3),
    NuSVR(gamma=0.05, C=1000.0),
    OneClassSVM(gamma=0.05, nu=0.3),
    KernelLogisticRegression(gamma=0.05, C=10.0),
]


@pytest.mark.parametrize("model", MACHINES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("offset", [0.0, 1e2, 3e4, 1e6])
def test_machines_predict_what_their_coefficients_say(model, dtype, container, offset):
    X = rows_at(offset, n=60).astype(dtype)
    target = np.random.default_rng(1).normal(size=60)
    y = target if isinstance(model, (SVR, NuSVR)) else (target > 0).astype(int)
    given = container(X)
    model.fit(given, y)
    function = model.predict if isinstance(model, (SVR, NuSVR)) else model.decision_function
    coefficients = model.expansion_.groups[0].coefficients[:, 0]
    exact = exact_rbf(X, X[model.support_], 0.05) @ coefficients + model.expansion_.intercepts[0]
    tolerance = model.tol if dtype == "float32" else 1e-9 * max(1.0, np.abs(coefficients).sum())
    assert np.abs(function(given) - exact).max() <= tolerance


@pytest.mark.parametrize("model", MACHINES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_so_they_do_in_any_unit(model, dtype, container, scale):
    X = rows_at(2.0 * scale, scale, n=60).astype(dtype)
    gamma = 0.05 / scale**2
    target = np.random.default_rng(1).normal(size=60)
    y = target if isinstance(model, (SVR, NuSVR)) else (target > 0).astype(int)
    model = clone(model).set_params(gamma=gamma).fit(container(X), y)
    function = model.predict if isinstance(model, (SVR, NuSVR)) else model.decision_function
    coefficients = model.expansion_.groups[0].coefficients[:, 0]
    exact = exact_rbf(X, X[model.support_], gamma) @ coefficients + model.expansion_.intercepts[0]
    tolerance = model.tol if dtype == "float32" else 1e-9 * max(1.0, np.abs(coefficients).sum())
    assert np.abs(function(container(X)) - exact).max() <= tolerance
    assert model.status_ == Status.OPTIMAL


def test_kernels_that_share_rows_are_each_as_exact_as_they_need():
    X = rows_at(1e6, n=50)
    target = X[:, 0] - 1e6
    model = MKLRegressor([RBF(1e-9), RBF(0.5)], C=10.0).fit(X.astype(np.float32), target)
    kept = X.astype(np.float32).astype(np.float64)
    coefficients = model.expansion_.groups[0].coefficients[:, 0]
    values = model.kernel_(kept, kept[model.support_]) @ coefficients + model.intercept_
    assert np.abs(model.predict(X.astype(np.float32)) - values).max() <= 1e-3


def test_double_is_taken_where_single_would_show():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = rng.normal(size=300)
    model = SVR(gamma=0.1, C=1e7, epsilon=0.0, tol=1e-6).fit(X, y)
    K = exact_rbf(X, X[model.support_], 0.1)
    assert np.abs(model.predict(X) - (K @ model.dual_coef_[0] + model.intercept_)).max() <= 1e-6
