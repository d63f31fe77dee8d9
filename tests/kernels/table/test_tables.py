"""Kernels of tables: values by hand, every container, missing values, and what is refused."""

import datetime as dt
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer import SVC, DataError, HardMarginSVC, KernelPerceptron, ParameterError, kernels, mercer_check
from mercer.kernels import RBF, Columns, Constant, Cyclic, Delta, Linear, On, Polynomial, Sigmoid, Standardized
from mercer.kernels.base.structured import CountKernel, require_kind
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import fingerprints
from mercer.kernels.table.column_frame import ColumnFrame

N = 42
DATA = {
    "age": [None if i % 7 == 3 else 20.0 + i % 5 for i in range(N)],
    "town": [None if i % 11 == 5 else ["Ulm", "Bonn", "Kiel"][i % 3] for i in range(N)],
    "since": [None if i == 4 else dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(N)],
    "member": [i % 2 == 0 for i in range(N)],
    "width": [float(i % 4) for i in range(N)],
    "height": [float(i % 6) for i in range(N)],
}
ROWS = [dict(zip(DATA, row, strict=True)) for row in zip(*DATA.values(), strict=True)]
Y = np.array([i % 3 == 0 for i in range(N)], dtype=int)
CONTAINERS = {
    "pandas": pd.DataFrame,
    "pandas, nullable types": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas, objects": lambda data: pd.DataFrame(data, dtype=object),
    "polars": pl.DataFrame,
    "polars, categories": lambda data: pl.DataFrame(data).with_columns(pl.col("town").cast(pl.Categorical)),
    "pyarrow": pa.table,
    "dictionaries": lambda data: [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)],
}
every_container = pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)


@dataclass(frozen=True)
class Letters(CountKernel):
    """How often each letter occurs: a stand-in for the kernels of texts, whatever they are asked for."""

    length: object = 3
    tokenizer: str = "letters"
    weighting: str = "count"
    lowercase: bool = False

    item_name = "text"

    def encode(self, items, dtype):
        require_kind(items, str, "text", "pass str(item)")
        item = np.repeat(np.arange(len(items)), [len(text) for text in items])
        return Counts.from_occurrences(item, fingerprints("".join(items)), 1.0, len(items), dtype)

    def feature_names(self, X, names=None):
        letters = np.array(sorted(set("".join(X))))
        return letters[np.argsort(fingerprints(list(letters)))].tolist()


def with_missing(value, other, compare, both=1.0):
    if value is None or other is None:
        return both if value is other else 0.0
    return compare(value, other)


def gaussian(gamma):
    return lambda a, b: np.exp(-gamma * (a - b) ** 2)


def same(a, b):
    return float(a == b)


def by_hand(rows, others, terms):
    """The sum of weight * compare(x[name], y[name]), written out."""
    return np.array(
        [[sum(w * with_missing(x[n], y[n], f) for n, f, w in terms) for y in others] for x in rows], dtype=float
    )


@every_container
def test_values_are_those_written_out(make):
    kernel = Columns(
        {"age": RBF(0.2), "town": Delta(), "since": RBF(0.01), "member": Delta()}, weights={"town": 2.0, "since": 0.5}
    )
    rows = [{**row, "since": row["since"] and float((row["since"] - dt.date(1970, 1, 1)).days)} for row in ROWS]
    terms = [("age", gaussian(0.2), 1.0), ("town", same, 2.0), ("since", gaussian(0.01), 0.5), ("member", same, 1.0)]
    expected = by_hand(rows, rows, terms)
    table = make(DATA)
    np.testing.assert_allclose(kernel(table), expected, atol=1e-12)
    np.testing.assert_allclose(
        kernel(table, make({name: values[:5] for name, values in DATA.items()})), expected[:, :5]
    )
    np.testing.assert_allclose(kernel.diag(table), np.diag(expected), atol=1e-12)
    mean = kernel.replace(combine="mean")
    np.testing.assert_allclose(mean(table), expected / 4.5, atol=1e-12)


