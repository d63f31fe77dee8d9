import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mercer import SVC
from mercer.report.scores import advice, area_under_curve, score


def test_the_area_under_the_curve_is_scikit_learns_ties_included():
    rng = np.random.default_rng(0)
    truth, values = rng.integers(0, 2, 200), np.round(rng.normal(size=200), 1)
    assert area_under_curve(truth, np.array([0, 1]), values) == pytest.approx(roc_auc_score(truth, values))


def test_of_several_classes_it_is_the_mean_of_one_against_the_rest():
    rng = np.random.default_rng(1)
    truth, values = rng.integers(0, 3, 150), rng.random((150, 3))
    values /= values.sum(axis=1, keepdims=True)
    expected = roc_auc_score(truth, values, multi_class="ovr")
    assert area_under_curve(truth, np.array([0, 1, 2]), values) == pytest.approx(expected)


def test_rows_of_one_class_have_no_area():
    assert area_under_curve(np.ones(3), np.array([0, 1]), np.arange(3.0)) is None
    assert "area_under_curve" not in score(
        "classification", np.ones(3), np.ones(3), values=(np.array([0, 1]), np.arange(3.0))
    )


@pytest.fixture
def rare():
    """A rare class that decision values tell apart, and that no threshold at zero finds."""
    truth = np.repeat(["no", "yes"], [190, 10])
    values = (np.array(["no", "yes"]), np.concatenate([np.linspace(-3, -1, 190), np.linspace(-1.5, -0.5, 10)]))
    return truth, np.full(200, "no"), values


def test_a_rare_class_that_is_lost_is_told_with_what_to_do(rare):
    truth, said, values = rare
    found = score("classification", truth, said, values=values)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, said))
    assert (found["baseline"], found["most_frequent"]) == (0.95, "no")
    (words,) = advice(found, SVC())
    assert words.startswith("only 0 of 10 rows of class 'yes' were recognised")
    assert "--class-weight balanced" in words


def test_nothing_is_advised_where_it_would_not_help(rare):
    truth, said, (classes, values) = rare
    assert advice(score("classification", truth, said, values=(classes, values)), SVC(class_weight="balanced")) == []
    mixed = np.random.default_rng(2).permutation(values)
    assert advice(score("classification", truth, said, values=(classes, mixed)), SVC()) == [], (
        "nothing tells them apart"
    )
    assert advice(score("classification", truth, truth, values=(classes, values)), SVC()) == []
    assert advice(None, SVC()) == []
    assert advice(score("regression", np.arange(3.0), np.arange(3.0)), SVC()) == []
