"""A pipeline's decision value, given back to the columns that went into it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mercer import SVC, LinearSVC, ParameterError, explain
from mercer.kernels import Spectrum

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, 60),
        "income": RNG.normal(size=60),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel", "Trier"], 60, p=[0.4, 0.3, 0.2, 0.1]),
    }
)
Y = (PEOPLE["age"] + 10 * (PEOPLE["town"] == "Ulm") > 42).to_numpy(dtype=int)
NUMBERS = PEOPLE[["age", "income"]].to_numpy()
TEXTS, MOODS = ["good dog", "bad dog", "good cat", "bad cat"] * 4, [1, 0, 1, 0] * 4


def check(model, x, batch):
    """Every table adds up to the decision value."""
    found, decision = explain(model, x), model.decision_function(batch)
    tables = [found.by_support_vector, found.by_term, found.by_feature, found.by_position]
    for table in tables:
        if table is not None:
            np.testing.assert_allclose(table.values.sum(axis=1) + found.intercept, decision, atol=1e-6)
    return found


def columns(**options):
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]), (OneHotEncoder(**options), ["town"])
    )


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), LinearSVC()])
@pytest.mark.parametrize("codes", [{}, {"drop": "first"}, {"min_frequency": 12}])
def test_codes_of_a_category_are_one_column_again(machine, codes):
    model = make_pipeline(columns(**codes), machine).fit(PEOPLE, Y)
    found = check(model, PEOPLE.iloc[[3]], PEOPLE.iloc[[3]])
    assert set(found.by_feature.names) <= {"age", "income", "town"}
    assert {"age", "income"} <= set(found.by_feature.names)


@pytest.mark.parametrize("as_one", [lambda row: row, lambda row: row.iloc[0], lambda row: row.iloc[0].to_dict()])
def test_an_item_may_be_a_frame_a_series_or_a_dictionary(as_one):
    model = make_pipeline(columns(), SVC(kernel="linear")).fit(PEOPLE, Y)
    row = PEOPLE.iloc[[5]]
    found = check(model, as_one(row), row)
    assert found.by_feature.as_dict() == check(model, row, row).by_feature.as_dict()


def test_a_machine_without_features_has_its_support_vectors():
    model = make_pipeline(columns(), SVC()).fit(PEOPLE, Y)
    found = check(model, PEOPLE.iloc[[0]], PEOPLE.iloc[[0]])
    assert found.by_feature is None
    assert len(found.by_support_vector.names) == len(model[-1].support_)


def test_what_a_selection_leaves_keeps_its_name():
    model = make_pipeline(StandardScaler(), SelectKBest(k=1), SVC(kernel="linear")).fit(NUMBERS, Y)
    assert check(model, NUMBERS[0], NUMBERS[:1]).by_feature.names == ["x0"]


def test_mixtures_of_columns_go_by_their_own_names():
    model = make_pipeline(StandardScaler(), PCA(2), SVC(kernel="linear")).fit(NUMBERS, Y)
    assert check(model, NUMBERS[0], NUMBERS[:1]).by_feature.names == ["pca0", "pca1"]


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), LinearSVC()])
def test_words_of_a_text(machine):
    model = make_pipeline(TfidfVectorizer(), machine).fit(TEXTS, MOODS)
    found = check(model, "good good cat", ["good good cat"]).by_feature.as_dict()
    assert found["good"] > abs(found["cat"])


def test_a_text_that_is_passed_on():
    model = Pipeline([("as it is", "passthrough"), ("svc", SVC(kernel=Spectrum(2)))]).fit(TEXTS, MOODS)
    found = check(model, "good", ["good"])
    assert sorted(found.by_feature.names) == ["go", "od", "oo"]


def test_the_pipeline_that_a_search_has_found():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel="linear")), {"svc__C": [1, 2]}, cv=3)
    assert check(search.fit(NUMBERS, Y), NUMBERS[0], NUMBERS[:1]).by_feature.names == ["x0", "x1"]


def test_steps_without_names_say_what_to_call():
    model = make_pipeline(FunctionTransformer(lambda X: np.hstack([X, X])), LinearSVC()).fit(NUMBERS, Y)
    with pytest.raises(ParameterError, match=r"functiontransformer do not name .* mercer\.explain\(pipeline\[-1\]"):
        explain(model, NUMBERS[0])


def test_a_last_step_that_is_no_machine():
    model = make_pipeline(StandardScaler(), PCA(1)).fit(NUMBERS, Y)
    with pytest.raises(ParameterError, match=r"the last step of the pipeline must be a fitted Mercer model, got PCA"):
        explain(model, NUMBERS[0])
    with pytest.raises(NotFittedError):
        explain(make_pipeline(StandardScaler(), SVC()), NUMBERS[0])


def test_other_linear_models_have_coordinates_too():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(NUMBERS, Y)
    assert check(model, NUMBERS[0], NUMBERS[:1]).by_feature.names == ["x0", "x1"]
