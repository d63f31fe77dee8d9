import pickle
from functools import partial

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mercer import SVR, DataError, NuSVR, ParameterError, Regularization, Status
from mercer.kernels import RBF, Custom


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), y


@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear", "C": 10.0}, {"kernel": "poly", "coef0": 1.0}])
def test_agrees_with_sklearn(diabetes, name, parameters):
    X, y = diabetes
    ours = {"SVR": SVR, "NuSVR": NuSVR}[name](**parameters, tol=1e-6).fit(X, y)
    theirs = getattr(sklearn.svm, name)(**parameters, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    assert ours.n_support_.shape == (1,)
    assert ours.fit_status_ == 0


def test_parameters_are_those_of_sklearn_in_its_order():
    for ours, theirs in ((SVR, sklearn.svm.SVR), (NuSVR, sklearn.svm.NuSVR)):
        first = list(theirs.__init__.__kwdefaults__)
        assert list(ours.__init__.__kwdefaults__)[: len(first)] == first


def test_large_problem_meets_its_tolerance_in_double_precision(rng):
    X = rng.normal(size=(6000, 4)).astype(np.float32)
    y = 1000.0 + np.sin(X[:, 0]) + 0.2 * rng.normal(size=6000)
    model = SVR(C=10.0).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    assert model.certificate_.relative_gap < 1e-4
    np.testing.assert_allclose(model.predict(X[:50]), y[:50], atol=1.5)


def test_a_tube_found_on_a_large_problem(rng):
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=3000)
    model = NuSVR(C=1.0, nu=0.3).fit(X, y)
    assert model.certificate_.is_optimal(2e-3)
    residuals = np.abs(y - model.predict(X))
    assert (residuals > model.epsilon_ + 5e-3).mean() <= 0.3
    assert len(model.support_) >= 0.3 * 3000
    given = SVR(C=1.0, epsilon=model.epsilon_).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:100]), given.predict(X[:100]), atol=0.02)


def test_a_tube_of_no_width_when_there_is_no_noise():
    X = np.linspace(0, 1, 30)[:, None]
    model = NuSVR(kernel="linear", C=1e4, nu=0.9).fit(X, 2 * X[:, 0] - 1)
    assert model.epsilon_ == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(model.predict(X), 2 * X[:, 0] - 1, atol=1e-8)
    assert abs(model.certificate_.gap) < 1e-5


def test_everything_inside_the_tube_needs_no_support_vectors(diabetes):
    X, _ = diabetes
    model = SVR(epsilon=1.0).fit(X, np.linspace(2.0, 3.0, len(X)))
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X), 2.5)
    assert model.certificate_.primal == 0.0


def test_hard_tube():
    X = np.arange(6.0)[:, None]
    y = np.array([0.0, 1.4, 1.8, 3.2, 3.9, 5.0])
    model = SVR(kernel="linear", C=np.inf, epsilon=0.5).fit(X, y)
    assert np.abs(model.predict(X) - y).max() <= 0.5 + 1e-8
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(ParameterError, match="C must be finite where nu is given"):
        NuSVR(C=np.inf).fit(X, y)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_kinds_of_bias(diabetes, bias):
    X, y = diabetes
    model = SVR(C=5.0, bias=bias, tol=1e-5).fit(X[:200], y[:200])
    assert model.certificate_.relative_gap < 1e-6
    if bias == "none":
        assert model.intercept_[0] == 0.0
    if bias == "penalized":
        assert model.intercept_[0] == pytest.approx(model.dual_coef_.sum())


@pytest.mark.parametrize("model", [SVR(C=3.0), NuSVR(C=3.0)])
def test_forms_of_the_data_make_no_difference(diabetes, model):
    X, y = (each[:150] for each in diabetes)
    expected = clone(model).fit(X, y).predict(X)
    by_rows = clone(model).fit(sparse.csr_matrix(X), y).predict(sparse.csr_matrix(X))
    np.testing.assert_allclose(by_rows, expected, rtol=1e-7)
    gamma = 1.0 / (X.shape[1] * X.var())
    K = RBF(gamma)(X)
    given = clone(model).set_params(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.predict(K), expected, rtol=1e-7)
    called = clone(model).set_params(kernel=partial(rbf_kernel, gamma=gamma)).fit(X, y)
    np.testing.assert_allclose(called.predict(X), expected, rtol=1e-7)
    kept = pickle.loads(pickle.dumps(called))  # noqa: S301 - its own
    np.testing.assert_allclose(kept.predict(X), called.predict(X), rtol=1e-12)
    assert kept.certificate_.relative_gap < 1e-8


def test_items_that_are_not_vectors():
    words = ["a", "aa", "aaa", "aaaa", "aaaaa"]
    kernel = Custom(lambda left, right: np.outer([len(s) for s in left], [len(t) for t in right]))
    model = SVR(kernel=kernel, C=100.0, epsilon=0.01).fit(words, [1, 2, 3, 4, 5])
    assert model.predict(["aaaaaa"])[0] == pytest.approx(6.0, abs=0.1)


