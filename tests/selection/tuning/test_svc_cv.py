"""SVCCV, and what SVRCV shares with it: the scores of a grid search, any cv and scoring, and what they leave behind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.svm
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_validate

from mercer import SVC, SVCCV, SVR, SVRCV, ParameterError
from mercer.kernels import RBF, Columns, Delta, Linear, On, Spectrum
from tests.selection.tuning.searched import oversampled, scaled, scores_of

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1]}


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_scores_are_those_of_a_grid_search(load):
    # iris and wine are solved as small problems, breast_cancer in place, digits as pairs of classes.
    X, y = scaled(load, 1000)
    own = SVCCV(GRID["C"], GRID["gamma"]).fit(X, y)
    peer = GridSearchCV(sklearn.svm.SVC(), GRID).fit(X, y)
    assert own.cv_results_["params"] == peer.cv_results_["params"]
    # A row in two hundred may be so near to the boundary that the tolerance decides.
    np.testing.assert_allclose(scores_of(own), scores_of(peer), atol=max(0.005, 1.01 / (len(y) // 5)))
    assert (scores_of(own) == scores_of(peer)).mean() > 0.95
    assert own.best_params_ == peer.best_params_
    assert own.best_score_ == pytest.approx(peer.best_score_, abs=1e-3)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_scores_are_those_of_a_grid_search_over_the_same_machine(load):
    X, y = scaled(load)
    own = SVCCV(GRID["C"], GRID["gamma"]).fit(X, y)
    peer = GridSearchCV(SVC(), GRID).fit(X, y)
    np.testing.assert_array_equal(scores_of(own), scores_of(peer))
    np.testing.assert_array_equal(own.cv_results_["rank_test_score"], peer.cv_results_["rank_test_score"])


def test_decision_values_decide_as_those_of_a_grid_search():
    X, y = scaled(load_breast_cancer)
    own = SVCCV(GRID["C"], GRID["gamma"], scoring="roc_auc").fit(X, y)
    peer = GridSearchCV(SVC(), GRID, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(scores_of(own), scores_of(peer), atol=1e-3)


@pytest.mark.parametrize("options", [{"bias": "penalized"}, {"bias": "none"}, {"loss": "squared_hinge"}])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_every_form_of_the_problem(options, multi_class):
    X, y = scaled(load_digits, 600)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01]}
    own = SVCCV(grid["C"], grid["gamma"], multi_class=multi_class, cv=3, **options).fit(X, y)
    peer = GridSearchCV(SVC(multi_class=multi_class, **options), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(scores_of(own, 3), scores_of(peer, 3), atol=0.006)


def test_gamma_of_each_fold_is_that_of_its_rows():
    X, y = load_breast_cancer(return_X_y=True)
    own = SVCCV([1.0, 10.0], ["scale", "auto"]).fit(X / X.max(axis=0), y)
    peer = GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": ["scale", "auto"]}).fit(X / X.max(axis=0), y)
    np.testing.assert_array_equal(scores_of(own), scores_of(peer))


def test_class_weights_sparse_rows_and_single_precision():
    X, y = scaled(load_breast_cancer)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01]}
    for rows in (sparse.csr_array(X), X.astype(np.float32)):
        own = SVCCV(grid["C"], grid["gamma"], class_weight="balanced").fit(rows, y)
        peer = GridSearchCV(SVC(class_weight="balanced"), grid).fit(rows, y)
        np.testing.assert_allclose(scores_of(own), scores_of(peer), atol=0.01)


@pytest.mark.parametrize(
    "cv", [3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0), "iterable"], ids=str
)
def test_every_kind_of_cv(cv):
    X, y = scaled(load_wine)
    cv = (
        [(np.arange(0, 178, 2), np.arange(1, 178, 2)), (np.arange(1, 178, 2), np.arange(0, 178, 2))]
        if cv == "iterable"
        else cv
    )
    own = SVCCV([1.0, 10.0], [0.01, 0.1], cv=cv).fit(X, y)
    peer = GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.01, 0.1]}, cv=cv).fit(X, y)
    assert own.n_splits_ == peer.n_splits_
    np.testing.assert_array_equal(own.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])


def test_groups_stay_together():
    X, y = scaled(load_wine)
    groups = np.arange(len(y)) % 7
    own = SVCCV([1.0], [0.1], cv=GroupKFold(3)).fit(X, y, groups=groups)
    peer = GridSearchCV(SVC(), {"C": [1.0], "gamma": [0.1]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(scores_of(own, 3), scores_of(peer, 3))


def test_weights_count_rows_in_fits_and_scores():
    X, y = scaled(load_wine)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    parts = np.arange(len(y)) % 3
    again = np.repeat(np.arange(len(y)), weights)
    folds = [(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(3)]
    repeated = [(np.flatnonzero(parts[again] != k), np.flatnonzero(parts[again] == k)) for k in range(3)]
    weighted = SVCCV([0.1, 1.0], [0.01, 0.1], cv=folds).fit(X, y, sample_weight=weights)
    plain = SVCCV([0.1, 1.0], [0.01, 0.1], cv=repeated).fit(X[again], y[again])
    np.testing.assert_allclose(scores_of(weighted, 3), scores_of(plain, 3), atol=1e-12)


def test_several_scores():
    X, y = scaled(load_breast_cancer, 200)
    scoring = {"f1": make_scorer(f1_score), "area": "roc_auc"}
    own = SVCCV([0.1, 1.0], [0.01], scoring=scoring, refit="area", return_train_score=True).fit(X, y)
    peer = GridSearchCV(
        SVC(), {"C": [0.1, 1.0], "gamma": [0.01]}, scoring=scoring, refit="area", return_train_score=True
    ).fit(X, y)
    for name in ("mean_test_f1", "mean_test_area", "mean_train_f1", "std_test_area", "rank_test_f1"):
        np.testing.assert_allclose(own.cv_results_[name], peer.cv_results_[name], atol=1e-12)
    assert own.best_index_ == peer.best_index_


def test_a_function_as_score_gets_a_real_machine():
    def fewest(model, X, y):
        assert model.predict(X).shape == y.shape
        return -len(model.support_)

    X, y = scaled(load_wine)
    model = SVCCV([0.01, 10.0], [0.1], scoring=fewest).fit(X, y)
    assert model.best_params_["C"] == 10.0


def test_probabilities():
    X, y = scaled(load_wine)
    model = SVCCV([0.1, 1.0], [0.1], scoring="neg_log_loss", probability=True, cv=3).fit(X, y)
    assert np.isfinite(model.best_score_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert not hasattr(SVCCV(), "predict_proba")


def test_parameters_of_kernels_by_path():
    X, y = scaled(load_wine)
    grid = {"C": [1.0], "kernel__k1__gamma": [0.01, 1.0], "kernel__k2__c": [0.5, 2.0]}
    names = (RBF(0.1) + 2.0 * Linear()).get_params()
    grid = {name if name == "C" else f"kernel__{path}": values for name, values, path in _paths(grid, names)}
    kernel = RBF(0.1) + 2.0 * Linear()
    own = SVCCV(kernel=kernel, param_grid=grid).fit(X, y)
    peer = GridSearchCV(SVC(kernel=kernel), grid).fit(X, y)
    np.testing.assert_array_equal(scores_of(own), scores_of(peer))
    assert len(own.cv_results_["params"]) == len(peer.cv_results_["params"])


def _paths(grid, names):
    """Each axis of the grid with a numeric parameter that the kernel really has."""
    numeric = [name for name, value in names.items() if isinstance(value, float)]
    for (name, values), path in zip(grid.items(), ["C", *numeric], strict=False):
        yield name, values, path


def test_kernels_to_choose_from():
    X, y = scaled(load_wine)
    model = SVCCV([0.1, 1.0], [0.01, 0.1], kernels=["linear", "rbf", RBF(1.0)]).fit(X, y)
    states = model.cv_results_
    assert len(states["params"]) == 2 + 4 + 4
    assert states["param_gamma"].mask.sum() == 6
    assert states["param_kernel__gamma"].mask.sum() == 6


def test_a_given_matrix_and_a_function_are_kernels_too():
    X, y = scaled(load_wine)
    K = RBF(0.05)(X)
    expected = SVCCV([0.1, 1.0], None, kernel=RBF(0.05)).fit(X, y)

    def function(A, B):
        return RBF(0.05)(A, B)

    for kernel, rows in (("precomputed", K), (function, X)):
        model = SVCCV([0.1, 1.0], None, kernel=kernel).fit(rows, y)
        np.testing.assert_array_equal(scores_of(model), scores_of(expected))
        np.testing.assert_array_equal(model.predict(rows), expected.predict(X))


def test_texts():
    words = ["".join(np.random.default_rng(k).choice(list("ab" if k % 2 else "cd"), 12)) for k in range(60)]
    labels = np.array(["vowel" if k % 2 else "none" for k in range(60)])
    model = SVCCV([0.1, 1.0], None, kernel=Spectrum(2), param_grid={"C": [0.1, 1.0], "kernel__length": [1, 2]}).fit(
        words, labels
    )
    assert model.best_score_ == 1.0
    assert model.predict(words[:2]).tolist() == ["none", "vowel"]


def test_what_is_left_behind():
    X, y = scaled(load_wine)
    model = SVCCV([0.1, 1.0], [0.01, 0.1]).fit(X, y)
    alone = SVC(**model.best_params_).fit(X, y)
    np.testing.assert_array_equal(model.support_, alone.support_)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.certificate_[0].is_optimal(1e-3)
    assert model.status_.name == "OPTIMAL"
    assert model.best_params_["C"] == model.C_
    assert model.kernel_ == RBF(model.best_params_["gamma"])
    assert model.score(X, y) == alone.score(X, y)


def test_without_refit_there_is_nothing_to_predict_with():
    X, y = scaled(load_wine)
    model = SVCCV([0.1, 1.0], [0.01], refit=False).fit(X, y)
    assert model.best_params_["C"] in (0.1, 1.0)
    assert not hasattr(model, "predict")
    assert not hasattr(model, "support_")


def test_default_grids_find_good_settings():
    X, y = scaled(load_breast_cancer)
    model = SVCCV(cv=3).fit(X, y)
    assert len(model.cv_results_["params"]) == 48
    assert model.best_score_ > 0.97
    X, y = load_diabetes(return_X_y=True)
    assert SVRCV(Cs=4, gammas=3, cv=3, epsilon=10.0).fit(X, y).best_score_ > 0.4


def test_same_bits_on_one_thread_and_on_two():
    X, y = scaled(load_breast_cancer)
    found = [SVCCV(GRID["C"], GRID["gamma"], scoring="roc_auc", n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    np.testing.assert_array_equal(scores_of(found[0]), scores_of(found[1]))


def test_without_room_for_the_matrix_rows_are_computed_when_asked_for():
    X, y = scaled(load_breast_cancer)
    grid = {"C": [1.0, 10.0], "gamma": [0.01]}
    roomy, narrow = (SVCCV(grid["C"], grid["gamma"], memory_limit=limit).fit(X, y) for limit in (None, "13.5MiB"))
    np.testing.assert_allclose(scores_of(roomy), scores_of(narrow), atol=0.01)


@pytest.mark.filterwarnings("ignore:.*NOT_CONVEX:sklearn.exceptions.ConvergenceWarning")
def test_an_indefinite_kernel_is_searched_as_it_is_fitted():
    X, y = scaled(load_breast_cancer, 450)
    grid = {"C": [0.1, 1.0], "gamma": [0.01, 0.001]}
    own = SVCCV(grid["C"], grid["gamma"], kernel="sigmoid", cv=3).fit(X, y)
    peer = GridSearchCV(SVC(kernel="sigmoid"), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(scores_of(own, 3), scores_of(peer, 3), atol=0.01)


def test_values_that_a_fit_finds_by_itself():
    X, y = scaled(load_wine)
    own = SVCCV(param_grid={"C": [1.0, "auto"], "gamma": ["median", 0.1]}, cv=3).fit(X, y)
    peer = GridSearchCV(SVC(), {"C": [1.0, "auto"], "gamma": ["median", 0.1]}, cv=3).fit(X, y)
    assert (own.cv_results_["state"] == "done").all()
    np.testing.assert_array_equal(scores_of(own, 3), scores_of(peer, 3))


def test_C_that_each_fold_finds_by_itself():
    X, y = scaled(load_wine)
    model = SVCCV(Cs="auto", gammas=[0.01, 0.1], cv=3).fit(X, y)
    alone = SVC(C="auto", gamma=model.best_params_["gamma"]).fit(X, y)
    assert model.best_params_["C"] == "auto"
    assert model.C_ == alone.C_ > 0
    grid = GridSearchCV(SVC(C="auto"), {"gamma": [0.01, 0.1]}, cv=3).fit(X, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])


def test_groups_arrive_by_metadata_routing():
    X, y = scaled(load_wine)
    groups = np.arange(len(y)) % 6
    with sklearn.config_context(enable_metadata_routing=True):
        search = SVCCV([1.0], [0.1], cv=GroupKFold(3)).set_fit_request(groups=True)
        found = cross_validate(
            search, X, y, params={"groups": groups}, cv=2, return_estimator=True, error_score="raise"
        )
    assert all(each.n_splits_ == 3 for each in found["estimator"])


def test_far_apart_rows_under_a_narrow_kernel_have_the_scores_of_double_precision():
    """One row in a hundred is so far away that inner products in single precision would cancel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    X[::100] *= 300.0
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = SVCCV([0.5, 50.0], [0.5], cv=3).fit(X.astype(np.float32), y)
    grid = GridSearchCV(sklearn.svm.SVC(), {"C": [0.5, 50.0], "gamma": [0.5]}, cv=3).fit(X.astype(np.float32), y)
    apart = np.abs(ours.cv_results_["mean_test_score"] - grid.cv_results_["mean_test_score"])
    assert apart.max() <= 1.5 / len(y)


