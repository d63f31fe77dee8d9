"""Features from landmarks, and random ones: what their inner products are, and what they refuse."""

import pickle

import numpy as np
import pytest
import sklearn.kernel_approximation
from scipy import sparse
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    SVC,
    LinearSVC,
    LowRank,
    NotPositiveSemidefiniteError,
    Nystroem,
    ParameterError,
    RandomFourierFeatures,
)
from mercer.kernels import RBF, Sigmoid, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5))
NEW = rng.normal(size=(30, 5))


@pytest.mark.parametrize(
    "options", [{"gamma": 0.2}, {}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "linear"}]
)
def test_inner_products_are_those_of_scikit_learn_for_the_same_seed(options):
    mine = Nystroem(n_components=50, random_state=3, **options).fit(X)
    theirs = sklearn.kernel_approximation.Nystroem(n_components=50, random_state=3, **options).fit(X)
    assert set(mine.component_indices_) == set(theirs.component_indices_)
    one, other = mine.transform(NEW), theirs.transform(NEW)
    assert one.shape == other.shape
    np.testing.assert_allclose(one @ one.T, other @ other.T, rtol=1e-6, atol=1e-6)


def test_features_are_kernel_values_times_the_normalisation():
    model = Nystroem(gamma=0.2, n_components=40).fit(X)
    np.testing.assert_array_equal(model.components_, X[model.component_indices_])
    values = RBF(gamma=0.2)(NEW, model.components_)
    np.testing.assert_allclose(model.transform(NEW), values @ model.normalization_.T, atol=1e-9)


def test_a_linear_machine_on_them_is_the_machine_over_landmarks():
    y = np.sign(np.sin(X[:, 0]) + 0.3 * rng.normal(size=400))
    linear = make_pipeline(
        Nystroem(gamma=0.2, n_components=60, random_state=1), LinearSVC(C=1.0, tol=1e-7, loss="hinge")
    )
    machine = SVC(gamma=0.2, bias="penalized", gap_tol=1e-7, approximation=LowRank(60, random_state=1))
    linear.fit(X, y)
    machine.fit(X, y)
    assert linear[-1].certificate_.primal == pytest.approx(machine.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(linear.decision_function(NEW), machine.decision_function(NEW), atol=0.01)


@pytest.mark.parametrize("choice", ["uniform", "rpcholesky"])
def test_all_rows_give_the_kernel_itself(choice):
    features = Nystroem(gamma=0.2, n_components=400, choice=choice).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, RBF(gamma=0.2)(X), atol=1e-8)


def test_more_components_than_rows_are_taken_back_with_a_warning():
    with pytest.warns(UserWarning, match="n_components=500 exceeds the number of rows: all 400 are taken as landmarks"):
        model = Nystroem(gamma=0.2, n_components=500).fit(X)
    assert model.transform(NEW).shape == (30, 400)
    assert len(model.get_feature_names_out()) == 400


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    features = Nystroem(gamma=0.2, n_components=40).fit(X.astype(dtype)).transform(NEW.astype(dtype))
    assert features.dtype == dtype
    double = Nystroem(gamma=0.2, n_components=40).fit(X).transform(NEW)
    np.testing.assert_allclose(features @ features.T, double @ double.T, atol=1e-3 if dtype == np.float32 else 1e-12)


def test_sparse_rows_a_matrix_and_texts():
    dense = Nystroem(gamma=0.2, n_components=40).fit(X).transform(NEW)
    np.testing.assert_allclose(
        Nystroem(gamma=0.2, n_components=40).fit(sparse.csr_matrix(X)).transform(sparse.csr_matrix(NEW)),
        dense,
        atol=1e-9,
    )
    given = Nystroem(kernel="precomputed", n_components=40).fit(RBF(gamma=0.2)(X))
    np.testing.assert_allclose(given.transform(RBF(gamma=0.2)(NEW, X)), dense, atol=1e-9)
    texts = [f"{'abc' * (1 + i % 3)}{'xyz'[i % 3]}" for i in range(30)]
    features = Nystroem(kernel=Spectrum(2), n_components=30).fit_transform(texts)
    np.testing.assert_allclose(features @ features.T, Spectrum(2)(texts), atol=1e-5)


def test_a_function_with_parameters():
    def kernel(one, other, scale=1.0):
        return np.exp(-scale * np.sum((one - other) ** 2))

    own = Nystroem(kernel=kernel, kernel_params={"scale": 0.2}, n_components=20).fit(X[:60])
    named = Nystroem(gamma=0.2, n_components=20).fit(X[:60])
    np.testing.assert_allclose(own.transform(NEW), named.transform(NEW), atol=1e-9)


def test_pickled():
    for model in (Nystroem(gamma=0.2, n_components=40).fit(X), RandomFourierFeatures(n_components=40).fit(X)):
        again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
        np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))


@pytest.mark.parametrize(
    "features", [Nystroem(gamma=0.2, n_components=40), RandomFourierFeatures(gamma=0.2, n_components=40)]
)
def test_saved_in_a_pipeline(features, tmp_path):
    y = np.sign(np.sin(X[:, 0]))
    model = make_pipeline(features, LinearSVC()).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model.mercer").decision_function(NEW), model.decision_function(NEW)
    )


@pytest.mark.parametrize("gamma", [0.3, "scale"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, lambda rows: rows.astype(np.float32)])
def test_random_features_are_those_of_scikit_learn_for_the_same_seed(gamma, convert):
    mine = RandomFourierFeatures(gamma=gamma, n_components=70, random_state=5).fit(convert(X))
    theirs = sklearn.kernel_approximation.RBFSampler(gamma=gamma, n_components=70, random_state=5).fit(convert(X))
    np.testing.assert_allclose(mine.transform(convert(NEW)), theirs.transform(convert(NEW)), atol=1e-5)


def test_random_features_come_close_to_the_kernel():
    features = RandomFourierFeatures(gamma=0.2, n_components=20_000).fit_transform(X)
    assert np.abs(features @ features.T - RBF(gamma=0.2)(X)).max() < 0.05


def test_random_features_have_no_distance():
    model = RandomFourierFeatures().fit(X)
    assert not hasattr(model, "distance_")
    with pytest.raises(AttributeError, match="no distance to the exact machine: they span no part"):
        _ = model.distance_


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: Nystroem(n_components=0).fit(X), ParameterError, "n_components"),
        (lambda: Nystroem(choice="auto").fit(X), ParameterError, "choice must be one of 'uniform', 'rpcholesky'"),
        (lambda: Nystroem(gamma=-1.0).fit(X), ParameterError, "gamma"),
        (lambda: Nystroem(kernel="precomputed", gamma=1.0).fit(X @ X.T), ParameterError, "gamma must be None"),
        (lambda: Nystroem(kernel=Sigmoid(1.0, -1.0)).fit(X), NotPositiveSemidefiniteError, "landmarks"),
        (lambda: RandomFourierFeatures(gamma=-1.0).fit(X), ParameterError, "gamma"),
        (lambda: RandomFourierFeatures(gamma="median").fit(X), ParameterError, "gamma"),
        (lambda: RandomFourierFeatures(n_components=0).fit(X), ParameterError, "n_components"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, told):
    with pytest.raises(error, match=told):
        make()