def test_same_bits_every_time(diabetes):
    X, y = diabetes
    for model in (SVR(C=10.0), NuSVR(C=10.0)):
        first, second = (clone(model).fit(X, y).dual_coef_ for _ in range(2))
        assert first.tobytes() == second.tobytes()


def test_regularization_and_weights(diabetes):
    X, y = (each[:120] for each in diabetes)
    a = SVR(C=Regularization.from_box_over_n(240.0)).fit(X, y)
    b = SVR(C=2.0).fit(X, y)
    c = SVR(C=1.0).fit(X, y, np.full(120, 2.0))
    np.testing.assert_allclose(a.predict(X), b.predict(X))
    np.testing.assert_allclose(c.predict(X), b.predict(X))


def test_warm_start_goes_on(diabetes):
    X, y = diabetes
    for model in (SVR(C=100.0, warm_start=True), NuSVR(C=100.0, warm_start=True)):
        cold = model.fit(X, y).n_iter_
        assert model.fit(X, y).n_iter_ < cold / 2


@pytest.mark.parametrize("model", [SVR(C=100.0), NuSVR(C=100.0)])
def test_limits_leave_a_model(model):
    X, y = make_regression(n_samples=600, n_features=5, random_state=0)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        stopped = clone(model).set_params(max_iter=3).fit(X, y)
    assert stopped.status_ is Status.ITERATION_LIMIT
    assert np.isfinite(stopped.predict(X)).all()
    assert stopped.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        clone(model).set_params(time_limit=1e-9).fit(X, y)
    seen = []
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        clone(model).set_params(callbacks=[lambda point: seen.append(point) or True]).fit(X, y)
    assert len(seen) == 1


def test_gap_tol(diabetes):
    X, y = diabetes
    assert SVR(C=50.0, gap_tol=1e-8).fit(X, y).certificate_.relative_gap <= 1e-8
    assert NuSVR(C=50.0, gap_tol=1e-8).fit(X, y).certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"C": -1.0}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"epsilon": -0.1}, "epsilon must be a finite number, 0 or more, got -0.1"),
        ({"epsilon": np.inf}, "epsilon must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"bias": "some"}, "bias must be one of"),
        ({"kernel": "cubic"}, "no kernel is called 'cubic'"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"shrinking": "yes"}, "shrinking must be True or False"),
        ({"gap_tol": -1.0}, "gap_tol must be"),
        ({"cache_size": 0}, "cache_size must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SVR(**parameters).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("nu", [0.0, -0.5, 1.1, np.nan, "half"])
def test_bad_nu(nu):
    with pytest.raises(ParameterError, match="nu must be a finite number above 0 and at most 1, got"):
        NuSVR(nu=nu).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("Model", [SVR, NuSVR])
@pytest.mark.parametrize(
    ("X", "y", "weights", "error", "message"),
    [
        ([[0.0], [np.nan]], [0.0, 1.0], None, ValueError, "NaN"),
        ([[0.0], [1.0]], [0.0, np.nan], None, ValueError, "NaN"),
        ([[0.0], [1.0]], [0.0, np.inf], None, ValueError, "infinity"),
        ([[0.0], [1.0]], [0.0, 1e200], None, DataError, "scale the targets"),
        ([[0.0], [1.0]], ["a", "b"], None, ValueError, "could not convert"),
        ([[0.0], [1.0]], [0.0], None, ValueError, "inconsistent"),
        ([[0.0], [1.0]], [[0.0, 1.0], [1.0, 1.0]], None, ValueError, "1d array"),
        ([[0.0], [1.0]], [0.0, 1.0], [0.0, 0.0], DataError, "zero or negative weights"),
        ([[0.0], [1.0]], [0.0, 1.0], [1.0], DataError, "sample_weight.shape"),
        (np.empty((0, 2)), [], None, ValueError, "minimum of 1"),
        ([[1e200], [-1e200]], [0.0, 1.0], None, DataError, "overflow"),
    ],
)
def test_bad_data(Model, X, y, weights, error, message):
    with pytest.raises(error, match=message):
        Model(kernel="linear").fit(np.array(X), np.array(y), weights)


@pytest.mark.parametrize("Model", [SVR, NuSVR])
def test_odd_data(Model):
    assert Model().fit([[1.0]], [3.0]).predict([[1.0]])[0] == pytest.approx(3.0, abs=0.1001)
    constant = Model().fit(np.ones((5, 2)), [0.0, 1.0, 2.0, 3.0, 4.0])
    assert constant.predict([[1.0, 1.0]])[0] == pytest.approx(2.0, abs=1.0)
    contradictory = Model(C=1e6).fit([[0.0], [0.0], [1.0], [1.0]], [0.0, 1.0, 5.0, 6.0])
    assert contradictory.certificate_.relative_gap < 1e-6
    assert Model().fit(np.array([[0], [1], [2]], dtype=">i4"), np.array([0, 1, 2])).predict([[1]]).shape == (1,)
