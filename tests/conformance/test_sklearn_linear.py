"""scikit-learn's checks for the linear machines, and its own tests of them from ``sklearn/svm/tests``.

Every test of its two modules that mentions LinearSVC or LinearSVR is run with Mercer's in their place. A
test that cannot apply is named below with its reason, and nothing is left out in any other way.
"""

import inspect

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    estimator_checks_generator,
    parametrize_with_checks,
)

import mercer
from mercer import LinearSVC, LinearSVR
from tests.conformance.borrowed import as_class, functions_of, load

VARIANTS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(bias="free"),
    LinearSVC(loss="hinge", bias="free"),
    LinearSVC(solver="newton"),
    LinearSVC(warm_start=True),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    LinearSVR(bias="free"),
]

CANNOT_APPLY = {
    "test_svm": {
        "test_linear_svm_convergence_warnings": (
            "expects LIBLINEAR's warning after two passes; here two steps may solve it, and the warning says more"
        ),
    },
    "test_sparse": {},
}
REPLACED = {"LinearSVC": mercer.LinearSVC, "LinearSVR": mercer.LinearSVR}


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_no_halfspace_through_the_origin_passes_that_check():
    """It wants one label for 87 in 100 held-out rows; no line through the origin has more than 60 on a side."""
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    _, held_out, _, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    angles = np.linspace(0.0, 2.0 * np.pi, 10_001)
    normals = np.array([np.cos(angles), np.sin(angles)])
    assert np.mean(held_out @ normals <= 0, axis=0).max() <= 0.6


def test_no_intercept_passes_all_checks_but_one():
    """The class weights of that check outweigh a whole class, which only an intercept can follow."""
    model, excluded = LinearSVC(fit_intercept=False), check_class_weight_classifiers
    for _, check in estimator_checks_generator(model):
        if check.func is not excluded:
            check(model)
    # If scikit-learn's own passes one day, the exception must go.
    with pytest.raises(AssertionError):
        excluded("LinearSVC", sklearn.svm.LinearSVC(fit_intercept=False))


def about_linear(name):
    """The tests of a module that mention one of the two classes."""
    found = functions_of(load(f"svm.tests.{name}", "svm", **REPLACED))
    return {each: test for each, test in found.items() if "LinearSV" in inspect.getsource(test)}


def applicable(title, name):
    """Every test that applies, as a class."""
    tests = {each: with_listed_values(test) for each, test in about_linear(name).items()}
    return as_class(title, tests, CANNOT_APPLY[name])


def with_listed_values(test):
    """The test with the values of its parameters in a list: a zip of them is retired by pytest."""
    test.pytestmark = [
        pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs).mark
        if mark.name == "parametrize"
        else mark
        for mark in getattr(test, "pytestmark", [])
    ]
    return test


# scikit-learn's tests stop some fits early on purpose.
early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TestDense = early(applicable("TestDense", "test_svm"))
TestSparse = early(applicable("TestSparse", "test_sparse"))


@pytest.mark.parametrize("name", CANNOT_APPLY)
def test_every_test_that_is_left_out_exists(name):
    assert set(CANNOT_APPLY[name]) <= set(about_linear(name))


def test_the_classes_are_ours():
    module = load("svm.tests.test_svm", "svm", **REPLACED)
    assert module.LinearSVC is LinearSVC
    assert module.svm.LinearSVR is LinearSVR
    assert len(about_linear("test_svm")) > 15
