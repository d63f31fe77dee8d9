"""`conformal=` on every kind of data, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer
from mercer import (
    SVC,
    SVR,
    Conformal,
    DataError,
    Graph,
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelRidge,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    ParameterError,
)
from mercer.io import Blocks
from mercer.kernels import RBF, Columns, Delta, Spectrum, WeisfeilerLehman

CLASSIFIERS = [SVC(), NuSVC(nu=0.3), KernelLogisticRegression(), LinearSVC(), LinearSVC(loss="logistic")]
REGRESSIONS = [SVR(), NuSVR(), LinearSVR(), KernelRidge(kernel="rbf"), KernelLeastSquares()]


def two_classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "yes", "no")


def quantities(n=60, seed=0):
    X, _ = two_classes(n, seed)
    return X, X[:, 0] + 0.3 * np.random.default_rng(seed + 1).normal(size=n)


@pytest.mark.parametrize("method", ["split", "cross"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_every_classifier_has_sets_that_hold_its_prediction(model, method):
    X, y = two_classes()
    model = clone(model).set_params(conformal=method).fit(X, y)
    found = model.predict_set(X, coverage=0.8)
    assert found.shape == (60, 2)
    assert found[np.arange(60), np.searchsorted(model.classes_, model.predict(X))].all()
    assert (found <= model.predict_set(X, coverage=0.9)).all()


@pytest.mark.parametrize("method", ["split", "cross", "leave_one_out"])
@pytest.mark.parametrize("model", REGRESSIONS, ids=repr)
def test_every_regression_has_intervals_that_grow_with_the_coverage(model, method):
    X, y = quantities()
    model = clone(model).set_params(conformal=method)
    if method == "leave_one_out" and not isinstance(model, KernelRidge | KernelLeastSquares):
        with pytest.raises(ParameterError, match=r"is for KernelRidge and KernelLeastSquares.*Conformal\('cross'"):
            model.fit(X, y)
        return
    model.fit(X, y)
    narrow, wide = (model.predict_interval(X, coverage=c) for c in (0.6, 0.9))
    assert narrow.shape == (60, 2)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 0] <= narrow[:, 1]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()


def reviews():
    words = ["fine", "funny", "warm", "long", "dull", "cold"]
    rng = np.random.default_rng(0)
    liked = rng.integers(0, 2, size=40)
    picks = rng.integers(0, 3, size=(40, 3)) + 3 * (1 - liked[:, None])
    return [" ".join(words[k] for k in row) for row in picks], liked


def rings():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, size=30)
    made = []
    for label in labels:
        n = int(rng.integers(4, 7))
        edges = [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if label else [])
        made.append(Graph(edges).labeled("degree"))
    return made, labels


def people():
    rng = np.random.default_rng(2)
    town = rng.choice(["Ulm", "Bonn"], size=50)
    age = rng.normal(size=50)
    # A column whose scale depends on who is looked at.
    return pd.DataFrame({"town": town, "age": age**3}), (age + (town == "Ulm") > 0.5).astype(int)


KINDS = {
    "texts": (Spectrum(length=3).normalized(), *reviews()),
    "graphs": (WeisfeilerLehman(), *rings()),
    "a table": (Columns({"town": Delta(), "age": RBF("scale")}), *people()),
    "a table by itself": ("auto", *people()),
    "numbers by themselves": ("auto", *two_classes()),
    "sparse": (RBF("scale"), sparse.coo_matrix(two_classes()[0]), two_classes()[1]),
    "lists": ("rbf", two_classes()[0].tolist(), two_classes()[1].tolist()),
    "a function": (lambda A, B: np.asarray(A) @ np.asarray(B).T, *two_classes()),
}


def taken(X, places):
    if isinstance(X, list):
        return [X[k] for k in places]
    return X.iloc[places] if hasattr(X, "iloc") else (X.tocsr() if sparse.issparse(X) else X)[places]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_left_out_say_nothing_to_the_machine_on_any_kind_of_data(kind):
    kernel, X, y = KINDS[kind]
    model = SVC(kernel=kernel, tol=1e-8, conformal=Conformal("cross", folds=3)).fit(X, y)
    kept = model._conformity
    for k, part in enumerate(kept.models):
        learnt = np.flatnonzero(kept.columns != k)
        alone = SVC(kernel=kernel, tol=1e-8).fit(taken(X, learnt), np.asarray(y)[learnt])
        np.testing.assert_allclose(part.decision_function(X), alone.decision_function(X), rtol=1e-6, atol=1e-6)
    assert model.predict_set(X, coverage=0.8).shape == (len(y), 2)


@pytest.mark.parametrize("method", ["split", "cross"])
def test_a_given_matrix_is_cut_for_nobody(method):
    X, y = two_classes()
    K = RBF(0.5)(X)
    asked = SVC(kernel="precomputed", tol=1e-8, conformal=method).fit(K, y)
    rows = SVC(kernel=RBF(0.5), tol=1e-8, conformal=method).fit(X, y)
    np.testing.assert_array_equal(asked.predict_set(K), rows.predict_set(X))


def test_positions_of_support_vectors_are_those_in_all_rows():
    X, y = two_classes()
    model = SVC(conformal=Conformal("split", share=0.5)).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.shape_fit_ == X.shape


@pytest.mark.parametrize("method", ["split", "cross"])
def test_the_seed_decides_who_is_left_out(method):
    X, y = quantities()
    first, again, other = (
        SVR(conformal=Conformal(method, random_state=seed)).fit(X, y).predict_interval(X) for seed in (None, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_a_class_of_one_or_two_rows_is_known_in_every_fold():
    X, y = two_classes()
    y[:1], y[1:3] = "one", "two"
    for seed in range(8):
        for method in ("split", "cross"):
            model = SVC(conformal=Conformal(method, folds=2, share=0.9, random_state=seed)).fit(X, y)
            assert model.classes_.tolist() == ["no", "one", "two", "yes"]
            assert model.predict_set(X, coverage=0.5).shape == (60, 4)


def test_a_class_that_the_machine_does_not_know_counts_as_missed():
    X, y = two_classes()
    model = SVC().fit(X, y)
    few = np.where(np.arange(20) < 3, "new", y[:20])
    model.conform(X[:20], few)
    assert np.isinf(model._conformity.scores).sum() == 3
    # Of 21 ranks, 18 and more are beyond every finite score.
    assert model.predict_set(X, coverage=0.9).all()
    assert not model.predict_set(X, coverage=0.8).all()


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, "0.9", None, np.nan, True])
def test_a_coverage_that_is_none_is_refused(coverage):
    X, y = quantities()
    model = SVR(conformal="split").fit(X, y)
    with pytest.raises(ParameterError, match="coverage must be a finite number above 0 and below 1, got"):
        model.predict_interval(X, coverage=coverage)


def test_too_few_rows_are_said_with_how_many_it_takes():
    X, y = quantities(30)
    with pytest.raises(DataError, match=r"coverage=0.9 needs at least 9 .*only 8.*ask for at most 0.888, or fit to"):
        SVR(conformal="split").fit(X, y).predict_interval(X)
    X, y = two_classes(30)
    model = SVC(conformal=Conformal("cross", by_class=True)).fit(X, y)
    with pytest.raises(DataError, match="every class would be in every set"):
        model.predict_set(X, coverage=0.99)
    model.fit(X, np.where(np.arange(30) < 25, "often", "rarely"))
    with pytest.warns(UserWarning, match=r"too few rows .* these classes \(rows\) are in every set: 'rarely' \(5\);"):
        assert model.predict_set(X, coverage=0.9)[:, 1].all()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("both", "conformal must be None, 'split', 'cross', 'leave_one_out' or a mercer.Conformal, got 'both'"),
        (True, "got True"),
        (Conformal, r"write Conformal\(\)"),
    ],
)
def test_what_is_no_way_to_leave_rows_out_is_refused(asked, told):
    with pytest.raises(ParameterError, match=told):
        SVC(conformal=asked).fit(*two_classes())


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"method": "jackknife"}, "method must be one of 'split', 'cross', 'leave_one_out', got 'jackknife'"),
        ({"folds": 1}, "folds must be a whole number, 2 or more, got 1"),
        ({"share": 1.0}, "share must be a finite number above 0 and below 1, got 1.0"),
        ({"score": "margin"}, "score must be one of 'lac', 'aps', got 'margin'"),
        ({"by_class": 1}, "by_class must be True or False, got 1"),
    ],
)
def test_parameters_of_conformal_are_checked_at_once(parameters, told):
    with pytest.raises(ParameterError, match=told):
        Conformal(**parameters)


def test_weights_and_blocks_and_several_targets_are_refused():
    X, y = quantities()
    with pytest.raises(ParameterError, match="cannot be combined with sample_weight"):
        SVR(conformal="cross").fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(ParameterError, match="call `conform` with rows set aside"):
        LinearSVR(conformal="split").fit(Blocks(X, y))
    with pytest.raises(DataError, match=r"conformal needs one target, got y of shape \(60, 2\)"):
        KernelRidge(conformal="cross").fit(X, X)
    column = KernelRidge(conformal="leave_one_out").fit(X, y[:, None]).predict_interval(X)
    np.testing.assert_allclose(column, KernelRidge(conformal="leave_one_out").fit(X, y).predict_interval(X))


def test_what_belongs_to_classifiers_is_refused_elsewhere():
    with pytest.raises(ParameterError, match="by_class is for classifiers, got by_class=True for SVR"):
        SVR(conformal=Conformal(by_class=True)).fit(*quantities())
    with pytest.raises(ParameterError, match="score='aps' needs probabilities; set probability=True"):
        SVC(conformal=Conformal(score="aps")).fit(*two_classes())


def test_too_few_rows_for_the_folds_are_refused_and_the_last_fit_stays():
    X, y = quantities()
    model = SVR(conformal="cross").fit(X, y)
    before = model.predict_interval(X)
    with pytest.raises(
        DataError, match="conformal='cross' with folds=10 needs at least as many rows, got n_samples=4; use fewer folds"
    ):
        model.fit(X[:4], y[:4])
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_an_unfitted_machine_says_so():
    with pytest.raises(NotFittedError):
        SVR(conformal="split").predict_interval([[0.0, 0.0]])
    with pytest.raises(NotFittedError):
        SVC().conform([[0.0, 0.0]], [1])
    model = SVR().fit(*quantities()).set_params(conformal="split")
    with pytest.raises(DataError, match="holds no scores of rows left out of its fit"):
        model.predict_interval([[0.0, 0.0]])


def test_a_compressed_machine_is_another_and_must_be_asked_again():
    X, y = two_classes(200)
    model = SVC(conformal="split").fit(X, y)
    small = mercer.compress(model, n_vectors=5)
    with pytest.raises(DataError, match="call `conform` with rows"):
        small.predict_set(X)
    new = two_classes(50, seed=1)
    assert small.conform(*new).predict_set(X).any(axis=1).all()
    assert model.predict_set(X).any(axis=1).all()


def test_a_fold_that_did_not_end_is_told():
    X, y = quantities(200)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = SVR(max_iter=1, conformal="cross").fit(X, y)
    # What was learnt too briefly is still covered.
    assert model.predict_interval(X).shape == (200, 2)


@pytest.mark.parametrize("method", ["split", "cross"])
def test_classes_may_weigh_differently(method):
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SVC(class_weight="balanced", conformal=method).fit(X, y).predict_set(X)
    assert found.any(axis=1).all()


@pytest.mark.parametrize(
    ("model", "data"),
    [
        *((clone(each).set_params(conformal=Conformal(by_class=True)), two_classes()) for each in CLASSIFIERS),
        (SVC(probability=True, conformal=Conformal("split", score="aps")), two_classes()),
        *((clone(each).set_params(conformal="cross"), quantities()) for each in REGRESSIONS),
        (KernelRidge(kernel="rbf", conformal="leave_one_out"), quantities()),
        (SVC(kernel=Spectrum(length=2), conformal="cross"), reviews()),
    ],
    ids=repr,
)
def test_a_model_file_keeps_what_conforms(model, data, tmp_path):
    X, y = data
    model.fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    name = "predict_set" if hasattr(model, "predict_set") else "predict_interval"
    np.testing.assert_array_equal(getattr(again, name)(X, coverage=0.8), getattr(model, name)(X, coverage=0.8))
    assert repr(again.conformal) == repr(model.conformal)


def test_folds_without_a_row_are_left_alone():
    """Rows that are alone in their class are never left out, so that of few rows a fold may have none."""
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [5.0, 0.0]])
    model = SVC(conformal=Conformal("cross", folds=3)).fit(rows, [0, 0, 1, 2])
    assert model.predict_set(rows, coverage=0.5).shape == (4, 3)
    with pytest.raises(DataError, match="cannot hold out the only row of a class"):
        SVC(conformal=Conformal("cross", folds=3)).fit(rows[:3], [0, 1, 2])
