"""ONNX graphs answer what the models answer, in a runtime that knows nothing of Mercer."""

import sys
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import mercer
from mercer import MissingExtraError, ParameterError, to_onnx
from mercer.exchange.onnx import heads, steps
from mercer.kernels import (
    RBF,
    ChiSquared,
    Constant,
    Cosine,
    Delta,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    SecondOrder,
    Sigmoid,
)
from mercer.kernels.algebra.polynomial_functions import PolynomialFunctions
from tests.exchange.machines import assert_same, rows, targets

VECTOR_KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.3, 0.7),
    "polynomial of degree 4": Polynomial(4, 0.2, -0.4),
    "second order": SecondOrder(),
    "rbf": RBF(0.4),
    "sigmoid": Sigmoid(0.05, -0.2),
    "cosine": Cosine(),
    "laplacian": Laplacian(0.3),
    "chi2": ChiSquared(0.5),
    "matern 1/2": Matern(0.5, 1.3),
    "matern 3/2": Matern(1.5, 0.8),
    "matern 5/2": Matern(2.5),
    "matern 11/2": Matern(5.5, 2.0),
    "matern inf": Matern(np.inf, 1.5),
    "rational quadratic": RationalQuadratic(0.7, 1.2),
    "rational quadratic 1": RationalQuadratic(1.0, 0.9),
    "sum": Linear() + 0.5 * RBF(0.2) + Constant(2.0),
    "product": RBF(0.1) * Polynomial(2, 0.5, 1.0),
    "sum of forms": Laplacian(0.2) + RBF(0.3),
    "power": (Linear() + 1.0) ** 3,
    "fractional power": RBF(0.3) ** 0.5,
    "scaled": 3.0 * Matern(1.5),
    "normalised": Polynomial(2, 0.5, 1.0).normalized(),
    "normalised sum": (Linear() + RBF(0.5)).normalized(),
    "normalised twice": (2.0 * Cosine() + Sigmoid(0.1, 0.3)).normalized(),
    "centred": RBF(0.3).centered(),
    "centred and normalised": RBF(0.3).centered().normalized(),
    "normalised sum of normalised": (Polynomial(2, 0.5, 1.0).normalized() + Linear()).normalized(),
}


def run(model, X, **options):
    """Outputs of the exported graph, by name."""
    exported = to_onnx(model, **options)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported.SerializeToString(), settings)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def assert_answers(model, X, tol=1e-11, **options):
    found = run(model, X, **options)
    for name in ("decision_function", "predict_proba", "transform"):
        output = {"predict_proba": "probabilities", "transform": "transformed"}.get(name, name)
        if output in found:
            assert_same(found[output], getattr(model, name)(X), tol)
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "predict"):
        assert "label" in found or "prediction" in found
    if hasattr(last, "decision_function"):
        assert "decision_function" in found
    if "label" in found:
        assert (found["label"] == model.predict(X)).all()
    if "prediction" in found:
        assert_same(found["prediction"], model.predict(X), tol)
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", VECTOR_KERNELS)
def test_every_kernel_of_vectors(name):
    X, _, new = rows(n=40)
    if name == "chi2":
        X, new = np.abs(X), np.abs(new)
        new[0], new[1] = 0.0, X[0]
    model = mercer.KernelRidge(kernel=VECTOR_KERNELS[name], alpha=1.0).fit(X, targets(X))
    assert list(assert_answers(model, new, 1e-10, support_vectors=True)) == ["prediction"]


