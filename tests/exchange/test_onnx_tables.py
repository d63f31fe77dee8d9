"""ONNX graphs of tables answer what the models answer: every way to read a column, missing and unseen values."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import ParameterError, to_onnx
from mercer.kernels import RBF, Columns, Constant, Encoded, Linear, Matern, On, Spectrum
from tests.exchange.machines import assert_same

EPOCH = pd.Timestamp("1970-01-01")


def people(n=80, seed=0):
    """Rows with numbers, long tails, labels, whole numbers, truth values and times; some values are missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": np.exp(rng.normal(10, 2, n)),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "children": rng.integers(0, 4, n).astype(float),
            "member": rng.random(n) < 0.4,
            "since": [EPOCH + pd.Timedelta(hours=int(hours)) for hours in rng.integers(0, 400_000, n)],
        }
    )
    for name in ("age", "income", "town", "children", "since"):
        table.loc[rng.random(n) < 0.15, name] = np.nan if name in ("age", "income", "children") else None
    return table, np.where((table["age"].fillna(50) < 45) ^ (table["town"] == "Ulm"), "yes", "no")


def feeds(table, dtype=np.float64):
    """The columns as a user of the graph, who has no Mercer, would pass them."""
    found = {}
    for name, values in table.items():
        if values.dtype.kind == "M":
            column = ((values - EPOCH) / pd.Timedelta(days=1)).to_numpy(np.float64)
        elif values.dtype.kind in "fib":
            column = values.to_numpy(dtype)
        else:
            column = np.array(["" if pd.isna(each) else each for each in values], dtype=object)
        found[name] = column[:, None]
    return found


def run(model, inputs, **options):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString(), settings)
    wanted = [each.name for each in session.get_inputs()]
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, {name: inputs[name] for name in wanted}), strict=True))


