"""Conversion of fitted scikit-learn estimators to Mercer's, with the same functions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.bases.probabilities import Calibration, Sigmoid
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.fitted_parts import set_parts
from mercer.estimators.fitting.inputs import is_function
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.kernel.pca import KernelPCA
from mercer.estimators.kernel.ridge import KernelRidge
from mercer.estimators.linear.svc import LinearSVC
from mercer.estimators.linear.svr import LinearSVR
from mercer.estimators.svm.nu_svc import NuSVC
from mercer.estimators.svm.nu_svr import NuSVR
from mercer.estimators.svm.one_class import OneClassSVM
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.exchange.text.linear import LinearFunctions, linear_classifier, linear_detector, linear_regressor
from mercer.exchange.text.parts import Machine, sigmoid_of_other_side
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Custom, MatrixItems, Precomputed
from mercer.kernels.notation.sklearn_names import resolve
from mercer.problems.kernel_methods import spectrum
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


def from_sklearn(estimator: BaseEstimator) -> Any:
    """Convert a fitted scikit-learn estimator to a fitted Mercer estimator with the same functions.

    `predict`, `decision_function` and `transform` give the same results as scikit-learn's. Parameters that both
    have are copied, so another `fit` continues with them. A certificate needs the training
    data, which scikit-learn does not keep, so there is no `certificate_`.

    Parameters
    ----------
    estimator : fitted estimator of scikit-learn
        SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC, LinearSVR, SGDClassifier, SGDRegressor,
        SGDOneClassSVM, Perceptron, PassiveAggressiveClassifier, RidgeClassifier, LogisticRegression of
        two classes, Ridge, LinearRegression, KernelRidge, KernelPCA; a pipeline that ends in one, or a
        search over parameters that found one.

    Returns
    -------
    estimator, or a pipeline that ends in one

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import svm
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = svm.SVC(C=10.0).fit(X, y)
    >>> ours = mercer.from_sklearn(theirs)
    >>> type(ours).__module__.split(".")[0], np.allclose(ours.decision_function(X), theirs.decision_function(X))
    ('mercer', True)
    """
    if isinstance(estimator, BaseSearchCV):
        check_is_fitted(estimator)
        return from_sklearn(estimator.best_estimator_)
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return Pipeline([*estimator.steps[:-1], (name, from_sklearn(last))], memory=estimator.memory)
    convert = None
    if isinstance(estimator, BaseEstimator) and type(estimator).__module__.startswith("sklearn."):
        convert = _CONVERSIONS.get(type(estimator).__name__)
    if convert is None:
        raise ParameterError(
            f"estimator must be one of scikit-learn's {', '.join(_CONVERSIONS)}, got {type(estimator).__name__}"
        )
    check_is_fitted(estimator)
    converted = cast(Callable[[BaseEstimator], Any], convert)(estimator)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(converted, name, getattr(estimator, name))
    return converted


def _shared(estimator: BaseEstimator, kind: type) -> Any:
    """An unfitted Mercer estimator with the parameters that both have."""
    known, given = kind().get_params(deep=False), estimator.get_params(deep=False)
    # scikit-learn's word for a parameter that is not set.
    return kind(**{n: v for n, v in given.items() if n in known and not (isinstance(v, str) and v == "deprecated")})


def _run(estimator: BaseEstimator) -> tuple[Status, int]:
    """(status, iterations) of an iterative fit: whether it stopped at its limit."""
    found, limit = getattr(estimator, "n_iter_", None), getattr(estimator, "max_iter", None)
    iterations = 0 if found is None else int(np.max(found))
    is_limited = limit is not None and 0 < limit <= iterations
    return Status.ITERATION_LIMIT if is_limited else Status.OPTIMAL, iterations


def _machine(estimator: BaseEstimator, kind: type) -> BaseEstimator:
    """Any of scikit-learn's estimators that LIBSVM fits."""
    ours = _shared(estimator, kind)
    support, classes = estimator.support_, getattr(estimator, "classes_", None)
    items = None
    if is_function(estimator.kernel):
        items = estimator._BaseLibSVM__Xfit
        kernel = cast("Kernel", Precomputed())
    else:
        kernel = resolve(estimator.kernel, float(estimator._gamma), estimator.degree, float(estimator.coef0))
    is_given = isinstance(kernel, Precomputed)
    vectors = MatrixItems(None, support.astype(np.intp), np.float64) if is_given else estimator.support_vectors_
    dual_coef = estimator.dual_coef_
    machine = Machine(
        kernel,
        sparse.csr_matrix(vectors) if sparse.issparse(vectors) else vectors,
        np.asarray(dual_coef.toarray() if sparse.issparse(dual_coef) else dual_coef, dtype=np.float64),
        np.asarray(estimator.n_support_) if classes is not None else np.array([len(support)]),
        estimator.intercept_,
        classes,
        _sigmoids(estimator),
        support,
    )
    status = Status.OPTIMAL if estimator.fit_status_ == 0 else Status.ITERATION_LIMIT
    iterations = int(np.max(estimator.n_iter_))
    machine.into(ours, tuple(estimator.shape_fit_), status, iterations)
    set_parts(ours, items=items)
    if classes is not None:
        ours.class_weight_ = estimator.class_weight_
    elif hasattr(estimator, "offset_"):
        ours.offset_ = -ours.intercept_
    return ours


