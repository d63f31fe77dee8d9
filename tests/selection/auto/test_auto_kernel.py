import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from mercer import SVCCV, AutoKernelClassifier, AutoKernelRegressor, Status
from mercer._errors import DataError, ParameterError
from mercer.kernels.graph.graph import Graph
from mercer.selection.auto.named_scores import named_score

FEW = {"families": ["rbf", "linear"], "cv": 3}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2]


def interaction(rng, n=200, columns=8):
    """Labels that only two columns together can tell."""
    X = rng.normal(size=(n, columns))
    return X, np.sign(X[:, 0] * X[:, 1]).astype(int)


# ------------------------------------------------------------------ what it finds


def test_the_machine_is_an_exact_one_of_the_best_setting(cancer):
    model = AutoKernelClassifier(**FEW, random_state=0).fit(*cancer)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    assert model.best_estimator_.C == model.C_ == model.best_params_["C"]
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_]
    assert 0.94 < model.honest_score_ <= model.best_score_


def test_the_same_seed_gives_the_same_search_to_the_last_bit(rng):
    X, y = make_classification(1800, 5, n_informative=4, n_redundant=0, random_state=3)
    first, second = (AutoKernelClassifier(**FEW, random_state=7).fit(X, y) for _ in range(2))
    assert first.cv_results_["params"] == second.cv_results_["params"]
    assert np.array_equal(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])
    assert np.array_equal(first.dual_coef_, second.dual_coef_)
    assert set(first.cv_results_["n_resources"].tolist()) == {601, 1800}


def test_relevances_find_the_columns_that_matter(rng):
    X, y = interaction(rng)
    names = ["rbf", "relevance"]
    model = AutoKernelClassifier(families=names, cv=3).fit(X, y)
    assert model.best_params_["family"] == "relevance"
    scores = {name: AutoKernelClassifier(families=[name], cv=3).fit(X, y).best_score_ for name in names}
    assert scores["relevance"] > scores["rbf"] + 0.05
    relevance = model.kernel_.relevances
    assert relevance[:2].min() > 5 * relevance[2:].max()


def test_an_additive_function_is_learnt_column_by_column(rng):
    X = rng.uniform(-2, 2, size=(150, 10))
    y = np.sin(3 * X).sum(axis=1)
    model = AutoKernelRegressor(families=["rbf", "additive"], cv=3).fit(X, y)
    assert model.best_params_["family"] == "additive"
    assert model.best_score_ > 0.9


def test_kernels_are_tried_together_where_several_are_good(cancer):
    model = AutoKernelClassifier(families=["rbf", "laplacian"], cv=3).fit(*cancer)
    families = model.cv_results_["param_family"].tolist()
    assert "mixture" in families
    parts = next(each for each in model.cv_results_["params"] if each["family"] == "mixture")["parts"]
    assert {name for name, _ in parts} == {"rbf", "laplacian"}


def test_every_family_of_numbers_can_win(rng):
    X, y = interaction(rng, 90, 3)
    for name in AutoKernelClassifier().families_for(X):
        model = AutoKernelClassifier(families=[name], cv=3).fit(X, y)
        assert model.best_params_["family"] == name
        assert model.predict(X).shape == (90,)
        assert model.certificate_.is_optimal(1e-3)


def test_widths_and_C_go_beyond_where_they_began(rng):
    # A fine chess board needs a width that nobody would begin with.
    X = rng.uniform(0, 1, size=(700, 2))
    y = (np.floor(X * 9).sum(axis=1) % 2).astype(int)
    model = AutoKernelClassifier(families=["rbf"], cv=3, random_state=0).fit(X, y)
    assert model.best_params_["width"] < 0.25
    grid = SVCCV(Cs=[1.0], gammas=[10.0, 40.0], search="adaptive", cv=3).fit(X, y)
    assert grid.best_params_["gamma"] > 40.0
    assert grid.best_score_ > SVCCV(Cs=[1.0], gammas=[10.0, 40.0], cv=3).fit(X, y).best_score_ + 0.05


# ------------------------------------------------------------------ texts, graphs, tables