WAYS = {
    "number": {"age": "number"},
    "logarithm": {"income": "log"},
    "rank": {"income": "rank"},
    "labels": {"town": "category"},
    "whole numbers as labels": {"children": "category"},
    "truth values": {"member": "category"},
    "one column in two ways": {"children": ("number", "category")},
    "times": {"since": ("number", "day", "week", "year")},
    "all": {"age": "number", "income": ("log", "rank"), "town": "category", "member": "category", "since": "year"},
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("is_whole", [True, False], ids=["no value missing", "values missing"])
@pytest.mark.parametrize(
    ("kernel", "tol"),
    # At a distance of nearly 0, exp(-r) has half the digits that its square has.
    [(RBF(0.5) + 0.3 * Linear(), 1e-11), (Matern(nu=0.5) + 0.3 * Linear(), 1e-6)],
    ids=["gaussian", "matern"],
)
def test_every_way_to_read_a_column(name, is_whole, kernel, tol):
    table, _ = people()
    table = table.dropna() if is_whole else table
    new, _ = people(seed=1)
    new.loc[:2, "town"] = "Trier"
    new.loc[:2, "children"] = 7.0
    new.loc[3:5, "income"] = [0.0, -1e4, 1e12]
    target = np.sin(np.arange(len(table)))
    model = mercer.KernelRidge(kernel=Encoded(WAYS[name], kernel), alpha=1.0).fit(table, target)
    assert_same(run(model, feeds(new))["prediction"], model.predict(new), tol)


def test_rare_labels_that_share_one_and_labels_that_are_all_rare():
    common = [f"town {k}" for k in range(40)] + ["Ulm"] * 20 + [None] * 3
    for towns in (common, [f"town {k}" for k in range(40)]):
        table = pd.DataFrame({"town": towns})
        model = mercer.KernelRidge(kernel=Encoded({"town": "category"}, RBF(0.5)) + Constant(1.0))
        model.fit(table, np.arange(len(towns)) % 5 + (table["town"] == "Ulm"))
        new = pd.DataFrame({"town": ["Ulm", "town 3", "Trier", None]})
        assert_same(run(model, feeds(new))["prediction"], model.predict(new), 1e-11)


def test_ranks_of_a_column_with_one_value():
    table, _ = people()
    table["income"] = np.where(table["income"].isna(), np.nan, 5.0)
    model = mercer.KernelRidge(kernel=Encoded({"income": "rank", "age": "number"}, RBF(0.5)))
    model.fit(table, np.sin(np.arange(len(table))))
    new = people(seed=3)[0]
    assert_same(run(model, feeds(new))["prediction"], model.predict(new), 1e-11)


@pytest.mark.parametrize("way", ["number", "log", "rank", "week"])
def test_a_column_without_any_value_in_training_says_nothing(way):
    table, _ = people()
    model = mercer.KernelRidge(kernel=Encoded({"age": "number", "income": way}, RBF(0.5)))
    model.fit(table.assign(income=np.nan), np.sin(np.arange(len(table))))
    assert_same(run(model, feeds(table))["prediction"], model.predict(table), 1e-11)
    assert_same(model.predict(table), model.predict(table.assign(income=np.nan)), 1e-14)


def test_what_the_machine_chooses_for_a_mixed_table():
    table, target = people(120)
    new, _ = people(60, seed=2)
    for model in (mercer.SVC(kernel="auto", probability=True), mercer.SVC(kernel="auto", C="auto")):
        model.fit(table, target)
        found = run(model, feeds(new))
        assert_same(found["decision_function"], model.decision_function(new), 1e-6)
        assert (found["label"] == model.predict(new)).all()
        if "probabilities" in found:
            assert_same(found["probabilities"], model.predict_proba(new), 1e-6)


def test_a_table_of_numbers_is_a_matrix():
    table, target = people(60)
    table, (new, _) = table[["age", "income", "children"]], people(30, seed=3)
    new = new[["age", "income", "children"]]
    model = mercer.SVC(kernel=Encoded({"income": "rank", "age": "number"}, Matern(nu=0.5))).fit(table, target)
    found = run(model, {"X": new.to_numpy()})
    assert_same(found["decision_function"], model.decision_function(new), 1e-6)
    single = new.astype(np.float32)
    found = run(model, {"X": single.to_numpy()}, dtype="float32")
    assert_same(found["decision_function"], model.decision_function(single.astype(np.float64)), 1e-6)


def test_numbers_of_a_mixed_table_may_be_single_precision():
    table, target = people(60)
    model = mercer.SVC(kernel=Encoded({"age": "number", "town": "category"}, RBF(0.5))).fit(table, target)
    found = run(model, feeds(table, np.float32), dtype="float32")
    assert_same(found["decision_function"], model.decision_function(table), 1e-6)


def test_rows_of_an_array_after_a_scaler():
    X = np.random.default_rng(0).normal(size=(40, 3))
    kernel = Encoded({0: "rank", 2: "log"}, RBF(0.5))
    model = make_pipeline(StandardScaler(), mercer.SVC(kernel=kernel)).fit(X, X[:, 0] > 0)
    assert_same(run(model, {"X": X + 0.1})["decision_function"], model.decision_function(X + 0.1), 1e-11)


@pytest.mark.parametrize("wrap", [lambda k: k.normalized(), lambda k: k.centered(), lambda k: 2.0 * k * k])
def test_the_algebra_of_kernels_of_tables(wrap):
    table, _ = people(40)
    new, _ = people(20, seed=4)
    kernel = wrap(Encoded({"age": "number", "town": "category"}, RBF(0.5) + 0.1 * Linear()))
    model = mercer.KernelRidge(kernel=kernel).fit(table, np.arange(40.0))
    assert_same(run(model, feeds(new))["prediction"], model.predict(new), 1e-9)


def test_outliers_of_a_table():
    table, _ = people(40)
    kernel = Encoded({"age": "number", "town": "category"}, RBF(0.5) + Linear())
    model = mercer.SVDD(kernel=kernel).fit(table)
    assert_same(run(model, feeds(table))["decision_function"], model.decision_function(table), 1e-9)


def test_columns_may_be_called_like_nodes_of_a_graph():
    table, target = people(40)
    table = table.rename(columns={"age": "t1", "town": "c0"})
    model = mercer.SVC(kernel=Encoded({"t1": "number", "c0": "category"}, RBF(0.5))).fit(table, target)
    assert_same(run(model, feeds(table))["decision_function"], model.decision_function(table), 1e-9)


def test_what_cannot_be_exported_is_named_with_its_column():
    table, target = people(40)
    table["note"] = [f"a note of some words {k}" for k in range(40)]
    joint = Encoded({"age": "number", "town": "category"}, RBF(0.5))
    beside = mercer.SVC(kernel=joint + On("note", Spectrum(2))).fit(table, target)
    with pytest.raises(ParameterError, match=r"column 'note' is compared by Spectrum\(length=2\).*--drop note"):
        to_onnx(beside)
    additive = mercer.SVC(kernel=Columns.infer(table[["age", "town"]])).fit(table, target)
    with pytest.raises(ParameterError, match=r"column 'age' has a kernel of its own.*train with kernel='auto'"):
        to_onnx(additive)
    named = table.rename(columns={"town": "label"})
    model = mercer.SVC(kernel=Encoded({"label": "category"}, RBF(0.5))).fit(named, target)
    with pytest.raises(ParameterError, match=r"column 'label' cannot be an input.*rename it"):
        to_onnx(model)
    table["since"] = [EPOCH, EPOCH + pd.Timedelta(days=1)] * 20
    model = mercer.SVC(kernel=Encoded({"since": ("number", "category")}, RBF(0.5))).fit(table, target)
    with pytest.raises(ParameterError, match="column 'since' is read both as numbers and as texts"):
        to_onnx(model)