@every_container
def test_estimators_take_the_table_as_it_is(make):
    table = make(DATA)
    kernel = Columns.infer(table)
    model = SVC(kernel=kernel, C=10.0).fit(table, Y)
    reference = SVC(kernel="precomputed", C=10.0).fit(kernel(table), Y)
    np.testing.assert_allclose(model.decision_function(table), reference.decision_function(kernel(table)), atol=1e-6)
    assert model.certificate_.is_optimal(1e-3)
    assert type(model.support_vectors_) is type(table)
    assert len(model.support_vectors_) == len(model.support_)
    assert cross_val_score(clone(model), table, Y, cv=3).min() > 0.8
    assert make_pipeline(FunctionTransformer(), clone(model)).fit(table, Y).score(table, Y) == 1.0
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))


def test_other_machines_take_tables_too():
    frame = pd.DataFrame(DATA)
    kernel = Columns.infer(frame, exclude="age") + 0.5
    for machine in (HardMarginSVC(kernel=kernel), KernelPerceptron(kernel=kernel)):
        assert machine.fit(frame, Y).score(frame, Y) == 1.0


def test_a_search_reaches_the_kernel_of_a_column_by_its_name():
    frame = pd.DataFrame(DATA)
    kernel = Columns({"age": RBF(), "town": Delta()}, standardize=True)
    search = GridSearchCV(SVC(kernel=kernel), {"kernel__age__gamma": [0.5, 2.0], "kernel__missing": [0.0, 1.0]}, cv=2)
    search.fit(frame, Y)
    assert search.best_estimator_.kernel.kernels["age"].gamma in (0.5, 2.0)
    assert kernel.get_params()["age__gamma"] == 1.0
    assert kernel.replace(age__gamma=3.0).kernels["age"] == RBF(3.0)
    assert kernel.kernels["age"] == RBF()
    with pytest.raises(ParameterError, match="Columns has no parameter 'agee__gamma'"):
        kernel.replace(agee__gamma=1.0)
    on = GridSearchCV(SVC(kernel=On("age", RBF()) + 1.0), {"kernel__k1__kernel__gamma": [0.5, 2.0]}, cv=2)
    assert on.fit(frame, Y).best_params_["kernel__k1__kernel__gamma"] in (0.5, 2.0)


def test_columns_of_arrays_go_by_position():
    X = np.column_stack([np.arange(6.0), [0, 1, 0, 1, np.nan, 0]])
    kernel = Columns({0: RBF(0.5), 1: Delta()})
    rows = [{0: x[0], 1: None if np.isnan(x[1]) else x[1]} for x in X]
    np.testing.assert_allclose(kernel(X), by_hand(rows, rows, [(0, gaussian(0.5), 1.0), (1, same, 1.0)]))
    np.testing.assert_allclose(kernel(X.tolist()), kernel(X))
    np.testing.assert_allclose(kernel(X.astype(np.float32)), kernel(X), atol=1e-6)
    y = [0, 0, 0, 1, 1, 1]
    assert SVC(kernel=kernel, C=10.0).fit(X, y).score(X, y) == 1.0
    assert On(1, RBF(0.5))(pd.DataFrame({"a": [1.0], "b": [2.0]})) == 1.0


def test_several_columns_of_numbers_are_one_vector():
    frame = pd.DataFrame(DATA)
    kernel = On(["width", "height"], RBF(0.3))
    np.testing.assert_allclose(kernel(frame), RBF(0.3)(frame[["width", "height"]].to_numpy()))
    frame.loc[2, "width"] = np.nan
    expected = RBF(0.3)(frame[["width", "height"]].fillna(0.0).to_numpy())
    expected[2], expected[:, 2] = 0.0, 0.0
    expected[2, 2] = 1.0
    np.testing.assert_allclose(kernel(frame), expected)
    np.testing.assert_allclose(
        Columns({"size": kernel, "member": Delta()})(frame), expected + On("member", Delta())(frame)
    )


