"""LinearSVC and LinearSVR: forms of data, endings, and errors that say what to do."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from mercer import DataError, LinearSVC, LinearSVR, ParameterError, Regularization, Status


def made(n=300, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    return X, (X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("solver", ["newton", "dual_cd"])
def test_every_form_of_the_data_gives_the_same_machine(loss, solver):
    X, y = made()
    fit = lambda data: LinearSVC(loss=loss, solver=solver, tol=1e-9, max_iter=-1).fit(data, y).coef_  # noqa: E731
    expected = fit(X)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for data in (sparse.csr_matrix(X), wide, np.asfortranarray(X), X.tolist()):
        np.testing.assert_allclose(fit(data), expected, atol=1e-4)
    for data in (X.astype(np.float32), sparse.csr_array(X.astype(np.float32))):
        np.testing.assert_allclose(fit(data), expected, atol=1e-3)


def test_unsorted_and_duplicate_entries():
    X, y = made()
    csr = sparse.csr_array(X)
    backwards = csr.copy()
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        backwards.indices[begin:end] = csr.indices[begin:end][::-1]
        backwards.data[begin:end] = csr.data[begin:end][::-1]
    twice = sparse.csr_array((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape)
    expected = LinearSVC(tol=1e-10).fit(X, y).coef_
    for data in (backwards, twice):
        before = data.data.copy()
        np.testing.assert_allclose(LinearSVC(tol=1e-10).fit(data, y).coef_, expected, atol=1e-7)
        np.testing.assert_array_equal(data.data, before)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_same_machine_as_liblinear(loss):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    ours = LinearSVC(loss=loss, tol=1e-9, max_iter=-1).fit(X, y)
    theirs = svm.LinearSVC(loss=loss, tol=1e-10, max_iter=1_000_000, dual=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)


def test_the_same_regression_as_liblinear():
    X, y = load_diabetes(return_X_y=True)
    ours = LinearSVR(C=10.0, epsilon=2.0, loss="squared_epsilon_insensitive", tol=1e-10).fit(X, y)
    theirs = svm.LinearSVR(
        C=10.0, epsilon=2.0, loss="squared_epsilon_insensitive", tol=1e-10, dual=False, max_iter=10**6
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)


def test_weights_of_classes_and_samples_multiply():
    X, y = made()
    heavy = LinearSVC(class_weight={1: 3.0}, tol=1e-9).fit(X, y)
    same = LinearSVC(tol=1e-9).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(heavy.coef_, same.coef_, atol=1e-6)


def test_rows_of_no_weight_take_no_part():
    X, y = made()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    for loss in ("hinge", "squared_hinge"):
        for solver in ("newton", "dual_cd"):
            model = LinearSVC(loss=loss, solver=solver, tol=1e-9, max_iter=-1)
            expected = model.fit(X[weight > 0], y[weight > 0]).coef_
            np.testing.assert_allclose(model.fit(X, y, sample_weight=weight).coef_, expected, atol=1e-4)


def test_a_large_intercept_scaling_frees_the_bias():
    X, y = made()
    X = X + 3.0
    free = LinearSVC(bias="free", tol=1e-10).fit(X, y)
    nearly = LinearSVC(intercept_scaling=1e4, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(free.intercept_, nearly.intercept_, rtol=1e-3)


def test_regularization_by_lambda():
    X, y = made()
    lam = LinearSVC(C=Regularization.from_lambda(0.01), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(lam.coef_, LinearSVC(C=50.0 / len(y), tol=1e-9).fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [{"solver": "dual_cd"}, {"solver": "newton"}, {"penalty": "l1"}, {"multi_class": "crammer_singer"}],
)
def test_the_same_bits_every_time_and_certified(parameters):
    X, y = made(n=400)
    y = y + (X[:, 0] > 1)
    first, second = (LinearSVC(max_iter=-1, **parameters).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    found = first.certificate_ if isinstance(first.certificate_, list) else [first.certificate_]
    assert all(-1e-10 <= each.relative_gap <= 1e-4 for each in found)


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "hinge", "solver": "dual_cd"},
        {"loss": "hinge", "solver": "newton"},
        {"penalty": "l1", "tol": 1e-12},
        {"multi_class": "crammer_singer", "tol": 1e-12},
    ],
)
def test_a_limit_keeps_the_best_machine(parameters):
    X, y = load_breast_cancer(return_X_y=True)
    y = y + (X[:, 0] > 15)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = LinearSVC(max_iter=2, **parameters).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.predict(X).shape == y.shape
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        stopped = LinearSVC(callbacks=[lambda point: True], **parameters).fit(X, y)
    assert np.isfinite(stopped.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        LinearSVC(time_limit=1e-9, **parameters).fit(X, y)


def test_warm_start_goes_on():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(loss="hinge", solver="dual_cd", warm_start=True, max_iter=20, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = model.fit(scale(X), y).certificate_
        second = model.fit(scale(X), y).certificate_
    assert second.dual > first.dual


def test_sparsify_and_back():
    X, y = made()
    model = LinearSVC("l1", C=0.05).fit(X, y)
    expected = model.decision_function(X)
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_allclose(model.densify().decision_function(X), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1.0}, "C must be a positive number, got -1.0"),
        ({"C": np.inf}, "C must be finite here"),
        ({"C": np.nan}, "C must be a positive number"),
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"loss": "exponential"}, "loss must be one of"),
        ({"penalty": "l0"}, "penalty must be one of"),
        ({"penalty": "l1", "loss": "hinge"}, "Unsupported set of arguments"),
        ({"penalty": "l1", "solver": "dual_cd"}, "cannot solve penalty='l1'"),
        ({"loss": "hinge", "dual": False}, "Unsupported set of arguments"),
        ({"dual": True, "solver": "newton"}, "contradicts"),
        ({"dual": "perhaps"}, "dual must be True, False or 'auto'"),
        ({"bias": "free", "fit_intercept": False}, "fit_intercept=False"),
        ({"bias": "free", "multi_class": "crammer_singer"}, "not available"),
        ({"intercept_scaling": 0}, "intercept_scaling must be a finite number above 0"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = made(n=30)
    with pytest.raises(ParameterError, match=message):
        LinearSVC(**parameters).fit(X, y)


def test_bad_data():
    X, y = made(n=30)
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[3, 2] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            LinearSVC().fit(spoilt, y)
    with pytest.raises(DataError, match="number of classes"):
        LinearSVC().fit(X, np.ones(30))
    corrupt = sparse.csr_array(X)
    corrupt.indices[0] = 99
    with pytest.raises(DataError, match="not a valid CSR matrix"):
        LinearSVC().fit(corrupt, y)
    with pytest.raises(ParameterError, match="epsilon must not be negative"):
        LinearSVR(epsilon=-0.1).fit(X, X[:, 0])
    with pytest.raises(DataError, match="zero or negative weights"):
        LinearSVR().fit(X, X[:, 0], sample_weight=np.zeros(30))


@pytest.mark.parametrize("factor", [1e-150, 1e-5, 1e8])
def test_features_of_any_size_end_with_a_status(factor):
    X, y = made(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(loss="hinge").fit(X * factor, y)
    assert np.isfinite(model.coef_).all()
    assert model.certificate_.gap >= -1e-6 * max(1.0, model.certificate_.primal)


def test_zero_features_and_zero_rows():
    X, y = made(n=40)
    X[:, 3] = 0.0
    X[5] = 0.0
    for solver in ("newton", "dual_cd"):
        model = LinearSVC(solver=solver, fit_intercept=False, max_iter=-1).fit(X, y)
        assert model.coef_[0, 3] == 0.0
        assert model.status_ is Status.OPTIMAL


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("n_classes", "parameters"),
    [
        (2, {}),
        (2, {"loss": "hinge", "solver": "dual_cd", "C": 0.01}),
        (3, {}),
        (3, {"penalty": "l1", "C": 0.01}),
        (3, {"multi_class": "crammer_singer", "C": 0.01}),
    ],
)
def test_the_number_of_threads_does_not_show(form, n_classes, parameters):
    """Enough entries for two threads; every bit is the same with one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 40)) + 0.0
    y = np.argmax(X[:, :n_classes] + rng.normal(size=(12_000, n_classes)), axis=1)
    one, two = (LinearSVC(n_jobs=n_jobs, **parameters).fit(form(X), y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert repr(one.certificate_) == repr(two.certificate_)


def test_a_regression_does_not_show_the_number_of_threads():
    X = np.random.default_rng(0).normal(size=(12_000, 40))
    one, two = (LinearSVR(n_jobs=n_jobs, epsilon=0.1).fit(X, X[:, 0] + X[:, 1] ** 2) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_scores_that_overflow_are_refused():
    X = np.array([[1.0], [-1.0]])
    model = LinearSVC(C=1e6, fit_intercept=False).fit(0.1 * X, [0, 1])
    with pytest.raises(DataError, match="the decision function overflows on X"):
        model.decision_function([[1.7e308], [-1.7e308]])


def test_an_l1_penalty_is_solved_beyond_the_digits_that_the_objective_has():
    """Two Newton steps lead to weights whose objective no step lowers any more, and whose gap is 1e-9 all the same."""
    X = np.array([[-1.0, 0.0], [0.0, -2.25], [0.0, 0.0], [-0.75, 0.5], [0.0, 0.0]])
    y, weight = np.array([1, -1, -1, -1, -1]), np.array([0.5, 3.0, 0.5, 0.5, 0.5])
    model = LinearSVC(penalty="l1", C=10.0, tol=1e-9).fit(X, y, sample_weight=weight)
    assert model.status_.name == "OPTIMAL"
    assert model.certificate_.relative_gap <= 1e-12
    assert model.certificate_.kkt_violation <= 1e-12


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "form",
    [
        {"loss": "hinge"},
        {"loss": "hinge", "bias": "free"},
        {"loss": "squared_hinge"},
        {"penalty": "l1"},
        {"multi_class": "crammer_singer"},
    ],
    ids=str,
)
@pytest.mark.parametrize("C", [1e300, 1e306])
def test_a_c_beyond_all_bounds_ends_with_a_status_and_no_other_warning(form, C, classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % classes
    with pytest.warns(ConvergenceWarning, match=r"STALLED|INACCURATE|LIMIT") as told:
        model = LinearSVC(C=C, **form).fit(X, y)
    assert {each.category for each in told} == {ConvergenceWarning}
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("machine", [LinearSVC, LinearSVR])
def test_losses_whose_weights_overflow_are_refused(machine):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    with pytest.raises(ParameterError, match=r"C times sample_weight .* must add up to a finite number, got C=1e"):
        machine(C=1e307).fit(X, y)
    with pytest.raises(ParameterError, match=r"weights up to 1e\+307; lower C, or divide the weights"):
        machine().fit(X, y, np.full(60, 1e307))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_free_bias_takes_up_what_all_targets_have_in_common(loss):
    """Targets a hundred million away from 0 used to end as OPTIMAL_INACCURATE or STALLED, predictions off by 0.05."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * rng.normal(size=300)
    far = np.round(y, 3) + 1e8
    near = far - 1e8
    machine = LinearSVR(C=100.0, epsilon=0.05, loss=loss, bias="free")
    expected = machine.fit(X, near).predict(X)
    machine.fit(X, far)
    assert machine.status_ is Status.OPTIMAL
    assert np.max(np.abs(machine.predict(X) - 1e8 - expected)) < 1e-6
