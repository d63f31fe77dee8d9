import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import mercer
from mercer import SVC, Graph, ParameterError, Tree
from mercer.kernels import RBF, Columns, Delta, Mismatch, Spectrum, SubsetTree, WeisfeilerLehman
from mercer.plot import ExplanationDisplay
from mercer.plot.drawing.shades import shade
from tests.plot.pictures import assert_pictured

TEXTS = ["good and cheap", "good and kind", "bad and dear", "bad and mean"]
TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (C a) (B b))", "(S (C c) (D b))"]
GRAPHS = [Graph([(0, 1), (1, 2), (2, 3)], node_labels=labels) for labels in ("CCOO", "COOC", "CCNN", "CNNC")]
SIDES = ["no", "no", "yes", "yes"]


def text_model(tokenizer="words"):
    return SVC(kernel=Spectrum(length=1, tokenizer=tokenizer), C=10.0).fit(TEXTS, SIDES)


def test_bars_add_up_to_the_decision_value():
    people = [{"age": a, "town": t} for a, t in [(20, "Ulm"), (25, "Ulm"), (60, "Ulm"), (65, "Bonn")]]
    model = SVC(kernel=Columns({"age": RBF(0.01), "town": Delta()}), C=10.0).fit(people, [0, 0, 1, 1])
    display = ExplanationDisplay.from_estimator(model, {"age": 22, "town": "Bonn"})
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == ["age", "town", "intercept", "decision value"]
    widths = [bar.get_width() for bar in display.artists_]
    assert sum(widths[:-1]) == pytest.approx(widths[-1])
    assert widths[-1] == pytest.approx(float(model.decision_function([{"age": 22, "town": "Bonn"}])[0]))


def test_bars_that_speak_against_are_hatched(petals):
    X, y = petals
    display = ExplanationDisplay.from_estimator(SVC(kernel="linear").fit(X[y > 0], y[y > 0]), X[60])
    for bar in display.artists_[:-1]:
        assert (bar.get_hatch() == "///") == (bar.get_width() < 0)
    assert any(bar.get_hatch() == "///" for bar in display.artists_)


def test_small_bars_are_one(rng):
    X = rng.normal(size=(40, 9))
    model = SVC(kernel="linear").fit(X, X[:, 0] > 0)
    display = ExplanationDisplay.from_estimator(model, X[0], max_bars=3)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[3:] == ["the other 6", "intercept", "decision value"]
    assert sum(display.values_[:-1]) == pytest.approx(display.values_[-1])


def test_a_function_is_chosen_by_number(petals):
    model = SVC(kernel="linear").fit(*petals)
    explanation = mercer.explain(model, petals[0][0])
    display = ExplanationDisplay.from_explanation(explanation, function=2)
    assert display.ax_.get_title(loc="left").startswith("decision value for 1 rather than 2")
    with pytest.raises(ParameterError, match="function must be from 0 to 2, got 3"):
        ExplanationDisplay.from_explanation(explanation, function=3)


def test_words_are_shaded_by_what_they_say():
    model = text_model()
    display = ExplanationDisplay.from_estimator(model, "good but dear and new")
    assert display.kind_ == "text"
    assert display.parts.names == ["good", "but", "dear", "and", "new"]
    good, but, dear, _, new = display.values_
    assert good < 0 < dear
    assert but == new == 0.0
    assert sum(display.values_) + display.explanation.intercept[0] == pytest.approx(display.explanation.decision[0])
    largest = np.abs(display.values_).max()
    for cell, value in zip(display.artists_, display.values_, strict=True):
        np.testing.assert_allclose(cell.get_facecolor(), shade(value / largest))


def test_letters_stand_in_their_cells():
    display = ExplanationDisplay.from_estimator(text_model("characters"), "good and dear")
    letters = {
        (round(text.get_position()[0] - 0.5), text.get_text())
        for text in display.ax_.texts
        if len(text.get_text()) == 1
    }
    assert {(0, "g"), (3, "d"), (5, "a"), (12, "r")} <= letters
    assert [cell.get_x() for cell in display.artists_] == list(range(13))


