"""Rows of other kinds: strings, matrices, functions, frames; and what is refused, word by word."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from scipy import sparse

from mercer import SVC, DataError, ParameterError, Status
from mercer.kernels import RBF, Custom, Precomputed
from tests.estimators.datasets import scaled, two_classes

WORDS = ["cat", "cart", "card", "care", "dog", "dodo", "good", "goods"]
ANIMALS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def shared_letters(s, t):
    return float(len(set(s) & set(t)))


def letters_of_all(S, T):
    """The same kernel, of two whole lists."""
    assert len(T) == len(WORDS)
    return np.array([[shared_letters(s, t) for t in T] for s in S])


@pytest.mark.parametrize("kernel", [Custom(shared_letters, pairwise=True), letters_of_all])
@pytest.mark.parametrize("container", [list, tuple, np.array])
def test_strings_are_learnt(kernel, container):
    model = SVC(kernel=kernel, C=10.0).fit(container(WORDS), ANIMALS)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    np.testing.assert_array_equal(model.predict(container(["carts", "dogs"])), [0, 1])
    assert model.shape_fit_ == (len(WORDS),)
    assert model.score(WORDS, ANIMALS) == 1.0


def test_strings_with_weights_several_classes_and_a_normalised_kernel():
    kernel = Custom(shared_letters, pairwise=True).normalized()
    y = np.array(["feline", "vehicle", "vehicle", "noun", "noun", "feline", "vehicle", "noun"])
    weights = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.5])
    model = SVC(kernel=kernel, C=5.0).fit(WORDS, y, sample_weight=weights)
    assert model.decision_function(WORDS).shape == (8, 3)
    assert 1 not in model.support_
    assert [WORDS[i] for i in model.support_] == model.support_vectors_


def test_a_function_is_called_with_whole_sets_as_in_scikit_learn():
    X, y = two_classes("iris")
    shapes = []

    def kernel(A, B):
        shapes.append((len(A), len(B)))
        return A @ B.T

    model = SVC(kernel=kernel).fit(X, y)
    model.predict(X[:7])
    assert shapes == [(100, 100), (7, 100)]
    assert model.support_vectors_.shape[0] in (0, len(model.support_))


def test_a_function_is_called_with_parts_where_memory_is_short():
    X, y = scaled("cancer")
    shapes = []

    def kernel(A, B):
        shapes.append((len(A), len(B)))
        return RBF(0.03)(A, B)

    model = SVC(kernel=kernel, memory_limit="16MB").fit(X, y)
    assert max(max(shape) for shape in shapes) <= 569
    whole = SVC(kernel=RBF(0.03)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=5e-3)


def test_a_function_may_return_a_sparse_matrix():
    X, y = two_classes("iris")
    model = SVC(kernel=lambda A, B: A @ B.T).fit(sparse.csr_matrix(X), y)
    dense = SVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()])
def test_a_precomputed_matrix(kernel):
    X, y = scaled("wine")
    K = RBF(0.1)
    model = SVC(kernel=kernel).fit(K(X[:120]), y[:120])
    plain = SVC(kernel=K).fit(X[:120], y[:120])
    test = K(X[120:], X[:120])
    np.testing.assert_allclose(model.decision_function(test), plain.decision_function(X[120:]), atol=1e-6)
    assert model.support_vectors_.size == 0
    np.testing.assert_array_equal(model.support_, plain.support_)
    # Only the columns of support vectors are looked at.
    test[:, np.setdiff1d(np.arange(120), model.support_)] = 1e9
    np.testing.assert_allclose(model.decision_function(test), plain.decision_function(X[120:]), atol=1e-6)


def test_data_frames_and_their_names():
    X, y = scaled("iris")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SVC().fit(frame, pd.Series(y).map({0: "x", 1: "y", 2: "z"}))
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(model.decision_function(frame), SVC().fit(X, y).decision_function(X))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c", "d"]])
    assert not hasattr(model.fit(X, y), "feature_names_in_")


# --- what is refused --------------------------------------------------------------------------


def fit_wine(**parameters):
    return SVC(**parameters).fit(*two_classes("wine"))


SQUARE = np.eye(6)[:, :5]
LOPSIDED = np.array([[1.0, 0.5, 0.0], [0.25, 1.0, 0.0], [0.0, 0.0, 1.0]])

REFUSED = {
    "matrix not square": (
        lambda: SVC(kernel="precomputed").fit(SQUARE, [0, 1] * 3),
        DataError,
        "Precomputed matrix must be a square matrix. Input is a 6x5 matrix.",
    ),
    "matrix not symmetric": (
        lambda: SVC(kernel="precomputed").fit(LOPSIDED, [0, 1, 0]),
        DataError,
        "the precomputed matrix must be symmetric, but K[0, 1] = 0.5 and K[1, 0] = 0.25; pass (K + K.T) / 2",
    ),
    "sparse matrix": (
        lambda: SVC(kernel="precomputed").fit(sparse.eye_array(4, format="csr"), [0, 1, 0, 1]),
        TypeError,
        "Sparse precomputed kernels are not supported; pass K.toarray()",
    ),
    "too few columns": (
        lambda: SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1]).predict(np.ones((2, 3))),
        ValueError,
        "X has 3 features, but SVC is expecting 4 features as input.",
    ),
    "function of the wrong shape": (
        lambda: fit_wine(kernel=lambda A, B: A),
        DataError,
        "the kernel function must return shape (119, 119) for these rows, got (119, 13)",
    ),
    "function that returns NaN": (
        lambda: fit_wine(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)),
        DataError,
        "the kernel function must return finite numbers, got NaN or infinity",
    ),
    "sparse rows for a dense model": (
        lambda: fit_wine().predict(sparse.csr_matrix((2, 13))),
        DataError,
        "cannot use sparse input in 'SVC' trained on dense data; pass X.toarray()",
    ),
    "one class": (
        lambda: SVC().fit(np.eye(3), ["a", "a", "a"]),
        DataError,
        "The number of classes has to be greater than one; got 1 class, every label is 'a'",
    ),
    "a class without weight": (
        lambda: SVC().fit(np.eye(3), ["a", "b", "c"], sample_weight=[1.0, 0.0, 1.0]),
        DataError,
        "class 'b' has no sample of positive weight; drop its rows, or give one of them a positive weight",
    ),
    "class_weight of zero": (
        lambda: fit_wine(class_weight={1: 0.0}),
        ParameterError,
        "class_weight must be positive and finite, got {1: 0.0}",
    ),
    "probability": (
        lambda: fit_wine(probability="platt"),
        ParameterError,
        "probability must be False, True, 'sigmoid' or 'isotonic', got 'platt'",
    ),
    "tol": (lambda: fit_wine(tol=0.0), ParameterError, "tol must be a finite number above 0, got 0.0"),
    "coef0": (lambda: fit_wine(coef0=np.inf), ParameterError, "coef0 must be a finite number, got inf"),
    "max_iter": (
        lambda: fit_wine(max_iter=0),
        ParameterError,
        "max_iter must be -1 (no limit) or a positive integer, got 0",
    ),
    "loss": (
        lambda: fit_wine(loss="logistic"),
        ParameterError,
        "loss must be one of 'hinge', 'squared_hinge', got 'logistic'",
    ),
    "callbacks": (
        lambda: fit_wine(callbacks=[1]),
        ParameterError,
        "callbacks must be None or a list of functions, got [1]",
    ),
    "break_ties": (
        lambda: fit_wine(break_ties=True, decision_function_shape="ovo").predict(np.zeros((1, 13))),
        ParameterError,
        "break_ties must be False when decision_function_shape is 'ovo'",
    ),
}


@pytest.mark.parametrize(("attempt", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals_word_by_word(attempt, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        attempt()


def test_scikit_learns_own_parameters_are_taken():
    model = SVC(**sklearn.svm.SVC(kernel="poly", coef0=1.0, C=2.0).get_params())
    assert model.fit(*two_classes("wine")).status_ is Status.OPTIMAL
