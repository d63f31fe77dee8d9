import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, NuSVC, OneClassSVM, ParameterError, Status


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("parameters", [{"nu": 0.1}, {"nu": 0.4, "kernel": "linear"}, {"nu": 0.7}])
def test_agrees_with_sklearn(cancer, parameters):
    X, y = cancer
    ours, theirs = NuSVC(**parameters, tol=1e-6).fit(X, y), sklearn.svm.NuSVC(**parameters, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert len(ours.support_) == pytest.approx(len(theirs.support_), abs=2)
    first = list(sklearn.svm.NuSVC.__init__.__kwdefaults__)
    assert list(NuSVC.__init__.__kwdefaults__)[: len(first)] == first


def test_several_classes_agree_with_sklearn():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["one", "two", "three"])[y]
    ours, theirs = NuSVC(nu=0.2, tol=1e-7).fit(X, labels), sklearn.svm.NuSVC(nu=0.2, tol=1e-7).fit(X, labels)
    # Two flowers are alike: both share what LIBSVM gives to one.
    np.testing.assert_allclose(ours.n_support_, theirs.n_support_, atol=1)
    # Where no point of a class is free, the bias is any of an interval, and rounding chooses for LIBSVM.
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert all(certificate.is_optimal(1e-6) for certificate in ours.certificate_)


def test_nu_is_a_share(cancer):
    X, y = cancer
    for nu in (0.1, 0.3, 0.6):
        model = NuSVC(nu=nu, tol=1e-7).fit(X, y)
        margins = np.where(y == 1, 1, -1) * model.decision_function(X)
        assert (margins < 1 - 1e-5).mean() <= nu
        assert len(model.support_) >= nu * len(y)


def test_it_is_soft_svm_with_the_margin_in_the_place_of_C(cancer):
    X, y = cancer
    model = NuSVC(nu=0.2, tol=1e-8).fit(X, y)
    C = np.abs(model.dual_coef_).max()
    np.testing.assert_allclose(SVC(C=C, tol=1e-8).fit(X, y).decision_function(X), model.decision_function(X), atol=1e-5)


def test_infeasible_nu_is_refused_with_the_largest_feasible(cancer):
    X, y = cancer
    largest = 2 * min(y.mean(), 1 - y.mean())
    with pytest.raises(ParameterError, match=rf"nu must be at most {largest:.6g}.*got 0.9"):
        NuSVC(nu=0.9).fit(X, y)
    assert NuSVC(nu=largest).fit(X, y).status_ is Status.OPTIMAL
    assert NuSVC(nu=0.9, class_weight="balanced").fit(X, y).status_ is Status.OPTIMAL


def test_the_classes_of_an_infeasible_pair_are_named():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    with pytest.raises(ParameterError, match=r"at most 0\.333333.*'setosa' and 'virginica'"):
        NuSVC().fit(X[:110], names[:110])


def test_weights_count_as_copies(cancer):
    X, y = (each[:150] for each in cancer)
    weights = np.arange(150) % 3
    weighted = NuSVC(nu=0.2, gamma=0.1).fit(X, y, weights)
    copied = NuSVC(nu=0.2, gamma=0.1).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-7)


def test_a_heavier_class_is_predicted_more(cancer):
    X, y = cancer
    counts = [(NuSVC(nu=0.5, class_weight={0: 1.0, 1: w}).fit(X, y).predict(X) == 1).sum() for w in (0.2, 1.0, 5.0)]
    assert counts[0] < counts[1] < counts[2]


def test_large_problem_begins_with_a_sample(rng):
    X = rng.normal(size=(7000, 5)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=7000) > 1).astype(int)
    model = NuSVC(nu=0.3, gamma=0.2).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    assert model.certificate_.equality_residual < 1e-9
    assert model.score(X, y) > 0.85


def test_sparse_rows_and_other_shapes(cancer):
    X, y = (each[:200] for each in cancer)
    expected = NuSVC(nu=0.3).fit(X, y).decision_function(X)
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(NuSVC(nu=0.3).fit(rows, y).decision_function(rows), expected, atol=1e-7)
    K = X @ X.T
    given = NuSVC(nu=0.3, kernel="precomputed").fit(K, y)
    linear = NuSVC(nu=0.3, kernel="linear").fit(X, y)
    np.testing.assert_allclose(given.decision_function(K), linear.decision_function(X), atol=1e-6)
    rest = NuSVC(nu=0.2, multi_class="ovr").fit(*load_iris(return_X_y=True))
    assert rest.dual_coef_.shape[0] == 3


