"""Pipelines of scikit-learn's transformers and a machine of Mercer come back as they were."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import mercer
from mercer import SVC, LinearSVC
from tests.exchange.sameness import same, same_answers


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 4))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "ja", "nein")


def round_trip(model, tmp_path):
    mercer.save(model, tmp_path / "model.mercer")
    return mercer.load(tmp_path / "model.mercer")


TRANSFORMERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler(feature_range=(-1, 1)),
    MaxAbsScaler(),
    RobustScaler(),
    Normalizer(),
    Binarizer(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=10),
    PolynomialFeatures(degree=2),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    SimpleImputer(),
    VarianceThreshold(),
    PCA(2),
    FunctionTransformer(),
    OneHotEncoder(handle_unknown="ignore"),
    "passthrough",
]


@pytest.mark.parametrize("step", TRANSFORMERS, ids=str)
def test_each_transformer(step, rows, tmp_path):
    X, y = rows
    model = Pipeline([("before", step), ("machine", SVC(kernel="linear"))]).fit(X, y)
    again = round_trip(model, tmp_path)
    same_answers(model, again, X)
    same(model, again)


def test_a_table_of_columns_of_each_kind(rng, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": np.where(np.arange(40) % 6, rng.normal(50.0, 9.0, 40), np.nan),
            "town": np.array(["Ulm", "Bonn", "Köln", None], dtype=object)[np.arange(40) % 4],
            "grade": np.array(["low", "high"])[np.arange(40) % 2],
            "rare": np.array(["x", *["y"] * 39]),
            "left": np.arange(40.0),
        }
    )
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age"]),
            ("words", OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, drop="if_binary"), ["town"]),
            ("order", OrdinalEncoder(categories=[["low", "high"]]), ["grade"]),
            ("gone", "drop", ["rare"]),
        ],
        remainder="passthrough",
    )
    model = make_pipeline(columns, SVC(probability=True)).fit(frame, np.arange(40) % 3)
    again = round_trip(model, tmp_path)
    same_answers(model, again, frame)
    unseen = frame.assign(town="Rom")
    with pytest.warns(UserWarning, match="unknown categories"):
        same(model.predict_proba(unseen), again.predict_proba(unseen))
    same(model[0].get_feature_names_out(), again[0].get_feature_names_out())


def test_transformers_that_give_data_frames(rows, tmp_path):
    pytest.importorskip("pandas")
    X, y = rows
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC()).fit(X, y)
    again = round_trip(model, tmp_path)
    same_answers(model, again, X)
    assert type(again[0].transform(X)).__name__ == "DataFrame"


def test_sparse_rows(rows, tmp_path):
    X, y = rows
    model = make_pipeline(MaxAbsScaler(), LinearSVC()).fit(sparse.csr_matrix(X), y)
    same_answers(model, round_trip(model, tmp_path), sparse.csr_matrix(X))


def test_a_label_encoder(tmp_path):
    encoder = LabelEncoder().fit(["pear", "apple", "fig"])
    again = round_trip(encoder, tmp_path)
    assert again.inverse_transform([0, 2]).tolist() == ["apple", "pear"]
    same(encoder, again)


def test_other_classes_are_refused(rows, tmp_path):
    X, y = rows
    with pytest.raises(mercer.ParameterError, match="LogisticRegression"):
        mercer.save(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), tmp_path / "m")
    model = make_pipeline(FunctionTransformer(np.tanh), SVC()).fit(X, y)
    with pytest.raises(mercer.ParameterError, match="'tanh' is a function"):
        mercer.save(model, tmp_path / "m")
    mercer.save(model, tmp_path / "m", kernels={"tanh": np.tanh})
    same_answers(model, mercer.load(tmp_path / "m", {"tanh": np.tanh}), X)
