"""The same machine as scikit-learn's, on its data sets, for every kernel and every way to pass data."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from mercer import SVC
from mercer.kernels import RBF, Linear, Polynomial
from tests.estimators.datasets import NAMES, scaled, two_classes

KERNELS = {
    "linear": {"kernel": "linear", "C": 0.5},
    "poly": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    "poly, even": {"kernel": "poly", "degree": 2, "gamma": "auto"},
    "rbf": {"kernel": "rbf"},
    "rbf, C = 100": {"kernel": "rbf", "C": 100.0, "gamma": 0.02},
}
# Both stop at this violation; decision values then differ by a few times as much.
TOL = 1e-5


def pair(**parameters):
    return SVC(tol=TOL, **parameters), sklearn.svm.SVC(tol=TOL, **parameters)


def assert_same_decisions(ours, theirs, atol=30 * TOL):
    np.testing.assert_allclose(ours, theirs, rtol=30 * TOL, atol=atol * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("name", NAMES)
def test_decisions_labels_and_attributes(name, parameters):
    X, y = scaled(name)
    mine, theirs = pair(decision_function_shape="ovo", **parameters)
    mine.fit(X, y)
    theirs.fit(X, y)
    values = theirs.decision_function(X)
    assert_same_decisions(mine.decision_function(X), values)
    sure = np.abs(values.reshape(len(X), -1)).min(axis=1) > 1e-2
    np.testing.assert_array_equal(mine.predict(X)[sure], theirs.predict(X)[sure])
    np.testing.assert_array_equal(mine.classes_, theirs.classes_)
    assert mine.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    np.testing.assert_allclose(mine.n_support_, theirs.n_support_, atol=3)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, atol=100 * TOL * max(1.0, np.abs(values).max()))


@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS)
def test_support_vectors_stand_by_class_and_then_in_order(parameters):
    X, y = scaled("wine")
    mine, theirs = pair(**parameters)
    mine.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_array_equal(mine.support_, theirs.support_)
    np.testing.assert_array_equal(mine.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(mine.support_vectors_, theirs.support_vectors_)
    np.testing.assert_allclose(mine.dual_coef_, theirs.dual_coef_, atol=1e-2)
    assert mine.support_.dtype == theirs.support_.dtype
    assert mine.n_support_.dtype == theirs.n_support_.dtype


@pytest.mark.parametrize("break_ties", [False, True])
def test_scores_of_classes(break_ties):
    X, y = scaled("digits")
    mine, theirs = pair(break_ties=break_ties)
    mine.fit(X, y)
    theirs.fit(X, y)
    theirs.set_params(decision_function_shape="ovo")
    # A pair that is next to undecided may give its vote to either.
    sure = np.abs(theirs.decision_function(X)).min(axis=1) > 1e-2
    theirs.set_params(decision_function_shape="ovr")
    assert_same_decisions(mine.decision_function(X)[sure], theirs.decision_function(X)[sure])
    np.testing.assert_array_equal(mine.predict(X)[sure], theirs.predict(X)[sure])


def test_coef_is_that_of_scikit_learn():
    X, y = scaled("wine")
    mine, theirs = pair(kernel="linear")
    np.testing.assert_allclose(mine.fit(X, y).coef_, theirs.fit(X, y).coef_, atol=1e-3)
    X, y = two_classes("wine")
    np.testing.assert_allclose(mine.fit(X, y).coef_, theirs.fit(X, y).coef_, atol=1e-3)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_class_weights(class_weight):
    X, y = scaled("iris")
    mine, theirs = pair(class_weight=class_weight, decision_function_shape="ovo")
    mine.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(mine.class_weight_, theirs.class_weight_)
    assert_same_decisions(mine.decision_function(X), theirs.decision_function(X))


def test_sample_weights(rng):
    X, y = scaled("cancer")
    weights = rng.uniform(0.0, 3.0, len(y))
    weights[::7] = 0.0
    mine, theirs = pair(kernel="linear", C=0.1)
    mine.fit(X, y, sample_weight=weights)
    theirs.fit(X, y, sample_weight=weights)
    assert_same_decisions(mine.decision_function(X), theirs.decision_function(X))


LAYOUTS = {
    "lists": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "coo": sparse.coo_matrix,
    "read only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "big endian": lambda X: X.astype(">f8"),
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_every_layout_gives_the_same_machine(kernel, layout):
    X, y = scaled("wine")
    plain = SVC(kernel=kernel).fit(X, y)
    model = SVC(kernel=kernel).fit(layout(X), y)
    np.testing.assert_array_equal(model.support_, plain.support_)
    np.testing.assert_allclose(model.decision_function(layout(X)), plain.decision_function(X), atol=1e-9)


def polynomial(X, Y):
    return (np.asarray(X) @ np.asarray(Y).T / 13.0 + 1.0) ** 2


def kernels_equal_to(name, X):
    """The same kernel in each of the forms in which it can be given, with rows for it."""
    gamma = 1.0 / 13.0
    vector = {"linear": Linear(), "poly": Polynomial(2, gamma, 1.0), "rbf": RBF(gamma)}[name]
    function = {
        "linear": lambda A, B: np.dot(A, np.asarray(B).T),
        "poly": polynomial,
        "rbf": lambda A, B: rbf_kernel(A, B, gamma=gamma),
    }[name]
    named = {"kernel": name, "gamma": gamma, "degree": 2, "coef0": 1.0}
    return {
        "name": (named, X),
        "kernel": ({"kernel": vector}, X),
        "function": ({"kernel": function}, X),
        "precomputed": ({"kernel": "precomputed"}, function(X, X)),
    }


@pytest.mark.parametrize("form", ["kernel", "function", "precomputed"])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_every_form_of_a_kernel_gives_the_same_machine(name, form):
    X, y = scaled("wine")
    forms = kernels_equal_to(name, X)
    expected = SVC(**forms["name"][0]).fit(X, y).decision_function(X)
    parameters, rows = forms[form]
    np.testing.assert_allclose(SVC(**parameters).fit(rows, y).decision_function(rows), expected, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_rows(name):
    X, y = scaled(name)
    model = SVC().fit(X.astype(np.float32), y)
    double = SVC().fit(X, y)
    values = double.decision_function(X)
    assert_same_decisions(model.decision_function(X.astype(np.float32)), values, atol=5e-3)
    assert np.mean(model.predict(X) == double.predict(X)) > 0.99
