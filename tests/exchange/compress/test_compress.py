"""Fewer support vectors: the bound holds everywhere, and nothing but the vectors changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVDD, SVR, KernelRidge, NuSVC, OneClassSVM, ParameterError, compress
from mercer import kernels as k
from mercer.exchange.compress.reduced_set import _Greedy, reduced_set
from mercer.kernels.gram.symmetric_operator import GivenOperator
from tests.exchange.sameness import same, same_answers


@pytest.fixture(scope="module")
def blobs():
    X, y = make_classification(400, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=2)
    return X, y


def far_and_near(X, rng):
    """Points like the training data, and points nobody has seen the like of."""
    return np.vstack([X, rng.normal(size=(400, X.shape[1])), rng.uniform(-30, 30, size=(400, X.shape[1]))])


def change(model, small, points):
    """The largest |f(x) - g(x)| / sqrt(k(x, x)) at some points, over all functions."""
    f, g = (each.decision_function(points) if hasattr(each, "decision_function") else each.predict(points)
            for each in (model, small))  # fmt: skip
    lengths = np.sqrt(model.expansion_.kernel.diag(points))
    return (np.abs(f - g).reshape(len(lengths), -1) / lengths[:, None]).max()


MODELS = {
    "rbf": SVC(gamma=0.05, decision_function_shape="ovo"),
    "large C": SVC(C=100.0, gamma=0.05, decision_function_shape="ovo"),
    "one against the rest": SVC(gamma=0.05, multi_class="ovr"),
    "nu": NuSVC(nu=0.4, gamma=0.05, decision_function_shape="ovo"),
    "laplacian": SVC(kernel=k.Laplacian(gamma=0.05), decision_function_shape="ovo"),
    "polynomial": SVC(kernel=k.Polynomial(degree=2, gamma=0.1, coef0=1.0), decision_function_shape="ovo"),
    "product": SVC(kernel=k.RBF(gamma=0.02) * (k.Linear() + 1.0), decision_function_shape="ovo"),
    "one class": OneClassSVM(nu=0.5, gamma=0.05),
    "ball": SVDD(nu=0.5, gamma=0.05),
    "ridge": KernelRidge(alpha=1.0, kernel="rbf", gamma=0.05),
}


@pytest.mark.parametrize("max_error", [0.3, 0.01])
@pytest.mark.parametrize("name", MODELS)
def test_the_bound_holds(name, max_error, blobs, rng):
    X, y = blobs
    model = clone(MODELS[name]).fit(X, y)
    small = compress(model, max_error)
    said = small.compression_
    assert said.bound <= max_error
    assert change(model, small, far_and_near(X, rng)) <= said.bound + 1e-9
    assert said.n_before == len(model.expansion_.vectors)
    assert said.n_after == len(small.expansion_.vectors)
    assert said.n_after < said.n_before or max_error < 0.1


def test_the_bound_is_reached_at_the_worst_function(blobs):
    """The difference itself, as a point of the feature space, is where the bound is an equality."""
    X, y = blobs
    model = SVC(kernel="linear").fit(X, y == 0)
    small = compress(model, n_vectors=3)
    difference = np.ravel(model.coef_ - small.coef_)
    said = small.compression_.bound
    assert np.linalg.norm(difference) == pytest.approx(said, rel=1e-3)
    assert change(model, small, difference[None, :]) == pytest.approx(said, rel=1e-3)


def test_few_features_need_few_vectors(blobs):
    """A linear kernel of 6 columns has 6 features, a quadratic one 28: no more vectors, and no change."""
    X, y = blobs
    for kernel, rank in ((k.Linear(), 6), (k.Polynomial(degree=2, gamma=1.0, coef0=1.0), 28)):
        model = SVC(kernel=kernel, C=0.1, decision_function_shape="ovo").fit(X, y)
        small = compress(model, max_error=1e-3)
        assert small.compression_.n_after <= rank < small.compression_.n_before
        assert np.allclose(model.decision_function(X), small.decision_function(X), rtol=1e-7, atol=1e-7)


def test_duplicates_are_merged():
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(7, 3))
    X = np.repeat(centres, 20, axis=0)
    model = KernelRidge(kernel="rbf", gamma=0.5).fit(X, rng.normal(size=140))
    small = compress(model, max_error=1e-4)
    assert len(small.X_fit_) == 7
    assert np.allclose(small.predict(X), model.predict(X), atol=1e-9)


def test_a_number_of_vectors(blobs):
    X, y = blobs
    model = SVC(gamma=0.05).fit(X, y)
    bounds = [compress(model, n_vectors=n).compression_ for n in (5, 20, 80)]
    assert [each.n_after for each in bounds] == [5, 20, 80]
    assert bounds[0].bound > bounds[1].bound > bounds[2].bound
    assert np.allclose(bounds[2].path[[4, 19]], [bounds[0].bound, bounds[1].bound], rtol=1e-6)


def test_nothing_changes_where_nothing_can(blobs):
    X, y = blobs
    model = SVC(gamma=50.0).fit(X, y)
    same_kept = compress(model, max_error=0.0)
    assert same_kept.compression_.bound == 0.0
    assert same_kept.compression_.n_after == len(model.support_)
    assert np.allclose(same_kept.decision_function(X), model.decision_function(X), atol=1e-12)
    assert not hasattr(model, "compression_")


def test_the_attributes_fit_each_other(blobs):
    X, y = blobs
    model = SVC(gamma=0.05, probability=True).fit(X, y)
    small = compress(model, max_error=0.1)
    assert np.array_equal(X[small.support_], small.support_vectors_)
    assert small.n_support_.sum() == len(small.support_)
    assert np.array_equal(np.bincount(y[small.support_], minlength=3), small.n_support_)
    assert small.dual_coef_.shape == (3, len(small.support_))
    assert np.allclose(small.predict_proba(X), model.predict_proba(X), atol=0.1)
    same(small.certificate_, model.certificate_)


def test_sparse_rows(blobs):
    X, y = blobs
    rows = sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
    model = SVC(gamma=0.05).fit(rows, y == 1)
    small = compress(model, max_error=0.1)
    assert sparse.issparse(small.support_vectors_)
    assert np.abs(small.decision_function(rows) - model.decision_function(rows)).max() <= small.compression_.bound


def test_texts():
    texts = ["".join(letters) for letters in np.random.default_rng(0).choice(list("ab"), size=(80, 9))]
    y = [text.count("ab") > 2 for text in texts]
    model = SVC(kernel=k.Spectrum(3).normalized(), C=10.0).fit(texts, y)
    small = compress(model, max_error=0.02)
    # There are eight words of three letters a and b.
    assert small.compression_.n_after <= 8 < small.compression_.n_before
    assert np.abs(small.decision_function(texts) - model.decision_function(texts)).max() <= 0.02


def test_a_data_frame(blobs):
    pd = pytest.importorskip("pandas")
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SVC(kernel=k.Columns({name: k.RBF(gamma=0.05) for name in "abcdef"}, combine="mean")).fit(frame, y)
    small = compress(model, max_error=0.05)
    assert small.compression_.n_after < len(model.support_) // 2
    assert frame.loc[small.support_].equals(small.support_vectors_)


def test_a_pipeline(blobs):
    X, y = blobs
    model = make_pipeline(StandardScaler(), SVR()).fit(X, y.astype(float))
    small = compress(model, max_error=0.05)
    assert small[0] is model[0]
    assert len(small[-1].support_) < len(model[-1].support_)
    assert np.abs(small.predict(X) - model.predict(X)).max() <= small[-1].compression_.bound


@pytest.mark.parametrize("name", ["rbf", "ridge", "ball"])
def test_a_compressed_model_is_saved(name, blobs, tmp_path):
    X, y = blobs
    model = clone(MODELS[name]).fit(X, y)
    small = compress(model, max_error=0.2)
    mercer.save(model, tmp_path / "large")
    mercer.save(small, tmp_path / "small")
    again = mercer.load(tmp_path / "small")
    same_answers(small, again, X)
    same(small, again)
    assert (tmp_path / "small").stat().st_size < (tmp_path / "large").stat().st_size


def test_what_cannot_be_compressed(blobs):
    X, y = blobs
    model = SVC(gamma=0.05).fit(X, y)
    for wrong in ({}, {"max_error": 0.1, "n_vectors": 3}):
        with pytest.raises(ParameterError, match="either max_error or n_vectors"):
            compress(model, **wrong)
    for wrong in (-1.0, np.inf, np.nan, "much"):
        with pytest.raises(ParameterError, match="max_error must be"):
            compress(model, wrong)
    with pytest.raises(ParameterError, match="n_vectors must be"):
        compress(model, n_vectors=0)
    with pytest.raises(ParameterError, match="not fitted"):
        compress(SVC(), 0.1)
    with pytest.raises(ParameterError, match="got a LinearSVC"):
        compress(mercer.LinearSVC().fit(X, y), 0.1)
    with pytest.raises(ParameterError, match="precomputed"):
        compress(SVC(kernel="precomputed").fit(X @ X.T, y), 0.1)
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        indefinite = SVC(kernel=k.Sigmoid(gamma=0.01)).fit(X, y)
    with pytest.raises(ParameterError, match="positive semidefinite"):
        compress(indefinite, 0.1)


@given(
    n=st.integers(2, 25),
    rank=st.integers(1, 6),
    functions=st.integers(1, 3),
    max_error=st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 1000),
)
def test_the_method_against_plain_algebra(n, rank, functions, max_error, seed):
    """Projections by least squares on the features, which here are given."""
    rng = np.random.default_rng(seed)
    features, coefficients = rng.normal(size=(n, rank)), rng.normal(size=(n, functions))
    found = reduced_set(GivenOperator(features @ features.T), coefficients, max_error)
    w, basis = features.T @ coefficients, features[found.chosen].T
    assert len(found.chosen) <= min(n, rank)
    errors = np.linalg.norm(w - basis @ found.coefficients, axis=0)
    assert (errors <= found.bounds + 1e-12).all()
    assert found.bounds.max() <= max_error
    best = np.linalg.lstsq(basis, w, rcond=None)[0] if len(found.chosen) else np.zeros((0, functions))
    assert np.allclose(errors, np.linalg.norm(w - basis @ best, axis=0), atol=1e-6)


def test_the_vector_that_reduces_most_is_chosen_first():
    """Of orthogonal vectors, that whose part of the function is longest, however long it is itself."""
    found = reduced_set(GivenOperator(np.diag([4.0, 1.0])), np.array([[0.9], [2.0]]), n_vectors=1)
    assert found.chosen.tolist() == [1]
    assert found.coefficients.tolist() == [[2.0]]
    assert found.bounds == pytest.approx(1.8, rel=1e-6)
    # Of two functions, only what is beyond the error counts.
    both = np.array([[0.9, 0.0, 0.0], [0.0, 0.8, 3.0]]).T
    assert reduced_set(GivenOperator(np.eye(3)), both, max_error=1.0).chosen.tolist() == [2]


def test_a_pipeline_is_compressed_to_so_many_vectors(blobs):
    X, y = blobs
    model = make_pipeline(StandardScaler(), SVR()).fit(X, y.astype(float))
    assert len(compress(model, n_vectors=3)[-1].support_) == 3


def test_all_steps_of_a_pipeline_but_the_last_stay(blobs):
    X, y = blobs
    model = make_pipeline(StandardScaler(), StandardScaler(with_mean=False), SVR()).fit(X, y.astype(float))
    assert [name for name, _ in compress(model, max_error=0.5).steps] == [name for name, _ in model.steps]


@pytest.mark.parametrize("size", [1e-10, 1.0, 1e10])
def test_vectors_that_depend_on_the_chosen_ones_are_not_chosen_whatever_the_units(size):
    X = np.random.default_rng(0).normal(size=(8, 2))
    found = reduced_set(GivenOperator(size * X @ X.T), np.random.default_rng(1).normal(size=(8, 1)), max_error=0.0)
    greedy = _Greedy(GivenOperator(size * X @ X.T), np.ones((8, 1)))
    greedy.extend(0.0, 8)
    assert len(greedy.order) == 2
    assert greedy.is_exhausted
    assert len(found.chosen) == 8  # no fewer are exact to the last digit
