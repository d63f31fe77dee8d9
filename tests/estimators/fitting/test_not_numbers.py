"""Data that are not rows of numbers are refused with the kernel that takes them, and that advice works."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, SVR, DataError, KernelRidge, LinearSVC, OneClassSVM
from mercer.kernels import Columns, Spectrum

FRAME = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
GAPS = pd.DataFrame({"age": [30.0, 40.0, np.nan, 60.0]})
TEXTS = ["a fine film", "fine, and funny", "dull", "a dull, long film"]
y = [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("X", "reason"),
    [
        (FRAME, r"column 'town' holds 'Ulm', which is not a number .*kernel=\"auto\" or kernel=Columns.infer\(X\)"),
        (GAPS, r"contains NaN: column 'age' has no value in row 2; pass kernel=\"auto\" or kernel=Columns.infer\(X\)"),
        (TEXTS, r"X holds texts, but kernel='rbf' takes rows of numbers; .*kernel=\"spectrum\".*Spectrum\("),
        (FRAME.to_dict("records"), r"column 'town' holds 'Ulm'"),
        (FRAME.to_numpy(), r"column 1 holds 'Ulm'"),
        (np.array([[1.0, np.nan]] * 4), r"NaN: column 1 has no value in row 0; pass kernel=Columns.infer\(X\)"),
    ],
)
def test_the_error_names_what_is_wrong_and_what_takes_it(X, reason):
    with pytest.raises(DataError, match=reason):
        SVC().fit(X, y)


@pytest.mark.parametrize("X", [FRAME, GAPS])
@pytest.mark.parametrize("kernel", ["auto", "infer"])
def test_the_advice_for_tables_works(X, kernel):
    kernel = Columns.infer(X) if kernel == "infer" else kernel
    assert len(SVC(kernel=kernel).fit(X, y).predict(X)) == 4


@pytest.mark.parametrize("kernel", ["auto", "spectrum", Spectrum(tokenizer="words", length=1)])
def test_the_advice_for_texts_works(kernel):
    assert SVC(kernel=kernel, C=10.0).fit(TEXTS, y).predict(TEXTS).tolist() == y


def test_every_kind_of_estimator_says_what_it_can_do_itself():
    for model in (SVR(), OneClassSVM()):
        with pytest.raises(DataError, match='kernel="auto"'):
            model.fit(FRAME, y)
    with pytest.raises(DataError, match=r"pass kernel=Columns\.infer"):
        KernelRidge().fit(FRAME, y)
    with pytest.raises(DataError, match="TableFeatures"):
        LinearSVC().fit(FRAME, y)


@pytest.mark.parametrize("model", [SVC(), SVR(), LinearSVC(), KernelRidge(), OneClassSVM()])
@pytest.mark.parametrize(
    ("X", "fault"),
    [
        (np.array([[1.0, 2.0], [3.0, np.nan]]), "Input X contains NaN: column 1 has no value in row 1"),
        ([[1.0, "Ulm"]], "column 1 holds 'Ulm', which is not a number"),
    ],
)
def test_a_model_of_numbers_names_what_it_cannot_predict(model, X, fault):
    model.fit(np.arange(8.0).reshape(4, 2), y)
    with pytest.raises(DataError, match=rf"{fault}.*; this {type(model).__name__} was fitted to numbers"):
        model.predict(X)
    with pytest.raises(ValueError, match="is expecting 2 features"):
        model.predict(np.ones((2, 3)))


def test_other_errors_are_left_as_they_are():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC().fit(np.zeros((4, 2)), [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        SVC().fit(np.full((4, 2), np.inf), y)


@pytest.mark.parametrize(("one", "told"), [("dull", "one text 'dull'"), ({"age": 1}, "one dictionary")])
def test_one_item_is_no_list_of_items(one, told):
    model = SVC(kernel="spectrum").fit(TEXTS, y)
    with pytest.raises(DataError, match=f"must be a list of items, got {told}; pass \\[item\\]"):
        model.predict(one)
    assert model.predict(["dull"]).tolist() == [0]


def test_advice_for_graphs_of_networkx_works():
    networkx = pytest.importorskip("networkx")
    from mercer import Graph

    graphs = [networkx.path_graph(3), networkx.path_graph(4), networkx.complete_graph(3), networkx.complete_graph(4)]
    with pytest.raises(DataError, match=r'Graph.of\(graph\).labeled\("degree"\)'):
        SVC(kernel="wl").fit(graphs, y)
    labelled = [Graph.of(graph).labeled("degree") for graph in graphs]
    assert SVC(kernel="wl").fit(labelled, y).predict(labelled).tolist() == y
    for graph in graphs:
        networkx.set_node_attributes(graph, "x", "label")
    assert len(SVC(kernel="wl").fit(graphs, y).predict(graphs)) == 4
