"""kernel="auto", C="auto", gamma="median": rules that say what they did."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM, ParameterError, Tree, theory
from mercer.estimators.fitting.auto_strength import automatic_C
from mercer.kernels import RBF, Encoded, Linear, Spectrum
from mercer.kernels.algebra.normalized import Normalized


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def chosen_C(model, X, y):
    return model.fit(X, y).C_


def test_numbers_are_compared_jointly_and_wide_ones_by_a_plane(cancer):
    X, y = cancer
    model = SVC(kernel="auto").fit(X, y)
    assert model.kernel_.columns.keys() == set(range(30))
    assert "jointly and one by one" in model.kernel_reason_
    assert model.kernel == "auto"
    assert model.score(X, y) > 0.95
    wide = SVC(kernel="auto").fit(X[:20], y[:20])
    assert wide.kernel_.kernel == Linear()
    assert "30 columns for 20 rows" in wide.kernel_reason_
    assert not hasattr(clone(wide), "kernel_")


def test_auto_does_not_mind_the_units_of_columns():
    X, y = load_wine(return_X_y=True)
    model = SVC(kernel="auto", C="auto").fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.95
    units = 10.0 ** np.arange(-6, 7)
    other = SVC(kernel="auto", C="auto").fit(X[::2] * units, y[::2])
    assert (other.predict(X[1::2] * units) == model.predict(X[1::2])).all()


def test_sparse_texts_get_a_plane():
    X = sparse.random_array((3000, 1500), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.arange(3000) % 2
    model = SVC(kernel="auto", max_iter=5)
    with pytest.warns(Warning, match="ITERATION_LIMIT"):
        model.fit(X[:2000], y[:2000])
    assert model.kernel_ == "linear"


def test_texts_trees_and_tables():
    texts = ["man bites dog", "dog bites man", "sun and rain", "rain and sun"]
    model = SVC(kernel="auto").fit(texts, [0, 0, 1, 1])
    assert isinstance(model.expansion_.kernel, Normalized)
    assert model.kernel_reason_.startswith("the items are texts: ")
    assert (model.predict(texts) == [0, 0, 1, 1]).all()
    words = Spectrum(length=(1, 2), tokenizer="words", weighting="tf-idf", lowercase=True)
    assert model.kernel_ == words.normalized()  # texts as few as these are no reason for another one
    sequences = SVC(kernel="auto").fit(["acgacgacg", "acgacgtcg", "ttgttgttg", "ttgtagttg"], [0, 0, 1, 1])
    assert sequences.kernel_ == Spectrum().normalized()
    assert "sequences of letters" in sequences.kernel_reason_
    trees = [Tree.parse(text) for text in ("(a (b c))", "(a (b d))", "(e (f g))", "(e (f h))")]
    assert SVC(kernel="auto").fit(trees, [0, 0, 1, 1]).kernel_reason_ == "the items are trees"
    rows = [{"age": 30.0, "town": "Ulm"}, {"age": 31.0, "town": "Ulm"}, {"age": 60.0, "town": "Bonn"}] * 2
    table = SVC(kernel="auto").fit(rows, [0, 0, 1] * 2)
    assert table.kernel_.columns == {"age": "number", "town": "category"}
    assert (table.predict(rows) == [0, 0, 1] * 2).all()


def test_other_machines_choose_too(cancer):
    X, y = cancer
    for model in (NuSVC(nu=0.2, kernel="auto"), SVR(kernel="auto"), NuSVR(kernel="auto"), OneClassSVM(kernel="auto")):
        assert isinstance(model.fit(X[:100], y[:100]).kernel_, Encoded)
        assert len(model.predict(X[:5])) == 5


def test_a_second_fit_chooses_again(cancer):
    X, y = cancer
    model = SVC(kernel="auto").fit(X[:20], y[:20])
    assert model.fit(X, y).kernel_.kernel != Linear()
    assert not hasattr(model.set_params(kernel="rbf").fit(X, y), "kernel_")


def unit_of(model, X, y=None):
    return automatic_C(model.kernel, model.gamma, 3, 0.0, X, getattr(model, "bias", "free"), y=y)


def test_the_unit_of_C_is_one_over_the_spread_in_feature_space(cancer):
    X, y = cancer[0][:100], cancer[1][:100]
    model = SVC(C="auto", kernel="linear").fit(X, y)
    spread = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert unit_of(model, X) == pytest.approx(1.0 / spread)
    assert min(abs(np.log10(model.C_ * spread) - power) for power in range(-2, 4)) == pytest.approx(0.0, abs=1e-9)
    same = SVC(C=model.C_, kernel="linear").fit(X, y)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))
    none = SVC(C="auto", kernel="linear", bias="none")
    assert unit_of(none, X) == pytest.approx(1.0 / (X**2).sum(axis=1).mean())
    assert unit_of(SVC(C="auto", bias="none"), X) == pytest.approx(1.0)


def test_C_does_not_depend_on_units_nor_on_the_origin(cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    first = SVC(C="auto", kernel="linear", tol=1e-9).fit(X, y)
    other = SVC(C="auto", kernel="linear", tol=1e-9).fit(100.0 * X + 7.0, y)
    assert np.allclose(first.decision_function(X), other.decision_function(100.0 * X + 7.0), atol=1e-4)


def test_C_of_regression_follows_the_targets():
    X, y = load_diabetes(return_X_y=True)
    model = SVR(C="auto", epsilon=5.0).fit(X, y)
    assert chosen_C(SVR(C="auto", epsilon=5.0), X, 10 * y) == pytest.approx(10 * model.C_)
    assert model.score(X, y) > SVR(epsilon=5.0).fit(X, y).score(X, y)
    assert unit_of(NuSVR(C="auto"), X, y) == pytest.approx(unit_of(model, X, y))
    assert chosen_C(SVR(C="auto"), X[:30], np.ones(30)) > 0


def spread_by_hand(K):
    return K.diagonal().mean() - K.mean()


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed"])
def test_C_is_what_its_formula_says_of_all_rows(cancer, form):
    X, _ = cancer
    K = RBF(gamma=0.05)(X)
    given = {"dense": X, "sparse": sparse.csr_array(X), "precomputed": K}[form]
    kernel = "precomputed" if form == "precomputed" else RBF(gamma=0.05)
    assert unit_of(SVC(kernel=kernel), given) == pytest.approx(1.0 / spread_by_hand(K))
    target = X[:, 0] + X[:, 1] ** 2
    expected = 3.0 * target.std() / spread_by_hand(K)
    assert unit_of(SVR(kernel=kernel), given, target) == pytest.approx(expected)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("form", ["dense", "precomputed"])
def test_C_of_many_rows_does_not_depend_on_their_order(bias, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)) * [1.0, 2.0, 0.5] + 4.0
    y = np.sort(X[:, 0] ** 2)
    order = np.lexsort((X[:, 2], X[:, 1] > 4.0))
    K = Linear()(X)
    if form == "dense":
        found = [automatic_C("linear", 1.0, 3, 0.0, X[rows], bias, y=y[rows]) for rows in (np.arange(1500), order)]
    else:
        found = [
            automatic_C("precomputed", 1.0, 3, 0.0, K[np.ix_(rows, rows)], bias, y=y[rows])
            for rows in (np.arange(1500), order)
        ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    spread = {"free": spread_by_hand(K), "penalized": K.diagonal().mean() + 1.0, "none": K.diagonal().mean()}[bias]
    assert found[0] == pytest.approx(3.0 * y.std() / spread, rel=0.05 if bias == "free" else 1e-9)


def test_other_words_are_refused(cancer):
    X, y = cancer
    with pytest.raises(ParameterError, match="C must be a positive number"):
        SVC(C="large").fit(X, y)
    with pytest.raises(ParameterError, match="median"):
        SVC(gamma="mean").fit(X, y)


def test_theory_reads_the_C_that_was_used(cancer):
    X, y = cancer[0][:100], cancer[1][:100]
    assert theory.report(SVC(C="auto").fit(X, y), X, y)["xi_alpha"].value <= 1.0
