"""Every model comes back from its file as it was: the same answers and attributes, bit for bit."""

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer
from mercer import SVC, SVR, KernelMachine, KernelPCA, KernelRidge, LinearSVC, PegasosSVC, Perceptron, Regularization
from mercer import kernels as k
from tests.exchange.sameness import same, same_answers

ESTIMATORS = sorted(
    name
    for name in mercer.__all__
    if inspect.isclass(getattr(mercer, name))
    and issubclass(getattr(mercer, name), BaseEstimator)
    and hasattr(getattr(mercer, name), "fit")  # a scorer has parameters too, but learns nothing
)
# Loss of precision in a short run does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# What an estimator must be given, or is given for so few rows.
OPTIONS = {
    "LinearCV": lambda: {"estimator": LinearSVC(), "Cs": [0.1, 1.0], "cv": 2},
    "Nystroem": lambda: {"n_components": 10},
}
TABLES_ONLY = {"TableFeatures"}  # a column of a table is not sparse


def made(name):
    """An estimator of this class, to be fitted."""
    return getattr(mercer, name)(**OPTIONS.get(name, dict)())


def data(n=60, dtype=np.float64):
    X, y = make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    return X.astype(dtype), y


def target(model, X, y):
    """Labels for classifiers, numbers for the others."""
    return y if is_classifier(model) or is_outlier_detector(model) else 2.0 * np.asarray(X)[:, 0] + y


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    # What needs the training data is said before they are left behind, by those who want to know.
    same(model, model)
    return model


def round_trip(model, tmp_path, **given):
    path = tmp_path / "model.mercer"
    mercer.save(model, path, **given)
    return mercer.load(path, given.get("kernels"))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name, tmp_path):
    X, y = data()
    model = made(name)
    fitted(model, X, target(model, X, y))
    again = round_trip(model, tmp_path)
    same_answers(model, again, X)
    same(model, again)
    # A second generation is no different.
    same(model, round_trip(again, tmp_path))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_with_other_rows(name, tmp_path):
    X, y = data(dtype=np.float32)
    model = made(name)
    stored = np.asarray if name in TABLES_ONLY else sparse.csr_array
    fitted(model, stored(np.where(np.abs(X) > 0.5, X, 0.0)), target(model, X, y))
    again = round_trip(model, tmp_path)
    same_answers(model, again, stored(X))
    same(model, again)


MODELS = {
    "sigmoid": SVC(probability=True),
    "isotonic": SVC(probability="isotonic"),
    "one against the rest": SVC(multi_class="ovr", decision_function_shape="ovo"),
    "all classes together": SVC(multi_class="crammer_singer", bias="penalized"),
    "hard margin": SVC(C=np.inf),
    "regularisation": SVC(C=Regularization.from_lambda(0.01)),
    "weights": SVC(class_weight={0: 1.0, 1: 2.0, 2: 0.5}, random_state=np.random.RandomState(3)),
    "warm start": SVC(warm_start=True),
    "linear, to be continued": LinearSVC(warm_start=True),
    "linear with probabilities": LinearSVC(probability="isotonic"),
    "weights that are sparse": LinearSVC(penalty="l1", dual=False),
    "huber": KernelMachine(loss=mercer.Huber(0.3), task="regression"),
    "pinball": KernelMachine(loss=mercer.Pinball(0.25), task="regression"),
    "logistic": KernelMachine(loss="logistic"),
    "alpha form": PegasosSVC(form="expansion", T=300),
    "budget": PegasosSVC(kernel="rbf", T=300, budget=20),
    "last iterate": PegasosSVC(average=False, T=300),
    "averaged": Perceptron(method="averaged", max_iter=5),
    "linear program": Perceptron(method="lp"),
    "reconstruction": KernelPCA(n_components=3, kernel="rbf"),
    "nu": mercer.NuSVC(nu=0.3, probability=True),
    "several penalties": KernelRidge(kernel="rbf"),
}


@pytest.mark.parametrize("name", MODELS)
def test_variants(name, tmp_path):
    X, y = data()
    model = fitted(MODELS[name], X, target(MODELS[name], X, y))
    again = round_trip(model, tmp_path)
    same_answers(model, again, X)
    same(model, again)


KERNELS = {
    "algebra": 2.0 * k.RBF(gamma=0.1) * (k.Linear() + 1.0) ** 2 + k.Matern(),
    "normalised": k.Polynomial(degree=2).normalized(),
    "centred": k.RBF(gamma=0.2).centered(),
    "laplacian": k.Laplacian(gamma=0.1),
    "chi squared": k.ChiSquared(),
    "sigmoid": k.Sigmoid(gamma=0.01),
    "rational quadratic": k.RationalQuadratic(),
    "cosine": k.Cosine(),
    "second order": k.SecondOrder(),
    "delta": k.Delta() + k.Constant(2.0),
    "standardised": k.Standardized(k.RBF(gamma=0.1)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_vectors(name, tmp_path):
    X, y = data()
    X = np.abs(X)
    model = fitted(SVC(kernel=KERNELS[name]), X, y)
    again = round_trip(model, tmp_path)
    assert again.kernel == model.kernel
    same_answers(model, again, X)
    same(model, again)


def test_labels_that_are_words_and_columns_that_have_names(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = SVC().fit(frame, np.array(["ja", "nein", "vielleicht"])[y])
    again = round_trip(model, tmp_path)
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d", "e"]
    same_answers(model, again, frame)
    same(model, again)


@pytest.mark.parametrize("estimator", [SVC(kernel="precomputed"), KernelRidge(kernel="precomputed")])
def test_a_precomputed_matrix(estimator, tmp_path):
    X, y = data()
    K = X @ X.T
    model = estimator.fit(K, y)
    again = round_trip(model, tmp_path)
    same_answers(model, again, K)
    same(model, again)


@pytest.mark.parametrize("model", [PegasosSVC(T=100), PegasosSVC(T=100, kernel="rbf"), Perceptron(max_iter=3)])
def test_a_run_goes_on_where_it_stopped(model, tmp_path):
    X, y = data()
    fitted(model, X, y)
    again = round_trip(model, tmp_path)
    for each in (model, again):
        each.partial_fit(X[:20], y[:20])
    same_answers(model, again, X)


def test_a_warm_start_starts_from_what_was_loaded(tmp_path):
    X, y = data()
    model = fitted(SVC(warm_start=True, C=10.0), X, y)
    again = round_trip(model, tmp_path)
    same(model.fit(X, y).n_iter_, again.fit(X, y).n_iter_)


def test_what_cannot_be_saved_is_refused_by_name(tmp_path):
    X, y = data()
    with pytest.raises(NotFittedError):
        mercer.save(SVC(), tmp_path / "m")
    with pytest.raises(mercer.ParameterError, match="estimator of Mercer"):
        mercer.save({"not": "a model"}, tmp_path / "m")
    model = SVC().fit(X, y)
    model.note_ = "mine"
    with pytest.raises(mercer.ParameterError, match="'note_'"):
        mercer.save(model, tmp_path / "m")
    with pytest.raises(mercer.ParameterError, match="metadata"):
        mercer.save(SVC().fit(X, y), tmp_path / "m", metadata={"x": object()})
    assert not list(tmp_path.iterdir())


def test_callbacks_belong_to_the_fit_and_not_to_the_model(tmp_path):
    X, y = data()
    model = SVR(callbacks=[lambda point: False]).fit(X, y)
    assert round_trip(model, tmp_path).callbacks is None
