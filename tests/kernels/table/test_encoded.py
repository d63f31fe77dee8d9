"""Columns of any kind as one vector: what each way makes of values, and what training has not seen."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import SVC, DataError, ParameterError
from mercer.kernels import RBF, Columns, Encoded, Linear, Matern, describe_columns, mercer_check, parse, placed

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame({
    "age": np.where(np.arange(N) % 9, RNG.integers(18, 80, N), np.nan),
    "income": np.exp(3 * RNG.normal(size=N)),
    "town": RNG.choice(["Ulm", "Bonn", "Kiel"], N),
    "when": pd.to_datetime("2022-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), unit="D"),
})  # fmt: skip
WAYS = {"age": "number", "income": "log", "town": "category", "when": ("number", "week", "year")}
KERNEL = Encoded(WAYS, Matern(nu=0.5) + 0.1 * Linear())


def test_every_way_has_mean_zero_and_variance_one():
    ways = {"age": ("number", "rank", "log", "category"), "income": ("rank", "log"), "town": "category"}
    bound = Encoded(ways, Linear()).bind(FRAME.dropna())
    vectors = bound.vectors(FRAME.dropna(), is_weighed=False)
    np.testing.assert_allclose(vectors.mean(axis=0), 0.0, atol=1e-9)
    variances = np.bincount(bound.groups, vectors.var(axis=0))
    np.testing.assert_allclose(variances, 1.0, atol=1e-9)


def test_an_encoded_kernel_is_the_kernel_of_the_vectors_by_hand():
    numbers = FRAME[["age", "income"]].dropna()
    Z = ((numbers - numbers.mean()) / numbers.std(ddof=0)).to_numpy() * np.sqrt([0.3, 0.6])
    kernel = Encoded({"age": "number", "income": "number"}, RBF(0.5), relevance={"age": 0.3, "income": 0.6})
    np.testing.assert_allclose(kernel(numbers), RBF(0.5)(Z), atol=1e-12)
    np.testing.assert_allclose(kernel(numbers, dtype=np.float32), RBF(0.5)(Z), atol=1e-5)


def test_it_is_positive_semidefinite_with_missing_values():
    assert mercer_check(KERNEL).kind == "by_construction"
    assert np.linalg.eigvalsh(KERNEL(FRAME)).min() > -1e-9


def test_what_training_has_not_seen_is_neutral():
    bound = Encoded({"income": "rank", "town": "category"}, RBF(1.0)).bind(FRAME)
    known = pd.DataFrame({"income": [1.0, 1.0], "town": ["Ulm", "Oslo"]})
    empty = pd.DataFrame({"income": [None, 1e300], "town": [None, "Ulm"]}).astype({"income": float})
    assert (bound.vectors(known)[1, 1:] == 0.0).all()
    assert (bound.vectors(empty)[0] == 0.0).all()
    assert np.isfinite(bound.vectors(empty)).all()


@pytest.mark.parametrize("way", ["number", "log", "rank", "day", "week"])
def test_a_column_without_any_value_in_training_says_nothing_ever(way):
    rows = [{"a": k, "b": None} for k in range(5)]
    bound = Encoded({"a": "number", "b": way}, RBF(1.0)).bind(rows)
    alone = Encoded({"a": "number"}, RBF(1.0), {"a": 0.5}).bind(rows)
    new = [{"a": 1, "b": 1e6}, {"a": 3, "b": None}]
    np.testing.assert_allclose(bound(new, rows), alone(new, rows), atol=1e-14)


def test_one_label_whose_weights_add_up_to_more_than_all_of_them():
    weights = 10.0 ** np.random.default_rng(5).uniform(-6, 6, size=40)
    rows = [{"a": "same"} for _ in weights]
    orders = [weights[np.random.default_rng(k).permutation(40)] for k in range(60)]
    assert any(np.bincount(np.zeros(40, int), each)[0] > each.sum() for each in orders)  # as happens by rounding
    for each in orders:
        assert (Encoded({"a": "category"}, Linear()).bind(rows, each).vectors(rows) == 0.0).all()


@pytest.mark.parametrize("way", ["number", "log", "rank", "day"])
def test_values_missing_in_rows_without_weight_alone_say_nothing(way):
    """By rounding they were a share of 1e-16 of the rows, and so a missing value was infinitely far from any other."""
    orders = [np.append(0.0, np.random.default_rng(seed).uniform(0.1, 3.0, size=30)) for seed in range(40)]
    assert any(each[1:].sum() < each.sum() for each in orders)  # as happens by rounding
    rows = [{"a": None}] + [{"a": float(k)} for k in range(30)]
    for each in orders:
        bound = Encoded({"a": way}, Linear()).bind(rows, each)
        alone = Encoded({"a": way}, Linear()).bind(rows[1:], each[1:])
        np.testing.assert_allclose(bound.vectors(rows), alone.vectors(rows), atol=1e-12)
        assert (bound.vectors(rows[:1]) == 0.0).all()


def test_a_missing_number_is_the_mean_and_says_that_it_is_missing():
    bound = Encoded({"age": "number"}, Linear()).bind(FRAME)
    vectors = bound.vectors(FRAME, is_weighed=False)
    gone = FRAME["age"].isna().to_numpy()
    assert (vectors[gone, 0] == 0.0).all()
    assert (vectors[gone, 1] > 0).all()
    assert (vectors[~gone, 1] < 0).all()


def test_rare_labels_are_one_label_and_ten_thousand_are_no_burden():
    labels = ["a"] * 500 + ["b"] * 480 + [f"r{k}" for k in range(20)]
    (coding,) = Encoded({"c": "category"}, Linear()).bind(pd.DataFrame({"c": labels})).codings
    assert coding.labels == ("a", "b")
    assert coding.parts == ["a", "b", "others"]
    many = pd.DataFrame({"c": [f"label {k}" for k in range(10_000)]})
    bound = Encoded({"c": "category"}, Linear()).bind(many)
    assert bound.vectors(many).shape[1] <= 2


def test_ranks_do_not_mind_a_monotone_change():
    x = np.exp(RNG.normal(size=50))
    kernel = Encoded({0: "rank"}, RBF(1.0))
    np.testing.assert_allclose(kernel(x[:, None]), kernel(x[:, None] ** 3), atol=1e-9)


def test_a_date_knows_its_place_in_the_week():
    days = [dt.date(2024, 1, 1) + dt.timedelta(k) for k in range(21)]
    vectors = Encoded({"d": "week"}, Linear()).bind([{"d": day} for day in days]).vectors([{"d": day} for day in days])
    np.testing.assert_allclose(vectors[:7], vectors[7:14], atol=1e-9)
    assert np.abs(vectors[0] - vectors[3]).max() > 0.1


def test_weights_count_rows():
    weights = np.arange(N) % 3
    repeated = FRAME.loc[np.repeat(np.arange(N), weights)]
    by_weight, by_rows = KERNEL.bind(FRAME, weights.astype(float)), KERNEL.bind(repeated)
    np.testing.assert_allclose(by_weight.vectors(FRAME), by_rows.vectors(FRAME), atol=1e-9)


def test_it_is_written_read_and_saved(tmp_path):
    kernel = Encoded(WAYS, Matern(nu=0.5) + 0.1 * Linear(), relevance={"age": 0.5, "when": (0.1, 0.2, 0.3)})
    assert parse(repr(kernel)) == kernel
    model = SVC(kernel=kernel).fit(FRAME, np.arange(N) % 2)
    mercer.save(model, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    new = pd.DataFrame(
        {"age": [None, 30.0], "income": [1.0, -2.0], "town": ["Oslo", None], "when": [None, "2024-02-29"]}
    )
    new["when"] = pd.to_datetime(new["when"])
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))


def test_names_of_parameters_reach_the_kernel_inside():
    assert KERNEL.replace(kernel__k1__nu=1.5).kernel.kernels[0] == Matern(nu=1.5)
    assert placed(KERNEL, FRAME) == KERNEL


def test_each_column_is_told_of_in_a_line():
    told = describe_columns(Encoded(WAYS, RBF(), relevance={"age": 1.0, "income": 1.0, "town": 2.0, "when": (0, 0, 0)}))
    assert told["age"] == "its number; 25% of the distance"
    assert told["when"].endswith("less than 1% of the distance")
    assert describe_columns(Columns({"age": RBF()}))["age"] == "by RBF"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Encoded({}, RBF()), ParameterError, "columns must be a dict"),
        (lambda: Encoded({"a": "square"}, RBF()), ParameterError, "the way of column 'a' must be one of number"),
        (lambda: Encoded({"a": "rank"}, RBF(), {"b": 1.0}), ParameterError, "relevance names 'b'"),
        (lambda: Encoded({"a": "rank"}, RBF(), {"a": -1.0}), ParameterError, "must not be negative"),
        (lambda: Encoded({"a": ("rank", "log")}, RBF(), {"a": 1.0}), ParameterError, "one number for each of its ways"),
        (lambda: Encoded({"town": "number"}, RBF())(FRAME), DataError, "column 'town' must hold numbers"),
        (lambda: Encoded({"towns": "category"}, RBF())(FRAME), DataError, "did you mean 'town'"),
        (lambda: KERNEL.prepare(FRAME), ParameterError, "depends on training data"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_its_terms_add_up_to_it():
    bound = KERNEL.bind(FRAME)
    terms = bound.terms()
    assert [name for name, _ in terms] == ["all columns jointly", "age", "income", "town", "when"]
    np.testing.assert_allclose(sum(term(FRAME) for _, term in terms), bound(FRAME), atol=1e-12)
