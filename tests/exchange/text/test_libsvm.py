"""LIBSVM models in and out: the same decision values as LIBSVM, and bad files named by line and column."""

import gzip
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC as TheirSVC  # noqa: N811

import mercer
from mercer import DataError, ParameterError, from_sklearn, read_libsvm_model, write_libsvm_model
from mercer.estimators.fitting.tasks import ovr_from_ovo, votes
from mercer.exchange.text.libsvm import whole_labels
from mercer.exchange.text.lines import csr_of
from mercer.exchange.text.parts import DENSE, Machine, compact_rows
from mercer.io.svmlight.table import Table
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from tests.exchange.machines import KERNELS, TYPES, assert_same, fitted, rows, targets, values
from tests.exchange.reference_tools import needs_libsvm, reference_values, run, write_rows

LIBSVM_TYPES = {"SVC": 0, "NuSVC": 1, "OneClassSVM": 2, "SVR": 3, "NuSVR": 4}
LIBSVM_KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", TYPES)
def test_what_is_written_is_read_again(tmp_path, name, kernel):
    theirs, X = fitted(name, kernel)
    ours = from_sklearn(theirs)
    write_libsvm_model(ours, tmp_path / "a.model")
    again = read_libsvm_model(tmp_path / "a.model")
    assert type(again) is type(ours)
    assert again.get_params()["kernel"] == KERNELS[kernel]["kernel"]
    assert_same(values(again, X), values(theirs, X))
    assert_same(values(again, sparse.csr_matrix(X)), values(theirs, X))
    if "SVR" not in name:
        assert (again.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR"])
def test_machines_that_mercer_fits_go_and_return(tmp_path, name):
    X, y, new = rows(n_classes=3)
    options = {"nu": 0.2} if name == "NuSVC" else {}
    model = getattr(mercer, name)(**options).fit(X, y if "SVC" in name else targets(X))
    write_libsvm_model(model, tmp_path / "a.model")
    again = read_libsvm_model(tmp_path / "a.model")
    assert_same(values(again, new), values(model, new))
    assert (again.dual_coef_ == model.dual_coef_).all()
    assert (again.intercept_ == model.intercept_).all()
    assert (again.n_support_ == model.n_support_).all()


@needs_libsvm
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("name", "n_classes"), [("SVC", 2), ("SVC", 5), ("NuSVC", 3), ("OneClassSVM", 2), ("SVR", 2), ("NuSVR", 2)]
)
def test_models_of_svm_train_have_the_values_of_libsvm(tmp_path, name, n_classes, kernel):
    X, y, new = rows(n_classes=n_classes)
    write_rows(tmp_path / "train", X, y if "SVC" in name else targets(X))
    options = KERNELS[kernel]
    run(
        "svm-train", "-q", "-s", LIBSVM_TYPES[name], "-t", LIBSVM_KERNELS[kernel], "-n", "0.2",
        "-g", options.get("gamma", 1), "-r", options.get("coef0", 0), "-d", options.get("degree", 3),
        tmp_path / "train", tmp_path / "model",
    )  # fmt: skip
    ours = read_libsvm_model(tmp_path / "model")
    functions = n_classes * (n_classes - 1) // 2
    expected, labels = reference_values("svm", tmp_path / "model", new, functions)
    found = ours.expansion_.values(new)
    file_order = _labels_of(tmp_path / "model")
    if file_order is not None:
        expected = _in_our_order(expected, file_order)
    assert_same(found, expected)
    if "SVC" in name:
        # Of classes with as many votes LIBSVM takes the first of the file, Mercer the first in order.
        counted = np.sort(votes(found, n_classes), axis=1) if n_classes > 2 else np.c_[found * 0, found * 0 + 1]
        clear = counted[:, -1] > counted[:, -2]
        assert (ours.predict(new) == labels)[clear].all()
        assert clear.mean() > 0.8
    elif name != "OneClassSVM":
        assert_same(ours.predict(new), labels)


