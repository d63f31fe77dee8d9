"""Texts and trees through the estimators, and through scikit-learn's tools around them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from mercer import SVC, HardMarginSVC, KernelPerceptron, PegasosSVC, Tree
from mercer.kernels import Mismatch, PartialTree, Spectrum, Subsequence, SubsetTree, Subtree

rng = np.random.default_rng(7)
DNA = ["".join(rng.choice(list("acgt"), 12)) for _ in range(40)]
DNA = [text[:5] + "tata" + text[9:] if k % 2 else text.replace("tat", "tgt") for k, text in enumerate(DNA)]
HAS_BOX = np.array(["no", "yes"] * 20)
PARSES = [
    f"(S (NP (DT {'the' if k % 3 else 'a'}) (NN {noun})) (VP (V {verb})))"
    for k, (noun, verb) in enumerate(
        [(n, v) for n in ("dog", "cat", "man", "cow") for v in ("barks", "sleeps", "runs")] * 2
    )
]
TREES = [Tree.parse(text) for text in PARSES]
ABOUT_DOGS = np.array([int("dog" in text or "cat" in text) for text in PARSES])
CASES = [
    (Subsequence(length=4).normalized(), DNA, HAS_BOX),
    (Spectrum(length=4).normalized(), DNA, HAS_BOX),
    (Mismatch(length=4).normalized(), DNA, HAS_BOX),
    (Subtree(), TREES, ABOUT_DOGS),
    (SubsetTree().normalized(), PARSES, ABOUT_DOGS),
    (PartialTree().normalized(), TREES, ABOUT_DOGS),
]


@pytest.mark.parametrize(("kernel", "X", "y"), CASES)
@pytest.mark.parametrize(
    "estimator", [SVC(C=10.0), KernelPerceptron(), HardMarginSVC(), PegasosSVC(alpha=0.01, random_state=0)]
)
def test_estimators_learn_from_items(kernel, X, y, estimator):
    model = clone(estimator).set_params(kernel=kernel)
    model.fit(X, y)
    assert model.score(X, y) >= 0.95


@pytest.mark.parametrize(("kernel", "X", "y"), CASES)
def test_the_machine_is_that_of_its_matrix(kernel, X, y):
    model = SVC(kernel=kernel, C=5.0).fit(X[::2] + X[1::4], np.r_[y[::2], y[1::4]])
    bound = kernel.bind(X[::2] + X[1::4])
    train = X[::2] + X[1::4]
    reference = SVC(kernel="precomputed", C=5.0).fit(bound(train), np.r_[y[::2], y[1::4]])
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(bound(X, train)), atol=1e-6)


@pytest.mark.parametrize(("kernel", "X", "y"), CASES)
def test_cross_validation_and_pipelines(kernel, X, y):
    model = Pipeline([("svm", SVC(kernel=kernel, C=10.0))])
    given = cross_val_score(SVC(kernel="precomputed", C=10.0), kernel.bind(X)(X), y, cv=4)
    np.testing.assert_array_equal(cross_val_score(model, X, y, cv=4), given)


@pytest.mark.parametrize(
    ("kernel", "X", "y", "grid"),
    [
        (Subsequence(length=3), DNA, HAS_BOX, {"kernel__decay": [0.1, 0.9], "kernel__length": [2, (1, 4)]}),
        (SubsetTree().normalized(), TREES, ABOUT_DOGS, {"kernel__kernel__decay": [0.1, 0.9]}),
        (0.5 * PartialTree() + Subtree(), PARSES, ABOUT_DOGS, {"C": [0.1, 10.0]}),
    ],
)
def test_grid_search_reaches_the_parameters(kernel, X, y, grid):
    search = GridSearchCV(SVC(kernel=kernel), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert search.predict(X[:3]).shape == (3,)


def test_arrays_of_texts():
    model = SVC(kernel=Spectrum(length=3)).fit(np.array(DNA), HAS_BOX)
    np.testing.assert_array_equal(model.predict(np.array(DNA)), model.predict(DNA))
    np.testing.assert_array_equal(model.predict(np.array(DNA, dtype=object)), model.predict(DNA))