def _sigmoids(estimator: BaseEstimator) -> list[Sigmoid] | None:
    A = np.asarray(getattr(estimator, "_probA", ()))
    if getattr(estimator, "classes_", None) is None or len(A) == 0:
        return None
    found = [Sigmoid(float(a), float(b)) for a, b in zip(A, estimator._probB, strict=True)]
    # For two classes, LIBSVM's function is that of the first, scikit-learn's and ours that of the second.
    return [sigmoid_of_other_side(each) for each in found] if len(estimator.classes_) == 2 else found


def _linear_classifier(estimator: BaseEstimator, kind: type | None = None, logistic: bool = False) -> LinearSVC:
    ours = _shared(estimator, kind) if kind else LinearSVC()
    functions = LinearFunctions.of(estimator)
    linear_classifier(functions, estimator.classes_, ours, *_run(estimator))
    if logistic:
        ours.probability = True
        maps = [Sigmoid(-1.0, 0.0)] * len(functions.weights)
        calibration = Calibration.of_maps("sigmoid", maps, len(estimator.classes_), has_pairs=False)
        set_parts(ours, calibration=calibration)
    return ours


def _sgd(estimator: BaseEstimator) -> LinearSVC:
    return _linear_classifier(estimator, logistic=estimator.loss == "log_loss")


def _logistic(estimator: BaseEstimator) -> LinearSVC:
    if len(estimator.classes_) > 2:
        raise ParameterError(
            f"LogisticRegression of {len(estimator.classes_)} classes is one problem with a softmax, which LinearSVC "
            "does not have; KernelLogisticRegression(kernel='linear') fits it"
        )
    return _linear_classifier(estimator, logistic=True)


def _linear_regressor(estimator: BaseEstimator, kind: type | None = None) -> LinearSVR:
    if np.ndim(estimator.coef_) > 1 and len(estimator.coef_) > 1:
        raise ParameterError(f"{type(estimator).__name__} has {len(estimator.coef_)} targets; LinearSVR has one")
    ours = _shared(estimator, kind) if kind else LinearSVR()
    return linear_regressor(_one_function(estimator), ours, *_run(estimator))


def _one_function(estimator: BaseEstimator) -> LinearFunctions:
    weights = np.asarray(estimator.coef_, dtype=np.float64).reshape(1, -1)
    return LinearFunctions(weights, np.asarray(estimator.intercept_, dtype=np.float64).reshape(1))


def _linear_detector(estimator: BaseEstimator) -> OneClassSVM:
    weights = np.asarray(estimator.coef_, dtype=np.float64).reshape(1, -1)
    functions = LinearFunctions(weights, -estimator.offset_)
    return linear_detector(functions, OneClassSVM())