def test_algebra():
    frame = pd.DataFrame(DATA)
    age, town = On("age", RBF(0.1)), On("town", Delta())
    np.testing.assert_allclose((age * town + 2.0)(frame), age(frame) * town(frame) + 2.0)
    np.testing.assert_allclose((2.0 * age + town).normalized().diag(frame), 1.0)
    np.testing.assert_allclose((age + town).centered()(frame).sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(
        Columns({"age": RBF(0.1), "town": Delta()}, combine="product")(frame), age(frame) * town(frame)
    )
    assert (age + town).is_psd
    assert (age * town).takes_tables
    assert Columns({"age": Sigmoid(1.0, 0.0)}).is_psd is None
    assert mercer_check(Columns.infer(frame)).kind == "by_construction"


def test_features_have_the_kernel_as_inner_products_and_names():
    frame = pd.DataFrame(DATA).assign(note=["ab", "ba c"] * 20 + [None, ""])
    kernel = Columns(
        {"age": Linear(), "town": Delta(), "size": On(["width", "height"], Polynomial(2, 1.0, 1.0)), "note": Letters()},
        weights={"town": 3.0},
    )
    features = kernel.feature_map(frame)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(frame), atol=1e-9)
    named = Columns({"town": Delta(), "age": Linear(), "note": Letters()}, missing=0.0)
    names = named.feature_names(frame)
    features = named.feature_map(frame).toarray()
    assert features.shape[1] == len(names)
    row = dict(zip(names, features[1], strict=True))
    assert {name: value for name, value in row.items() if value} == {
        "town: Bonn": 1.0, "age": 21.0, "note: a": 1.0, "note: b": 1.0, "note: c": 1.0, "note:  ": 1.0,
    }  # fmt: skip
    squared = (On("town", Delta()) + On("age", Linear(), 0.0)) ** 2
    features = squared.feature_map(frame)
    np.testing.assert_allclose((features @ features.T).toarray(), squared(frame), atol=1e-6)
    normal = On("note", Letters(), missing=0.0).normalized()
    features = normal.feature_map(frame)
    np.testing.assert_allclose((features @ features.T).toarray(), normal(frame), atol=1e-12)


values = st.one_of(st.none(), st.floats(-5, 5), st.just(float("nan")))
labels = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]), st.integers(0, 2))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(values, values, labels), min_size=1, max_size=12), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_rule_for_missing_values_keeps_a_kernel_positive_semidefinite(rows, missing):
    table = [{"u": u, "v": v, "c": c} for u, v, c in rows]
    parts = {"u": RBF(0.5), "v": Linear(), "c": Delta(), "both": On(["u", "v"], RBF(0.1), missing)}
    for combine in ("sum", "product"):
        gram = Columns(parts, combine=combine, missing=missing)(table)
        np.testing.assert_array_equal(gram, gram.T)
        assert np.linalg.eigvalsh(gram)[0] >= -1e-9 * max(1.0, np.trace(gram))
    features = Columns({"v": Linear(), "c": Delta()}, missing=missing)
    psi = features.feature_map(table)
    np.testing.assert_allclose((psi @ psi.T).toarray(), features(table), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(values, labels), min_size=2, max_size=10), st.data())
def test_prepared_rows_can_be_chosen_and_sliced(rows, data):
    table = [{"u": u, "c": c} for u, c in rows]
    kernel = Columns({"u": RBF(0.5), "c": Delta()})
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=8))
    start = data.draw(st.integers(0, len(rows) - 1))
    stop = data.draw(st.integers(start, len(rows)))
    gram, prepared = kernel(table), kernel.bind(table).prepare(table)
    for part, places in ((prepared.take(np.array(chosen)), chosen), (prepared.slice(start, stop), range(start, stop))):
        out = np.empty((len(part), len(rows)))
        kernel.tile(part, prepared, out, 0, 0)
        np.testing.assert_allclose(out, gram[list(places)], atol=1e-12)
        np.testing.assert_allclose(kernel.diag_of(part), np.diag(gram)[list(places)])