def _labels_of(path):
    for line in path.read_text().splitlines():
        if line.startswith("label"):
            return [int(word) for word in line.split()[1:]]
    return None


def _in_our_order(values, labels):
    """LIBSVM's pairs (i, j) of labels, as the pairs of sorted labels; of two the second is positive."""
    k = len(labels)
    column = {}
    number = 0
    for i in range(k):
        for j in range(i + 1, k):
            column[labels[i], labels[j]], column[labels[j], labels[i]] = values[:, number], -values[:, number]
            number += 1
    ordered = sorted(labels)
    found = np.column_stack([column[ordered[i], ordered[j]] for i in range(k) for j in range(i + 1, k)])
    return -found if k == 2 else found


@needs_libsvm
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.filterwarnings("ignore:NOT_CONVEX")  # the sigmoid
def test_models_that_mercer_writes_have_its_values_in_libsvm(tmp_path, kernel, n_classes):
    X, y, new = rows(n_classes=n_classes)
    model = mercer.SVC(**KERNELS[kernel]).fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    found, labels = reference_values("svm", tmp_path / "model", new, n_classes * (n_classes - 1) // 2)
    assert_same(found, model.expansion_.values(new))
    assert (labels == model.predict(new)).all()


@needs_libsvm
def test_the_programs_themselves_predict_what_mercer_predicts(tmp_path):
    X, y, new = rows(n_classes=3)
    write_rows(tmp_path / "new", new, np.zeros(len(new)))
    model = mercer.SVC().fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    run("svm-predict", tmp_path / "new", tmp_path / "model", tmp_path / "out")
    assert (np.loadtxt(tmp_path / "out") == model.predict(new)).all()
    regression = mercer.SVR().fit(X, targets(X))
    write_libsvm_model(regression, tmp_path / "model")
    run("svm-predict", tmp_path / "new", tmp_path / "model", tmp_path / "out")
    assert np.loadtxt(tmp_path / "out") == pytest.approx(regression.predict(new), abs=1e-6)


@needs_libsvm
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_go_both_ways(tmp_path, n_classes):
    X, y, new = rows(n=120, n_classes=n_classes)
    write_rows(tmp_path / "new", new, np.zeros(len(new)))
    model = mercer.SVC(probability=True).fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    run("svm-predict", "-b", "1", tmp_path / "new", tmp_path / "model", tmp_path / "out")
    lines = (tmp_path / "out").read_text().splitlines()
    order = np.argsort([int(word) for word in lines[0].split()[1:]])
    theirs = np.array([[float(word) for word in line.split()[1:]] for line in lines[1:]])[:, order]
    # LIBSVM joins the pairs by an iteration that it ends early.
    assert theirs == pytest.approx(model.predict_proba(new), abs=6e-3)
    again = read_libsvm_model(tmp_path / "model")
    assert_same(again.predict_proba(new), model.predict_proba(new))
    assert (again.predict(new) == model.predict(new)).all()
    write_rows(tmp_path / "train", X, y)
    subprocess.run(["svm-train", "-q", "-b", "1", tmp_path / "train", tmp_path / "own"], check=True)
    run("svm-predict", "-b", "1", tmp_path / "new", tmp_path / "own", tmp_path / "out")
    lines = (tmp_path / "out").read_text().splitlines()
    order = np.argsort([int(word) for word in lines[0].split()[1:]])
    theirs = np.array([[float(word) for word in line.split()[1:]] for line in lines[1:]])[:, order]
    assert theirs == pytest.approx(read_libsvm_model(tmp_path / "own").predict_proba(new), abs=6e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_precomputed_kernel_keeps_positions(tmp_path, n_classes):
    X, y, new = rows(n_classes=n_classes)
    model = mercer.SVC(kernel="precomputed").fit(X @ X.T, y)
    write_libsvm_model(model, tmp_path / "model")
    again = read_libsvm_model(tmp_path / "model", n_features=len(X))
    assert_same(again.decision_function(new @ X.T), model.decision_function(new @ X.T))
    assert (again.support_ == model.support_).all()
    with pytest.raises(DataError, match="more than n_features=1"):
        read_libsvm_model(tmp_path / "model", n_features=1)


@needs_libsvm
def test_a_precomputed_kernel_in_libsvm(tmp_path):
    X, y, new = rows()
    model = mercer.SVC(kernel="precomputed").fit(X @ X.T, y)
    write_libsvm_model(model, tmp_path / "model")
    with_serial = np.column_stack([np.ones(len(new)), new @ X.T])
    found, _ = reference_values("svm", tmp_path / "model", with_serial, 1, first=0)
    assert_same(found[:, 0], model.decision_function(new @ X.T))


@pytest.mark.filterwarnings("ignore:(the margin is|there is no half-space):sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "n_classes"), [("SVC", 2), ("SVC", 4), ("SVR", 2), ("OneClassSVM", 2)])
def test_a_linear_machine_without_its_support_vectors(tmp_path, name, n_classes):
    X, y, new = rows(n_classes=n_classes)
    model = getattr(mercer, name)(kernel="linear").fit(X, y if name == "SVC" else targets(X))
    write_libsvm_model(model, tmp_path / "model", support_vectors=False)
    again = read_libsvm_model(tmp_path / "model")
    assert_same(values(again, new), values(model, new))
    assert len(again.support_vectors_) == n_classes * (n_classes - 1) // 2
    for row in model.support_vectors_:
        assert f"1:{row[0]:.17g} " not in (tmp_path / "model").read_text()
    with pytest.raises(ParameterError, match="only a linear kernel needs no support vectors"):
        write_libsvm_model(mercer.SVC().fit(X, y), tmp_path / "model", support_vectors=False)


def test_multiples_of_a_kernel_are_written_into_the_coefficients(tmp_path):
    X, y, new = rows()
    model = mercer.SVC(kernel=2.5 * RBF(gamma=0.3)).fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    assert_same(read_libsvm_model(tmp_path / "model").decision_function(new), model.decision_function(new))


@pytest.mark.parametrize("kind", ["HardMarginSVC", "RampSVC", "KernelPerceptron", "KernelLogisticRegression"])
def test_other_machines_of_two_classes(tmp_path, kind):
    X, y, new = rows()
    model = getattr(mercer, kind)(kernel=RBF(gamma=2.0)).fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    again = read_libsvm_model(tmp_path / "model")
    assert_same(again.decision_function(new), model.decision_function(new))
    if kind == "KernelLogisticRegression":
        assert_same(again.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_hard_margin_that_keeps_weights_is_written_as_weights(tmp_path, n_classes, bias):
    new = np.random.default_rng(0).normal(size=(20, n_classes))
    X, y = np.vstack([3.0 * np.eye(n_classes), 4.0 * np.eye(n_classes)]), np.tile(np.arange(n_classes), 2)
    model = mercer.HardMarginSVC(kernel="linear", bias=bias).fit(X, y)
    write_libsvm_model(model, tmp_path / "model")
    assert_same(read_libsvm_model(tmp_path / "model").decision_function(new), model.decision_function(new))


def test_labels_that_are_words_are_numbered_and_named(tmp_path):
    X, y, new = rows(n_classes=3)
    names = np.array(["ant", "bee", "cow"])[np.searchsorted(np.unique(y), y)]
    model = mercer.SVC().fit(X, names)
    with pytest.raises(ParameterError, match="LIBSVM's labels are whole numbers: labels must be 3 different ones"):
        write_libsvm_model(model, tmp_path / "model")
    write_libsvm_model(model, tmp_path / "model", labels=[0, 1, 2])
    again = read_libsvm_model(tmp_path / "model", classes=["ant", "bee", "cow"])
    assert (again.predict(new) == model.predict(new)).all()
    with pytest.raises(ParameterError, match="classes must be 3 labels in ascending order"):
        read_libsvm_model(tmp_path / "model", classes=["cow", "bee", "ant"])


def test_what_libsvm_cannot_hold_is_refused(tmp_path):
    X, y, _ = rows(n_classes=3)
    for model, message in [
        (mercer.SVC(kernel=Laplacian(0.5)), "LIBSVM has no kernel Laplacian"),
        (
            mercer.SVC(kernel=Linear() + RBF(1.0)),
            r"LIBSVM has no kernel Linear\(\) \+ RBF\(gamma=1\.0\); it has linear",
        ),
        (mercer.SVC(multi_class="ovr"), "multi_class must be 'ovo', got 'ovr'"),
        (mercer.SVC(kernel=lambda A, B: A @ B.T), "the kernel is a Python function"),
        (mercer.SVC(probability="isotonic"), "only Platt's sigmoid"),
        (mercer.SVDD(), "LIBSVM has no counterpart of SVDD"),
        (mercer.LinearSVC(), "model must be a fitted kernel machine"),
    ]:
        with pytest.raises(ParameterError, match=message):
            write_libsvm_model(model.fit(X, y), tmp_path / "model")
    with pytest.raises(ParameterError, match="model must be a fitted kernel machine"):
        write_libsvm_model(mercer.SVC(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


HEADER = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
"""
GOOD = HEADER + "1 1:0.5 2:1\n-1 1:2\n"


def replaced(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


BAD = [
    ("", "line 1: the file ends where SV, the end of the header, should be"),
    (GOOD[: GOOD.index("rho")], "line 6: the file ends where SV"),
    (replaced("c_svc", "d_svc"), r"line 1, column 1: svm_type must be one of c_svc, .* got 'd_svc'"),
    (replaced("rbf", "laplacian"), "line 2, column 1: kernel_type must be one of linear"),
    (replaced("gamma 0.5", "gamma x"), r"line 3, column 7: gamma must be a finite number, got 'x'"),
    (replaced("gamma 0.5", "gamma nan"), "line 3, column 7: gamma must be a finite number"),
    (replaced("gamma 0.5", "gamma -1"), "gamma must be positive, got -1"),
    (replaced("gamma 0.5", "gamma 1 2"), "line 3, column 1: gamma must be one number, got 2"),
    (replaced("gamma 0.5\n", ""), "the rbf kernel needs gamma"),
    (replaced("gamma", "colour"), "line 3, column 1: a header has no line 'colour'"),
    (replaced("nr_class 2", "nr_class 1"), "line 4, column 10: nr_class must be a whole number, 2 or more"),
    (replaced("nr_class 2", "nr_class 1000000000"), "1000000000 classes need 499999999500000000 numbers of rho, got 1"),
    (replaced("nr_class 2", "nr_class 9999999999999999999999"), "nr_class must be a whole number"),
    (replaced("total_sv 2", "total_sv 3"), "nr_sv adds up to 2, but total_sv is 3"),
    (replaced("total_sv 2", "total_sv 2\ntotal_sv 2"), "line 6, column 1: total_sv occurs twice"),
    (replaced("rho 0.25", "rho 0.25 1"), "2 classes need 1 numbers of rho, got 2"),
    (replaced("rho 0.25\n", ""), "the header has no rho"),
    (replaced("label 1 -1", "label 1 1"), r"the labels must differ, got \[1, 1\]"),
    (replaced("label 1 -1", "label 1"), "2 classes need 2 numbers of label, got 1"),
    (replaced("label 1 -1", "label a b"), "line 7, column 7: label must be a whole number"),
    (replaced("nr_sv 1 1", "nr_sv 3 -1"), "line 8, column 9: nr_sv must be a whole number, 0 or more"),
    (replaced("SV\n", "probA 1\nSV\n"), "2 classes need 1 numbers of probB, got 0"),
    (replaced("SV\n", "probB 1\nSV\n"), "2 classes need 1 numbers of probA, got 0"),
    (replaced("-1 1:2\n", ""), "the header promises 2 rows, but there are 1 of them"),
    (GOOD + "1 1:1\n", "the header promises 2 rows, but there are 3 or more of them"),
    (replaced("-1 1:2", "-1 2:1 1:2"), "line 11, column 8: indices must ascend"),
    (replaced("-1 1:2", "x 1:2"), "line 11, column 1: a coefficient must be a finite number"),
    (replaced("-1 1:2", "-1 1:inf"), "line 11, column 6: a value must be a finite number"),
    (replaced("-1 1:2", "-1 1:1e60"), "a value of a row must be below 1e.50 in size"),
    (replaced("-1 1:2", "-1e200 1:2"), "a number of a row must be below 1e.100 in size"),
    (replaced("-1 1:2", "-1 0:2"), "line 11, column 4: an index is too small"),
    (replaced("-1 1:2", "-1 99999999999:2"), "line 11, column 4: an index exceeds"),
    ("\x00\x01\x02binary", "a header has no line"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=range(len(BAD)))
def test_a_bad_file_is_refused_by_name_line_and_column(tmp_path, text, message):
    path = tmp_path / "bad.model"
    path.write_text(text)
    with pytest.raises(DataError, match=f"bad.model.*{message}"):
        read_libsvm_model(path)


def test_a_good_file_is_not_refused(tmp_path):
    (tmp_path / "good.model").write_text(GOOD)
    model = read_libsvm_model(tmp_path / "good.model")
    expected = np.exp(-0.5 * (0.25 + 1)) - np.exp(-0.5 * 4) - 0.25
    assert_same(model.decision_function([[0.0, 0.0]]), [expected])
    assert model.classes_.tolist() == [-1, 1]
    (tmp_path / "good.model.gz").write_bytes(gzip.compress(GOOD.encode()))
    assert_same(read_libsvm_model(tmp_path / "good.model.gz").decision_function([[0.0, 0.0]]), [expected])
    (tmp_path / "cut.model.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    with pytest.raises(DataError, match="cannot be read to its end"):
        read_libsvm_model(tmp_path / "cut.model.gz")


def test_a_file_that_is_not_there_and_bad_arguments(tmp_path):
    with pytest.raises(DataError, match="is not a file"):
        read_libsvm_model(tmp_path / "absent")
    (tmp_path / "good.model").write_text(GOOD)
    with pytest.raises(ParameterError, match="n_features must be a positive integer"):
        read_libsvm_model(tmp_path / "good.model", n_features=0)
    with pytest.raises(DataError, match="more than n_features=1"):
        read_libsvm_model(tmp_path / "good.model", n_features=1)
    assert read_libsvm_model(tmp_path / "good.model", n_features=7).n_features_in_ == 7


def test_zero_based_indices_on_request(tmp_path):
    (tmp_path / "zero.model").write_text(GOOD.replace("1:0.5 2:1", "0:0.5 1:1"))
    assert read_libsvm_model(tmp_path / "zero.model", zero_based=True).n_features_in_ == 2


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4), st.floats(1e-3, 1e3), st.permutations([3, -7, 12]))
def test_every_digit_and_every_order_of_labels_survives(tmp_path_factory, numbers, gamma, labels):
    """Three classes in any order: the pairs change places and signs, the functions do not."""
    path = tmp_path_factory.mktemp("law") / "m.model"
    a, b, c, d = numbers
    text = (
        f"svm_type c_svc\nkernel_type polynomial\ndegree 2\ngamma {gamma!r}\ncoef0 {a!r}\nnr_class 3\ntotal_sv 3\n"
        f"rho {a!r} {b!r} {c!r}\nlabel {' '.join(map(str, labels))}\nnr_sv 1 1 1\nSV\n"
        f"{a!r} {b!r} 1:{c!r}\n{c!r} {d!r} 1:{a!r}\n{b!r} {d!r} 1:{d!r}\n"
    )
    path.write_text(text)
    model = read_libsvm_model(path, n_features=1)
    x = 0.7
    k = [(gamma * x * v + a) ** 2 for v in (c, a, d)]
    # The pairs (0,1), (0,2), (1,2) of the file.
    f = {(0, 1): a * k[0] + c * k[1] - a, (0, 2): b * k[0] + b * k[2] - b, (1, 2): d * k[1] + d * k[2] - c}
    order = np.argsort(labels)
    expected = [
        f[p, q] if p < q else -f[q, p] for p, q in ((order[0], order[1]), (order[0], order[2]), (order[1], order[2]))
    ]
    found = model.expansion_.values(np.array([[x]]))[0]
    scale = 1.0 + max(map(abs, numbers)) * (1 + max(map(abs, k)))
    assert np.abs(found - expected).max() <= 1e-12 * scale
    assert model.predict([[x]])[0] == np.sort(labels)[votes(found[None, :], 3).argmax()]
    assert_same(model.decision_function([[x]]), ovr_from_ovo(found[None, :], 3))
    write_libsvm_model(model, path)
    assert (read_libsvm_model(path, n_features=1).expansion_.values(np.array([[x]]))[0] == found).all()


def test_scikit_learn_fits_the_same_function(tmp_path):
    X, y, new = rows(n_classes=4)
    theirs = TheirSVC(kernel="poly", degree=2, gamma=0.2, coef0=1.0, decision_function_shape="ovo").fit(X, y)
    ours = mercer.SVC(kernel=Polynomial(2, 0.2, 1.0), decision_function_shape="ovo", tol=1e-9).fit(X, y)
    write_libsvm_model(ours, tmp_path / "m")
    again = read_libsvm_model(tmp_path / "m").set_params(decision_function_shape="ovo")
    assert again.decision_function(new) == pytest.approx(theirs.decision_function(new), abs=2e-2)


@pytest.mark.parametrize("classes", [["a", "b"], ["b", "a", "c"], ["a", "c", "b"], ["a", "a", "b"]])
def test_names_of_classes_come_in_order_and_are_as_many(tmp_path, classes):
    X, y, new = rows(n_classes=3)
    model = mercer.SVC(gamma=0.3).fit(X, y)
    write_libsvm_model(model, tmp_path / "m")
    with pytest.raises(ParameterError, match="classes must be 3 labels in ascending order"):
        read_libsvm_model(tmp_path / "m", classes=classes)
    again = read_libsvm_model(tmp_path / "m", classes=["a", "b", "c"])
    assert (again.predict(new) == np.array(["a", "b", "c"])[np.searchsorted(model.classes_, model.predict(new))]).all()


@pytest.mark.parametrize("labels", [[1.5, 2, 3], [1, 2.5, 3]])
def test_numbers_of_classes_are_whole(tmp_path, labels):
    X, y, _ = rows(n_classes=3)
    model = mercer.SVC(gamma=0.3).fit(X, np.array(["a", "b", "c"])[np.searchsorted(np.unique(y), y)])
    with pytest.raises(ParameterError, match="whole"):
        write_libsvm_model(model, tmp_path / "m", labels=labels)


def test_a_machine_that_was_read_says_that_it_was_solved(tmp_path):
    X, y, _ = rows()
    write_libsvm_model(mercer.SVC().fit(X, y), tmp_path / "m")
    again = read_libsvm_model(tmp_path / "m")
    assert (again.status_.name, again.fit_status_) == ("OPTIMAL", 0)


@pytest.mark.parametrize("kind", [mercer.SVR, mercer.NuSVR])
def test_the_type_of_a_regression_is_written(tmp_path, kind):
    X, _, _ = rows()
    write_libsvm_model(kind(kernel="rbf").fit(X, X[:, 0]), tmp_path / "m")
    expected = {"SVR": "epsilon_svr", "NuSVR": "nu_svr"}[kind.__name__]
    assert (tmp_path / "m").read_text().splitlines()[0] == f"svm_type {expected}"


def test_other_regressions_are_written_as_those_of_a_tube(tmp_path):
    X, _, new = rows()
    model = mercer.MKLRegressor([mercer.kernels.RBF(0.3)], method="average").fit(X, X[:, 0])
    write_libsvm_model(model, tmp_path / "m")
    assert (tmp_path / "m").read_text().splitlines()[0] == "svm_type epsilon_svr"
    assert_same(read_libsvm_model(tmp_path / "m").predict(new), model.predict(new))


@pytest.mark.parametrize("position", ["1", "70", "0", "1.5", "-3", "2147483648"])
@pytest.mark.parametrize("place", [0, 1])
def test_positions_of_a_precomputed_kernel_are_whole_numbers_from_one(tmp_path, position, place):
    positions = ["2", "3"]
    positions[place] = position
    head = "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    (tmp_path / "m").write_text(f"{head}1 0:{positions[0]}\n-1 0:{positions[1]}\n")
    if position in ("1", "70"):
        model = read_libsvm_model(tmp_path / "m", n_features=80)
        assert model.support_.tolist() == [int(each) - 1 for each in positions[::-1]]  # the smaller label first
    else:
        with pytest.raises(DataError, match="a position of a precomputed kernel must be a whole number from 1"):
            read_libsvm_model(tmp_path / "m", n_features=80)


@pytest.mark.parametrize("rows_", ["1 1:2\n-1 0:3\n", "1 0:2\n-1\n", "1\n-1\n"])
def test_rows_of_a_precomputed_kernel_begin_with_a_position(tmp_path, rows_):
    head = "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    (tmp_path / "m").write_text(head + rows_)
    with pytest.raises(DataError, match="each support vector of a precomputed kernel must begin with 0:"):
        read_libsvm_model(tmp_path / "m", n_features=80)


@pytest.mark.parametrize("form", [float, np.float32, int, bool])
def test_labels_are_whole_numbers_of_any_type(form):
    assert whole_labels(np.array([0, 1]), np.array([0, 1], dtype=form), "LIBSVM") == [0, 1]
    with pytest.raises(ParameterError, match="LIBSVM's labels are whole numbers"):
        whole_labels(np.array([0, 1]), np.array([0.5, 1.0]), "LIBSVM")
    with pytest.raises(ParameterError, match="LIBSVM's labels are whole numbers"):
        whole_labels(np.array([0, 1]), np.array(["0", "1"]), "LIBSVM")


def test_support_vectors_of_a_linear_machine_stay_and_weights_of_a_hard_margin_do(tmp_path):
    X = np.array([[2.0, 0.0], [3.0, 1.0], [-2.0, 0.5], [-3.0, -1.0]])
    y = [1, 1, 0, 0]
    soft = mercer.SVC(kernel="linear", C=0.1).fit(X, y)
    assert Machine.of(soft).vectors.shape == soft.support_vectors_.shape
    assert len(soft.support_) > 1


def test_rows_without_any_feature_are_one_wide():
    nothing = Table(np.empty((2, 1)), np.zeros(3, np.int32), np.empty(0, np.int32), np.empty(0))
    assert csr_of(nothing, None, "m").shape == (2, 1)
    assert csr_of(nothing, 5, "m").shape == (2, 5)


def test_classes_over_landmarks_have_no_place_in_the_format():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    model = mercer.SVC(approximation=mercer.LowRank(5)).fit(X, y)
    with pytest.raises(ParameterError, match="3 classes over landmarks has no place"):
        Machine.of(model)
    assert Machine.of(mercer.SVC(approximation=mercer.LowRank(5)).fit(X, y > 0)).classes.tolist() == [False, True]


@pytest.mark.parametrize("shape", [(4, 100), (100, 4)])
def test_rows_that_are_mostly_zeros_stay_sparse_whatever_their_shape(shape):
    few, many = np.zeros(400), np.zeros(400)
    few[: int(DENSE * 400) - 1] = many[: int(np.ceil(DENSE * 400))] = 1.0
    assert sparse.issparse(compact_rows(sparse.csr_matrix(few.reshape(shape))))
    found = compact_rows(sparse.csr_matrix(many.reshape(shape)))
    np.testing.assert_array_equal(found, many.reshape(shape))
