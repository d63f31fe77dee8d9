import pickle
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from mercer import SVDD, OneClassSVM, ParameterError, Status
from mercer.kernels import RBF


@pytest.fixture
def cloud(rng):
    return rng.normal(size=(150, 3))


@pytest.mark.parametrize("parameters", [{}, {"nu": 0.1, "gamma": 0.3}, {"nu": 0.2, "kernel": "poly", "coef0": 1.0}])
@pytest.mark.parametrize("n", [150, 700])
def test_agrees_with_sklearn(rng, parameters, n):
    X = rng.normal(size=(n, 3))
    ours = OneClassSVM(**parameters, tol=1e-6).fit(X)
    theirs = sklearn.svm.OneClassSVM(**parameters, tol=1e-6).fit(X)
    scale = abs(theirs.offset_[0])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5 * scale)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-5 * scale)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-5)
    assert ours.dual_coef_.sum() == pytest.approx(ours.nu * n)
    first = list(sklearn.svm.OneClassSVM.__init__.__kwdefaults__)
    assert list(OneClassSVM.__init__.__kwdefaults__)[: len(first)] == first


@pytest.mark.parametrize("nu", [0.02, 0.25, 0.8])
def test_nu_is_a_share(rng, nu):
    X = rng.normal(size=(500, 2))
    for model in (OneClassSVM(nu=nu, tol=1e-8).fit(X), SVDD(nu=nu, tol=1e-10).fit(X)):
        outside = model.decision_function(X) < -1e-6
        assert outside.mean() <= nu + 1e-9
        assert len(model.support_) >= nu * 500 - 1e-9


def test_large_problem_begins_with_a_sample(rng):
    X = rng.normal(size=(9000, 4)).astype(np.float32)
    model = OneClassSVM(nu=0.1, gamma=0.2).fit(X)
    assert model.status_ is Status.OPTIMAL
    certificate = model.certificate_
    assert certificate.is_optimal(1e-3)
    assert certificate.equality_residual < 1e-9
    assert certificate.n_bounded <= 900 <= certificate.n_bounded + certificate.n_free
    assert sum(point.iterations for point in model.trace_[-1:]) < 5000


def test_ball_and_half_space_are_one_for_a_gaussian(cloud):
    half, ball = OneClassSVM(nu=0.2, tol=1e-9).fit(cloud), SVDD(nu=0.2, tol=1e-9).fit(cloud)
    np.testing.assert_allclose(ball.dual_coef_ * 0.2 * 150, half.dual_coef_, atol=1e-6)
    np.testing.assert_array_equal(half.predict(cloud + 0.01), ball.predict(cloud + 0.01))


@pytest.mark.parametrize("model", [OneClassSVM(nu=0.3), SVDD(nu=0.3)])
def test_forms_of_the_data_make_no_difference(cloud, model):
    expected = clone(model).fit(cloud).decision_function(cloud)
    rows = sparse.csr_matrix(cloud)
    np.testing.assert_allclose(clone(model).fit(rows).decision_function(rows), expected, atol=1e-8)
    gamma = 1.0 / (3 * cloud.var())
    K = RBF(gamma)(cloud)
    given = clone(model).set_params(kernel="precomputed").fit(K)
    np.testing.assert_allclose(given.decision_function(K), expected, atol=1e-8)
    called = clone(model).set_params(kernel=partial(rbf_kernel, gamma=gamma)).fit(cloud)
    np.testing.assert_allclose(called.decision_function(cloud), expected, atol=1e-8)
    kept = pickle.loads(pickle.dumps(clone(model).fit(cloud)))  # noqa: S301 - its own
    np.testing.assert_array_equal(kept.decision_function(cloud), expected)
    assert kept.certificate_.relative_gap < 1e-8


@pytest.mark.parametrize("Model", [OneClassSVM, SVDD])
def test_weights_count_as_copies(cloud, Model):
    weights = np.arange(150) % 3
    repeated = np.repeat(cloud, weights, axis=0)
    weighted, copied = (
        Model(nu=0.2, gamma=0.3).fit(cloud, sample_weight=weights),
        Model(nu=0.2, gamma=0.3).fit(repeated),
    )
    np.testing.assert_allclose(weighted.decision_function(cloud), copied.decision_function(cloud), atol=1e-7)


@pytest.mark.parametrize("Model", [OneClassSVM, SVDD])
def test_endings(rng, Model):
    X = rng.normal(size=(800, 2))
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = Model(nu=0.3, max_iter=2).fit(X)
    assert model.dual_coef_.sum() == pytest.approx(0.3 * 800 if Model is OneClassSVM else 1.0)
    assert model.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        Model(time_limit=1e-9).fit(X)
    warm = Model(nu=0.3, warm_start=True).fit(X)
    cold = warm.n_iter_
    assert warm.fit(X).n_iter_ < cold / 2


@pytest.mark.parametrize("Model", [OneClassSVM, SVDD])
@pytest.mark.parametrize("nu", [-0.5, 1.1, np.nan, None])
def test_bad_nu(Model, nu):
    with pytest.raises(ParameterError, match="nu must be a finite number"):
        Model(nu=nu).fit([[0.0], [1.0]])


@pytest.mark.parametrize("Model", [OneClassSVM, SVDD])
@pytest.mark.parametrize(
    ("X", "weights", "message"),
    [
        ([[0.0], [np.nan]], None, "NaN"),
        ([[0.0], [np.inf]], None, "infinity"),
        (np.empty((0, 2)), None, "minimum of 1"),
        ([[1e200], [-1e200]], None, "overflow"),
        ([[0.0], [1.0]], [0.0, -1.0], "zero or negative weights"),
        ([[0.0], [1.0]], [1.0, np.nan], "NaN"),
    ],
)
def test_bad_data(Model, X, weights, message):
    with pytest.raises(ValueError, match=message):
        Model(kernel="linear").fit(np.array(X), sample_weight=weights)


@pytest.mark.parametrize("Model", [OneClassSVM, SVDD])
def test_odd_data(Model):
    assert Model().fit([[1.0, 2.0]]).predict([[1.0, 2.0]])[0] == 1
    assert (Model().fit(np.ones((6, 2))).predict(np.ones((2, 2))) == 1).all()
    told = pytest.warns(ConvergenceWarning, match="there is no half-space") if Model is OneClassSVM else nullcontext()
    with told:
        model = Model(kernel="linear").fit(np.zeros((6, 2)))
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-12)


def test_points_near_zero_are_not_equal_because_another_is_far_away():
    X = np.random.default_rng(1).normal(size=(60, 3))
    model = OneClassSVM(nu=0.3, kernel="poly", degree=24).fit(X)
    assert model.certificate_.kkt_violation <= 1e-3


def test_equal_points_share_their_coefficients(rng):
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    model = OneClassSVM(nu=0.3, tol=1e-6).fit(X)
    beta = np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(beta[::2], beta[1::2], atol=1e-9)
    assert model.certificate_.kkt_violation <= 1e-6
