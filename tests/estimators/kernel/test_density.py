import pickle

import numpy as np
import pytest
import sklearn.neighbors
from sklearn.base import clone

import mercer.estimators.kernel.density as module
from mercer import DataError, KernelDensity, ParameterError
from mercer.kernels import RBF, Laplacian, Linear, Matern, Normalized, RationalQuadratic, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 2))


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear"])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_same_as_scikit_learn(kernel, d):
    rows = rng.normal(size=(100, d))
    points = np.r_[rows[:20] + 0.1, np.full((1, d), 50.0)]
    weights = rng.uniform(0.5, 2.0, 100)
    mine, theirs = (
        kind(kernel=kernel, bandwidth=0.8).fit(rows, sample_weight=weights).score_samples(points)
        for kind in (KernelDensity, sklearn.neighbors.KernelDensity)
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-8)


@pytest.mark.parametrize(
    "kernel", ["gaussian", "cosine", "epanechnikov", RBF(0.7), Matern(1.5, 0.5), RBF(0.5) + Matern(2.5, 0.5)]
)
def test_the_density_has_integral_one(kernel):
    side = np.linspace(-12.0, 12.0, 400)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    model = KernelDensity(kernel=kernel, bandwidth=0.9).fit(X[:20])
    total = np.exp(model.score_samples(grid)).sum() * (side[1] - side[0]) ** 2
    assert total == pytest.approx(1.0, abs=2e-3)


def test_the_laplacian_is_a_product_of_exponentials():
    model = KernelDensity(kernel=Laplacian(gamma=2.0)).fit(np.zeros((1, 3)))
    assert model.score_samples(np.zeros((1, 3)))[0] == pytest.approx(3 * np.log(2.0 / 2.0))


def test_kernels_without_a_density_are_refused():
    with pytest.raises(ParameterError, match="no finite integral in 2 dimensions"):
        KernelDensity(kernel=RationalQuadratic(alpha=1.0)).fit(X)
    with pytest.raises(ParameterError, match="only on the distance between two rows"):
        KernelDensity(kernel=Linear()).fit(X)
    with pytest.raises(ParameterError, match="kernel must be one of"):
        KernelDensity(kernel="gauss").fit(X)


def test_the_level_set_keeps_its_promise_on_new_rows():
    rows, new = rng.normal(size=(2000, 2)), rng.normal(size=(4000, 2))
    model = KernelDensity(bandwidth="scott", level=0.1).fit(rows)
    assert np.mean(model.predict(new) == -1) == pytest.approx(0.1, abs=0.02)
    np.testing.assert_array_equal(model.decision_function(new) >= 0, model.predict(new) == 1)


def test_copies_are_weights():
    copies = rng.integers(1, 4, 150)
    once = KernelDensity().fit(X, sample_weight=copies)
    often = KernelDensity().fit(np.repeat(X, copies, axis=0))
    assert once.offset_ == pytest.approx(often.offset_)
    np.testing.assert_allclose(once.score_samples(X), often.score_samples(X))


def test_rows_that_stand_alone_are_outside():
    rows = np.r_[0.1 * X, [[9.0, 9.0], [-9.0, 9.0], [9.0, -9.0]]]
    model = KernelDensity(kernel="tophat", bandwidth=0.5, level=0.01).fit(rows)
    assert (model.predict(rows)[-3:] == -1).all()
    assert (model.predict(rows)[:150] == 1).mean() > 0.9


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_samples_have_the_density(kernel):
    model = KernelDensity(kernel=kernel, bandwidth=0.5).fit(X)
    drawn = model.sample(4000, random_state=0)
    assert drawn.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=0.1)
    variance = X.var(axis=0) + (0.25 if kernel == "gaussian" else 0.25 / 4)
    assert drawn.var(axis=0) == pytest.approx(variance, abs=0.12)
    with pytest.raises(ParameterError, match="Gaussian and the tophat"):
        KernelDensity(kernel="cosine").fit(X).sample()


@pytest.mark.parametrize(
    "parameters", [{"bandwidth": 0.0}, {"bandwidth": "wide"}, {"level": 1.0}, {"level": -0.1}, {"n_jobs": 0}]
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError, match=f"{next(iter(parameters))} must be"):
        KernelDensity(**parameters).fit(X)


