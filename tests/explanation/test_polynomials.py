"""The polynomial that a machine has learnt, read back from its coefficients."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVR, DataError, KernelPerceptron, LinearSVC, ParameterError, PegasosSVC
from mercer.kernels import RBF, Constant, Linear, Normalized, Polynomial, SecondOrder

QUADRATIC = Polynomial(degree=2, gamma=1.0, coef0=1.0)
KERNELS = [
    Linear(),
    2.5 * Linear(),
    SecondOrder(),
    QUADRATIC,
    Polynomial(degree=3, gamma=0.5, coef0=0.0),
    Polynomial(degree=2, gamma=0.5, coef0=-0.3),
    Linear() * Linear(),
    Linear() ** 3,
    Linear() + 0.5 * QUADRATIC,
    Linear() + Constant(2.0),
]


@pytest.fixture
def quadratic_rule(rng):
    """Gordon's classifier, "is 3a + 2b + a² + 3ab >= 2.6?", as labels of points, none of them close to the border."""
    X = rng.uniform(-3.0, 3.0, size=(4000, 2))
    f = 3 * X[:, 0] + 2 * X[:, 1] + X[:, 0] ** 2 + 3 * X[:, 0] * X[:, 1] - 2.6
    kept = np.abs(f) > 0.05
    return X[kept], f[kept] > 0


def test_the_classifier_of_the_slides_is_read_back(quadratic_rule):
    X, y = quadratic_rule
    model = SVC(kernel=QUADRATIC, C=np.inf).fit(X, y)
    found = mercer.as_polynomial(model, names=["a", "b"]).as_dict()
    unit = found["a²"]
    expected = {"1": -2.6, "a": 3.0, "b": 2.0, "a²": 1.0, "ab": 3.0, "b²": 0.0}
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name] / unit == pytest.approx(value, abs=0.08), name


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_polynomial_is_the_machine(kernel, layout, rng):
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel=kernel, tol=1e-6).fit(layout(X), y)
    polynomial = mercer.as_polynomial(model)
    new = rng.normal(size=(20, 3))
    expected = model.decision_function(layout(new))
    assert polynomial.values(layout(new))[:, 0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # By the definition, without the library's own arithmetic.
    by_hand = polynomial.constants[0] + sum(
        weight * np.prod([new[0, place] for place in choice])
        for weight, choice in zip(polynomial.coefficients[0], polynomial.powers, strict=True)
    )
    assert by_hand == pytest.approx(expected[0], rel=1e-9, abs=1e-9)


def test_several_classes_have_a_polynomial_each():
    X, y = load_iris(return_X_y=True)
    for model in (SVC(kernel=QUADRATIC), KernelPerceptron(QUADRATIC, max_iter=5), LinearSVC(), PegasosSVC(T=100)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        polynomial = mercer.as_polynomial(model)
        values = polynomial.values(X)
        expected = model.expansion_.values(X) if hasattr(model, "expansion_") else model.decision_function(X)
        assert values == pytest.approx(expected, rel=1e-8, abs=1e-6)
        assert len(polynomial.functions) == len(str(polynomial).splitlines()) == 3


def test_a_regression_is_a_sum():
    x = np.linspace(-2.0, 2.0, 41)[:, None]
    y = 1.0 + 2.0 * x[:, 0] - 3.0 * x[:, 0] ** 2
    model = SVR(kernel=QUADRATIC, C=1e6, epsilon=0.0, tol=1e-9).fit(pd.DataFrame(x, columns=["t"]), y)
    assert str(mercer.as_polynomial(model)) == "the value = 1 + 2t - 3t²"


def test_names_come_from_the_frame_or_from_the_steps():
    iris = load_iris(as_frame=True)
    X, y = iris.data[50:], iris.target[50:]
    model = SVC(kernel=SecondOrder()).fit(X, y)
    assert "petal length (cm)·petal width (cm)" in mercer.as_polynomial(model).names
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0)), {"svc__C": [1.0]})
    polynomial = mercer.as_polynomial(search.fit(X, y))
    assert polynomial.columns == list(X.columns)
    scaled = search.best_estimator_[0].transform(X)
    assert polynomial.values(scaled)[:, 0] == pytest.approx(search.decision_function(X))
    assert mercer.as_polynomial(search, names=list("abcd")).names[:2] == ["a", "b"]


