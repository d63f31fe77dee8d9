"""Columns of a table as features, learnt block by block."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from mercer import DataError, ParameterError, TableFeatures
from mercer.estimators.out_of_core.column_summary import ColumnSummary, joined, values_of
from mercer.io import Blocks
from mercer.kernels import Columns, Delta, Linear


def summarised(parts):
    return joined({"x": ColumnSummary.of(values_of("x", np.asarray(part)), k)} for k, part in enumerate(parts))["x"]


@given(
    st.lists(st.lists(st.floats(-1e3, 1e3), max_size=20), min_size=1, max_size=8).filter(any),
    st.sampled_from([0.0, 1e6, -1e12]),
)
def test_means_and_deviations_are_those_of_all_rows_however_far_from_zero(parts, offset):
    arrays = [np.array(part, np.float64) + offset for part in parts]
    rows = np.concatenate(arrays)
    found = summarised(arrays)
    assert found.count == len(rows)
    # A mean is off by a unit of the last place at most; the sum of squares follows it in proportion to the range.
    unit = np.spacing(np.abs(rows).max())
    assert found.mean == pytest.approx(rows.mean(), rel=1e-14, abs=4 * unit)
    spread = np.square(rows - rows.mean()).sum()
    assert found.squares == pytest.approx(spread, rel=1e-9, abs=4 * len(rows) * unit * (np.ptp(rows) + unit))


def test_numbers_are_scaled_as_scikit_learn_scales_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) * [1e-3, 1.0, 1e5] + [0.0, 1e7, -5.0]
    blocks = Blocks(pa.table({f"x{k}": X[:, k] for k in range(3)}), block_rows=70)
    found = TableFeatures().fit(blocks)
    want = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(found.transform(X), want, atol=1e-8)
    got = found.transform(blocks)
    np.testing.assert_allclose(np.concatenate([got.matrix(i) for i in range(len(got))]), want, atol=1e-8)
    plain = TableFeatures(scale=False).fit(blocks)
    np.testing.assert_array_equal(plain.transform(X), X)


def test_missing_numbers_are_the_mean_and_are_marked():
    table = pa.table({"a": pa.array([1.0, None, 3.0, 8.0]), "b": pa.array([1, 2, 3, None])})
    found = TableFeatures().fit(Blocks(table, block_rows=2))
    assert found.get_feature_names_out().tolist() == ["a", "a is missing", "b", "b is missing"]
    features = found.transform(table)
    np.testing.assert_array_equal(features[:, 1], [0, 1, 0, 0])
    assert features[1, 0] == features[3, 2] == 0.0
    unscaled = TableFeatures(scale=False).fit(table).transform(table)
    assert unscaled[1, 0] == 4.0
    # What was never missing in the fit is neutral when it is.
    whole = TableFeatures().fit(pa.table({"a": [1.0, 3.0]}))
    np.testing.assert_array_equal(whole.transform(pa.table({"a": pa.array([None], pa.float64())})), [[0.0]])


def test_rare_labels_share_a_feature_and_new_ones_count_as_rare():
    labels = ["x"] * 20 + ["y"] * 12 + ["z"] * 3 + [f"once {k}" for k in range(5)] + [None] * 2
    table = pa.table({"l": labels})
    found = TableFeatures(rare=10).fit(Blocks(table, block_rows=7))
    assert found.get_feature_names_out().tolist() == ["l = x", "l = y", "l is rare", "l is missing"]
    rows = found.transform(pa.table({"l": ["x", "z", "never met", None]}))
    np.testing.assert_array_equal(rows, [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    few = TableFeatures(rare=1, most_labels=1).fit(table)
    assert few.get_feature_names_out().tolist() == ["l = x", "l is rare", "l is missing"]
    none = TableFeatures(rare=1).fit(pa.table({"l": ["x", "y"]}))
    np.testing.assert_array_equal(none.transform(pa.table({"l": ["never met"]})), [[0, 0]])


def test_so_many_labels_are_forgotten_that_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("mercer.estimators.out_of_core.column_summary.MOST_COUNTED", 100)
    table = pa.table({"l": [f"id {k}" for k in range(5000)] + ["often"] * 500})
    found = TableFeatures().fit(Blocks(table, block_rows=50))
    assert found.columns_[0].labels == ("often",)
    assert found.columns_[0].has_rare


def test_a_column_of_nothing_but_different_texts_is_left_out_with_a_warning():
    table = pa.table({"id": [f"row {k}" for k in range(50)], "a": np.arange(50.0)})
    with pytest.warns(UserWarning, match="column 'id' is left out: it has 50 different texts"):
        found = TableFeatures().fit(Blocks(table, block_rows=20))
    assert found.get_feature_names_out().tolist() == ["a"]


def test_many_labels_make_sparse_rows_with_the_same_numbers():
    rng = np.random.default_rng(0)
    table = pa.table({"l": [f"l{k}" for k in rng.integers(0, 400, 4000)], "a": rng.normal(size=4000)})
    found = TableFeatures(rare=1).fit(Blocks(table, block_rows=500))
    assert found.is_sparse_
    blocks = found.transform(Blocks(table, block_rows=900))
    assert blocks.is_sparse
    rows = sparse.vstack([blocks.matrix(i, np.float32) for i in range(len(blocks))])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows.toarray(), found.transform(table).toarray(), rtol=1e-6)


def test_a_column_that_looks_like_numbers_in_some_blocks_holds_texts(tmp_path):
    path = tmp_path / "t.csv"
    codes = [*["01"] * 50, *["A7"] * 30, *["2"] * 40]
    path.write_text("code,y\n" + "".join(f"{code},{k % 2}\n" for k, code in enumerate(codes)))
    blocks = Blocks(path, target="y", block_rows=10)
    found = TableFeatures(rare=1).fit(blocks)
    assert found.columns_[0].labels == ("01", "2", "A7")
    features = found.transform(blocks)
    rows = np.concatenate([features.matrix(i) for i in range(len(features))])
    np.testing.assert_array_equal(rows.argmax(axis=1), [{"01": 0, "2": 1, "A7": 2}[code] for code in codes])


def test_a_word_among_numbers_is_named_by_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{'oops' if k == 57 else k},{k % 2}\n" for k in range(100)))
    with pytest.raises(DataError, match=r"t\.csv, line 59, column 'a': a number was expected, got 'oops'"):
        TableFeatures().fit(Blocks(path, target="y", block_rows=10))


def test_csv_and_arrow_make_the_same_features(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "a": pa.array([None if k % 7 == 0 else float(k) for k in range(200)]),
            "day": pa.array(np.datetime64("2024-01-01") + rng.integers(0, 90, 200)),
            "ok": rng.random(200) > 0.5,
            "town": rng.choice(["Ulm", "Bonn"], 200),
        }
    )
    csv.write_csv(table, tmp_path / "t.csv")
    one = TableFeatures().fit(Blocks(table, block_rows=30))
    two = TableFeatures().fit(Blocks(tmp_path / "t.csv", block_rows=30))
    assert one.columns_ == two.columns_
    assert one.get_feature_names_out().tolist()[:3] == ["a", "a is missing", "day"]


def test_missing_values_may_be_refused_and_infinity_is():
    values = np.zeros(600)
    values[573] = np.nan
    blocks = Blocks(pa.table({"a": values}), block_rows=10)
    with pytest.raises(DataError, match="block 57, row 573, column 'a': there is no value, and missing='refuse'"):
        TableFeatures(missing="refuse").fit(blocks)
    values[573] = np.inf
    with pytest.raises(DataError, match="block 57, row 573, column 'a': a finite number was expected, got inf"):
        TableFeatures().fit(Blocks(pa.table({"a": values}), block_rows=10))
    found = TableFeatures().fit(pa.table({"a": np.arange(5.0)}))
    with pytest.raises(DataError, match="row 1, column 'a': a finite number"):
        found.transform(pa.table({"a": [0.0, np.inf]}))
    with pytest.raises(DataError, match="row 0, column 'a': a number was expected, got 'x'"):
        found.transform(pa.table({"a": ["x"]}))


@pytest.mark.parametrize("options", [{"rare": 0}, {"most_labels": 0}, {"missing": "drop"}, {"scale": "yes"}])
def test_parameters_are_checked(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        TableFeatures(**options).fit(pa.table({"a": [1.0]}))


def test_inner_products_are_those_of_the_kernels_of_columns():
    table = pa.table({"a": pa.array([1.0, None, 3.0, 8.0, None]), "l": ["x", "y", None, "x", "z"]})
    features = TableFeatures(rare=1).fit(Blocks(table, block_rows=2)).transform(table)
    kernel = Columns({"a": Linear(), "l": Delta()}, standardize=True).bind(table)
    np.testing.assert_allclose(features @ features.T, kernel(table), atol=1e-14)