def test_the_delta_kernel_and_rows_of_zeros():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 3.0], [0.0, 1.0]])
    model = mercer.KernelRidge(kernel=Delta()).fit(X, np.arange(4.0))
    assert_answers(model, X + np.array([[0, 0], [0, 0], [0, 1], [1e-9, 0]]))
    for kernel in (Cosine(), Linear().normalized()):
        assert_answers(mercer.KernelRidge(kernel=kernel).fit(X, np.arange(4.0)), X, support_vectors=True)
        assert_answers(mercer.KernelRidge(kernel=kernel).fit(X, np.arange(4.0)), X, support_vectors=False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", [0.1 * Linear(), 0.1 * RBF(0.3), Sigmoid(0.1)])
def test_no_factor_is_rounded_to_single_precision(kernel):
    """onnxruntime joins products with scalars to the matrix product beside them, in single precision."""
    X, _, new = rows(n=30, d=1)
    for model in (
        mercer.SVR(kernel=kernel),
        make_pipeline(StandardScaler(), mercer.SVR(kernel=kernel)),
        make_pipeline(StandardScaler(), mercer.LinearSVR()),
    ):
        assert_answers(model.fit(3 * X + 1, X[:, 0]), new, 1e-13, support_vectors=True)


def test_a_large_offset_does_not_cancel():
    X, _, new = rows()
    model = mercer.SVR(kernel=RBF(0.3)).fit(X + 1e6, targets(X))
    assert_answers(model, new + 1e6, 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(
    "options", [{}, {"decision_function_shape": "ovo"}, {"break_ties": True}, {"multi_class": "ovr"}]
)
def test_classes_votes_and_ties(n_classes, options):
    X, y, new = rows(n_classes=n_classes)
    assert_answers(mercer.SVC(kernel="rbf", **options).fit(X, y), new)
    assert_answers(mercer.SVC(kernel="linear", **options).fit(X, y), new)


def test_votes_that_are_tied_go_to_the_same_class():
    # Three classes that beat each other in a circle: every class has one vote.
    X = np.array([[0.0, 1.0], [-0.9, -0.5], [0.9, -0.5]])
    new = np.random.default_rng(0).normal(size=(200, 2)) * 0.2
    for ties in (False, True):
        model = mercer.SVC(kernel="rbf", gamma=0.5, C=0.05, break_ties=ties).fit(
            np.repeat(X, 5, axis=0), np.repeat([2, 5, 9], 5)
        )
        assert_answers(model, np.vstack([new, np.zeros((1, 2))]))


OTHERS = (
    "NuSVC",
    "HardMarginSVC",
    "RampSVC",
    "KernelPerceptron",
    "AnalyticCenterMachine",
    "KernelMachine",
    "KernelLogisticRegression",
    "KernelFisherDiscriminant",
)


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_classifiers(kind, n_classes):
    X, y, new = rows(n_classes=n_classes)
    options = {"nu": 0.2} if kind == "NuSVC" else {}
    found = assert_answers(getattr(mercer, kind)(kernel=RBF(1.0), **options).fit(X, y), new)
    assert ("probabilities" in found) == (kind == "KernelLogisticRegression")


@pytest.mark.parametrize("kind", ["SVC", "NuSVC", "KernelLogisticRegression"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_over_landmarks(kind, n_classes):
    X, y, new = rows(n_classes=n_classes)
    options = {"nu": 0.2} if kind == "NuSVC" else {}
    model = getattr(mercer, kind)(kernel=RBF(1.0), approximation=mercer.LowRank(20), **options).fit(X, y)
    assert "label" in assert_answers(model, new)


@pytest.mark.parametrize("kind", ["SVR", "OneClassSVM", "KernelRidge", "KernelPCA"])
def test_functions_over_landmarks(kind):
    X, y, new = rows()
    assert_answers(getattr(mercer, kind)(kernel=RBF(1.0), approximation=mercer.LowRank(20)).fit(X, y), new)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
def test_probabilities(method, n_classes, strategy):
    X, y, new = rows(n=150, n_classes=n_classes)
    model = mercer.SVC(probability=method, multi_class=strategy).fit(X, y)
    far = np.vstack([new, 100 * new[:3]])
    found = assert_answers(model, far, 1e-9)
    assert_same(found["probabilities"].sum(axis=1), np.ones(len(far)))


def names_of_nodes(graph):
    """Of a graph and of those inside it."""
    for node in graph.node:
        yield node.name
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from names_of_nodes(attribute.g)


def test_every_node_has_a_name_of_its_own():
    """onnxruntime 1.20 joins nodes into one that it names after them, and refuses two of the same name."""
    X, y, _ = rows(n=60, n_classes=3)
    model = mercer.SVC(kernel=Laplacian(0.3), probability="sigmoid").fit(X, y)
    names = list(names_of_nodes(to_onnx(model).graph))
    assert all(names)
    assert len(set(names)) == len(names) > 10


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("probability", [False, "sigmoid", "isotonic"])
def test_linear_classifiers(n_classes, probability):
    X, y, new = rows(n=150, n_classes=n_classes)
    assert_answers(mercer.LinearSVC(probability=probability).fit(X, y), new, 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_online_learners(n_classes):
    X, y, new = rows(n_classes=n_classes)
    for model in (
        mercer.PegasosSVC(),
        mercer.PegasosSVC(kernel="rbf"),
        mercer.PegasosSVC(kernel="linear", form="expansion"),
        mercer.Perceptron(max_iter=20),
        mercer.LinearSVC(penalty="l1").fit(X, y).sparsify(),
    ):
        assert_answers(model if hasattr(model, "classes_") else model.fit(X, y), new)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [0.5, 2.0], [np.int32(3), np.int32(7)]])
def test_labels_keep_their_kind(labels):
    X, y, new = rows()
    model = mercer.SVC().fit(
        X, np.array(labels)[(y > 0).astype(int)] if labels[0] != 0.5 else np.where(y > 0, 4.0, 2.0)
    )
    assert_answers(model, new)


def test_regression_detection_and_components():
    X, _, new = rows()
    two = np.c_[targets(X), X[:, 0]]
    for model, target in [
        (mercer.SVR(), targets(X)),
        (mercer.NuSVR(), targets(X)),
        (mercer.LinearSVR(), targets(X)),
        (mercer.KernelMachine(loss="huber"), targets(X)),
        (mercer.KernelRidge(kernel="laplacian"), two),
        (mercer.KernelLeastSquares(kernel=Linear()), targets(X)),
        (mercer.RankSVM(), targets(X)),
        (mercer.OneClassSVM(nu=0.2), None),
        (mercer.SVDD(kernel="poly", gamma=0.3), None),
        (mercer.SVDD(), None),
        (mercer.KernelPCA(3, kernel="rbf"), None),
        (mercer.KernelSVD(2, kernel="poly"), None),
    ]:
        assert_answers(model.fit(X, target), new, 1e-9)


def test_rows_that_were_sparse_and_a_matrix_that_was_given():
    X, y, new = rows()
    X[np.abs(X) < 0.7] = 0
    assert_answers(mercer.SVC(kernel=RBF(0.3)).fit(sparse.csr_matrix(X), y), new)
    assert_answers(mercer.SVC(kernel="precomputed").fit(X @ X.T, y), new @ X.T)
    assert_answers(mercer.SVC(kernel="linear").fit(sparse.csr_matrix(X), y), new)


def test_single_precision_rows_are_computed_in_double():
    X, y, new = rows()
    model = mercer.SVC().fit(X, y)
    new = new.astype(np.float32)
    found = run(model, new, dtype="float32")
    assert_same(found["decision_function"], model.decision_function(new.astype(np.float64)))


POLYNOMIALS = {
    "linear": Linear(),
    "cubic": Polynomial(3, 0.3, 0.7),
    "negative constant": Polynomial(2, 0.3, -0.7),
    "degree 0": Polynomial(0, 0.3, 0.7),
    "homogeneous": Polynomial(4, 0.3, 0.0),
    "second order": SecondOrder(),
    "combined": 2.0 * Linear() * SecondOrder() + Constant(3.0),
    "power": (Linear() + 1.0) ** 2,
    "cosine": Cosine(),
    "normalised": Polynomial(2, 0.5, 1.0).normalized(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_features_in_place_of_support_vectors(name):
    X, _, new = rows(n=30)
    model = mercer.SVR(kernel=POLYNOMIALS[name], C=0.1).fit(X, targets(X))
    assert_answers(model, new, 1e-9, support_vectors=False)
    functions = PolynomialFunctions.of(model.expansion_, "this", "that")
    assert_same(functions.values(new)[:, 0], model.predict(new), 1e-9)
    exported = to_onnx(model, support_vectors=False)
    # No constant is a matrix of support vectors.
    numbers = np.concatenate([onnx.numpy_helper.to_array(each).ravel() for each in exported.graph.initializer])
    assert not np.isin(X.ravel(), numbers).any()


def test_support_vectors_are_left_out_by_default_where_the_kernel_is_linear():
    X, y, _ = rows(n_classes=3)
    model = mercer.SVC(kernel="linear").fit(X, y)
    assert max(np.prod(each.dims) for each in to_onnx(model).graph.initializer) <= 15
    assert max(np.prod(each.dims) for each in to_onnx(model, support_vectors=True).graph.initializer) > 15


STEPS = {
    "StandardScaler": StandardScaler(),
    "StandardScaler of variance": StandardScaler(with_mean=False),
    "MinMaxScaler": MinMaxScaler(clip=True),
    "MaxAbsScaler": MaxAbsScaler(),
    "MaxAbsScaler with an end": MaxAbsScaler(**({"clip": True} if hasattr(MaxAbsScaler(), "clip") else {})),
    "RobustScaler": RobustScaler(),
    "Normalizer l2": Normalizer(),
    "Normalizer l1": Normalizer("l1"),
    "Normalizer max": Normalizer("max"),
    "PCA": PCA(3),
    "PCA whitened": PCA(2, whiten=True),
    "TruncatedSVD": TruncatedSVD(2),
    "SelectKBest": SelectKBest(k=2),
    "passthrough": "passthrough",
    "KernelPCA": mercer.KernelPCA(3, kernel="rbf"),
}


@pytest.mark.parametrize("name", STEPS)
def test_pipelines(name):
    X, y, new = rows()
    new[0] = 0.0
    model = make_pipeline(STEPS[name], mercer.SVC()).fit(3 * X + 1, y)
    assert_answers(model, new, 1e-10)
    assert_answers(model, 5.0 * new, 1e-10)  # also beyond what training has seen


def test_a_pipeline_that_fills_in_what_is_missing():
    X, y, new = rows()
    X[3, 1] = new[0, 0] = new[5, 2] = np.nan
    model = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), mercer.LinearSVC(probability=True))
    assert_answers(model.fit(X, y), new)


def test_what_cannot_be_exported_is_named():
    X, y, _ = rows()
    texts = ["ab", "ba", "cc", "ac"] * 15
    for model, data, message in [
        (mercer.SVC(kernel=Matern(nu=0.7)), X, "Bessel function, which ONNX does not have"),
        (mercer.SVC(kernel=lambda A, B: A @ B.T), X, "the kernel is a Python function"),
        (
            mercer.SVC(kernel=mercer.kernels.Spectrum(1)),
            texts,
            "cannot be exported|does not take rows|only kernels of rows",
        ),
        (mercer.KernelDensity(), X, "KernelDensity cannot be exported to ONNX"),
        (
            make_pipeline(PolynomialFeatures(), mercer.SVC()),
            X,
            "PolynomialFeatures cannot be exported; steps that can are",
        ),
    ]:
        with pytest.raises(ParameterError, match=message):
            to_onnx(model.fit(data, y))
    model = mercer.SVC().fit(X, y)
    with pytest.raises(ParameterError, match="support_vectors=False needs a kernel whose features can be written down"):
        to_onnx(model, support_vectors=False)
    with pytest.raises(ParameterError, match="dtype must be 'float64' or 'float32'"):
        to_onnx(model, dtype="int64")
    with pytest.raises(ParameterError, match="support_vectors must be True, False or None"):
        to_onnx(model, support_vectors="some")
    with pytest.raises(NotFittedError):
        to_onnx(mercer.SVC())
    wide = mercer.SVC(kernel=Polynomial(4)).fit(np.random.default_rng(0).normal(size=(20, 200)), [0, 1] * 10)
    with pytest.raises(ParameterError, match="would have 68,685,050 weights of monomials"):
        to_onnx(wide, support_vectors=False)


def test_without_the_package_the_extra_is_named(monkeypatch):
    X, y, _ = rows()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"mercer\[onnx\]"):
        to_onnx(mercer.SVC().fit(X, y))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_machine_without_support_vectors_is_a_constant(kernel):
    X, _, new = rows()
    model = mercer.SVR(kernel=kernel, epsilon=100.0).fit(X, targets(X) + 7.0)
    assert len(model.support_) == 0
    found = assert_answers(model, new)
    assert found["prediction"] == pytest.approx(model.intercept_[0])


def test_labels_of_several_kinds_have_no_type_in_onnx():
    model = SimpleNamespace(classes_=np.array(["a", 2], dtype=object))
    with pytest.raises(mercer.ParameterError, match="labels must be numbers or texts"):
        heads.labels(model, None)


@pytest.mark.parametrize("options", [{"add_indicator": True}, {"missing_values": -1.0}])
def test_an_imputer_of_another_kind_is_refused(options):
    X, _, _ = rows()
    with pytest.raises(mercer.ParameterError, match="missing_values=nan and add_indicator=False only"):
        steps.step(SimpleImputer(**options).fit(X), None)


def test_a_step_that_is_not_fitted_is_said_to_be_so():
    with pytest.raises(NotFittedError):
        steps.step(StandardScaler(), None)