@pytest.mark.parametrize(
    "options", [{}, {"loss": "squared_hinge"}, {"bias": "penalized"}, {"class_weight": "balanced"}]
)
def test_rows_that_a_fold_repeats_count_as_often_as_they_are_there(options):
    X, y, cv = oversampled()
    how = {"cv": cv, "scoring": "balanced_accuracy"}
    found = SVCCV([0.1, 1.0], [0.1], **how, **options).fit(X, y)
    expected = GridSearchCV(SVC(gamma=0.1, **options), {"C": [0.1, 1.0]}, **how).fit(X, y)
    np.testing.assert_allclose(scores_of(found, 1), scores_of(expected, 1), atol=0.005)
    if not options:
        peer = GridSearchCV(sklearn.svm.SVC(gamma=0.1), {"C": [1.0]}, **how).fit(X, y)
        assert scores_of(found, 1)[1, 0] == pytest.approx(peer.best_score_, abs=0.005)


def mixed_table(rows=450):
    """A data frame of a number and a word, with labels."""
    X, y = scaled(load_breast_cancer, rows)
    return pd.DataFrame({"size": X[:, 0], "texture": np.where(X[:, 1] > 0, "rough", "fine")}), y


@pytest.mark.parametrize(
    "kernel",
    [Columns({"size": RBF(1.0), "texture": Delta()}), On("size", RBF("scale")), "auto"],
    ids=["columns", "scale", "auto"],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_tables_are_searched_as_they_are_fitted(kernel, make):
    frame, y = mixed_table()
    found = SVCCV([0.1, 10.0], kernel=kernel, cv=3).fit(make(frame), y)
    expected = GridSearchCV(SVC(kernel=kernel), {"C": [0.1, 10.0]}, cv=3).fit(frame, y)
    # Two rows of the 150 of a fold.
    np.testing.assert_allclose(scores_of(found, 3), scores_of(expected, 3), atol=0.014)
    np.testing.assert_array_equal(found.predict(make(frame)), expected.predict(frame))
    assert found.feature_names_in_.tolist() == ["size", "texture"]


def test_tables_in_halving_and_in_regressions():
    frame, y = mixed_table()
    kernel = Columns.infer(frame)
    halved = SVCCV(4, kernel=kernel, search="halving", factor=2, cv=3, random_state=0).fit(frame, y)
    assert halved.cv_results_["iter"].max() > 0
    assert halved.best_score_ > 0.8
    how = {"cv": 3, "scoring": "neg_mean_absolute_error"}
    found = SVRCV([1.0, 10.0], kernel=kernel, epsilons=[0.1, 0.2], tol=1e-5, **how).fit(frame, frame["size"])
    grid = {"C": [1.0, 10.0], "epsilon": [0.1, 0.2]}
    expected = GridSearchCV(SVR(kernel=kernel, tol=1e-5), grid, **how).fit(frame, frame["size"])
    np.testing.assert_allclose(scores_of(found, 3), scores_of(expected, 3), atol=1e-4)


def test_a_kernel_that_the_data_choose():
    texts, y = ["abab", "baba", "cdcd", "dcdc"] * 5, [0, 0, 1, 1] * 5
    assert SVCCV([1.0, 10.0], kernel="auto", cv=2).fit(texts, y).best_score_ == 1.0
    frame, y = mixed_table(120)
    by_itself = SVCCV([1.0], kernel="auto", cv=2).fit(frame, y)
    among_others = SVCCV([1.0], None, kernels=[On("size", RBF(1.0)), "auto"], cv=2).fit(frame, y)
    assert among_others.cv_results_["mean_test_score"][1] == by_itself.best_score_
    with pytest.raises(ParameterError, match="gammas must be a list of numbers"):
        SVCCV([1.0], kernels=["rbf", "auto"], cv=2).fit(frame, y)


@pytest.mark.parametrize("search", ["all", "halving"])
def test_a_function_may_give_several_scores(search):
    X, y = scaled(load_wine)

    def several(machine, X, y):
        return {"macro": f1_score(y, machine.predict(X), average="macro"), "right": machine.score(X, y)}

    how = {"cv": 3, "scoring": several, "return_train_score": True}
    found = SVCCV([0.01, 1.0], [0.1], refit="macro", search=search, **how).fit(X, y)
    expected = GridSearchCV(SVC(gamma=0.1), {"C": [0.01, 1.0]}, refit="macro", **how).fit(X, y)
    assert found.multimetric_
    assert found.best_params_["C"] == expected.best_params_["C"]
    for name in ("mean_test_macro", "mean_test_right", "mean_train_right", "rank_test_right"):
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name])
    unfitted = SVCCV([0.01, 1.0], [0.1], refit=False, **how).fit(X, y)
    assert not [name for name in unfitted.cv_results_ if name.endswith("test_score")]
    np.testing.assert_allclose(unfitted.cv_results_["mean_test_macro"], expected.cv_results_["mean_test_macro"])