def test_numbers_are_standardised_on_training_rows_only():
    train, test = pd.DataFrame({"a": [1.0, 3.0, None, 5.0]}), pd.DataFrame({"a": [100.0]})
    kernel = Columns({"a": RBF(1.0)}, standardize=True).bind(train)
    z = (np.array([1.0, 3.0, 5.0]) - 3.0) / np.sqrt(8.0 / 3.0)
    np.testing.assert_allclose(kernel(train)[np.ix_([0, 1, 3], [0, 1, 3])], np.exp(-((z[:, None] - z) ** 2)))
    assert kernel(test, train)[0, 2] == 0.0
    weighted = Columns({"a": Linear()}, standardize=True).bind(train, np.array([1.0, 0.0, 5.0, 1.0]))
    assert weighted.kernels["a"].kernel.mean == (3.0,)
    assert weighted.kernels["a"].kernel.deviation == (2.0,)
    with pytest.raises(ParameterError, match="depends on training data"):
        Columns({"a": RBF(1.0)}, standardize=True)(train, test)


def test_standardised_rows():
    X = np.array([[1.0, 7.0], [3.0, 7.0]])
    np.testing.assert_allclose(Standardized(Linear())(X), [[1.0, -1.0], [-1.0, 1.0]])
    assert Standardized(RBF("scale")).bind(X).kernel.gamma == 1.0 / (2 * 0.5)
    features = Standardized(Linear()).feature_map(sparse.csr_array(X))
    np.testing.assert_allclose(features, [[-1.0, 0.0], [1.0, 0.0]])
    assert SVC(kernel=Standardized(RBF())).fit(X, [0, 1]).score(X, [0, 1]) == 1.0
    with pytest.raises(DataError, match="X must have 2 features, got 1"):
        Standardized(Linear()).bind(X).prepare([[1.0]])
    with pytest.raises(ParameterError, match="mean and deviation must be given together"):
        Standardized(Linear(), mean=(1.0,))


def test_distances_between_large_numbers_keep_their_digits():
    seconds = 1.7e9 + np.array([0.0, 1.0, 3.0])
    frame = pd.DataFrame({"t": seconds})
    np.testing.assert_allclose(On("t", RBF(0.1))(frame)[0], np.exp(-0.1 * np.array([0.0, 1.0, 9.0])), rtol=1e-6)
    model = SVC(kernel=Columns({"t": RBF(0.1)}), C=100.0).fit(frame, [0, 1, 1])
    assert model.score(frame, [0, 1, 1]) == 1.0


def test_cyclic_values_come_round():
    kernel = Cyclic(period=7.0, gamma=0.5)
    X = np.array([[0.0], [6.5], [14.0], [3.5]])
    expected = np.exp(-2.0 * np.sin(np.pi * (X - X.T) / 7.0) ** 2)
    np.testing.assert_allclose(kernel(X), expected, atol=1e-12)
    dates = pd.DataFrame({"d": pd.to_datetime(["2024-01-01 06:00", "2024-05-05 06:00", "2024-05-05 18:00"])})
    day = Columns.infer(dates, cyclic=["day", "week"])
    assert list(day.kernels) == ["d", "d in day", "d in week"]
    np.testing.assert_allclose(day.kernels["d in day"](dates)[0], [1.0, 1.0, np.exp(-4.0)], atol=1e-9)
    with pytest.raises(DataError, match="one column, got 2"):
        kernel([[1.0, 2.0]])


def test_dates_that_are_written_out_are_dates():
    written = [{"d": "2024-01-01"}, {"d": None}, {"d": "2024-03-01 12:00"}]
    frame = pd.DataFrame({"d": pd.to_datetime([row["d"] for row in written], format="ISO8601")})
    np.testing.assert_allclose(On("d", RBF(1e-3))(written), On("d", RBF(1e-3))(frame), atol=1e-12)
    np.testing.assert_allclose(On("d", RBF(1e-3))(pl.DataFrame(written), frame), On("d", RBF(1e-3))(frame), atol=1e-9)
    assert list(Columns.infer(written, cyclic=["week"]).kernels) == ["d", "d in week"]
    assert Columns.infer([{"d": "2024-02-30"}]).kernels == {"d": Delta()}


