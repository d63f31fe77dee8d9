"""The kernel that a table gets, and the strength of its machine."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, SVR
from mercer.estimators.auto import strength_by_folds
from mercer.estimators.auto.table_kernel import table_kernel
from mercer.estimators.fitting.auto_kernel import kernel_for
from mercer.kernels import Encoded, Sum

RNG = np.random.default_rng(0)
N = 240


def mixed():
    frame = pd.DataFrame({
        "a": RNG.normal(size=N), "b": RNG.normal(size=N), "noise": RNG.normal(size=N),
        "tail": np.exp(3 * RNG.normal(size=N)), "grade": RNG.integers(1, 5, N),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel"], N), "same": 1.0, "empty": None,
        "day": pd.to_datetime("2023-01-01") + pd.to_timedelta(RNG.integers(0, 1000, N), unit="D"),
    })  # fmt: skip
    frame.loc[::7, "b"] = np.nan
    return frame


FRAME = mixed()
CROSSED = ((FRAME["a"] * np.log(FRAME["tail"]) > 0) ^ (FRAME["town"] == "Ulm")).to_numpy()


def test_columns_are_read_by_what_they_hold():
    found = table_kernel(FRAME)
    assert found.kernel.columns == {
        "a": "number", "b": "number", "noise": "number", "tail": "rank", "grade": ("number", "category"),
        "town": "category", "day": ("number", "week", "year"),
    }  # fmt: skip
    assert found.left_out == {"same": "never varies", "empty": "no value"}
    assert found.learnt is None


def test_interactions_are_seen_and_noise_counts_for_little():
    kernel = table_kernel(FRAME, CROSSED).kernel
    assert kernel.relevance["a"] > 3 * kernel.relevance["noise"]
    assert kernel.relevance["town"] > 3 * kernel.relevance["noise"]
    model = SVC(kernel="auto", C="auto").fit(FRAME[:180], CROSSED[:180])
    assert model.score(FRAME[180:], CROSSED[180:]) > 0.75
    assert "same" in model.kernel_reason_


def test_predictions_take_unseen_labels_and_missing_values():
    model = SVC(kernel="auto").fit(FRAME, CROSSED)
    new = FRAME.head(4).assign(town=["Oslo", None, "Ulm", "Rome"], a=[np.nan, 1.0, np.nan, 1e9])
    assert model.predict(new).shape == (4,)


def test_texts_stand_beside_with_a_weight_from_the_data():
    frame = pd.DataFrame({"x": RNG.normal(size=60), "note": ["very good film", "a bad long film"] * 30})
    kernel, _ = kernel_for(frame, np.arange(60) % 2)
    assert isinstance(kernel, Sum)
    assert isinstance(kernel.kernels[0], Encoded)
    assert SVC(kernel=kernel).fit(frame, np.arange(60) % 2).score(frame, np.arange(60) % 2) == 1.0


def test_the_order_of_rows_and_copies_of_them_change_nothing():
    order = RNG.permutation(N)
    first = table_kernel(FRAME, CROSSED).kernel.relevances
    np.testing.assert_allclose(table_kernel(FRAME.iloc[order], CROSSED[order]).kernel.relevances, first, rtol=0.02)
    twice = table_kernel(pd.concat([FRAME[:100]] * 2), np.tile(CROSSED[:100], 2)).kernel.relevances
    np.testing.assert_allclose(twice, table_kernel(FRAME[:100], CROSSED[:100]).kernel.relevances, rtol=0.02)


def test_a_row_of_weight_three_is_a_row_that_is_there_three_times():
    counts = np.random.default_rng(5).integers(1, 4, 100)
    part, y = FRAME[:100][["a", "noise"]], CROSSED[:100]
    repeated = table_kernel(part.loc[np.repeat(np.arange(100), counts)], np.repeat(y, counts)).kernel.relevances
    weighted = table_kernel(part, y, weights=counts.astype(float)).kernel.relevances
    np.testing.assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("rows", [2, 3, 5, 13])
def test_few_rows_get_what_can_be_had(rows):
    part, y = FRAME[:rows], np.arange(rows) % 2
    assert SVC(kernel="auto", C="auto").fit(part, y).predict(part).shape == (rows,)
    assert SVR(kernel="auto", C="auto").fit(part, y + 0.5).predict(part).shape == (rows,)


def test_three_rows_of_a_class_are_enough_to_begin():
    y = np.zeros(N, int)
    y[:3] = 1
    assert SVC(kernel="auto", C="auto").fit(FRAME, y).predict(FRAME).shape == (N,)


def test_one_value_a_row_tells_nothing_and_does_no_harm():
    frame = pd.DataFrame({"id": [f"k{k}" for k in range(N)], "a": FRAME["a"]})
    y = FRAME["a"].to_numpy() > 0
    model = SVC(kernel="auto", C="auto").fit(frame[:180], y[:180])
    assert model.score(frame[180:], y[180:]) > 0.9


@pytest.mark.filterwarnings("ignore:TIME_LIMIT")
def test_a_tenth_of_a_second_ends_with_a_machine():
    big, y = pd.concat([FRAME] * 10), np.tile(CROSSED, 10)
    SVC(kernel="auto", C="auto").fit(FRAME, CROSSED)  # what has to be compiled is
    model = SVC(kernel="auto", C="auto", time_limit=0.1).fit(big, y)
    assert model.predict(FRAME).shape == (N,)


def test_strength_follows_the_noise():
    x = RNG.uniform(-3, 3, (300, 2))
    clean = (np.sin(2 * x[:, 0]) > x[:, 1] / 3).astype(int)
    noisy = np.where(RNG.uniform(size=300) < 0.3, 1 - clean, clean)
    found = [SVC(C="auto", gamma=1.0).fit(x, y).C_ for y in (clean, noisy)]
    assert found[0] > found[1]


def test_a_score_that_cannot_be_told_leaves_one():
    class Never:
        def __call__(self, _strength, _stop):
            return None

    assert strength_by_folds._best(Never(), lambda: False) == 1.0
    peak = {0.01: 0.1, 0.1: 0.2, 1.0: 0.5, 10.0: 0.6, 100.0: 0.7, 1000.0: 0.9}
    assert strength_by_folds._best(lambda strength, _stop: peak[strength], lambda: False) == 1000.0
    assert strength_by_folds._best(lambda strength, _stop: -peak[strength], lambda: False) == 0.01