def test_a_splitter_may_look_at_the_rows():
    X, y = scaled(load_wine)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])

    class ByColumn:
        def split(self, X, y, groups=None):
            order = np.argsort(X["b"].to_numpy() if hasattr(X, "columns") else X[:, 1])
            yield order[::2], order[1::2]

        def get_n_splits(self, X=None, y=None, groups=None):
            return 1

    for rows in (X, frame):
        found = SVCCV([1.0], [0.1], cv=ByColumn()).fit(rows, y)
        assert found.best_score_ == GridSearchCV(SVC(gamma=0.1), {"C": [1.0]}, cv=ByColumn()).fit(rows, y).best_score_
    backwards = [(np.arange(-178, 0, 2), np.arange(1, 178, 2))]
    forwards = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    ends = [SVCCV([1.0], [0.1], cv=cv, search="halving", random_state=0).fit(X, y) for cv in (backwards, forwards)]
    assert ends[0].best_score_ == ends[1].best_score_


def test_kernels_of_a_grid_are_left_as_they_were():
    X, y = scaled(load_wine)
    kernel, gammas = RBF(1.0), [1e-4, 0.1, 10.0]
    found = SVCCV(param_grid={"kernel": [kernel], "kernel__gamma": gammas}, cv=3).fit(X, y)
    expected = SVCCV([1.0], gammas, cv=3).fit(X, y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert kernel == RBF(1.0)
    assert found.kernel_ == RBF(0.1)
