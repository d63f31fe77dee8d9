"""SVMlight models in and out."""

import numpy as np
import pytest

import mercer
from mercer import DataError, ParameterError, read_svmlight_model, write_svmlight_model
from tests.exchange.machines import KERNELS, assert_same, rows, targets, values

# As svm_learn lays it out, comments and all.
OWN = """SVM-light Version V6.02
2 # kernel type
3 # kernel parameter -d
0.5 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
4 # highest feature index
6 # number of training documents
3 # number of support vectors plus 1
-0.25 # threshold b, each following line is a SV (starting with alpha*y)
0.75 1:0.5 3:1 #
-0.5 2:2 # a comment
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "machine.model"
        path.write_text(text)
        return path

    return write


def test_a_model_of_svm_learn(written):
    model = read_svmlight_model(written(OWN))
    expected = 0.75 * np.exp(-0.5 * 1.25) - 0.5 * np.exp(-0.5 * 4.0) + 0.25
    assert_same(model.decision_function(np.zeros((1, 4))), [expected])
    assert model.classes_.tolist() == [-1, 1]
    assert model.n_support_.tolist() == [1, 1]
    assert model.shape_fit_ == (6, 4)
    regression = read_svmlight_model(written(OWN), task="regression")
    assert_same(regression.predict(np.zeros((1, 4))), [expected])
    assert regression.dual_coef_.tolist() == [[0.75, -0.5]]
    assert regression.n_support_.tolist() == [2]
    assert read_svmlight_model(written(OWN), n_features=9).n_features_in_ == 9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "RankSVM"])
def test_what_is_written_is_read_again(tmp_path, name, kernel):
    X, y, new = rows()
    model = getattr(mercer, name)(**KERNELS[kernel]).fit(X, y if name == "SVC" else targets(X))
    write_svmlight_model(model, tmp_path / "m")
    again = read_svmlight_model(tmp_path / "m", task="classification" if name == "SVC" else "regression")
    assert_same(values(again, new), values(model, new))


def test_weights_in_place_of_support_vectors(tmp_path):
    X, y, new = rows()
    model = mercer.SVC(kernel="linear").fit(X, y)
    write_svmlight_model(model, tmp_path / "m", support_vectors=False)
    again = read_svmlight_model(tmp_path / "m")
    assert len(again.support_vectors_) == 1
    assert_same(again.decision_function(new), model.decision_function(new))


def test_what_svmlight_cannot_hold_is_refused(tmp_path):
    X, y, _ = rows(n_classes=3)
    for model, data, message in [
        (mercer.SVC(), X, "SVMlight knows two classes, got 3"),
        (mercer.SVR(kernel="precomputed"), X @ X.T, "SVMlight has no precomputed kernel"),
        (mercer.SVDD(), X, "SVMlight has no counterpart of SVDD"),
        (mercer.SVR(kernel="laplacian"), X, "SVMlight has no kernel Laplacian"),
    ]:
        with pytest.raises(ParameterError, match=message):
            write_svmlight_model(model.fit(data, y), tmp_path / "m")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SVM-light Version V6.02\n", "hello\n", "line 1, column 1: the file must begin with 'SVM-light Version'"),
        ("2 # kernel type", "4 # kernel type", "line 2, column 1: the kernel type must be one of 0 .linear."),
        ("2 # kernel type", "# kernel type", "line 2, column 1: the kernel type must be a whole number"),
        ("2 # kernel type", "", "line 2, column 1: the kernel type must be here, got an empty line"),
        ("0.5 # kernel", "abc # kernel", "line 4, column 1: -g, gamma must be a finite number"),
        ("0.5 # kernel", "-1 # kernel", "gamma must be positive"),
        ("4 # highest", "99999999999 # highest", "line 8, column 1: the highest feature index must be at most"),
        ("3 # number of supp", "9 # number of supp", "the header promises 8 support vectors, but there are 2 of them"),
        ("3 # number of supp", "0 # number of supp", "line 10, column 1: the number of support vectors plus 1 must be"),
        ("-0.25 #", "inf #", "line 11, column 1: the threshold b must be a finite number"),
        ("0.75 1:0.5", "0.75 1:", "line 12, column 8: a value must be a finite number"),
        (OWN[60:], "", "the file ends where"),
    ],
)
def test_a_bad_file_is_named(written, old, new, message):
    assert old in OWN
    with pytest.raises(DataError, match=f"machine.model.*{message}"):
        read_svmlight_model(written(OWN.replace(old, new, 1)))


def test_the_task_is_checked(written):
    with pytest.raises(ParameterError, match="task must be 'classification' or 'regression', got 'ranking'"):
        read_svmlight_model(written(OWN), task="ranking")


def test_the_header_counts_documents_and_support_vectors(tmp_path):
    X, y, _ = rows()
    model = mercer.SVC(gamma=0.4).fit(X, y)
    write_svmlight_model(model, tmp_path / "m")
    said = dict(line.split(" # ")[::-1] for line in (tmp_path / "m").read_text().splitlines()[1:11])
    assert said["highest feature index"] == str(X.shape[1])
    assert said["number of training documents"] == str(len(X))
    assert said["number of support vectors plus 1"] == str(len(model.support_) + 1)


def test_a_machine_without_support_vectors_is_its_threshold(written):
    kept = OWN.splitlines()[:-2]
    text = "\n".join(kept).replace("3 # number of support vectors", "1 # number of support vectors") + "\n"
    model = read_svmlight_model(written(text), task="regression")
    assert_same(model.predict(np.zeros((2, 4))), [0.25, 0.25])
