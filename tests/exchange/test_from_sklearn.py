"""Estimators of scikit-learn become Mercer's: the same functions to twelve digits."""

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

import mercer
from mercer import DataError, ParameterError, Status, from_sklearn
from mercer.exchange.from_sklearn import _shared
from tests.exchange.machines import KERNELS, TYPES, assert_same, fitted, rows, targets, values


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", TYPES)
def test_machines_of_libsvm(name, kernel):
    theirs, X = fitted(name, kernel)
    ours = from_sklearn(theirs)
    assert type(ours) is getattr(mercer, name)
    assert_same(values(ours, X), values(theirs, X))
    if "SVC" in name or name == "OneClassSVM":
        assert (ours.predict(X) == theirs.predict(X)).all()
    assert_same(values(ours, sparse.csr_matrix(X)), values(theirs, X))
    assert (ours.support_ == theirs.support_).all()
    assert ours.status_ == Status.OPTIMAL


@pytest.mark.parametrize(("shape", "ties"), [("ovo", False), ("ovr", False), ("ovr", True)])
def test_several_classes(shape, ties):
    theirs, X = fitted("SVC", "rbf", n_classes=5, decision_function_shape=shape, break_ties=ties)
    ours = from_sklearn(theirs)
    assert_same(ours.decision_function(X), theirs.decision_function(X))
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.get_params()["decision_function_shape"] == shape


