"""Data that cannot be used get an error that says why, at once; unusual data that can be used are used."""

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    SVC,
    DataError,
    KernelDensity,
    KernelFisherDiscriminant,
    KernelLeastSquares,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    Status,
)
from mercer.kernels import RBF
from tests.faults.overlapping import overlapping

pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.timeout(5, func_only=True)]


def with_entry(value, place=(3, 1), layout=np.asarray):
    X, y = overlapping()
    X[place] = value
    return layout(X), y


def times(factor, layout=np.asarray):
    X, y = overlapping()
    return layout(factor * X), y


def damaged(part, place, value):
    """A CSR matrix that lies about itself."""
    X, y = overlapping()
    X = sparse.csr_matrix(X)
    getattr(X, part)[place] = value
    return X, y


def labelled(y):
    return overlapping()[0], y


def ragged():
    _, y = overlapping(n=2)
    return [[1.0, 2.0], [3.0]], y


def precomputed(change):
    X, y = overlapping()
    K = X @ X.T
    change(K)
    return K, y


def set_entry(place, value):
    def change(K):
        K[place] = value

    return change


OVERFLOW = "kernel values overflow on X; scale the features"
REFUSED = {
    "NaN": (with_entry(np.nan), {}, ValueError, "Input X contains NaN"),
    "inf": (with_entry(np.inf), {}, ValueError, "Input X contains infinity"),
    "-inf": (with_entry(-np.inf), {}, ValueError, "Input X contains infinity"),
    "NaN in CSR": (with_entry(np.nan, layout=sparse.csr_matrix), {}, ValueError, "Input X contains NaN"),
    "inf in CSR": (with_entry(np.inf, layout=sparse.csr_array), {}, ValueError, "Input X contains infinity"),
    "NaN in float32": (with_entry(np.nan, layout=lambda X: X.astype(np.float32)), {}, ValueError, "contains NaN"),
    "1e200, rbf": (times(1e200), {}, DataError, 'gamma="scale" needs features of a usable size'),
    "1e200, rbf, gamma given": (times(1e200), {"gamma": 1.0}, DataError, OVERFLOW),
    "one 1e200": (with_entry(1e200), {"gamma": 1.0}, DataError, OVERFLOW),
    "one 1e200 in CSR": (with_entry(1e200, layout=sparse.csr_matrix), {"gamma": 1.0}, DataError, OVERFLOW),
    "1e200, linear": (times(1e200), {"kernel": "linear"}, DataError, OVERFLOW),
    "1e200, CSR, linear": (times(1e200, sparse.csr_matrix), {"kernel": "linear"}, DataError, OVERFLOW),
    "1e200, polynomial": (times(1e200), {"kernel": "poly", "gamma": 1.0}, DataError, OVERFLOW),
    "1e200, sigmoid": (times(1e200), {"kernel": "sigmoid", "gamma": 1.0}, DataError, OVERFLOW),
    "1e308": (with_entry(1e308), {"kernel": "linear"}, DataError, OVERFLOW),
    "plus and minus 1e308": (
        with_entry(1e308 * np.array([1.0, -1.0]), ([3, 4], 1)),
        {"gamma": 1.0},
        DataError,
        OVERFLOW,
    ),
    "words": ((np.full((120, 2), "apple"), overlapping()[1]), {}, ValueError, "which is not a number"),
    "complex": ((overlapping()[0] + 1j, overlapping()[1]), {}, ValueError, "Complex data not supported"),
    "one dimension": ((np.arange(120.0), overlapping()[1]), {}, ValueError, "Expected 2D array, got 1D array instead"),
    "three dimensions": ((np.zeros((120, 2, 2)), overlapping()[1]), {}, ValueError, "dim 3"),
    "ragged rows": (ragged(), {}, ValueError, "inhomogeneous shape"),
    "no rows": ((np.empty((0, 4)), np.empty(0)), {}, ValueError, r"Found array with 0 sample\(s\)"),
    "no rows in CSR": ((sparse.csr_matrix((0, 4)), np.empty(0)), {}, ValueError, r"Found array with 0 sample\(s\)"),
    "no features": ((np.empty((6, 0)), np.arange(6) % 2), {}, ValueError, r"Found array with 0 feature\(s\)"),
    "one row": ((np.ones((1, 2)), [1]), {}, DataError, "The number of classes has to be greater than one; got 1 class"),
    "one class": (labelled(np.ones(120)), {}, DataError, "The number of classes has to be greater than one"),
    "too few labels": (labelled(overlapping()[1][:-1]), {}, ValueError, "inconsistent numbers of samples"),
    "labels in two columns": (labelled(np.ones((120, 2))), {}, ValueError, "y should be a 1d array"),
    "NaN among labels": (labelled(np.r_[np.nan, overlapping()[1][1:]]), {}, ValueError, "Input y contains NaN"),
    "a quantity for labels": (labelled(overlapping()[0][:, 0]), {}, ValueError, "Unknown label type: continuous"),
    "no labels": (labelled(None), {}, ValueError, "requires y to be passed, but the target y is None"),
    "ten thousand classes": ((np.arange(2e4)[:, None], np.arange(20_000) // 2), {}, DataError, "10000 classes"),
    "column out of range": (damaged("indices", 5, 10**7), {}, DataError, "X is not a valid CSR matrix"),
    "negative column": (damaged("indices", 5, -3), {}, DataError, "X is not a valid CSR matrix"),
    "row pointer out of range": (damaged("indptr", 5, 10**7), {}, DataError, "X is not a valid CSR matrix"),
    "row pointer that falls": (damaged("indptr", 5, 0), {}, DataError, "X is not a valid CSR matrix"),
    "last row pointer too large": (damaged("indptr", -1, 10**7), {}, DataError, "X is not a valid CSR matrix"),
    "first row pointer not zero": (damaged("indptr", 0, 1), {}, DataError, "X is not a valid CSR matrix"),
    "matrix not square": (overlapping(), {"kernel": "precomputed"}, DataError, "must be a square matrix"),
    "matrix not symmetric": (
        precomputed(set_entry((2, 7), 50.0)),
        {"kernel": "precomputed"},
        DataError,
        r"must be symmetric, but K\[2, 7\] = 50 and K\[7, 2\] = .*; pass \(K \+ K.T\) / 2$",
    ),
    "NaN in the matrix": (
        precomputed(set_entry((2, 2), np.nan)),
        {"kernel": "precomputed"},
        ValueError,
        "contains NaN",
    ),
    "function that returns NaN": (
        overlapping(),
        {"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)},
        DataError,
        "the kernel function must return finite numbers",
    ),
    "function of the wrong shape": (
        overlapping(),
        {"kernel": lambda X, Y: np.ones((len(X), 1))},
        DataError,
        "the kernel function must return shape",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused(case):
    (X, y), parameters, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        SVC(**parameters).fit(X, y)


def test_callers_may_catch_a_value_error():
    assert issubclass(DataError, ValueError)


def test_a_refused_fit_leaves_the_model_as_it_was():
    X, y = overlapping()
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(with_entry(np.nan)[0], y)
    np.testing.assert_array_equal(model.decision_function(X), before)


# --- unusual, but usable --------------------------------------------------------------------


def memory_mapped(X, folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def read_only(X, _folder):
    X = X.copy()
    X.flags.writeable = False
    return X


def unsorted_csr(X, _folder):
    """Columns in descending order, each value in two halves, 64-bit indices."""
    n, d = X.shape
    indices = np.tile(np.repeat(np.arange(d)[::-1], 2), n).astype(np.int64)
    data = np.repeat(X[:, ::-1] / 2, 2, axis=1).ravel()
    return sparse.csr_matrix((data, indices, np.arange(0, 2 * n * d + 1, 2 * d).astype(np.int64)), shape=X.shape)


def int64_csr(X, _folder):
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


USABLE = {
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "every second column of a wider array": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "rows backwards in memory": lambda X, _: X[::-1].copy()[::-1],
    "read-only": read_only,
    "memory-mapped": memory_mapped,
    "big-endian": lambda X, _: X.astype(">f8"),
    "objects that are numbers": lambda X, _: X.astype(object),
    "list of lists": lambda X, _: X.tolist(),
    "unsorted CSR with duplicates": unsorted_csr,
    "CSR with 64-bit indices": int64_csr,
    "CSC": lambda X, _: sparse.csc_matrix(X),
    "COO": lambda X, _: sparse.coo_array(X),
    "long double": lambda X, _: X.astype(np.longdouble),
}


@pytest.mark.parametrize("layout", USABLE)
def test_layout_does_not_matter(layout, tmp_path):
    X, y = overlapping()
    given = USABLE[layout](X, tmp_path)
    reference = SVC(gamma=0.3, tol=1e-6).fit(X, y)
    model = SVC(gamma=0.3, tol=1e-6).fit(given, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.dual == pytest.approx(reference.certificate_.dual, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(given), reference.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.int64, np.uint16, bool])
def test_numbers_of_any_kind_are_numbers(dtype):
    X, y = overlapping()
    X = np.abs(4 * X).astype(dtype)
    assert_same_fit(SVC(gamma=0.05).fit(X, y), SVC(gamma=0.05).fit(X.astype(np.float64), y))


def assert_same_fit(model, reference):
    assert model.certificate_.dual == pytest.approx(reference.certificate_.dual, rel=1e-4)
    assert model.status_ is Status.OPTIMAL


def test_the_users_data_are_left_as_they_were():
    X, y = overlapping()
    csr = unsorted_csr(X, None)
    before = X.copy(), csr.data.copy(), csr.indices.copy()
    SVC().fit(X, y)
    SVC().fit(csr, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(csr.data, before[1])
    np.testing.assert_array_equal(csr.indices, before[2])


DEGENERATE = {
    "1e-310": (times(1e-310), {}),
    "1e-310, linear": (times(1e-310), {"kernel": "linear"}),
    "constant features": (times(0.0), {}),
    "zero kernel": (times(0.0), {"kernel": "linear"}),
    "zero kernel, no bias": (times(0.0), {"kernel": "linear", "bias": "none"}),
    "zero kernel, squared hinge": (times(0.0), {"kernel": "linear", "loss": "squared_hinge"}),
    "zero matrix": ((np.zeros((120, 120)), overlapping()[1]), {"kernel": "precomputed"}),
    "empty CSR": (times(0.0, sparse.csr_matrix), {"kernel": "linear"}),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_data_that_say_nothing_give_the_machine_that_says_so(case):
    """All points alike: w = 0 is best, every point costs its loss of 1 (balanced classes)."""
    (X, y), parameters = DEGENERATE[case]
    model = SVC(**parameters).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(120.0, rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-6
    assert np.ptp(model.decision_function(X)) == 0.0


def test_two_points_are_enough():
    model = SVC(C=np.inf, kernel="linear", tol=1e-10).fit([[0.0], [1.0]], ["no", "yes"])
    assert model.coef_ == pytest.approx(2.0)
    assert model.intercept_ == pytest.approx(-1.0)


@pytest.mark.parametrize("n_features", [1, 5000])
def test_one_feature_or_far_more_than_rows(n_features, rng):
    X = rng.normal(size=(20, n_features))
    model = SVC(kernel="linear").fit(X, np.arange(20) % 2)
    assert model.certificate_.is_optimal(1e-3)


def test_a_class_of_one_point():
    X, y = overlapping(n_classes=3)
    y[:] = 0
    y[0], y[1] = 1, 2
    model = SVC(C=10.0).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert list(model.n_support_[1:]) == [1, 1]


# --- predicting -----------------------------------------------------------------------------

UNPREDICTABLE = {
    "NaN": (with_entry(np.nan)[0], ValueError, "contains NaN"),
    "inf": (with_entry(np.inf)[0], ValueError, "contains infinity"),
    "too few features": (np.ones((2, 3)), ValueError, "X has 3 features, but SVC is expecting 4 features"),
    "damaged CSR": (damaged("indices", 5, 10**7)[0], DataError, "X is not a valid CSR matrix"),
    "complex": (np.ones((2, 4)) + 1j, ValueError, "Complex data not supported"),
}


@pytest.mark.parametrize("case", UNPREDICTABLE)
@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_predicting_is_as_careful_as_fitting(case, method):
    model = SVC(gamma=0.3).fit(*overlapping())
    X, error, message = UNPREDICTABLE[case]
    with pytest.raises(error, match=message):
        getattr(model, method)(X)


def test_a_decision_function_that_overflows_says_so():
    X, y = overlapping()
    model = SVC(kernel="poly", degree=3, gamma=1.0).fit(X, y)
    with pytest.raises(DataError, match="the decision function overflows on X"):
        model.decision_function(1e150 * X)


def test_far_from_all_data_a_gaussian_says_only_its_bias():
    model = SVC(gamma=0.3).fit(*overlapping())
    np.testing.assert_allclose(model.decision_function(np.full((2, 4), 1e6)), model.intercept_[0], atol=1e-12)


@pytest.mark.parametrize(
    "kind", [KernelRidge, KernelLeastSquares, KernelPCA, KernelSVD, KernelFisherDiscriminant, KernelDensity]
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("data", [lambda: with_entry(1e200), lambda: with_entry(1e308), lambda: times(1e155)])
def test_rows_whose_inner_products_overflow_are_refused_by_kernel_methods(kind, layout, data):
    # A Gaussian of such rows is 1 with itself and 0 with all others, or NaN: its diagonal does not show it.
    X, y = data()
    with pytest.raises(DataError, match=OVERFLOW):
        kind(kernel=RBF(gamma=0.5)).fit(layout(X), y)