def test_texts_find_the_length_that_tells_them_apart(rng):
    # A motif of five letters in half of the sequences.
    letters = np.array(list("acgt"))
    texts, y = ["".join(rng.choice(letters, 40)) for _ in range(80)], np.arange(80) % 2
    texts = [text[:10] + "gattc" * 3 + text[25:] if label else text for text, label in zip(texts, y, strict=True)]
    model = AutoKernelClassifier(families=["spectrum"], cv=3).fit(texts, y)
    assert model.best_params_["length"] >= 3
    assert model.score(texts, y) > 0.95


def test_graphs_find_a_kernel(rng):
    rings = [Graph([(k, (k + 1) % n) for k in range(n)], node_labels=["c"] * n) for n in rng.integers(4, 9, 15)]
    paths = [Graph([(k, k + 1) for k in range(n - 1)], node_labels=["c"] * n) for n in rng.integers(4, 9, 15)]
    model = AutoKernelClassifier(cv=3).fit([*rings, *paths], np.arange(30) // 15)
    assert model.best_params_["family"] in ("weisfeiler_lehman", "shortest_path", "label_path", "mixture")
    assert model.score([*rings, *paths], np.arange(30) // 15) > 0.9


def test_a_table_keeps_categories_and_missing_values(rng):
    towns = rng.choice(["Ulm", "Bonn"], 120)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 120), "town": towns})
    frame.loc[::10, "age"] = np.nan
    y = np.where(towns == "Ulm", "yes", "no")
    model = AutoKernelClassifier(cv=3).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.feature_names_in_.tolist() == ["age", "town"]


# ------------------------------------------------------------------ scores


@pytest.mark.parametrize(
    ("word", "name"),
    [("accuracy", "accuracy"), ("balanced", "balanced_accuracy"), ("auc", "roc_auc"), ("f1", "f1")],
)
def test_a_score_by_its_word_is_that_of_scikit_learn(cancer, word, name):
    X, y = cancer
    model = AutoKernelClassifier(families=["rbf"], scoring=word, cv=StratifiedKFold(3)).fit(X, y)
    expected = cross_val_score(clone(model.best_estimator_), X, y, cv=StratifiedKFold(3), scoring=name)
    assert model.best_score_ == pytest.approx(expected.mean(), abs=0.006)


def test_log_loss_asks_for_probabilities_by_itself(rng):
    X, y = load_iris(return_X_y=True)
    model = AutoKernelClassifier(families=["linear"], scoring="log_loss", cv=3).fit(X, y)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(150))
    assert -0.3 < model.best_score_ < 0.0


@pytest.mark.parametrize(("word", "name"), [("r2", "r2"), ("mae", "neg_mean_absolute_error")])
def test_scores_of_quantities(rng, word, name):
    X = rng.normal(size=(120, 3))
    y = 100.0 * np.sin(X[:, 0]) + rng.normal(size=120)
    model = AutoKernelRegressor(families=["rbf"], scoring=word, cv=KFold(3)).fit(X, y)
    expected = cross_val_score(clone(model.best_estimator_), X, y, cv=KFold(3), scoring=name)
    assert model.best_score_ == pytest.approx(expected.mean(), rel=0.02)


def test_several_classes_have_an_area_each(rng):
    y, values = np.arange(30) % 3, rng.normal(size=(30, 3))
    area = named_score("auc", y, True)._score_func(y, values, classes=np.arange(3))
    assert area == pytest.approx(np.mean([roc_auc_score(y == k, values[:, k]) for k in range(3)]))


def test_a_rare_class_is_given_weight_where_the_score_asks_for_it(rng):
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=300) > 1.8).astype(int)
    model = AutoKernelClassifier(families=["linear"], scoring="balanced", cv=3).fit(X, y)
    assert model.best_params_["class_weight"] == "balanced"


# ------------------------------------------------------------------ honesty


def test_on_noise_the_best_is_lucky_and_the_honest_score_is_chance():
    raw, honest, errors = [], [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(90, 12)), np.arange(90) % 2
        model = AutoKernelClassifier(families=["rbf", "linear"], cv=5).fit(X, rng.permutation(y))
        raw.append(model.best_score_)
        honest.append(model.honest_score_)
        errors.append(model.honest_error_)
    assert np.mean(raw) > 0.56
    # Within two of the errors that it states, of a mean of so many.
    assert abs(np.mean(honest) - 0.5) < 2.0 * np.mean(errors) / np.sqrt(len(errors))
    assert np.mean(honest) < np.mean(raw) - 0.04