def _bound_kernel(estimator: BaseEstimator, X: Rows) -> "Kernel":
    """The kernel of an estimator whose kernel functions compare two rows."""
    kernel = estimator.kernel
    if is_function(kernel):
        parameters = estimator.kernel_params
        return Custom(partial(kernel, **parameters) if parameters else kernel, pairwise=True)
    gamma = getattr(estimator, "gamma_", estimator.gamma)
    return resolve(kernel, "auto" if gamma is None else gamma, estimator.degree, estimator.coef0, X)


def _expansion(data: TrainingData, coefficients: FloatArray, intercepts: FloatArray) -> Expansion:
    everything = np.arange(len(coefficients))
    return Expansion.single(data.kernel, data.expansion_vectors(everything), coefficients, intercepts, data.origin)


def _kernel_ridge(estimator: BaseEstimator) -> KernelRidge:
    ours, X = _shared(estimator, KernelRidge), estimator.X_fit_
    data = TrainingData(_bound_kernel(estimator, X), X)
    ours.dual_coef_ = estimator.dual_coef_
    set_parts(ours, is_flat=np.ndim(estimator.dual_coef_) == 1, evidence=Evidence.missing())
    coefficients = np.asarray(estimator.dual_coef_, dtype=np.float64).reshape(X.shape[0], -1)
    ours.expansion_ = _expansion(data, coefficients, np.zeros(coefficients.shape[1]))
    ours.X_fit_, ours.alpha_, ours.jitter_, ours.n_iter_ = X, estimator.alpha, 0.0, 1
    ours.solver_, ours.status_, ours.trace_ = "cholesky", Status.OPTIMAL, []
    return ours


def _kernel_pca(estimator: BaseEstimator) -> KernelPCA:
    ours, X = _shared(estimator, KernelPCA), estimator.X_fit_
    if estimator.fit_inverse_transform:
        raise ParameterError("KernelPCA with fit_inverse_transform=True cannot be converted; fit mercer.KernelPCA")
    data = TrainingData(_bound_kernel(estimator, X), X)
    values, vectors = estimator.eigenvalues_, estimator.eigenvectors_
    sizes = np.sqrt(values)
    scaled = vectors * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    coefficients, intercepts = spectrum.centred_expansion(scaled, estimator._centerer.K_fit_rows_)
    ours.eigenvalues_, ours.eigenvectors_, ours.X_fit_ = values, vectors, X
    ours.gamma_ = getattr(data.kernel, "gamma", 1.0 / X.shape[1])
    ours.expansion_ = _expansion(data, coefficients, intercepts)
    ours.status_, ours.n_iter_, ours.trace_, ours.solver_ = Status.OPTIMAL, 0, [], estimator.eigen_solver
    set_parts(ours, n_features_out=len(values), evidence=Evidence.missing(), missing=None)
    return ours


_CONVERSIONS = {
    "SVC": partial(_machine, kind=SVC),
    "NuSVC": partial(_machine, kind=NuSVC),
    "SVR": partial(_machine, kind=SVR),
    "NuSVR": partial(_machine, kind=NuSVR),
    "OneClassSVM": partial(_machine, kind=OneClassSVM),
    "LinearSVC": partial(_linear_classifier, kind=LinearSVC),
    "LinearSVR": partial(_linear_regressor, kind=LinearSVR),
    "SGDClassifier": _sgd,
    "SGDRegressor": _linear_regressor,
    "SGDOneClassSVM": _linear_detector,
    "Perceptron": _linear_classifier,
    "PassiveAggressiveClassifier": _linear_classifier,
    "RidgeClassifier": _linear_classifier,
    "LogisticRegression": _logistic,
    "Ridge": _linear_regressor,
    "LinearRegression": _linear_regressor,
    "KernelRidge": _kernel_ridge,
    "KernelPCA": _kernel_pca,
}