def test_times_in_a_zone_are_those_of_the_world():
    zone = dt.timezone(dt.timedelta(hours=2))
    here = [{"t": dt.datetime(2024, 1, 1, 14, 0, tzinfo=zone)}, {"t": dt.datetime(2024, 1, 2, tzinfo=zone)}]
    frame = pd.DataFrame({"t": pd.to_datetime([row["t"] for row in here], utc=True)})
    np.testing.assert_allclose(On("t", RBF(1.0))(here, frame), On("t", RBF(1.0))(here), atol=1e-9)


@pytest.fixture
def texts_have_a_kernel(monkeypatch):
    monkeypatch.setitem(vars(kernels), "Spectrum", Letters)


class Graph:
    """As `mercer.Graph` presents itself."""


Graph.__module__ = "mercer.graphs"


def test_infer_looks_at_types_and_values(texts_have_a_kernel, monkeypatch):
    monkeypatch.setitem(vars(kernels), "WeisfeilerLehman", Letters)
    frame = pd.DataFrame({
        "amount": [1, 2, 3], "price": [0.5, None, 1.5], "ok": [True, False, True], "colour": ["red", "blue", "red"],
        "when": pd.to_datetime(["2024-01-01", None, "2024-02-01"]), "empty": [None] * 3,
        "review": ["a very good thing", "not so good at all", "I like it a lot"], "shape": [Graph(), Graph(), None],
        "label": [0, 1, 0],
    })  # fmt: skip
    found = Columns.infer(frame, exclude=["label"]).kernels
    assert {name: repr(kernel) for name, kernel in found.items()} == {
        "amount": "RBF(gamma=1.0)", "price": "RBF(gamma=1.0)", "ok": "Delta()", "colour": "Delta()",
        "when": "RBF(gamma=1.0)", "shape": "Letters().normalized()",
        "review": "Letters(length=(1, 2), tokenizer='words', weighting='tf-idf', lowercase=True).normalized()",
    }  # fmt: skip
    words = [{"word": f"{i}"} for i in range(30)]
    assert Columns.infer(words, text=Letters()).kernels == {"word": Letters()}
    assert Columns.infer(words[:20]).kernels == {"word": Delta()}


def test_a_column_of_texts_is_read(texts_have_a_kernel):
    frame = pl.DataFrame({"text": ["abba was here today", None, "a cab, a cab for me"], "n": [1, 2, 3]})
    kernel = Columns.infer(frame)
    shared = Letters().normalized()(["abba was here today", "a cab, a cab for me"])[0, 1]
    np.testing.assert_allclose(On("text", kernel.kernels["text"])(frame)[0], [1.0, 0.0, shared])
    assert SVC(kernel=kernel, C=100.0).fit(frame, [0, 1, 1]).predict(frame).tolist() == [0, 1, 1]


def test_infer_says_which_kernel_is_not_there(monkeypatch):
    monkeypatch.setitem(vars(kernels), "Spectrum", None)
    with pytest.raises(ParameterError, match="column 'text' needs the kernel Spectrum"):
        Columns.infer([{"text": "one two three"}])


def test_unseen_categories_are_like_themselves_only():
    kernel = On("c", Delta()).bind([{"c": "a"}, {"c": "b"}])
    np.testing.assert_array_equal(kernel([{"c": "new"}, {"c": "a"}], [{"c": "new"}, {"c": "b"}]), [[1, 0], [0, 0]])


