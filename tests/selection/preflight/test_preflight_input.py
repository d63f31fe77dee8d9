"""What preflight looks at: data frames, texts, the last step of a pipeline, several kernels."""

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge as OtherKernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVR,
    DataError,
    KernelRidge,
    LinearSVC,
    MKLClassifier,
    NuSVC,
    OneClassSVM,
    preflight,
)
from mercer.kernels import Linear, Spectrum
from tests.estimators.datasets import two_classes


def look(estimator, X, y=None, **given):
    """With time for everything on any machine, so that what is found does not depend on how busy it is."""
    return preflight(estimator, X, y, seconds=60.0, **given)


def told(record):
    return {each.subject: each.message for each in record.findings}


# --- tables and texts -----------------------------------------------------------------------


def test_a_data_frame_of_numbers_is_told_what_its_array_is():
    X, y = two_classes("cancer")
    X = np.vstack([X, X]) * np.linspace(1.0, 1000.0, X.shape[1])
    y = np.r_[y, 1 - y]
    by_array, by_frame = look(SVC(), X, y), look(SVC(), pd.DataFrame(X), y)
    assert told(by_frame) == told(by_array)
    assert {"scaling", "duplicates", "contradictions", "rank"} <= set(told(by_frame))
    assert by_frame["contradictions"].is_problem


@pytest.mark.parametrize("as_rows", [False, True])
def test_mixed_tables_have_repetitions_too(as_rows):
    table = pd.DataFrame({"size": [1.0, np.nan, np.nan, 2.0] * 5, "town": ["Ulm", "Bonn", "Bonn", "Kiel"] * 5})
    given = table.to_dict("records") if as_rows else table
    record = look(MKLClassifier("columns"), given, [0, 0, 1, 1] * 5)
    assert record["duplicates"].message.startswith("17 of 20 rows are copies")
    assert record["contradictions"].message.startswith("10 rows are equal")
    assert "numbers" not in told(record)  # what is missing is no fault of a table


def test_texts_have_repetitions_too():
    texts = ["man bites dog", "dog bites man", "sun and rain", "rain and sun"] * 5
    record = look(SVC(kernel=Spectrum()), texts, [0, 0, 1, 1] * 4 + [1, 0, 1, 1])
    assert record["duplicates"].message.startswith("16 of 20 rows")
    assert record["contradictions"].message.startswith("5 rows are equal")


class Opaque:
    """Something whose content nobody knows."""


def test_items_that_cannot_be_compared_are_not_called_different():
    record = look(SVC(kernel=lambda A, B: np.eye(len(A), len(B))), [Opaque() for _ in range(20)], [0, 1] * 10)
    assert "duplicates" not in told(record)


# --- pipelines ------------------------------------------------------------------------------


def test_the_last_step_of_a_pipeline_is_looked_at():
    X, y = two_classes("cancer")
    raw = X * 10.0 ** np.linspace(-3, 3, X.shape[1])
    plain, piped = look(SVC(), X, y), look(make_pipeline(StandardScaler(), SVC()), raw, y)
    assert look(SVC(), raw, y)["scaling"].is_problem
    assert not piped.problems
    assert piped.advice == plain.advice == "exact"
    assert piped["rank"] == plain["rank"]
    assert plain.bytes <= piped.bytes <= 2 * plain.bytes  # the rows that were made count
    assert piped.n_columns == 30


def test_nu_and_missing_values_in_a_pipeline():
    X, y = two_classes("cancer")
    record = look(make_pipeline(StandardScaler(), NuSVC(nu=0.9)), X, y)
    assert record["nu"].is_problem
    assert "nu is infeasible" in record.refusal
    holes = np.where(X > 2.0, np.nan, X)
    assert look(SVC(), holes, y)["numbers"].is_problem
    filled = look(make_pipeline(SimpleImputer(), SVC()), holes, y)
    assert "numbers" not in told(filled)
    assert filled.is_measured


def test_texts_and_nested_pipelines_and_weights():
    texts = ["man bites dog", "dog bites man", "sun and rain", "rain and sun"] * 10
    y = [0, 0, 1, 1] * 10
    pipeline = make_pipeline(TfidfVectorizer(), make_pipeline(StandardScaler(with_mean=False), LinearSVC()))
    record = look(pipeline, texts, y, sample_weight=np.ones(40))
    assert record.refusal == ""
    assert record.advice == "linear"
    assert record["duplicates"].message.startswith("36 of 40")


def test_a_pipeline_that_refuses_the_data_says_so():
    record = look(make_pipeline(StandardScaler(), SVC()), ["a", "b"] * 10, [0, 1] * 10)
    assert record.refusal
    assert record["balance"].message == "0: 10, 1: 10"


# --- several kernels ------------------------------------------------------------------------


def test_several_given_matrices():
    X, y = two_classes("wine")
    record = look(MKLClassifier("precomputed"), [X @ X.T, (X @ X.T) ** 2], y)
    assert record.n_rows == len(y)
    assert record.is_measured
    assert set(told(record)) == {"balance"}


def test_the_rank_is_that_of_the_learnt_sum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    record = look(MKLClassifier([Linear(), 0.0 * Linear()]), X, (X[:, 0] > 0).astype(int))
    assert record["rank"].message.startswith("3 dimensions")


# --- what is said of whom -------------------------------------------------------------------


def test_only_those_that_have_nu_are_told_of_it():
    X, y = two_classes("wine")
    assert "nu" not in told(look(sklearn.svm.SVC(), X, y))
    assert "nu" not in told(look(sklearn.svm.SVR(), X, X[:, 0]))
    assert "nu" in told(look(sklearn.svm.OneClassSVM(), X))


@pytest.mark.parametrize(
    ("estimator", "whose"),
    [
        (SVC(kernel="linear"), "a problem for LinearSVC,"),
        (SVR(kernel="linear"), "a problem for LinearSVR,"),
        (KernelRidge(kernel="linear"), "Ridge"),
        (OtherKernelRidge(), "Ridge"),
    ],
)
def test_a_linear_kernel_is_sent_to_who_solves_its_problem(estimator, whose):
    X, y = two_classes("wine")
    record = look(estimator, X, y if isinstance(estimator, SVC) else X[:, 0])
    assert record.advice == "linear"
    assert whose in record.reason


def test_what_is_not_linear_is_not_called_so():
    X, y = two_classes("wine")
    assert look(RandomForestClassifier(3), X, y).advice == "exact"
    assert look(OneClassSVM(kernel="linear"), X).advice == "exact"


def test_several_targets():
    X, _ = two_classes("wine")
    X = np.vstack([X, X[:3]])
    targets = X[:, :2].copy()
    targets[-1, 1] += 1.0
    assert look(KernelRidge(), X, targets)["contradictions"].message.startswith("2 rows")


def test_rows_and_weights_are_counted():
    X, y = two_classes("wine")
    with pytest.raises(DataError, match="X must have at least one row, got none"):
        look(SVC(), np.zeros((0, 3)), [])
    with pytest.raises(DataError, match=r"sample_weight.shape == \(2,\), expected \(119,\)"):
        look(SVC(), X, y, sample_weight=[1, 2])
    assert look(SVC(), X, y, sample_weight=2.0).is_measured