def test_rows_of_a_sparse_fit_and_labels_that_are_words():
    X, y, new = rows(n_classes=3)
    X[np.abs(X) < 0.8] = 0
    names = np.array(["ant", "bee", "cow"])[np.searchsorted(np.unique(y), y)]
    theirs = svm.SVC(gamma=0.3).fit(sparse.csr_matrix(X), names)
    ours = from_sklearn(theirs)
    assert_same(ours.decision_function(sparse.csr_matrix(new)), theirs.decision_function(sparse.csr_matrix(new)))
    assert (ours.predict(new) == theirs.predict(sparse.csr_matrix(new))).all()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_of_platt(n_classes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs, X = fitted("SVC", "rbf", n_classes=n_classes, probability=True, random_state=0)
        expected = theirs.predict_proba(X)
        A, B = theirs.probA_, theirs.probB_
    found = from_sklearn(theirs).predict_proba(X)
    # LIBSVM joins the pairs by an iteration that it ends early; of two classes there is nothing to join.
    assert found == pytest.approx(expected, abs=5e-3)
    if n_classes == 2:
        assert_same(found[:, 0], 1 / (1 + np.exp(B[0] - A[0] * theirs.decision_function(X))))


def test_a_precomputed_matrix_and_a_function_of_the_users():
    X, y, new = rows()
    theirs = svm.SVC(kernel="precomputed").fit(X @ X.T, y)
    assert_same(from_sklearn(theirs).decision_function(new @ X.T), theirs.decision_function(new @ X.T))

    def cubed(A, B):
        return (A @ B.T) ** 3

    theirs = svm.SVC(kernel=cubed).fit(X, y)
    assert_same(from_sklearn(theirs).decision_function(new), theirs.decision_function(new))


LINEAR = {
    "LinearSVC": svm.LinearSVC(),
    "hinge": svm.LinearSVC(loss="hinge", C=0.3),
    "l1": svm.LinearSVC(penalty="l1", dual=False),
    "SGD": SGDClassifier(random_state=0),
    "SGD logistic": SGDClassifier(loss="log_loss", random_state=0),
    "Perceptron": linear_model.Perceptron(),
    "RidgeClassifier": linear_model.RidgeClassifier(),
}


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifiers(name, n_classes):
    X, y, new = rows(n_classes=n_classes)
    theirs = clone(LINEAR[name]).fit(X, y)
    ours = from_sklearn(theirs)
    assert isinstance(ours, mercer.LinearSVC)
    assert_same(ours.decision_function(new), theirs.decision_function(new))
    assert (ours.predict(new) == theirs.predict(new)).all()
    if name == "SGD logistic":
        assert_same(ours.predict_proba(new), theirs.predict_proba(new))


def test_logistic_regression_of_two_classes():
    X, y, new = rows()
    theirs = LogisticRegression().fit(X, y)
    ours = from_sklearn(theirs)
    assert_same(ours.predict_proba(new), theirs.predict_proba(new))
    X, y, _ = rows(n_classes=3)
    with pytest.raises(ParameterError, match="3 classes is one problem with a softmax"):
        from_sklearn(LogisticRegression().fit(X, y))


@pytest.mark.parametrize(
    "theirs",
    [
        svm.LinearSVR(max_iter=100_000),
        SGDRegressor(random_state=0),
        linear_model.Ridge(),
        linear_model.LinearRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_linear_regression(theirs):
    X, _, new = rows()
    theirs = clone(theirs).fit(X, targets(X))
    ours = from_sklearn(theirs)
    assert isinstance(ours, mercer.LinearSVR)
    assert_same(ours.predict(new), theirs.predict(new))


def test_a_linear_detector():
    X, _, new = rows()
    theirs = SGDOneClassSVM(random_state=0, nu=0.2).fit(X)
    ours = from_sklearn(theirs)
    assert_same(ours.decision_function(new), theirs.decision_function(new))
    assert (ours.predict(new) == theirs.predict(new)).all()


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "cosine", "precomputed"])
def test_kernel_ridge(kernel, flat):
    X, _, new = rows()
    y = targets(X) if flat else np.c_[targets(X), X[:, 2]]
    given, asked = (X @ X.T, new @ X.T) if kernel == "precomputed" else (X, new)
    theirs = KernelRidge(alpha=0.1, kernel=kernel).fit(given, y)
    assert_same(from_sklearn(theirs).predict(asked), theirs.predict(asked), 1e-11)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_kernel_pca(kernel):
    X, _, new = rows()
    theirs = KernelPCA(n_components=3, kernel=kernel).fit(X)
    assert_same(from_sklearn(theirs).transform(new), theirs.transform(new), 1e-10)


def test_pipelines_and_searches():
    X, y, new = rows()
    search = GridSearchCV(make_pipeline(StandardScaler(), svm.SVC()), {"svc__C": [0.1, 1.0]}).fit(X, y)
    ours = from_sklearn(search)
    assert isinstance(ours[-1], mercer.SVC)
    assert_same(ours.decision_function(new), search.decision_function(new))


def test_what_cannot_be_taken_over_is_named():
    X, y, _ = rows()
    with pytest.raises(ParameterError, match=r"estimator must be one of scikit-learn's SVC, .* got KMeans"):
        from_sklearn(KMeans())
    with pytest.raises(ParameterError, match="got SVC"):
        from_sklearn(mercer.SVC().fit(X, y))
    with pytest.raises(NotFittedError):
        from_sklearn(svm.SVC())
    with pytest.raises(ParameterError, match="fit_inverse_transform"):
        from_sklearn(KernelPCA(fit_inverse_transform=True).fit(X))
    with pytest.raises(ParameterError, match="2 targets"):
        from_sklearn(linear_model.Ridge().fit(X, X[:, :2]))


def test_there_is_no_certificate_of_data_that_are_not_here():
    theirs, X = fitted("SVC", "rbf")
    ours = from_sklearn(theirs)
    with pytest.raises(DataError, match="fitted by another tool"):
        _ = ours.certificate_
    again = pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own bytes
    assert (again.decision_function(X) == ours.decision_function(X)).all()
    X, y, _ = rows()
    assert ours.fit(X, y).certificate_.is_optimal(1e-3)


def test_a_fit_that_stopped_early_is_not_called_optimal():
    X, y, _ = rows(n=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = svm.SVC(max_iter=2).fit(X, y)
        linear = svm.LinearSVC(max_iter=1).fit(X, y)
    assert from_sklearn(theirs).status_ == Status.ITERATION_LIMIT
    assert from_sklearn(linear).status_ == Status.ITERATION_LIMIT


def test_names_of_columns_are_taken_over():
    pandas = pytest.importorskip("pandas")
    X, y, new = rows()
    names = [f"column {k}" for k in range(X.shape[1])]
    theirs = svm.SVC().fit(pandas.DataFrame(X, columns=names), y)
    ours = from_sklearn(theirs)
    assert list(ours.feature_names_in_) == names
    assert ours.n_features_in_ == len(names)
    asked = pandas.DataFrame(new, columns=names)
    assert_same(ours.decision_function(asked), theirs.decision_function(asked))


def test_the_gamma_of_the_fit_is_taken_and_not_the_one_asked_for():
    X, _, new = rows()
    theirs = KernelPCA(n_components=3, kernel="rbf", gamma=0.3).fit(X)
    theirs.gamma = 17.0
    assert_same(from_sklearn(theirs).transform(new), theirs.transform(new), 1e-10)


@pytest.mark.parametrize("theirs", [KernelRidge(kernel="rbf"), KernelPCA(2, kernel="rbf")])
def test_no_method_of_kernels_has_a_certificate_of_data_that_are_not_here(theirs):
    X, _, _ = rows()
    ours = from_sklearn(clone(theirs).fit(X, targets(X)))
    with pytest.raises(DataError, match="fitted by another tool"):
        _ = ours.certificate_


def test_intercepts_are_numbers_in_double_precision():
    X, y, _ = rows()
    theirs = svm.LinearSVC().fit(X, y)
    theirs.intercept_ = theirs.intercept_.astype(np.float32)
    assert from_sklearn(theirs).intercept_.dtype == np.float64


def test_a_search_that_is_not_fitted_is_said_to_be_so():
    with pytest.raises(NotFittedError):
        from_sklearn(GridSearchCV(svm.SVC(), {"C": [1.0]}))


def test_all_steps_of_a_pipeline_but_the_last_stay_as_they_are():
    X, y, new = rows()
    theirs = make_pipeline(StandardScaler(), MinMaxScaler(), PolynomialFeatures(2), svm.SVC()).fit(X, y)
    ours = from_sklearn(theirs)
    assert [name for name, _ in ours.steps] == [name for name, _ in theirs.steps]
    assert all(one is other for one, other in zip(ours[:-1], theirs[:-1], strict=True))
    assert_same(ours.decision_function(new), theirs.decision_function(new))


def test_one_target_in_a_column_is_one_target():
    X, _, new = rows()
    theirs = linear_model.Ridge().fit(X, targets(X)[:, None])
    assert_same(from_sklearn(theirs).predict(new), np.ravel(theirs.predict(new)))


def overlap(x, y, power=1):
    """Of two rows."""
    return float(np.minimum(np.abs(x), np.abs(y)).sum()) ** power


@pytest.mark.parametrize("parameters", [None, {"power": 2}])
def test_a_function_of_two_rows_is_taken_over_with_its_parameters(parameters):
    X, _, new = rows(n=20)
    for theirs in (
        KernelRidge(kernel=overlap, kernel_params=parameters),
        KernelPCA(2, kernel=overlap, kernel_params=parameters),
    ):
        theirs.fit(X, targets(X))
        method = "predict" if hasattr(theirs, "predict") else "transform"
        assert_same(getattr(from_sklearn(theirs), method)(new), getattr(theirs, method)(new), 1e-9)


def test_parameters_that_both_have_and_that_are_set_are_taken_over():
    given = SimpleNamespace(get_params=lambda deep: {"C": 3.0, "shrinking": True, "gamma": "deprecated"})
    ours = _shared(given, mercer.SVC)
    assert (ours.C, ours.gamma) == (3.0, mercer.SVC().gamma)


def test_components_of_small_eigenvalues_are_taken_over():
    X, _, new = rows()
    theirs = KernelPCA(3, kernel="rbf", gamma=1e-4).fit(X)
    assert theirs.eigenvalues_.max() < 1.0
    assert_same(from_sklearn(theirs).transform(new), theirs.transform(new), 1e-6)


def test_what_is_taken_over_says_how_it_was_fitted():
    X, _, _ = rows()
    assert from_sklearn(KernelRidge(kernel="rbf").fit(X, targets(X))).solver_ == "cholesky"
    detector = from_sklearn(SGDOneClassSVM(random_state=0, nu=0.2).fit(X))
    assert (detector.kernel, detector.n_support_.tolist()) == ("linear", [1])
    assert detector.intercept_.dtype == np.float64
