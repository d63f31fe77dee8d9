"""One word for one thing, over all estimators: parameters, their defaults, and what a fit leaves behind."""

import inspect
import warnings

import numpy as np
import pytest
import sklearn
import sklearn.decomposition
import sklearn.discriminant_analysis
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.neighbors
import sklearn.svm
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import kernels

ESTIMATORS = {
    name: one
    for name in mercer.__all__
    if inspect.isclass(one := getattr(mercer, name)) and issubclass(one, BaseEstimator) and hasattr(one, "fit")
}

# Who answers for a default: the class of scikit-learn that people come from.
COUNTERPARTS = {
    "KernelDensity": sklearn.neighbors.KernelDensity,
    "KernelFisherDiscriminant": sklearn.discriminant_analysis.LinearDiscriminantAnalysis,
    "KernelLeastSquares": sklearn.kernel_ridge.KernelRidge,
    "KernelPCA": sklearn.decomposition.KernelPCA,
    "KernelPerceptron": sklearn.linear_model.Perceptron,
    "KernelRidge": sklearn.kernel_ridge.KernelRidge,
    "KernelSVD": sklearn.decomposition.KernelPCA,
    "LinearCV": GridSearchCV,
    "LinearSVC": sklearn.svm.LinearSVC,
    "LinearSVR": sklearn.svm.LinearSVR,
    "NuSVC": sklearn.svm.NuSVC,
    "NuSVR": sklearn.svm.NuSVR,
    "Nystroem": sklearn.kernel_approximation.Nystroem,
    "OneClassSVM": sklearn.svm.OneClassSVM,
    "PegasosSVC": sklearn.linear_model.SGDClassifier,
    "Perceptron": sklearn.linear_model.Perceptron,
    "RandomFourierFeatures": sklearn.kernel_approximation.RBFSampler,
    "SVC": sklearn.svm.SVC,
    "SVCCV": GridSearchCV,
    "SVR": sklearn.svm.SVR,
    "SVRCV": GridSearchCV,
}

# What a parameter of this name is unless told, wherever it occurs.
DEFAULTS = {
    "C": 1.0,
    "bias": "free",
    "break_ties": False,
    "cache_size": None,
    "callbacks": None,
    "class_weight": None,
    "coef0": 0.0,
    "decision_function_shape": "ovr",
    "degree": 3,
    "epsilon": 0.1,
    "gamma": "scale",
    "gap_tol": None,
    "kernel": "rbf",
    "kernel_params": None,
    "max_iter": -1,
    "memory_limit": None,
    "multi_class": "ovo",
    "n_jobs": None,
    "nu": 0.5,
    "probability": False,
    "random_state": None,
    "shrinking": True,
    "time_limit": None,
    "verbose": False,
    "warm_start": False,
}

# Where neither that nor scikit-learn's default holds, and why.
_CONE = "a version space is a cone, and a free bias would leave it"
_KLOFT = "weights are learnt to a gap, which is their only proof"
OTHER_DEFAULTS = {
    ("AnalyticCenterMachine", "bias"): _CONE,
    ("BayesPointMachine", "bias"): _CONE,
    ("HardMarginSVC", "break_ties"): "nobody has code that counts on the first class",
    ("RampSVC", "break_ties"): "nobody has code that counts on the first class",
    ("LinearSVC", "bias"): "scikit-learn's LinearSVC has this bias, without a name",
    ("LinearSVR", "bias"): "scikit-learn's LinearSVR has this bias, without a name",
    ("SVC", "multi_class"): "pairs too, unless C is chosen by folds, which may prefer each class against the rest",
    ("LinearSVC", "multi_class"): "scikit-learn's, which is one against the rest too",
    ("MKLClassifier", "gap_tol"): _KLOFT,
    ("MKLOneClassSVM", "gap_tol"): _KLOFT,
    ("MKLRegressor", "gap_tol"): _KLOFT,
    ("PegasosSVC", "C"): "`alpha` is the strength; C is another way of writing it",
    ("PegasosSVC", "bias"): "the algorithm of the book has no free one",
    ("PegasosSVC", "kernel"): "a linear machine first, as SGDClassifier is",
    ("SVDD", "nu"): "a ball around half of the data describes nothing",
}

