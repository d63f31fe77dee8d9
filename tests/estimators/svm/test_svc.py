"""What a fitted SVC says of itself, and that it says the same however it is asked."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import SVC, DataError, Regularization, Status
from mercer.kernels import RBF, Linear
from tests.estimators.datasets import scaled, two_classes

LOSSES = ("hinge", "squared_hinge")
BIASES = ("free", "penalized", "none")


def test_the_toy_set_has_the_solution_of_the_textbook(toy):
    X, y = toy
    model = SVC(C=1e6, kernel="linear", tol=1e-8).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    np.testing.assert_array_equal(model.support_, [0, 1, 2])
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, -0.5, 1.0]], atol=1e-12)
    np.testing.assert_allclose(model.coef_, [[1.0, -1.0]], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [-1.0], atol=1e-12)
    assert 1.0 / np.linalg.norm(model.coef_) == pytest.approx(1.0 / np.sqrt(2.0))
    assert model.certificate_.n_zero == 1
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kernel", ["linear", Linear()])
def test_coef_and_intercept_are_the_decision_function(kernel):
    X, y = scaled("iris")
    model = SVC(kernel=kernel, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1.0


def test_coef_of_sparse_rows_is_sparse():
    X, y = scaled("iris")
    model = SVC(kernel="linear").fit(sparse.csr_array(X), y)
    assert isinstance(model.coef_, sparse.csr_array)
    assert isinstance(model.dual_coef_, sparse.csr_array)
    assert isinstance(SVC(kernel="linear").fit(sparse.csr_matrix(X), y).dual_coef_, sparse.csr_matrix)
    np.testing.assert_allclose(model.coef_.toarray(), SVC(kernel="linear").fit(X, y).coef_, atol=1e-9)


def test_coef_is_for_linear_kernels_only():
    X, y = scaled("iris")
    with pytest.raises(AttributeError, match="coef_ is only available when using a linear kernel"):
        _ = SVC().fit(X, y).coef_
    with pytest.raises(NotFittedError):
        _ = SVC(kernel="linear").coef_


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_matrix])
def test_the_expansion_is_the_model(multi_class, rows):
    X, y = scaled("wine")
    model = SVC(multi_class=multi_class, decision_function_shape="ovo").fit(rows(X), y)
    np.testing.assert_array_equal(model.expansion_.values(rows(X)), model.decision_function(rows(X)))
    np.testing.assert_array_equal(model.expansion_.intercepts, model.intercept_)
    assert len(model.support_) == model.n_support_.sum()


def test_dual_coefficients_are_the_decision_function():
    X, y = two_classes("cancer")
    model = SVC(gamma=0.1).fit(X, y)
    K = RBF(0.1)(X, model.support_vectors_)
    np.testing.assert_allclose(K @ model.dual_coef_[0] + model.intercept_, model.decision_function(X), atol=1e-6)


LABELS = {
    "words": np.array(["setosa", "versicolor", "virginica"]),
    "objects": np.array(["b", "a", "c"], dtype=object),
    "negative integers": np.array([-7, 3, 100]),
    "floats": np.array([-1.0, 0.0, 2.0]),
    "unsigned": np.array([9, 5, 1], dtype=np.uint8),
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind(names):
    X, y = scaled("iris")
    model = SVC().fit(X, names[y])
    np.testing.assert_array_equal(model.classes_, np.unique(names))
    assert model.predict(X).dtype == names.dtype
    assert model.score(X, names[y]) == SVC().fit(X, y).score(X, y)


def test_booleans_as_labels():
    X, y = two_classes("iris")
    model = SVC().fit(X, y == 2)
    np.testing.assert_array_equal(model.classes_, [False, True])
    np.testing.assert_array_equal(model.predict(X), SVC().fit(X, y).predict(X) == 2)


def test_two_classes_have_one_score_and_the_second_is_positive():
    X, y = two_classes("iris")
    model = SVC().fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(values > 0).astype(int)])


SHAPES = [("ovo", "ovo", 45), ("ovo", "ovr", 10), ("ovr", "ovr", 10), ("ovr", "ovo", 10)]


@pytest.mark.parametrize(("multi_class", "shape", "columns"), SHAPES)
def test_scores_have_a_column_for_each_class_or_pair(multi_class, shape, columns):
    X, y = scaled("digits")
    model = SVC(multi_class=multi_class, decision_function_shape=shape).fit(X[:300], y[:300])
    assert model.decision_function(X).shape == (len(X), columns)
    assert model.score(X, y) > 0.85
    assert model.n_iter_.shape == model.intercept_.shape


def test_one_vs_rest_is_a_machine_for_each_class():
    X, y = scaled("wine")
    model = SVC(multi_class="ovr", tol=1e-6).fit(X, y)
    alone = SVC(tol=1e-6).fit(X, y == 1)
    np.testing.assert_allclose(model.decision_function(X)[:, 1], alone.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_ties_between_classes_are_broken_by_confidence():
    X, y = scaled("digits")
    model = SVC(gamma=1e3, break_ties=True).fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_every_loss_and_bias_is_solved_and_certified(loss, bias):
    X, y = two_classes("cancer")
    model = SVC(loss=loss, bias=bias, C=2.0).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    assert model.score(X, y) > 0.9
    if bias == "none":
        assert model.intercept_ == [0.0]
    if bias == "penalized":
        assert model.intercept_[0] == pytest.approx(model.dual_coef_.sum())


def test_a_penalised_bias_is_a_constant_feature():
    X, y = two_classes("wine")
    model = SVC(kernel="linear", bias="penalized").fit(X, y)
    widened = SVC(kernel="linear", bias="none").fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], widened.coef_[0], atol=1e-9)


# --- weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.5, Regularization.from_lambda(0.01), Regularization.from_box_over_n(80.0)])
@pytest.mark.parametrize("gamma", ["scale", 0.3])
def test_a_row_of_weight_two_is_a_row_given_twice(C, gamma, rng):
    X, y = scaled("iris")
    weights = rng.integers(0, 3, len(y))
    weighted = SVC(C=C, gamma=gamma).fit(X, y, sample_weight=weights)
    repeated = SVC(C=C, gamma=gamma).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


def test_rows_of_no_weight_take_no_part():
    X, y = scaled("wine")
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    model = SVC().fit(X, y, sample_weight=weights)
    assert not np.isin(model.support_, np.flatnonzero(weights == 0)).any()
    kept = SVC().fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(model.decision_function(X), kept.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(weights)[kept.support_])


def test_a_hard_margin_may_have_rows_of_no_weight(toy):
    X, y = toy
    model = SVC(C=np.inf, kernel="linear").fit(X, y, sample_weight=[1.0, 1.0, 0.0, 1.0])
    assert list(model.support_) == [0, 1, 3]


def test_weights_multiply_c():
    X, y = two_classes("iris")
    model = SVC(C=3.0).fit(X, y)
    weighted = SVC(C=1.0).fit(X, y, sample_weight=np.full(len(y), 3.0))
    np.testing.assert_allclose(model.decision_function(X), weighted.decision_function(X), atol=1e-9)
    by_class = SVC(C=1.0, class_weight={1: 3.0, 2: 3.0}).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), by_class.decision_function(X), atol=1e-9)


def test_one_number_is_a_weight_for_all():
    X, y = two_classes("iris")
    np.testing.assert_array_equal(
        SVC().fit(X, y, sample_weight=2.0).dual_coef_, SVC().fit(X, y, sample_weight=np.full(len(y), 2.0)).dual_coef_
    )


def test_the_four_ways_to_write_c_give_one_machine():
    X, y = two_classes("iris")
    m, C = len(y), 0.7
    ways = [
        C,
        Regularization.from_lambda(1.0 / (2.0 * C * m)),
        Regularization.from_lambda(1.0 / (C * m), half=True),
        Regularization.from_box_over_n(C * m),
    ]
    values = [SVC(C=way).fit(X, y).decision_function(X) for way in ways]
    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], atol=1e-9)


# --- copies ---------------------------------------------------------------------------------


def test_a_fitted_model_does_not_change_with_its_kernel():
    X, y = two_classes("iris")
    model = SVC(kernel=RBF(0.5)).fit(X, y)
    before = model.decision_function(X)
    model.set_params(kernel__gamma=5.0)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert np.abs(model.fit(X, y).decision_function(X) - before).max() > 0.1


def test_parameters_of_a_kernel_are_parameters_of_the_model():
    model = SVC(kernel=Linear() + RBF(0.5))
    assert model.get_params()["kernel"] == Linear() + RBF(0.5)
    copy = clone(model)
    assert copy.kernel == model.kernel
    assert copy.kernel is not model.kernel


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear"}, {"kernel": RBF(0.5), "warm_start": True}])
def test_a_model_survives_pickling(rows, parameters):
    X, y = scaled("iris")
    model = SVC(**parameters).fit(rows(X), y)
    back = pickle.loads(pickle.dumps(model))  # noqa: S301 - written a moment ago
    np.testing.assert_array_equal(back.decision_function(rows(X)), model.decision_function(rows(X)))
    assert back.certificate_ == model.certificate_
    assert back.status_ is model.status_


def test_a_pickled_model_carries_support_vectors_only():
    X, y = scaled("cancer")
    X = np.c_[X, np.zeros((len(X), 500))]
    model = SVC().fit(X, y)
    assert len(pickle.dumps(model)) < 3 * model.support_vectors_.nbytes


def test_attributes_appear_with_the_fit():
    X, y = two_classes("iris")
    model = SVC()
    for name in ("support_", "n_support_", "dual_coef_", "certificate_", "status_", "expansion_", "trace_"):
        assert not hasattr(model, name)
    model.fit(X, y)
    assert model.shape_fit_ == X.shape
    assert model.n_features_in_ == X.shape[1]
    assert model.fit_status_ == 0
    with pytest.raises(NotFittedError):
        SVC().decision_function(X)


def test_a_fit_that_fails_says_why_and_a_model_is_as_it_was():
    X, y = two_classes("iris")
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(DataError, match="got 1 class"):
        model.fit(X, np.ones(len(y)))
    with pytest.raises(DataError, match="belong to the same class"):
        model.fit(X, y - 1, sample_weight=(y == 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [1, 2])
    np.testing.assert_array_equal(model.decision_function(X), before)