def test_labels_are_told_apart_whatever_the_precision():
    table = [{"c": label} for label in (2**60, 2**60 + 1, "1", 1, dt.date(2020, 1, 1), True)]
    gram = On("c", Delta())(table, dtype=np.float32)
    expected = np.eye(6)
    expected[3, 5] = expected[5, 3] = 1.0  # 1 and True are equal in Python
    np.testing.assert_array_equal(gram, expected)
    integers = pd.DataFrame({"c": [2**60, 2**60 + 1]})
    np.testing.assert_array_equal(On("c", Delta())(integers), np.eye(2))


def test_a_column_without_any_value_has_a_defined_kernel():
    train, test = pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}), pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 1.0]})
    kernel = Columns({"a": RBF("scale"), "b": Linear()}, standardize=True).bind(train)
    np.testing.assert_allclose(kernel(train), np.array([[1.0, -1.0], [-1.0, 1.0]]) + 1.0)
    np.testing.assert_allclose(kernel(test, train), [[1.0, -1.0], [1.0, -1.0]])
    assert list(Columns.infer(train).kernels) == ["b"]


def test_tags_tell_scikit_learn_what_is_taken():
    tags = SVC(kernel=Columns({"a": RBF()})).__sklearn_tags__().input_tags
    assert tags.string
    assert tags.categorical
    assert tags.dict
    assert tags.allow_nan
    assert not tags.sparse
    plain = SVC().__sklearn_tags__().input_tags
    assert plain.sparse
    assert not plain.string


def test_columns_are_noted_on_the_model():
    frame = pl.DataFrame(DATA)
    model = SVC(kernel=Columns({"age": RBF(0.1), "town": Delta()})).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(DATA)
    assert model.n_features_in_ == len(DATA)
    # Other columns may come and go.
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.select("town", "age")))
    assert not hasattr(model.fit(ROWS, Y), "feature_names_in_")