def test_where_there_is_something_to_learn_the_honest_score_is_near_that_of_new_rows(rng):
    X = rng.normal(size=(900, 6))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=900))
    model = AutoKernelClassifier(families=["rbf", "linear"], cv=5).fit(X[:300], y[:300])
    new = model.score(X[300:], y[300:])
    assert abs(model.honest_score_ - new) < 3.0 * np.hypot(model.honest_error_, np.sqrt(new * (1 - new) / 600))


def test_relevances_do_not_see_the_labels_by_which_they_are_judged(rng):
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 2
    model = AutoKernelClassifier(families=["relevance"], cv=5).fit(X, y)
    assert np.median(model.cv_results_["mean_test_score"]) < 0.62


# ------------------------------------------------------------------ limits and bad input


def test_a_limit_of_time_is_kept_and_said(rng):
    X = rng.normal(size=(3000, 8))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000)).astype(int)
    AutoKernelClassifier(families=["rbf"]).fit(X[:60], y[:60])
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AutoKernelClassifier(time_limit=1.5, n_jobs=1, random_state=0).fit(X, y)
    # What a limit of time may be passed by, and what is waited for: compiled code, once.
    assert time.process_time() - begin < 15.0
    assert model.score(X, y) > 0.5
    assert model.ending_


@pytest.mark.parametrize("kind", [AutoKernelClassifier, AutoKernelRegressor])
def test_a_tenth_of_a_second_gives_what_can_be_had_and_a_sentence(rng, kind):
    X, y = interaction(rng, 2000)
    kind(**FEW).fit(X[:50], y[:50])
    with pytest.warns(ConvergenceWarning, match="Raise time_limit to judge more|had no time"):
        model = kind(time_limit=0.1).fit(X, y)
    assert model.predict(X).shape == (2000,)
    assert model.ending_ == "the time was up"


def test_who_stops_it_keeps_the_best_so_far(cancer):
    seen = []

    def enough(point):
        seen.append(point)
        return len(seen) > 8

    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = AutoKernelClassifier(families=["rbf"], callbacks=[enough], cv=3).fit(*cancer)
    assert model.ending_ == "it was stopped"
    assert model.best_score_ > 0.9
    assert model.score(*cancer) > 0.9
    assert all(score <= seen[-1].best_score for _, score in seen[-1].judged)


def test_a_score_that_cannot_be_better_ends_the_search(rng):
    X = np.concatenate([rng.normal(-9, 1, (30, 2)), rng.normal(9, 1, (30, 2))])
    model = AutoKernelClassifier(cv=3).fit(X, np.arange(60) // 30)
    assert model.ending_ == "the score cannot be better"
    assert model.best_score_ == 1.0


def test_a_family_that_is_not_known_is_named_with_those_that_are(rng):
    X, y = interaction(rng, 30)
    with pytest.raises(ParameterError, match=r"families must be None or some of rough, rbf, .*relevance.*spectrum"):
        AutoKernelClassifier(families=["spectrum"]).fit(X, y)
    with pytest.raises(ParameterError, match="scoring must be one of accuracy, balanced, auc"):
        AutoKernelClassifier(scoring="acuracy").fit(X, y)


def test_an_adaptive_grid_refuses_what_it_cannot_widen(rng):
    X, y = interaction(rng, 30)
    for options in ({"param_grid": {"C": [1.0]}}, {"n_iter": 3}, {"Cs": "auto"}, {"early_stop": True}):
        with pytest.raises(ParameterError, match="search='all'"):
            SVCCV(**options, search="adaptive").fit(X, y)


def test_fewer_rows_than_folds_are_divided_into_as_many_as_there_can_be(rng):
    X = rng.normal(size=(4, 2))
    assert AutoKernelClassifier(families=["linear"]).fit(X, [0, 1, 0, 1]).n_splits_ == 2
    assert AutoKernelRegressor(families=["linear"], scoring="mae").fit(X, [0.0, 1.0, 0.5, 0.2]).n_splits_ == 4
    with pytest.raises(DataError, match="cannot split n_samples=4 rows"):
        AutoKernelClassifier(families=["linear"], cv=5).fit(X, [0, 1, 0, 1])
