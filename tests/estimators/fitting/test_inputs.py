"""The quick check of plain arrays, and scikit-learn's of everything else, agree."""

import numpy as np
import pytest
from scipy import sparse

from mercer import SVC
from mercer.estimators.fitting import inputs
from mercer.kernels import RBF, Custom

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
Y = np.array([0, 1, 1])


@pytest.fixture
def validated(monkeypatch):
    """How often scikit-learn's validation was asked."""
    calls = []
    validate = inputs.validate_data

    def counted(*arguments, **keywords):
        calls.append(arguments)
        return validate(*arguments, **keywords)

    monkeypatch.setattr(inputs, "validate_data", counted)
    return calls


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [Y, Y.astype(bool), Y.astype(np.uint8), Y.astype(float), Y.astype(str)])
def test_plain_arrays_are_taken_as_they_are(dtype, labels, validated):
    rows = X.astype(dtype)
    estimator = SVC()
    taken, y = inputs.training_input(estimator, rows, labels)
    assert taken is rows
    assert y is labels
    assert estimator.n_features_in_ == 2
    assert not validated


OTHERS = {
    "list": X.tolist(),
    "Fortran order": np.asfortranarray(X),
    "integers": X.astype(int),
    "big endian": X.astype(">f8"),
    "sparse": sparse.csr_matrix(X),
    "sum that overflows": X + np.finfo(float).max / 4,
}


@pytest.mark.parametrize("rows", OTHERS.values(), ids=OTHERS)
def test_anything_else_is_validated(rows, validated):
    taken, _ = inputs.training_input(SVC(), rows, Y)
    assert len(validated) == 1
    assert taken.dtype == np.float64
    assert sparse.issparse(taken) or taken.flags.c_contiguous


@pytest.mark.parametrize("labels", [Y.tolist(), np.array(["a", "b", "b"], dtype=object), Y[:, None]])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_labels_of_other_kinds_are_validated(labels, validated):
    inputs.training_input(SVC(), X, labels)
    assert len(validated) == 1


@pytest.mark.parametrize("labels", [Y + 0.5, np.array([0.0, 1.0, np.nan]), np.array([0.0, 1.0, np.inf])])
def test_quantities_are_no_labels(labels):
    with pytest.raises(ValueError, match=r"Unknown label type: continuous|Input y contains"):
        inputs.training_input(SVC(), X, labels)


def test_the_users_sparse_rows_are_left_as_they_were():
    rows = sparse.csr_matrix(([1.0, 2.0, 3.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    taken, _ = inputs.training_input(SVC(), rows, np.array([0, 1]))
    assert taken.has_sorted_indices
    np.testing.assert_array_equal(rows.indices, [1, 0, 0])


def test_which_kernels_take_anything():
    function = Custom(lambda s, t: 1.0, pairwise=True)
    assert inputs.takes_items(function)
    assert inputs.takes_items(function.normalized() + 2.0 * function)
    assert inputs.takes_items(lambda S, T: S @ T.T)
    assert not inputs.takes_items(function + RBF(1.0))
    assert not inputs.takes_items("rbf")
    assert not inputs.takes_items(RBF)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64, bool, str])
@pytest.mark.parametrize("labels", [[3, 1, 1, 3], [0, 9, 4, 9, 0], [120, 7, 7, 2, 101], [1, 0]])
def test_classes_are_sorted_labels_and_codes_their_places(dtype, labels):
    y = np.array(labels).astype(dtype)
    if np.dtype(dtype).kind == "i":
        y = np.concatenate([y, [np.iinfo(np.int8).min, np.iinfo(np.int8).max]]).astype(dtype)
    classes, codes = inputs.classes_and_codes(y) if len(set(y.tolist())) > 1 else np.unique(y, return_inverse=True)
    expected, places = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, places)
    assert classes.dtype == y.dtype


@pytest.mark.parametrize("labels", [[2**63 - 1, -(2**63)], [2**63 - 1, 2**63 - 3], [1e300, -1e300], [0.25, 0.75, 0.5]])
def test_labels_far_apart_or_between_whole_numbers_are_told_apart(labels):
    classes, codes = inputs.classes_and_codes(np.array(labels))
    np.testing.assert_array_equal(classes[codes], labels)
    assert len(classes) == len(labels)
