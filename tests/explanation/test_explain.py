"""Contributions add up to the decision value, whatever the kernel, and mean what they say."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from mercer import (
    SVC,
    DataError,
    HardMarginSVC,
    KernelPerceptron,
    LinearSVC,
    LinearSVR,
    PegasosSVC,
    Perceptron,
    RampSVC,
    explain,
    kernels,
)
from mercer.explanation.parts import by_parts
from mercer.kernels import RBF, Columns, Custom, Delta, Linear, Link, Mismatch, On, Polynomial, Record, Subsequence
from mercer.kernels.base.structured import Packed, StructuredKernel
from tests.kernels.relational.test_record import LABELS, NAMES, sqlite_memory
from tests.kernels.table.test_tables import DATA, ROWS, Letters, Y

X, IRIS = load_iris(return_X_y=True)
TWO = IRIS > 0
TEXTS = ["banana", "bandana", "", "cabana", "nab", "xyz", "zebra", "buzz"]
HAS_B = np.array(["b" in text for text in TEXTS], dtype=int)


def check(model, x, batch):
    """Every table adds up to the decision value of each two-class problem."""
    found = explain(model, x)
    has_pairs = "decision_function_shape" in model.get_params()
    asked = model.set_params(decision_function_shape="ovo") if has_pairs else model
    decision = np.atleast_1d(
        (asked.decision_function if hasattr(asked, "decision_function") else asked.predict)(batch).ravel()
    )
    np.testing.assert_allclose(found.decision, decision, atol=1e-6)
    for table in (found.by_support_vector, found.by_term, found.by_feature, found.by_position):
        if table is not None:
            assert table.values.shape == (len(found.functions), len(table.names))
            np.testing.assert_allclose(table.values.sum(axis=1) + found.intercept, decision, atol=1e-6)
    assert str(found).count("decision value for") == len(found.functions)
    return found


def test_a_linear_kernel_by_feature():
    frame = pd.DataFrame(X[TWO], columns=["a", "b", "c", "d"])
    model = SVC(kernel="linear").fit(frame, IRIS[TWO])
    found = check(model, frame.iloc[[3]], frame.iloc[[3]])
    assert found.by_feature.names == ["a", "b", "c", "d"]
    np.testing.assert_allclose(found.by_feature.values, model.coef_ * X[TWO][3], atol=1e-8)
    assert found.functions == ["2 rather than 1"]
    np.testing.assert_array_equal(explain(model, frame.iloc[3]).by_feature.values, found.by_feature.values)
    search = GridSearchCV(SVC(kernel="linear"), {"C": [0.1, 1.0]}).fit(frame, IRIS[TWO])
    check(search, frame.iloc[[3]], frame.iloc[[3]])
    plain = SVC(kernel="linear").fit(X[TWO], IRIS[TWO])
    assert check(plain, X[TWO][3], X[TWO][[3]]).main.names == ["x0", "x1", "x2", "x3"]
    rows = sparse.csr_matrix(X[TWO])
    check(SVC(kernel="linear").fit(rows, IRIS[TWO]), rows[3], rows[3])


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", RBF(0.5) + 2.0 * Linear(), Polynomial(2, 1.0, 1.0).normalized()])
def test_several_classes(kernel, multi_class):
    model = SVC(kernel=kernel, multi_class=multi_class).fit(X, IRIS)
    found = check(model, X[60], X[[60]])
    first = "0 rather than 1" if multi_class == "ovo" else "0 rather than the others"
    assert len(found.functions) == 3
    assert found.functions[0] == first
    assert len(found.by_support_vector.names) == len(model.support_)


def test_the_terms_of_a_sum_have_names():
    found = check(SVC(kernel=RBF(0.5) + 2.0 * Linear()).fit(X[TWO], IRIS[TWO]), X[70], X[[70]])
    assert found.by_term.names == ["RBF(gamma=0.5)", "2.0 * Linear()"]
    assert found.by_feature is None


def test_every_kernel_machine_can_be_explained():
    y = IRIS[IRIS < 2]
    rows = X[IRIS < 2]
    for model in (
        HardMarginSVC(kernel=RBF(0.5)), HardMarginSVC(kernel="linear"), KernelPerceptron(kernel="rbf"),
        PegasosSVC(kernel=RBF(0.5), random_state=0), Perceptron(), RampSVC(kernel="rbf"),
    ):  # fmt: skip
        check(model.fit(rows, y), rows[5], rows[[5]])


def test_linear_machines_have_no_support_vectors_but_features():
    found = check(LinearSVC(C=0.1).fit(X[TWO], IRIS[TWO]), X[80], X[[80]])
    assert found.by_support_vector is None
    assert found.main.kind == "feature"
    found = check(LinearSVR(C=0.1).fit(X[:, :3], X[:, 3]), X[80, :3], X[[80], :3])
    assert found.functions == ["the value"]
    with pytest.raises(DataError, match="x must be one row of 4 features, got 8 numbers"):
        explain(LinearSVC(C=0.1).fit(X[TWO], IRIS[TWO]), X[:2])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda _: ROWS], ids=["pandas", "polars", "dictionaries"])
def test_a_table_by_column(make):
    table = make(DATA)
    model = SVC(kernel=Columns.infer(table), C=10.0).fit(table, Y)
    one = table[3] if isinstance(table, list) else table[3:4]
    found = check(model, one, [ROWS[3]])
    assert found.main is found.by_term
    assert found.by_term.names == list(DATA)
    # The label is whether the town is Ulm, or was before it went missing.
    assert found.by_term.top(1)[0][0] == "town"
    counted = SVC(kernel=Columns({"town": Delta(), "age": Linear()})).fit(table, Y)
    assert {"town: Ulm", "age: no value"} == set(check(counted, one, [ROWS[3]]).by_feature.names)


def test_a_row_of_a_frame_as_a_series_or_a_dictionary():
    frame = pd.DataFrame(DATA)
    model = SVC(kernel=On("width", RBF(0.1)) + On("town", Delta())).fit(frame, Y)
    as_series, as_dictionary = explain(model, frame.iloc[8]), explain(model, ROWS[8])
    np.testing.assert_array_equal(as_series.by_term.values, as_dictionary.by_term.values)
    assert as_series.by_term.names == ["width", "town"]
    with pytest.raises(DataError, match="x must be one item, got 42 rows"):
        explain(model, frame)


@pytest.mark.parametrize("kernel", [Letters(), Letters().normalized(), 3.0 * Letters() + 1.0])
def test_counts_by_what_is_counted(kernel):
    model = SVC(kernel=kernel, C=10.0).fit(TEXTS, HAS_B)
    found = check(model, "baby cub", ["baby cub"])
    named = found.by_feature.as_dict()
    assert set(named) - {"constant"} <= set("baby cub")
    assert max(named, key=named.get) == "b"
    assert found.by_support_vector.names == [f"row {place} {TEXTS[place]!r}" for place in model.support_]


def test_a_record_by_column_of_linked_rows():
    kernel = Record("train", database=sqlite_memory(), exclude="train.label", depth=2)
    model = SVC(kernel=kernel, C=10.0).fit(NAMES, LABELS)
    found = check(model, "d", ["d"])
    assert found.by_term.names == ["speed", "maker.country", "car.roof", "car.length", "car.load.what"]
    counted = Record("train", columns={}, links=[Link("car", columns={"roof": Delta()})], database=sqlite_memory())
    found = check(SVC(kernel=counted).fit(NAMES, LABELS), "d", ["d"])
    assert set(found.by_feature.names) == {"constant", "car: roof: none"}


def test_matrices_and_functions_by_support_vector():
    gram = RBF(0.5)(X[TWO])
    found = check(SVC(kernel="precomputed").fit(gram, IRIS[TWO]), gram[4], gram[[4]])
    assert found.by_term is None
    assert found.by_feature is None
    check(SVC(kernel=lambda A, B: A @ B.T).fit(X[TWO], IRIS[TWO]), X[4], X[[4]])
    texts = SVC(kernel=Custom(lambda s, t: float(len(set(s) & set(t))), pairwise=True)).fit(TEXTS, HAS_B)
    assert check(texts, "zoo", ["zoo"]).main.kind == "support vector"


@dataclass(frozen=True)
class Gaps(StructuredKernel):
    """Gap-weighted subsequences of characters by enumeration: a stand-in for `Subsequence`."""

    length: int | tuple = 2
    decay: float = 0.5
    tokenizer: str = "characters"

    def encode(self, items, dtype):
        return Packed([self._weights(text) for text in items], np.arange(len(items)), dtype)

    def _weights(self, text):
        first, last = self.length if isinstance(self.length, tuple) else (self.length, self.length)
        found = {}
        for size in range(first, last + 1):
            for places in combinations(range(len(text)), size):
                key = tuple(text[place] for place in places)
                found[key] = found.get(key, 0.0) + self.decay ** (places[-1] - places[0] + 1)
        return found

    def _value(self, left, right):
        return sum(weight * right.get(key, 0.0) for key, weight in left.items())

    def tile(self, left, right, out, row, column):
        for i, s in enumerate(left.index):
            for j, t in enumerate(right.index):
                out[row + i, column + j] = self._value(left.arrays[s], right.arrays[t])

    def diag_of(self, prepared):
        return np.array([self._value(prepared.arrays[k], prepared.arrays[k]) for k in prepared.index], dtype=float)


@pytest.mark.parametrize("length", [1, 2, (1, 3)])
@pytest.mark.parametrize("is_normalised", [False, True])
def test_subsequences_by_position(length, is_normalised, monkeypatch):
    monkeypatch.setitem(vars(kernels), "Subsequence", Gaps)
    kernel = Gaps(length).normalized() if is_normalised else 2.0 * Gaps(length)
    model = SVC(kernel=kernel, C=10.0).fit(TEXTS, HAS_B)
    found = check(model, "tabu", ["tabu"])
    assert found.by_position.names == ["0: t", "1: a", "2: b", "3: u"]
    # A letter that no support vector has takes no part in any common subsequence.
    assert found.by_position.as_dict()["0: t"] == 0.0
    assert replace(found, by_support_vector=None).main is found.by_position
    check(model, "", [""])
    if length == 1:
        assert check(model, "ab" * 250, ["ab" * 250]).by_position is None


def test_printing_leaves_the_small_ones_together():
    model = SVC(kernel=Linear()).fit(np.eye(12), [0, 1] * 6)
    lines = str(explain(model, np.arange(1.0, 13.0))).splitlines()
    assert len(lines) == 1 + 10 + 1 + 1
    assert lines[0].startswith("decision value for 1 rather than 0:")
    assert "the other 2" in lines[-2]
    assert "intercept" in lines[-1]
    table = explain(model, np.arange(1.0, 13.0)).by_feature
    assert [name for name, _ in table.top(2)] == ["x11", "x10"]


@pytest.mark.parametrize("tokenizer", ["words", str.split])
@pytest.mark.parametrize("is_normalised", [False, True])
def test_subsequences_of_words_by_word(tokenizer, is_normalised):
    """What is left of the value when a word is another one, for the pairs of words that the kernel counts."""
    texts = ["man bites dog", "man bites hot dog", "dog bites man", "dog bites bad man"]
    kernel = Subsequence(length=2, decay=0.5, tokenizer=tokenizer)
    model = SVC(kernel=kernel.normalized() if is_normalised else kernel, C=10.0).fit(texts, [0, 0, 1, 1])
    item = "man bites cold dog"
    found = explain(model, item)
    assert found.by_position.names == ["0: man", "1: bites", "2: cold", "3: dog"]
    assert found.by_position.values.sum(axis=1) + found.intercept == pytest.approx(model.decision_function([item]))
    assert found.by_position.as_dict()["2: cold"] == pytest.approx(0.0, abs=1e-12)
    assert found.main is found.by_position
    if not is_normalised:
        # Every pair uses two words: half of what goes with a word is its own.
        without = model.decision_function(["man nothing cold dog"])[0]
        expected = (model.decision_function([item])[0] - without) / 2
        assert found.by_position.as_dict()["1: bites"] == pytest.approx(expected)


def test_tokens_that_are_no_texts_keep_their_kind():
    numbers = [[1, 2, 3], [1, 2, 4], [3, 2, 1], [4, 2, 1]]
    model = SVC(kernel=Mismatch(length=2, mismatches=1)).fit(numbers, [0, 0, 1, 1])
    parts = by_parts(model, [1, 2, 3], explain(model, [1, 2, 3]))
    hidden = model.decision_function([[1, 2, 3], ["nothing", 2, 3]])
    assert parts.names == ["1", "2", "3"]
    assert parts.values[0, 0] == pytest.approx(hidden[0] - hidden[1])
