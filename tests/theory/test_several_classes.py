"""Bounds for several classes: those of the machines put together, and true of what leaving out shows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from mercer import SVC, DataError, HardMarginSVC, LinearSVC, ParameterError, theory
from mercer.theory import several_classes


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X)[::3], y[::3]


def left_out_errors(model, X, y):
    wrong = [clone(model).fit(np.delete(X, k, 0), np.delete(y, k)).predict(X[[k]])[0] != y[k] for k in range(len(y))]
    return float(np.mean(wrong))


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_leaving_one_out_is_bounded(multi_class, C, iris):
    X, y = iris
    model = SVC(C=C, multi_class=multi_class, bias="none").fit(X, y)
    found = theory.report(model, X, y)
    truth = left_out_errors(model, X, y)
    assert found["xi_alpha"].applies
    assert truth <= found["xi_alpha"].value <= found["support_vectors"].value
    assert found["support_vectors"].value == pytest.approx(len(model.support_) / len(y))


def test_a_condition_that_differs_only_in_a_number_is_said_once(iris):
    X, y = iris
    found = theory.report(SVC(C=10.0).fit(X, y), X, y)
    assert [reason for reason in found["norm"].unmet if "different model" in reason] == [
        "3 of 3 machines: it is about a different model"
    ]


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_each_machine_is_the_one_that_was_fitted(multi_class, iris):
    X, y = iris
    found = theory.report(SVC(multi_class=multi_class).fit(X, y), X, y)
    for k, (name, part) in enumerate(found.parts.items()):
        i, j = [(0, 1), (0, 2), (1, 2)][k]
        rows = np.isin(y, (i, j)) if multi_class == "ovo" else np.ones(len(y), bool)
        own = i if multi_class == "ovo" else k
        alone = theory.report(SVC(gamma=1.0 / (4 * X.var())).fit(X[rows], y[rows] == own), X[rows], y[rows] == own)
        assert name == (f"{i} or {j}" if multi_class == "ovo" else f"{k} or not")
        assert part.norm == pytest.approx(alone.norm, rel=1e-4)
        assert part.training_error == alone.training_error
        assert part["support_vectors"].value == pytest.approx(alone["support_vectors"].value)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_hard_margin_has_the_coefficients_of_its_rows(multi_class):
    """Its functions are weights, not sums over support vectors."""
    X, y = np.vstack([3.0 * np.eye(3), 4.0 * np.eye(3)]), np.tile(np.arange(3), 2)
    hard = HardMarginSVC(kernel="linear", multi_class=multi_class).fit(X, y)
    soft = SVC(C=1e6, kernel="linear", multi_class=multi_class, tol=1e-9).fit(X, y)
    found, expected = (theory.report(model, X, y) for model in (hard, soft))
    assert [part.norm for part in found.parts.values()] == pytest.approx([p.norm for p in expected.parts.values()])
    assert found["support_vectors"].value == expected["support_vectors"].value


def test_other_bounds_add_up(iris):
    X, y = iris
    found = theory.report(LinearSVC(bias="penalized", loss="hinge").fit(X, y), X, y, delta=0.06)
    assert found.how == "each class against the rest"
    expected = sum(part["vc"].value for part in found.parts.values())
    assert found["vc"].value == pytest.approx(expected)
    assert {part.delta for part in found.parts.values()} == {0.02}
    assert found["xi_alpha"].unmet == ("the model keeps no dual variables",)
    assert "sum over 3 classifiers, each with delta = 0.02" in found["vc"].says


def test_printed_and_as_plain_values(iris):
    X, y = iris
    found = theory.report(SVC().fit(X, y), X, y)
    text = str(found)
    assert "50 rows, 3 classes" in text
    assert "3 two-class classifiers, one for each pair of classes" in text
    plain = found.as_dict()
    assert sorted(plain["parts"]) == ["0 or 1", "0 or 2", "1 or 2"]
    assert plain["findings"][-1]["key"] == "xi_alpha"


def test_many_machines_are_counted_only(iris, monkeypatch):
    X, y = iris
    monkeypatch.setattr(several_classes, "MOST_MACHINES", 2)
    found = theory.report(SVC().fit(X, y), X, y)
    assert [finding.key for finding in found.findings] == ["support_vectors"]
    assert found.holding == ["support_vectors"]


def test_a_precomputed_matrix_and_texts(iris):
    X, y = iris
    K = X @ X.T
    by_matrix = theory.report(SVC(kernel="precomputed").fit(K, y), K, y)
    by_rows = theory.report(SVC(kernel="linear").fit(X, y), X, y)
    assert by_matrix["xi_alpha"].value == pytest.approx(by_rows["xi_alpha"].value)
    assert by_matrix["margin_vc"].unmet == by_rows["margin_vc"].unmet


def test_what_is_no_machine_is_refused(iris):
    X, y = iris
    with pytest.raises(DataError, match="that the model was fitted to"):
        theory.report(SVC().fit(X, y), X, y + 7)
    with pytest.raises(DataError, match="in the same order"):
        theory.report(SVC().fit(X, y), X[:9], y[:9])
    with pytest.raises(ParameterError, match="got multi_class=None"):
        theory.report(LogisticRegression().fit(X, y), X, y)