# The strength has one name, or two where both are asked for.
STRENGTHS = {"C", "Cs", "alpha", "alphas", "nu"}
NOT_FOR_STRENGTH = {"lam", "lambda_", "lamda", "reg", "regularization", "strength", "shrinkage"}
# Of the weights among kernels, between margin and centroids (EasyMKL): no strength.
NO_STRENGTH = {("MKLClassifier", "lam")}

# Attributes of a class, not of a fit: parameters that others offer, settled here for good; and the names of solvers.
SETTLED = {"approximation", "break_ties", "cache_size", "class_weight", "coef0", "decision_function_shape", "degree",
           "gamma", "gap_tol", "kernel", "multi_class", "shrinking", "warm_start",
           "early_stop", "error_score", "factor", "kernels", "param_grid", "refit",
           "return_train_score", "search"}  # fmt: skip
OFFERED = {"solvers"}


def parameters(kind):
    return {p.name: p.default for p in inspect.signature(kind).parameters.values()}


def same(one, other):
    return one == other and (one is None) == (other is None)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_parameter_has_one_default(name):
    counterpart = COUNTERPARTS.get(name)
    theirs = {} if counterpart is None else parameters(counterpart)
    for parameter, default in parameters(ESTIMATORS[name]).items():
        usual = parameter not in DEFAULTS or same(default, DEFAULTS[parameter])
        if not usual and not (parameter in theirs and same(default, theirs[parameter])):
            assert (name, parameter) in OTHER_DEFAULTS, f"{parameter}={default!r}"


def test_a_parameter_without_effect_is_there_for_code_of_scikit_learn_alone():
    theirs = {name for name, kind in COUNTERPARTS.items() if "shrinking" in parameters(kind)}
    assert {name for name, kind in ESTIMATORS.items() if "shrinking" in parameters(kind)} == theirs


def test_no_exception_is_left_that_is_none():
    for name, parameter in OTHER_DEFAULTS:
        assert not same(parameters(ESTIMATORS[name])[parameter], DEFAULTS[parameter])
    for name, parameter in NO_STRENGTH:
        assert parameter in parameters(ESTIMATORS[name])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_strength_has_one_name(name):
    found = {each for each in parameters(ESTIMATORS[name]) if each in NOT_FOR_STRENGTH}
    assert found <= {parameter for own, parameter in NO_STRENGTH if own == name}
    # LinearSVC's penalty is a norm, as scikit-learn's is; a number of that name would be a strength.
    assert isinstance(parameters(ESTIMATORS[name]).get("penalty", ""), str)


def test_names_are_spelt_as_scikit_learn_spells_them():
    public = {*mercer.__all__, *kernels.__all__}
    for kind in ESTIMATORS.values():
        public |= {each for each in dir(kind) if not each.startswith("_")} | set(parameters(kind))
    assert not {each for each in public if "normalis" in each.lower() or "regularis" in each.lower()}


# --- what a fit leaves behind ----------------------------------------------------------------


