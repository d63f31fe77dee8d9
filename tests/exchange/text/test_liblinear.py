"""LIBLINEAR models in and out: weights only, the scores of the reference."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mercer
from mercer import DataError, ParameterError, read_liblinear_model, write_liblinear_model
from mercer.exchange.text.linear import LinearFunctions
from tests.exchange.machines import assert_same, rows, targets, values
from tests.exchange.reference_tools import LIBLINEAR, needs_liblinear, reference_values, run, write_rows

SOLVERS = {0: "LinearSVC", 1: "LinearSVC", 2: "LinearSVC", 3: "LinearSVC", 4: "LinearSVC", 5: "LinearSVC",
           6: "LinearSVC", 7: "LinearSVC", 11: "LinearSVR", 12: "LinearSVR", 13: "LinearSVR"}  # fmt: skip


@needs_liblinear
@pytest.mark.parametrize("bias", [-1, 0, 2.5])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("solver", SOLVERS)
def test_models_of_liblinear_have_its_scores(tmp_path, solver, n_classes, bias):
    X, y, new = rows(n_classes=n_classes)
    is_regression = solver >= 11
    write_rows(tmp_path / "train", X, targets(X) if is_regression else y)
    run(LIBLINEAR, "-q", "-s", solver, "-B", bias, tmp_path / "train", tmp_path / "model")
    ours = read_liblinear_model(tmp_path / "model")
    assert type(ours).__name__ == SOLVERS[solver]
    is_single = is_regression or (n_classes == 2 and solver != 4)
    asked = np.c_[new, np.full(len(new), bias)] if bias >= 0 else new
    expected, labels = reference_values("linear", tmp_path / "model", asked, 1 if is_single else n_classes)
    if is_regression:
        assert_same(ours.predict(new), labels)
        return
    assert (ours.predict(new) == labels).all()
    order = np.argsort(
        [int(word) for word in (tmp_path / "model").read_text().split("label")[1].split("\n")[0].split()]
    )
    if not is_single and n_classes > 2:
        assert_same(ours.decision_function(new), expected[:, order])
    elif is_single:
        assert_same(np.abs(ours.decision_function(new)), np.abs(expected[:, 0]))
    if solver in (0, 6, 7) and n_classes == 2:
        assert_same(ours.predict_proba(new)[:, 1], 1 / (1 + np.exp(-ours.decision_function(new))))


@needs_liblinear
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_that_mercer_writes_have_its_scores_in_liblinear(tmp_path, n_classes):
    X, y, new = rows(n_classes=n_classes)
    model = mercer.LinearSVC().fit(X, y)
    write_liblinear_model(model, tmp_path / "model")
    asked = np.c_[new, np.ones(len(new))]
    found, labels = reference_values("linear", tmp_path / "model", asked, 1 if n_classes == 2 else n_classes)
    assert_same(found.reshape(model.decision_function(new).shape), model.decision_function(new))
    assert (labels == model.predict(new)).all()
    regression = mercer.LinearSVR().fit(X, targets(X))
    write_liblinear_model(regression, tmp_path / "model")
    assert_same(reference_values("linear", tmp_path / "model", asked, 1)[1], regression.predict(new))


MODELS = {
    "LinearSVC": mercer.LinearSVC(loss="hinge"),
    "l1": mercer.LinearSVC(penalty="l1"),
    "crammer_singer": mercer.LinearSVC(multi_class="crammer_singer"),
    "PegasosSVC": mercer.PegasosSVC(),
    "Perceptron": mercer.Perceptron(max_iter=20),
    "SVC": mercer.SVC(kernel="linear", multi_class="ovr"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_classifiers_go_and_return(tmp_path, name, n_classes):
    X, y, new = rows(n_classes=n_classes)
    model = MODELS[name].fit(X, y)
    write_liblinear_model(model, tmp_path / "m")
    again = read_liblinear_model(tmp_path / "m")
    assert_same(again.decision_function(new), model.decision_function(new))
    assert (again.predict(new) == model.predict(new)).all()


@pytest.mark.parametrize("name", ["LinearSVR", "SVR", "OneClassSVM", "NuSVR"])
def test_regression_and_detection_go_and_return(tmp_path, name):
    X, _, new = rows()
    X, new = X + 2.0, new + 2.0
    model = getattr(mercer, name)(**({} if name == "LinearSVR" else {"kernel": "linear"})).fit(X, targets(X))
    write_liblinear_model(model, tmp_path / "m")
    again = read_liblinear_model(tmp_path / "m")
    assert_same(values(again, new), values(model, new))
    assert_same(again.predict(new), model.predict(new))


def test_logistic_regression_keeps_its_probabilities(tmp_path):
    X, y, new = rows()
    model = mercer.from_sklearn(LogisticRegression().fit(X, y))
    write_liblinear_model(model, tmp_path / "m")
    assert "L2R_LR" in (tmp_path / "m").read_text()
    assert_same(read_liblinear_model(tmp_path / "m").predict_proba(new), model.predict_proba(new))


def test_labels_that_are_words(tmp_path):
    X, y, new = rows()
    model = mercer.LinearSVC().fit(X, np.where(y > 0, "yes", "no"))
    with pytest.raises(ParameterError, match="LIBLINEAR's labels are whole numbers"):
        write_liblinear_model(model, tmp_path / "m")
    write_liblinear_model(model, tmp_path / "m", labels=[0, 1])
    again = read_liblinear_model(tmp_path / "m", classes=["no", "yes"])
    assert (again.predict(new) == model.predict(new)).all()


def test_what_liblinear_cannot_hold_is_refused(tmp_path):
    X, y, _ = rows(n_classes=3)
    for model, message in [
        (mercer.SVC(), "model must be a fitted linear model, with coef_ and intercept_, got SVC"),
        (mercer.SVC(kernel="linear"), "functions for pairs of 3 classes"),
        (mercer.SVDD(kernel="linear"), "model must be a fitted linear model"),
        (mercer.LinearSVC(probability=True), "LIBLINEAR has no place for calibrated probabilities"),
    ]:
        with pytest.raises(ParameterError, match=message):
            write_liblinear_model(model.fit(X, y), tmp_path / "m")


GOOD = "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 2 1 3\nnr_feature 2\nbias 1\nw\n1 2 3 \n4 5 6 \n7 8 9 \n"


def test_a_good_file(tmp_path):
    (tmp_path / "m").write_text(GOOD)
    model = read_liblinear_model(tmp_path / "m")
    assert model.coef_.tolist() == [[2, 5], [1, 4], [3, 6]]
    assert model.intercept_.tolist() == [8, 7, 9]
    assert model.certificate_ is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("L2R_L2LOSS_SVC", "MAGIC", "line 1, column 1: solver_type must be one of"),
        ("nr_class 3", "nr_class 0", "line 2, column 10: nr_class must be a whole number"),
        ("nr_class 3", "nr_class 2", "nr_class=2 needs as many different labels, got"),
        ("label 2 1 3", "label 2 2 3", "nr_class=3 needs as many different labels"),
        ("label 2 1 3\n", "", "the header has no label"),
        ("nr_feature 2", "nr_feature -1", "line 4, column 12: nr_feature must be a whole number"),
        (
            "nr_feature 2",
            "nr_feature 1000000000000",
            "promises 1000000000001 rows of weights, but there are 3",
        ),
        ("bias 1", "bias x", "line 5, column 6: bias must be a finite number"),
        ("bias 1", "bias 1 2", "line 5, column 1: bias must be one value, got 2"),
        ("bias 1", "colour 1", "line 5, column 1: the key 'colour' must be one of"),
        ("bias 1", "nr_class 3", "line 5, column 1: the key 'nr_class' occurs twice"),
        ("4 5 6", "4 5", "line 8, column 5: a weight must be a finite number"),
        ("4 5 6", "4 5 6 7", "line 8, column 7: an index must be a whole number followed by a colon"),
        ("4 5 6", "4 5 6 1:2", "a line of weights must hold 3 numbers and nothing else"),
        ("4 5 6", "4 5 nan", "line 8, column 5: a weight must be a finite number"),
        ("7 8 9 \n", "", "the header promises 3 rows of weights, but there are 2 of them"),
        ("w\n1 2 3 \n4 5 6 \n7 8 9 \n", "", "line 6: the file ends where w, the end of the header, should be"),
    ],
)
def test_a_bad_file_is_named(tmp_path, old, new, message):
    assert old in GOOD
    (tmp_path / "bad.model").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(DataError, match=f"bad.model.*{message}"):
        read_liblinear_model(tmp_path / "bad.model")


@pytest.mark.parametrize(
    "classes", [["a", "b"], ["b", "a", "c"], ["a", "c", "b"], ["a", "a", "b"], ["a", "b", "c", "d"], "abc"]
)
def test_names_of_classes_come_in_order_and_are_as_many(tmp_path, classes):
    X, y, new = rows(n_classes=3)
    model = mercer.LinearSVC().fit(X, y)
    write_liblinear_model(model, tmp_path / "m")
    with pytest.raises(ParameterError, match="classes must be 3 labels in ascending order"):
        read_liblinear_model(tmp_path / "m", classes=classes)
    again = read_liblinear_model(tmp_path / "m", classes=["a", "b", "c"])
    assert (again.predict(new) == np.array(["a", "b", "c"])[np.searchsorted(model.classes_, model.predict(new))]).all()


def test_a_machine_that_was_read_has_no_probabilities_of_another(tmp_path):
    X, y, _ = rows()
    write_liblinear_model(mercer.LinearSVC().fit(X, y), tmp_path / "m")
    again = read_liblinear_model(tmp_path / "m")
    assert not hasattr(again, "predict_proba")
    assert again.set_params(probability=True).probability
    with pytest.raises((AttributeError, ParameterError, DataError)):
        again.predict_proba(X)


@pytest.mark.parametrize(
    ("model", "solver"),
    [
        (mercer.LinearSVC(loss="hinge"), "L2R_L1LOSS_SVC_DUAL"),
        (mercer.LinearSVC(), "L2R_L2LOSS_SVC_DUAL"),
        (mercer.LinearSVC(penalty="l1"), "L1R_L2LOSS_SVC"),
        (mercer.LinearSVC(multi_class="crammer_singer"), "MCSVM_CS"),
        (mercer.SVC(kernel="linear"), "L2R_L1LOSS_SVC_DUAL"),
        (mercer.LinearSVR(), "L2R_L1LOSS_SVR_DUAL"),
        (mercer.LinearSVR(loss="squared_epsilon_insensitive"), "L2R_L2LOSS_SVR"),
        (mercer.OneClassSVM(kernel="linear"), "ONECLASS_SVM"),
    ],
)
def test_the_header_names_the_problem_that_was_solved(tmp_path, model, solver):
    X, y, _ = rows(n_classes=3 if solver == "MCSVM_CS" else 2)
    write_liblinear_model(model.fit(X + 3.0, y), tmp_path / "m")
    assert (tmp_path / "m").read_text().startswith(f"solver_type {solver}\n")


def test_the_difference_of_two_functions_is_positive_where_the_second_is_larger():
    both = LinearFunctions(np.array([[1.0, 2.0], [4.0, 1.0]]), np.array([0.5, -1.0])).difference()
    assert (both.weights.tolist(), both.intercepts.tolist()) == ([[3.0, -1.0]], [-1.5])