def test_endings(cancer):
    X, y = cancer
    model = NuSVC(nu=0.4)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        stopped = clone(model).set_params(max_iter=3).fit(X, y)
    assert stopped.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        clone(model).set_params(time_limit=1e-9).fit(X, y)
    warm = clone(model).set_params(warm_start=True).fit(X, y)
    cold = warm.n_iter_[0]
    assert warm.fit(X, y).n_iter_[0] < cold / 2
    same = [clone(model).fit(X, y).dual_coef_.tobytes() for _ in range(2)]
    assert same[0] == same[1]


def test_no_margin_at_all():
    with pytest.warns(ConvergenceWarning, match="the margin is zero"):
        model = NuSVC().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert np.isfinite(model.decision_function(np.ones((1, 2)))).all()


@pytest.mark.parametrize("nu", [0.0, 1.5, np.nan, "x"])
def test_bad_nu(nu):
    with pytest.raises(ParameterError, match="nu must be a finite number above 0 and at most 1"):
        NuSVC(nu=nu).fit([[0.0], [1.0]], [0, 1])


def test_bad_probability():
    with pytest.raises(ParameterError, match="probability must be False, True, 'sigmoid' or 'isotonic', got 'yes'"):
        NuSVC(probability="yes").fit([[0.0], [1.0]], [0, 1])


def test_points_near_zero_are_not_equal_because_another_is_far_away():
    """Sharing coefficients among points that are not equal moves the solution away from its optimum."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = NuSVC(nu=0.3, kernel="poly", degree=24).fit(X, X[:, 0] > 0)
    assert model.certificate_.kkt_violation <= 1e-3


def test_weights_beyond_all_bounds_have_a_status_and_no_other_warning(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="STALLED"):
        model = NuSVC(nu=0.3).fit(X[:100], y[:100], sample_weight=np.full(100, 1e300))
    assert set(model.predict(X)) <= {0, 1}


def test_a_zero_margin_is_told_and_names_nu(rng):
    """On random labels the optimum is w = 0: a perfect certificate, and a classifier of rounding noise."""
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    with pytest.warns(ConvergenceWarning, match=r"the margin is zero: nu=0.1 .* Raise nu"):
        model = NuSVC(nu=0.1, kernel="linear").fit(X, y)
    assert np.abs(model.coef_).max() < 1e-10


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 1e3])
def test_a_small_margin_of_small_data_is_a_margin(scale, rng):
    X = rng.normal(size=(80, 2))
    # A box that grows as kernel values shrink leaves the same problem.
    weights = np.full(80, scale**-2.0)
    model = NuSVC(nu=0.3, kernel="linear", tol=1e-6).fit(scale * X, X[:, 0] > 0, sample_weight=weights)
    assert model.status_ is Status.OPTIMAL
    plain = NuSVC(nu=0.3, kernel="linear", tol=1e-6).fit(X, X[:, 0] > 0)
    np.testing.assert_allclose(model.decision_function(scale * X), plain.decision_function(X), atol=1e-3)


def test_so_is_a_half_space_that_is_none(rng):
    X = rng.normal(size=(60, 2))
    X = np.vstack([X, -X])
    with pytest.warns(ConvergenceWarning, match=r"there is no half-space: with nu=0.2 .* SVDD"):
        OneClassSVM(nu=0.2, kernel="linear").fit(X)
    assert OneClassSVM(nu=0.2, kernel="linear").fit(X + 9.0).status_.name == "OPTIMAL"


@pytest.mark.parametrize("scale", [1e-2, 1e-4])
def test_a_margin_below_the_tolerance_is_found_all_the_same(scale, rng):
    """Divided by the margin, decision values do not change when all kernel values become smaller."""
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    X[y == 1, 0] += 2.0
    wanted = NuSVC(nu=0.6, kernel="linear", tol=1e-8).fit(X, y).decision_function(X)
    found = NuSVC(nu=0.6, kernel="linear").fit(scale * X, y)
    np.testing.assert_allclose(found.decision_function(scale * X), wanted, atol=0.05)