def test_a_given_matrix_is_the_density_but_for_a_constant():
    K = RBF(gamma=0.5)(X)
    weights = rng.uniform(0.5, 2.0, len(X))
    weights[3] = 0.0
    rows = KernelDensity(kernel=RBF(gamma=0.5), level=0.1).fit(X, sample_weight=weights)
    given = KernelDensity(kernel="precomputed", level=0.1).fit(K, sample_weight=weights)
    new = rng.normal(size=(20, 2))
    known, unknown = rows.score_samples(new), given.score_samples(RBF(gamma=0.5)(new, X))
    assert rows.is_normalized_
    assert not given.is_normalized_
    np.testing.assert_allclose(known - unknown, (known - unknown)[0], atol=1e-10)
    np.testing.assert_allclose(given.decision_function(K), rows.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(given.predict(K), rows.predict(X))


def test_texts_have_a_level_set():
    texts = ["banana", "bananas", "bandana", "a banana", "xyzzy"]
    model = KernelDensity(kernel=Normalized(Spectrum(length=2)), level=0.2).fit(texts)
    assert model.predict(texts).tolist() == [1, 1, 1, 1, -1]
    assert model.score_samples(["banana", "xyz"]).argmax() == 0
    assert model.score_samples(["qqq"])[0] == -np.inf


def test_a_function_of_two_items():
    model = KernelDensity(kernel=lambda a, b: float(a == b)).fit(["a", "a", "b", "a"])
    np.testing.assert_allclose(np.exp(model.score_samples(["a", "b", "c"])), [0.75, 0.25, 0.0])


def test_matrices_that_are_no_density():
    with pytest.raises(DataError, match=r"no negative entry, got K\[1, 0\] = -0.5|K\[0, 1\]"):
        KernelDensity(kernel="precomputed").fit(np.array([[1.0, -0.5], [-0.5, 1.0]]))
    with pytest.raises(ParameterError, match="same positive k"):
        KernelDensity(kernel="precomputed").fit(np.array([[1.0, 0.5], [0.5, 2.0]]))
    with pytest.raises(ParameterError, match=r"Normalized\(kernel\)"):
        KernelDensity(kernel=Spectrum(length=2)).fit(["banana", "ananas", "xyz"])
    with pytest.raises(DataError, match="without negative values"):
        KernelDensity(kernel=lambda a, b: 1.0 if a == b else -0.9).fit(["a", "b", "c"])
    with pytest.raises(ParameterError, match=r"bandwidth must be 1\.0"):
        KernelDensity(kernel="precomputed", bandwidth=0.5).fit(np.eye(3))
    with pytest.raises(ParameterError, match="only from densities of rows"):
        KernelDensity(kernel="precomputed").fit(np.eye(3)).sample()


def test_the_border_is_found_when_it_is_asked_for_and_only_then(monkeypatch):
    asked = []
    original = module.symmetric_product

    def spy(*arguments, **options):
        asked.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(module, "symmetric_product", spy)
    model = KernelDensity(level=0.2).fit(X)
    model.score_samples(X)
    assert not asked
    border = model.set_params(level=0.5).offset_  # that of the fit, whatever is set later
    assert border == KernelDensity(level=0.2).fit(X).offset_
    assert model.offset_ == border
    assert len(asked) == 2
    assert clone(model).fit(X).offset_ > border
    assert pickle.loads(pickle.dumps(model)).offset_ == border  # noqa: S301 - our own bytes
    assert model.fit(X).offset_ > border


@pytest.mark.parametrize("n_samples", [-1, 2.5, "some"])
def test_samples_are_counted_in_whole_numbers(n_samples):
    model = KernelDensity().fit([[0.0], [1.0]])
    with pytest.raises(ParameterError, match="n_samples must be a whole number, 0 or more, got "):
        model.sample(n_samples)


def test_an_unknown_bandwidth_is_told_in_a_sentence():
    with pytest.raises(ParameterError, match='a positive number, "scott" or "silverman", got \'a\''):
        KernelDensity(bandwidth="a").fit([[0.0], [1.0]])


def test_a_second_fit_is_not_pickled_with_the_border_of_the_first():
    model = KernelDensity().fit(np.random.default_rng(0).normal(size=(50, 2)))
    border = model.offset_
    model.set_params(kernel="precomputed").fit(np.eye(4))
    assert model.offset_ != border
    assert model.__getstate__()["offset_"] == model.offset_