def test_explanations_go_by_monomial(quadratic_rule):
    X, y = quadratic_rule
    model = SVC(kernel=QUADRATIC).fit(pd.DataFrame(X[:200], columns=["a", "b"]), y[:200])
    item = pd.DataFrame([[1.5, 0.0]], columns=["a", "b"])
    found = mercer.explain(model, item)
    assert found.by_feature.names == ["a", "a²"]
    assert found.by_feature.values.sum(axis=1) + found.intercept == pytest.approx(model.decision_function(item))
    assert found.decision == pytest.approx(model.decision_function(item))
    weights = found.as_polynomial().as_dict()
    assert found.by_feature.as_dict()["a²"] == pytest.approx(weights["a²"] * 1.5**2)
    assert str(found.as_polynomial()) == str(mercer.as_polynomial(model))


def test_what_is_no_polynomial_says_so(rng):
    X = rng.normal(size=(20, 2))
    y = X[:, 0] > 0
    for kernel in (RBF(gamma=1.0), "precomputed"):
        model = SVC(kernel=kernel).fit(X @ X.T if kernel == "precomputed" else X, y)
        with pytest.raises(ParameterError, match="as_polynomial needs a kernel whose features can be written down"):
            mercer.as_polynomial(model)
    with pytest.raises(ParameterError, match="needs a kernel that is not normalised"):
        mercer.as_polynomial(SVC(kernel=Normalized(QUADRATIC)).fit(X, y))
    with pytest.raises(ParameterError, match="needs a kernel that is a polynomial of the inner product"):
        mercer.explain(SVC(kernel="rbf").fit(X, y), X[0]).as_polynomial()
    with pytest.raises(ParameterError, match="names must name 2 columns, got 1"):
        mercer.as_polynomial(SVC(kernel="linear").fit(X, y), names=["a"])
    with pytest.raises(ParameterError, match="takes linear and kernel models, got StandardScaler"):
        mercer.as_polynomial(StandardScaler().fit(X))
    with pytest.raises(NotFittedError):
        mercer.as_polynomial(SVC(kernel="poly"))
    with pytest.raises(DataError, match="X must have 2 columns"):
        mercer.as_polynomial(SVC(kernel="linear").fit(X, y)).values(X[:, :1])


def test_too_many_monomials_are_no_explanation(rng):
    X = rng.normal(size=(12, 60))
    model = SVC(kernel=Polynomial(degree=4, gamma=0.1, coef0=1.0)).fit(X, X[:, 0] > 0)
    with pytest.raises(ParameterError, match=r"would have 635,376 weights of monomials, more than 20,000"):
        mercer.as_polynomial(model)
    assert mercer.explain(model, X[0]).by_feature is None


def test_a_sentence_leaves_the_smallest_out(rng):
    X = rng.normal(size=(30, 8))
    polynomial = mercer.as_polynomial(SVC(kernel=QUADRATIC).fit(X, X[:, 0] > 0))
    sentence = polynomial.sentence(most=3)
    assert "+ 41 smaller terms >" in sentence
    sizes = np.abs(polynomial.coefficients[0]) * [
        max(abs(np.prod(np.abs(X).max(axis=0)[list(choice)])), 0.0) for choice in polynomial.powers
    ]
    assert polynomial.names[int(np.argmax(sizes))] in sentence


def test_a_small_coefficient_of_a_large_column_is_no_rounding(rng):
    """In units in which a column is a million times larger, the term is written as it was."""
    X = rng.normal(size=(60, 2))
    y = X[:, 0] ** 2 + X[:, 1] > 0.5
    unit = np.array([1e6, 1.0])
    plain = mercer.as_polynomial(SVC(kernel=SecondOrder(), C=100.0).fit(X, y), "ab")
    grown = mercer.as_polynomial(SVC(kernel=SecondOrder(), C=100.0).fit(X, y), "ab")
    scaled = replace(grown, coefficients=grown.coefficients / [[1e6, 1.0, 1e12, 1e6, 1.0]], reach=grown.reach * unit)
    assert scaled.values(X * unit) == pytest.approx(plain.values(X))
    assert scaled.sentence().count("a²") == plain.sentence().count("a²") == 1


@pytest.mark.parametrize("kernel", [QUADRATIC, SecondOrder(), Polynomial(degree=3), Polynomial(degree=0, coef0=1.0)])
def test_every_feature_has_its_name(kernel):
    """The feature of a name is the product that the name says, times a number that no row changes."""
    X = np.array([[2.0, 3.0], [5.0, 7.0]])
    names, features = kernel.feature_names(X, ["a", "b"]), kernel.feature_map(X)
    assert len(names) == features.shape[1]
    powers = str.maketrans({"²": "**2", "³": "**3"})
    for name, (first, second) in zip(names, features.T, strict=True):
        written = name.replace("a", "*a").replace("b", "*b").translate(powers)
        said = [eval("1" + written.removeprefix("1"), {}, {"a": a, "b": b}) for a, b in X]  # noqa: S307
        assert second / first == pytest.approx(said[1] / said[0])
