import numpy as np
import pytest

import mercer
from mercer import SVC, Graph, ParameterError, Tree
from mercer.explanation.parts import MOST_PARTS, NOWHERE, by_parts
from mercer.kernels import Mismatch, RandomWalk, Spectrum, Subsequence, SubsetTree, WeisfeilerLehman

TEXTS = ["abab", "abba", "cdcd", "cddc"]
SIDES = [0, 0, 1, 1]


def parts_of(model, x):
    return by_parts(model, x, mercer.explain(model, x))


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(length=2), Spectrum(length=(1, 3)).normalized(), 2.0 * Spectrum(length=2), Subsequence(length=2)],
    ids=str,
)
def test_shares_of_symbols_add_up_to_the_decision_value(kernel):
    model = SVC(kernel=kernel, C=3.0).fit(TEXTS, SIDES)
    parts = parts_of(model, "abcabd")
    assert parts.is_division
    assert parts.names == list("abcabd")
    total = parts.values.sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.decision_function(["abcabd"]), atol=1e-9)


def test_words_are_symbols_too():
    texts = ["to be or not", "to be or else", "let it be so", "let it go so"]
    model = SVC(kernel=Spectrum(length=(1, 2), tokenizer="words")).fit(texts, SIDES)
    parts = parts_of(model, "let it be , or not !")
    assert parts.names == ["let", "it", "be", ",", "or", "not", "!"]
    np.testing.assert_allclose(
        parts.values.sum() + model.intercept_, model.decision_function(["let it be , or not !"]), atol=1e-9
    )


def test_every_decision_function_has_its_values():
    model = SVC(kernel=Spectrum(length=2)).fit([*TEXTS, "efef"], [0, 0, 1, 1, 2])
    assert parts_of(model, "abcd").values.shape == (3, 4)


def test_lists_of_tokens_are_taken_as_they_are():
    model = SVC(kernel=Spectrum(length=1)).fit([["a", "b"], ["a"], ["c"], ["c", "d"]], SIDES)
    parts = parts_of(model, ["a", "c"])
    assert parts.names == ["a", "c"]
    assert parts.values[0, 0] < 0 < parts.values[0, 1]


def test_hidden_symbols_are_missed():
    model = SVC(kernel=Mismatch(length=2), C=3.0).fit(TEXTS, SIDES)
    parts = parts_of(model, "abcd")
    assert not parts.is_division
    values = model.decision_function(["abcd", f"{NOWHERE}bcd", f"abc{NOWHERE}"])
    np.testing.assert_allclose(parts.values[0, [0, 3]], values[0] - values[1:])


def test_hidden_nodes_of_a_tree_are_missed():
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (C a) (B b))", "(S (C c) (D b))"]
    model = SVC(kernel=SubsetTree().normalized()).fit(trees, SIDES)
    parts = parts_of(model, "(S (A a) (D b))")
    assert parts.item == Tree.parse("(S (A a) (D b))")
    values = model.decision_function(["(S (A a) (D b))", f"(S ({NOWHERE} a) (D b))"])
    assert parts.values[0, 1] == pytest.approx(values[0] - values[1])


def graphs(labeled):
    found = [Graph([(0, 1), (1, 2), (2, 0)], node_labels="CCO"), Graph([(0, 1), (1, 2)], node_labels="CNC")]
    found += [Graph([(0, 1), (1, 2), (2, 0)], node_labels="CON"), Graph([(0, 1), (1, 2)], node_labels="NNC")]
    return found if labeled else [Graph(graph.ends, 3) for graph in found]


def test_hidden_nodes_of_a_graph_are_missed():
    items = graphs(labeled=True)
    model = SVC(kernel=WeisfeilerLehman(iterations=1)).fit(items, SIDES)
    parts = parts_of(model, items[0])
    values = model.decision_function([items[0], items[0].labeled(["C", "C", NOWHERE])])
    assert parts.values[0, 2] == pytest.approx(values[0] - values[1])
    assert parts.names == ["C", "C", "O"]


@pytest.mark.parametrize("labelled", [False, True])
def test_nodes_whose_labels_nobody_reads_are_cut_off(labelled):
    items = graphs(labelled)
    model = SVC(kernel=RandomWalk(labeled=False)).fit(items, [0, 1, 0, 1])
    parts = parts_of(model, items[1])
    values = model.decision_function([items[1], Graph([], 3)])
    # The middle node has all the edges.
    assert parts.values[0, 1] == pytest.approx(values[0] - values[1])


def test_rows_of_numbers_have_no_parts(toy):
    X, y = toy
    assert parts_of(SVC().fit(X, y), X[0]) is None
    assert parts_of(mercer.LinearSVC().fit(X, y), X[0]) is None


def test_a_text_that_is_too_long_is_refused():
    model = SVC(kernel=Mismatch(length=2)).fit(TEXTS, SIDES)
    with pytest.raises(ParameterError, match=f"an item of {MOST_PARTS + 1} parts is too long"):
        parts_of(model, "a" * (MOST_PARTS + 1))


def test_what_a_tokenizer_finds_are_the_parts():
    model = SVC(kernel=Spectrum(length=1, tokenizer=str.split)).fit(["a b", "a c", "d e", "d f"], SIDES)
    parts = parts_of(model, "a d")
    assert parts.names == ["a", "d"]
    np.testing.assert_allclose(parts.values.sum() + model.intercept_, model.decision_function(["a d"]), atol=1e-9)
    model = SVC(kernel=Mismatch(length=2, tokenizer=str.split)).fit(["a b", "a c", "d e", "d f"], SIDES)
    hidden = model.decision_function(["a d", f"{NOWHERE} d"])
    np.testing.assert_allclose(parts_of(model, "a d").values[0, 0], hidden[0] - hidden[1])
