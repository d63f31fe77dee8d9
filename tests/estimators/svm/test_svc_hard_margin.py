"""`SVC(C=inf)` is the hard margin: the same machine where there is one, and the same proof where there is none."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from mercer import SVC, SVCCV, HardMarginSVC, NotSeparableError, Status
from mercer.kernels import RBF, Linear, Polynomial
from tests.estimators.datasets import scaled

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array([0, 0, 1, 1])
BIASES = ["free", "penalized", "none"]


def refusal(X, y, sample_weight=None, **parameters):
    model = SVC(C=np.inf, **parameters)
    with pytest.raises(NotSeparableError) as caught:
        model.fit(X, y, sample_weight=sample_weight)
    assert not hasattr(model, "status_")
    assert caught.value.proof.check()
    return caught.value


def three_classes(gap=4.0):
    rng = np.random.default_rng(0)
    X = np.vstack([0.3 * rng.normal(size=(20, 2)) + gap * np.array(centre) for centre in ((0, 0), (1, 0), (0, 1))])
    return X, np.repeat([0, 1, 2], 20)


# --- what cannot be separated -------------------------------------------------------------------


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kernel", ["linear", Linear(), lambda A, B: A @ B.T])
def test_a_square_is_refused_with_the_proof(kernel, bias):
    proof = refusal(XOR, LABELS, kernel=kernel, bias=bias).proof
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(kernel=kernel, bias=bias).fit(XOR, LABELS)
    np.testing.assert_array_equal(proof.indices, caught.value.proof.indices)
    np.testing.assert_allclose(proof.weights, caught.value.proof.weights, atol=1e-9)


@pytest.mark.parametrize("options", [
    {"loss": "squared_hinge"}, {"solver": "qp"}, {"solver": "smo"}, {"solver": "dual_cd", "bias": "none"},
    {"probability": True}, {"class_weight": {0: 1.0, 1: 3.0}}, {"gap_tol": 1e-3}, {"warm_start": True},
])  # fmt: skip
def test_it_is_refused_whatever_else_is_asked_for(options):
    assert "no hyperplane" in str(refusal(XOR, LABELS, kernel="linear", **options))


@pytest.mark.parametrize("bias", BIASES)
def test_kernel_values_alone_prove_it(bias):
    error = refusal(XOR @ XOR.T, LABELS, kernel="precomputed", bias=bias)
    assert error.proof.features is None


def test_equal_rows_with_different_labels_are_proof_for_a_gaussian():
    X, y = scaled("iris")
    proof = refusal(np.vstack([X, X[:1]]), np.append(y, 2), kernel=RBF(0.1)).proof
    assert sorted(proof.indices) == [0, len(X)]
    assert proof.is_exact


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("form", ["rows", "sparse", "matrix"])
def test_one_pair_of_classes_that_overlaps_is_enough(multi_class, form):
    X, y = scaled("iris")
    given = {"rows": X, "sparse": sparse.csr_array(X), "matrix": X @ X.T}[form]
    error = refusal(given, y, kernel="precomputed" if form == "matrix" else "linear", multi_class=multi_class)
    # Problems are solved side by side: of two that have no solution, either may be the first.
    named = "the classes 2 and 1" if multi_class == "ovo" else "the class [12] and the others"
    assert re.search(named, str(error))
    assert "SVC with a finite C allows violations" in str(error)


def test_a_polynomial_of_many_features_is_proven_by_its_values():
    """The degree has more monomials than coordinates are worth; of one feature they still are only nine."""
    x = np.linspace(-1.0, 1.0, 24)[:, None]
    kernel = Polynomial(degree=8, gamma=1.0, coef0=1.0)
    refusal(kernel(x, x), np.arange(24) % 2, kernel="precomputed")


def test_rows_of_no_weight_are_no_proof():
    weights = [1.0, 1.0, 1.0, 0.0]
    model = SVC(C=np.inf, kernel="linear").fit(XOR, LABELS, sample_weight=weights)
    assert model.status_ is Status.OPTIMAL
    refusal(XOR, LABELS, sample_weight=[0.1, 2.0, 1.0, 5.0], kernel="linear")


def test_a_kernel_without_a_feature_space_is_not_said_to_separate_nothing():
    X, y = scaled("iris")
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        SVC(C=np.inf, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)


def test_a_limit_that_is_over_first_decides_nothing():
    X, y = scaled("iris")
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = SVC(C=np.inf, kernel="precomputed", max_iter=2).fit(X @ X.T, y)
    assert model.status_ is Status.ITERATION_LIMIT


def test_time_that_is_over_before_the_proof_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 40)), rng.integers(0, 2, 3000)
    model = SVC(C=np.inf, kernel="precomputed", time_limit=0.3)
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model.fit(X @ X.T, y)
    assert model.predict(X @ X.T).shape == y.shape


def test_a_search_counts_it_as_a_setting_that_fails():
    X, y = scaled("iris")
    with pytest.warns(FitFailedWarning, match="NotSeparableError"):
        search = SVCCV(param_grid={"C": [1.0, np.inf]}, kernel="linear", cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0}


# --- what can ------------------------------------------------------------------------------------


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kernel", ["linear", RBF(0.3), Polynomial(degree=2, gamma=1.0, coef0=1.0)])
def test_the_machine_is_that_of_the_hard_margin(kernel, bias, multi_class):
    X, y = three_classes()
    if kernel == "linear":
        # Through the origin, and each class against the rest.
        X = np.hstack([X, np.ones((len(X), 1)), (X - X.mean(axis=0)) ** 2, X[:, :1] * X[:, 1:]])
    options = {"kernel": kernel, "bias": bias, "multi_class": multi_class}
    hard, soft = HardMarginSVC(**options).fit(X, y), SVC(C=np.inf, tol=1e-6, **options).fit(X, y)
    assert soft.status_ is Status.OPTIMAL
    np.testing.assert_allclose(soft.decision_function(X), hard.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(soft.support_, hard.support_)
    for ours, theirs in zip(soft.certificate_, hard.certificate_, strict=True):
        assert ours.primal == pytest.approx(theirs.primal, rel=1e-6)
        assert ours.is_optimal(1e-6)


def test_a_margin_of_one_part_in_a_hundred_million():
    """Breast cancer as it comes: a sum of multipliers times rows would lose it."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    hard, soft = HardMarginSVC(kernel="linear").fit(X, y), SVC(C=np.inf, kernel="linear").fit(X, y)
    assert soft.status_ is Status.OPTIMAL
    np.testing.assert_array_equal(soft.coef_, hard.coef_)
    assert soft.score(X, y) == 1.0
    assert soft.certificate_.is_optimal(1e-6)


def test_probabilities_go_with_the_same_machine():
    X, y = three_classes()
    plain, probable = (SVC(C=np.inf, kernel="linear", probability=asked).fit(X, y) for asked in (False, True))
    np.testing.assert_array_equal(plain.dual_coef_, probable.dual_coef_)
    assert (probable.predict_proba(X).argmax(axis=1) == y).all()
