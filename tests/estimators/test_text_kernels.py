"""A kernel as text means the same to every estimator as the kernel itself."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, ParameterError
from mercer.kernels import RBF, Linear, Matern, On, Polynomial, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)
TEXTS = ["a fine film", "fine, and funny", "dull", "a dull, long film"]
LIKED = [1, 1, 0, 0]

OF_ROWS = [
    "AnalyticCenterMachine", "BayesPointMachine", "HardMarginSVC", "KernelFisherDiscriminant", "KernelLeastSquares",
    "KernelLogisticRegression", "KernelMachine", "KernelPCA", "KernelPerceptron", "KernelRidge", "KernelSVD", "NuSVC",
    "NuSVR", "Nystroem", "OneClassSVM", "PegasosSVC", "RampSVC", "SVC", "SVCCV", "SVDD", "SVR", "SVRCV",
]  # fmt: skip


def answer(model):
    model.fit(X, y)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("name", OF_ROWS)
def test_text_is_the_kernel_that_it_says(name):
    kind = getattr(mercer, name)
    text, kernel = (kind(kernel=kernel) for kernel in ("rbf(gamma=2) + 0.5*matern", RBF(2) + 0.5 * Matern()))
    for model in (text, kernel):
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        if name == "Nystroem":
            model.set_params(n_components=5)
    np.testing.assert_array_equal(answer(text), answer(kernel))


def test_every_kernel_estimator_is_in_the_list():
    classes = (getattr(mercer, name) for name in mercer.__all__)
    kinds = [
        kind for kind in classes if isinstance(kind, type) and hasattr(kind, "fit") and hasattr(kind, "get_params")
    ]
    takes_kernel = {kind.__name__ for kind in kinds if "kernel" in signature(kind).parameters}
    assert takes_kernel - set(OF_ROWS) == {"KernelDensity", "RankSVM"}  # which the next test has


def test_a_density_and_a_ranking_take_text():
    text, kernel = (mercer.KernelDensity(kernel=each).fit(X) for each in ("rbf(gamma=2)", RBF(2)))
    np.testing.assert_array_equal(text.score_samples(X), kernel.score_samples(X))
    text, kernel = (mercer.RankSVM(kernel=each).fit(X, y) for each in ("rbf(gamma=2) + linear", RBF(2) + Linear()))
    np.testing.assert_array_equal(text.predict(X), kernel.predict(X))


def test_the_parameters_of_the_estimator_fill_in_what_the_text_leaves_out():
    model = SVC(kernel="poly(degree=2) + RBF", gamma=0.3, coef0=1.0).fit(X, y)
    assert model.expansion_.kernel == Polynomial(2, 0.3, 1.0) + RBF(0.3)


def test_texts_and_tables_are_learnt_by_text():
    model = SVC(kernel="spectrum(k=2).normalized()").fit(TEXTS, LIKED)
    assert model.expansion_.kernel == Spectrum(length=2).normalized()
    assert model.predict(["so dull", "so fine"]).tolist() == [0, 1]
    frame = [{"age": 30.0, "town": "Ulm"}, {"age": 60.0, "town": "Bonn"}]
    model = SVC(kernel="rbf(gamma=0.01)@age + delta@town").fit(frame, [0, 1])
    assert model.predict(frame).tolist() == [0, 1]
    assert isinstance(model.expansion_.kernel.kernels[0], On)


def test_a_search_and_a_pipeline_go_over_texts():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__kernel": ["linear", "rbf + linear", "cosine"]})
    assert clone(search).fit(X, y).best_params_["svc__kernel"] in ("linear", "rbf + linear", "cosine")
    over_texts = GridSearchCV(SVC(), {"kernel": ["spectrum", "subsequence(k=2)"]}, cv=2).fit(TEXTS, LIKED)
    assert over_texts.best_params_["kernel"] in ("spectrum", "subsequence(k=2)")


def test_what_the_tags_say_follows_the_text():
    assert SVC(kernel="spectrum").__sklearn_tags__().input_tags.string
    assert SVC(kernel="Precomputed()").__sklearn_tags__().input_tags.pairwise
    assert SVC(kernel="no such kernel").__sklearn_tags__().input_tags.sparse


def test_bad_text_is_refused_with_its_place_before_anything_else():
    with pytest.raises(
        ParameterError, match="'rbf \\+ lineal', character 7: no kernel is called 'lineal'; did you mean"
    ):
        SVC(kernel="rbf + lineal").fit(X, y)
    with pytest.raises(ParameterError, match="no kernel is called 'spektrum'; did you mean 'spectrum'"):
        SVC(kernel="spektrum").fit(TEXTS, LIKED)


def test_text_has_no_parameters_to_set_one_by_one():
    with pytest.raises(ParameterError, match=r"kernel__gamma sets a parameter of a Kernel.*parse\('rbf'\)"):
        SVC(kernel="rbf").set_params(kernel__gamma=2.0)


def test_a_model_that_was_given_text_is_saved_and_loaded(tmp_path):
    model = SVC(kernel="spectrum(k=2) + 1").fit(TEXTS, LIKED)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.kernel == "spectrum(k=2) + 1"
    np.testing.assert_array_equal(loaded.decision_function(["dull film"]), model.decision_function(["dull film"]))