FRAME = pd.DataFrame({"age": [1.0, 2.0], "town": ["a", "b"], "mixed": [1, "x"], "raw": [b"ok", b"a\xff"]})
REFUSED = {
    "a missing column": (lambda: On("agee", RBF())(FRAME), DataError, r"X has no column 'agee' \(did you mean 'age'"),
    "no such position": (lambda: On(7, RBF())(np.ones((2, 2))), DataError, "X has no column 7; it has 0, 1"),
    "a column gone at prediction": (
        lambda: SVC(kernel=On("age", RBF())).fit(FRAME, [0, 1]).predict(FRAME[["town"]]), DataError,
        "X has no column 'age'",
    ),
    "texts for a kernel of numbers": (
        lambda: On("town", RBF())(FRAME), DataError, "column 'town' must hold numbers.*got str 'a' in row 0",
    ),
    "a mixture for a kernel of numbers": (
        lambda: On("mixed", Linear())(FRAME), DataError, "column 'mixed' must hold numbers.*got str 'x' in row 1",
    ),
    "booleans for a kernel of numbers": (
        lambda: On("b", Linear())([{"b": True}]), DataError, "must hold numbers.* got bool True in row 0",
    ),
    "a mixture for a kernel of texts": (lambda: On("mixed", Letters())(FRAME), DataError, "must be a text, got int"),
    "a mixture to infer from": (lambda: Columns.infer(FRAME), DataError, "column 'mixed' holds a mixture of int, str"),
    "bytes that are no text": (
        lambda: On("raw", Letters())(FRAME), DataError,
        "column 'raw' is not UTF-8 in row 1: byte 0xff at position 1; decode it",
    ),
    "infinity": (lambda: On("a", RBF())([{"a": np.inf}]), DataError, "column 'a' must be finite, got inf in row 0"),
    "a missing value where none is wanted": (
        lambda: On("a", RBF(), missing="error")([{"a": 1.0}, {"a": None}]), DataError,
        "column 'a' has no value in row 1, and missing='error'",
    ),
    "labels that cannot be": (lambda: On("a", Delta())([{"a": [1]}]), DataError, "column 'a' must hold labels"),
    "no table": (lambda: On("a", RBF())(["x", "y"]), DataError, "X must be a table"),
    "one row by itself": (lambda: On(0, RBF())(np.ones(3)), DataError, r"of shape \(3,\); Reshape your data: \[x\] if"),
    "a sparse matrix": (lambda: On(0, RBF())(sparse.eye_array(2)), DataError, "takes no sparse matrix"),
    "a lazy frame": (lambda: On("a", RBF())(pl.LazyFrame({"a": [1]})), DataError, r"call collect\(\) on it"),
    "two columns of one name": (
        lambda: On("a", RBF())(pd.DataFrame([[1, 2]], columns=["a", "a"])), DataError, "data frame cannot be read",
    ),
    "nothing to infer from": (lambda: Columns.infer(pd.DataFrame({"a": []})), DataError, "got 0 rows of 1 columns"),
    "no rows to learn from": (
        lambda: SVC(kernel=On("a", RBF())).fit(pd.DataFrame({"a": []}), []), DataError, "at least one row",
    ),
    "a negative rule": (lambda: On("a", RBF(), missing=-1.0), ParameterError, "missing must not be negative, got -1.0"),
    "several columns of labels": (lambda: On(["a", "b"], Delta()), ParameterError, "need a kernel of numbers"),
    "a kernel of a column that reads tables": (lambda: On("a", On("b", RBF())), ParameterError, "which reads tables"),
    "no columns": (lambda: Columns({}), ParameterError, "kernels must be a dict with a kernel for each column"),
    "a kernel by name": (lambda: Columns({"a": "rbf"}), ParameterError, "the kernel of column 'a' must be a Kernel"),
    "a weight of none": (lambda: Columns({"a": RBF()}, {"b": 1}), ParameterError, "weights names 'b', but"),
    "a negative weight": (lambda: Columns({"a": RBF()}, {"a": -1}), ParameterError, "must not be negative, got -1"),
    "no weight": (lambda: Columns({"a": RBF()}, {"a": 0}), ParameterError, "weights must not all be zero"),
    "a weighted product": (
        lambda: Columns({"a": RBF()}, {"a": 1}, "product"), ParameterError, "a product takes no weights",
    ),
    "another way to combine": (lambda: Columns({"a": RBF()}, combine="max"), ParameterError, "combine must be one of"),
    "a period": (lambda: Columns.infer(FRAME, cyclic=["month"]), ParameterError, "some of day, week, year"),
}  # fmt: skip


@pytest.mark.parametrize(("attempt", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_and_how(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


def test_a_table_without_rows_has_an_empty_matrix():
    empty, frame = pd.DataFrame({"a": [], "c": []}), pd.DataFrame({"a": [1.0], "c": ["x"]})
    kernel = Columns({"a": RBF(0.1), "c": Delta()})
    assert kernel(empty).shape == (0, 0)
    assert kernel(frame, empty).shape == (1, 0)


def test_more_rows_than_a_tile():
    rows = [{**ROWS[k % N], "width": float(k)} for k in range(450)]
    kernel = Columns({"age": RBF(0.1), "town": Delta(), "width": RBF(1e-3)})
    gram = kernel(rows)
    np.testing.assert_allclose(gram[400:], kernel(rows[400:], rows), atol=1e-12)
    np.testing.assert_allclose(gram, gram.T)


def test_a_constant_beside_a_table():
    np.testing.assert_allclose((On("town", Delta()) + Constant(2.0))(ROWS), On("town", Delta())(ROWS) + 2.0)
    assert On("town", Constant(2.0), missing=0.5)(ROWS[:6])[0].tolist() == [2.0, 2.0, 2.0, 2.0, 2.0, 0.0]


def test_a_table_of_ours_tells_scikit_learn_its_names_and_its_length():
    """Older versions ask by the interchange protocol."""
    table = ColumnFrame({"a": np.arange(3), "b": np.array(["x", "y", "z"])})
    for asked in (table.__dataframe__(), table.__narwhals_dataframe__()):
        assert asked.column_names() == ["a", "b"]
        assert asked.num_rows() == 3