def test_what_speaks_against_is_underlined_by_dashes():
    display = ExplanationDisplay.from_estimator(text_model(), "good and dear")
    styles = {round(line.get_xdata()[0] - 0.1): line.get_linestyle() for line in display.ax_.lines}
    assert styles[0] == "--"
    assert styles[9] == "-"


def test_a_tree_is_drawn_with_its_nodes_shaded():
    model = SVC(kernel=SubsetTree(), C=10.0).fit(TREES, SIDES)
    display = ExplanationDisplay.from_estimator(model, "(S (A a) (D b))")
    assert display.kind_ == "tree"
    assert [box.get_text() for box in display.artists_] == ["S", "A", "a", "D", "b"]
    largest = np.abs(display.values_).max()
    for box, value in zip(display.artists_, display.values_, strict=True):
        np.testing.assert_allclose(box.get_bbox_patch().get_facecolor(), shade(value / largest))
    assert len(display.ax_.lines) == 4
    by_name = dict(zip(display.parts.names, display.values_, strict=True))
    assert by_name["A"] < 0 < by_name["D"]


def test_a_graph_is_drawn_with_its_nodes_shaded():
    model = SVC(kernel=WeisfeilerLehman(iterations=1), C=10.0).fit(GRAPHS, SIDES)
    display = ExplanationDisplay.from_estimator(model, Graph([(0, 1), (1, 2)], node_labels="ONC"))
    assert display.kind_ == "graph"
    assert len(display.artists_) == 3
    assert len(display.ax_.lines) == 2
    oxygen, nitrogen, _ = display.values_
    assert oxygen < 0 < nitrogen
    # A square speaks against, a circle for.
    sides = [len(node.get_paths()[0].vertices) for node in display.artists_]
    assert sides[0] == 5 < sides[1]


def test_bars_on_request():
    display = ExplanationDisplay.from_estimator(text_model(), "good and dear", bars=True)
    assert display.kind_ == "bars"
    assert {"good", "dear", "and"} <= {text.get_text() for text in display.ax_.get_yticklabels()}


def test_it_draws_into_given_axes():
    _, ax = plt.subplots()
    assert ExplanationDisplay.from_estimator(text_model(), "good", ax=ax).ax_ is ax


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(NotFittedError):
        ExplanationDisplay.from_estimator(SVC(), [1.0, 2.0])
    with pytest.raises(ParameterError, match="max_bars must be positive, got 0"):
        ExplanationDisplay.from_estimator(text_model(), "good", max_bars=0)


def test_a_kernel_whose_features_have_no_places_is_judged_by_hiding():
    model = SVC(kernel=Mismatch(length=2), C=10.0).fit(["abab", "abba", "cdcd", "cddc"], SIDES)
    display = ExplanationDisplay.from_estimator(model, "abcd")
    assert not display.parts.is_division
    assert "what f loses when the part is hidden" in display.ax_.texts[-1].get_text()


def test_pictures_of_all_four_kinds(petals):
    figure, axes = plt.subplots(2, 2, figsize=(13, 7), layout="constrained")
    ExplanationDisplay.from_estimator(text_model(), "good but dear and new , and good again", ax=axes[0, 0])
    tree_model = SVC(kernel=SubsetTree(), C=10.0, tol=1e-8).fit(TREES, SIDES)
    ExplanationDisplay.from_estimator(tree_model, Tree.parse("(S (A a) (D b) (B c))"), ax=axes[0, 1])
    graph_model = SVC(kernel=WeisfeilerLehman(iterations=1), C=10.0, tol=1e-8).fit(GRAPHS, SIDES)
    ring = Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 5)], node_labels="CCONCN")
    ExplanationDisplay.from_estimator(graph_model, ring, ax=axes[1, 0])
    X, y = petals
    ExplanationDisplay.from_estimator(SVC(kernel="linear", tol=1e-8).fit(X[y > 0], y[y > 0]), X[60], ax=axes[1, 1])
    assert_pictured(figure, "explanation")