def small_fit(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 2.0, -2.0)
    options = {
        "BayesPointMachine": {"n_draws": 100, "min_ess": 30, "tol": 0.3},
        "LinearCV": {"estimator": mercer.LinearSVC(), "Cs": [1.0], "cv": 2},
        "PegasosSVC": {"T": 200},
        "SVCCV": {"Cs": [1.0], "gammas": [1.0], "cv": 2},
        "SVRCV": {"Cs": [1.0], "gammas": [1.0], "cv": 2},
    }.get(name, {})
    if name.startswith("MKL"):
        options = {"kernels": [kernels.RBF(0.5), kernels.Linear()]}
    targets = (
        X[:, 0] if "SVR" in name or name in ("KernelLeastSquares", "KernelRidge", "MKLRegressor", "RankSVM") else y
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ESTIMATORS[name](**options).fit(X, targets), X, targets


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_a_fit_leaves_behind_ends_in_an_underscore(name):
    model, _, _ = small_fit(name)
    kind = type(model)
    own = {each for each in vars(model) if not each.startswith("_")} - set(parameters(kind))
    assert {each for each in own if not each.endswith("_")} == set()
    given = {each for each in dir(kind) if not each.startswith("_") and not each.endswith("_")} - set(parameters(kind))
    given = {each for each in given - set(dir(BaseEstimator)) if not callable(getattr(model, each, callable))}
    assert given <= SETTLED | OFFERED
    intercepts = {each for each in dir(model) if "intercept" in each or "bias" in each} - set(parameters(kind))
    assert {each for each in intercepts if not each.startswith("_")} <= {"intercept_", "normalized_intercept_"}


NONE_FOR_NO_LIMIT = {"KernelPCA", "KernelSVD"}  # as scikit-learn's


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "max_iter" in parameters(ESTIMATORS[name])])
def test_no_limit_of_iterations_is_minus_one(name):
    if name in NONE_FOR_NO_LIMIT:
        assert parameters(ESTIMATORS[name])["max_iter"] is None
        return
    model, X, targets = small_fit(name)
    model = clone(model).set_params(max_iter=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, targets).status_ is mercer.Status.OPTIMAL
    with pytest.raises(mercer.ParameterError, match=r"max_iter must be -1 \(no limit\) or a positive integer, got 0"):
        model.set_params(max_iter=0).fit(X, targets)


# --- the seed --------------------------------------------------------------------------------

RANDOM = {
    "AutoKernelClassifier": {"families": ["rbf"], "cv": 3},
    "BayesPointMachine": {"n_draws": 100, "min_ess": 30, "tol": 0.3},
    "KernelPCA": {"kernel": "rbf", "n_components": 2, "eigen_solver": "randomized"},
    "KernelPerceptron": {"max_iter": 3},
    "KernelRidge": {"kernel": "rbf", "solver": "cg", "preconditioner": "nystroem", "rank": 5},
    "LinearCV": {"estimator": mercer.LinearSVC(), "Cs": [1e-3, 1.0], "cv": 3},
    "LinearSVC": {"solver": "dual_cd"},
    "Nystroem": {"n_components": 5},
    "PegasosSVC": {"T": 200},
    "Perceptron": {"max_iter": 3},
    "RampSVC": {"n_starts": 3},
    "RandomFourierFeatures": {"n_components": 5},
    "SVC": {"probability": True},
    "SVCCV": {"Cs": 4, "gammas": 3, "n_iter": 3, "cv": 2},
}


def answers(model, X):
    if hasattr(model, "cv_results_"):
        scores = model.cv_results_["mean_test_score"].tolist()
        return [(*sorted(setting.items()), s) for setting, s in zip(model.cv_results_["params"], scores, strict=True)]
    for method in ("predict_proba", "decision_function", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X).tolist()
    raise AssertionError(model)


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_seed_a_fit_repeats_and_leaves_numpys_alone(name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1])
    y = y if name == "KernelRidge" else (y > 0).astype(int)
    model = ESTIMATORS[name](**RANDOM[name], random_state=None)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 - the state that everybody shares
    first, second = (answers(clone(model).fit(X, y), X) for _ in range(2))
    assert first == second
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_every_random_fit_is_looked_at():
    offered = {name for name in ESTIMATORS if "random_state" in parameters(ESTIMATORS[name])}
    # Those left out fit as another does: KernelSVD as KernelPCA, LinearSVR as LinearSVC, NuSVC as SVC, SVRCV as SVCCV,
    # AutoKernelRegressor as AutoKernelClassifier.
    # Weights of kernels are learnt without a draw.
    alike = {"KernelSVD", "LinearSVR", "NuSVC", "SVRCV", "MKLClassifier", "MKLRegressor", "AutoKernelRegressor"}
    assert offered == set(RANDOM) | alike
