import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mercer import SVC, KernelLogisticRegression, ParameterError, Status
from mercer.estimators.fitting.certifiers import JointCertifier
from mercer.kernels import RBF
from mercer.problems.kernel_methods.multinomial import Multinomial, softmax
from mercer.solvers.smooth import newton_gram


def gaussian(A, B):
    return RBF(gamma=0.3)(A, B)


def noisy(n=200, classes=2, seed=0):
    return make_classification(
        n, n_features=5, n_informative=4, n_redundant=0, flip_y=0.1, n_classes=classes, random_state=seed
    )


@pytest.mark.parametrize("n", [150, 900, 1800])
def test_linear_kernel_is_scikit_learns_logistic_regression(n):
    X, y = noisy(n)
    model = KernelLogisticRegression(kernel="linear", C=0.7, tol=1e-7).fit(X, y)
    judge = LogisticRegression(C=0.7, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, judge.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, judge.intercept_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), judge.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n", [150, 1800])
def test_multinomial_is_scikit_learns(n):
    X, y = noisy(n, classes=3)
    model = KernelLogisticRegression(kernel="linear", C=0.7, tol=1e-7).fit(X, y)
    judge = LogisticRegression(C=0.7, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, judge.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), judge.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [150, 800])
def test_the_certificate_closes(bias, classes, n):
    X, y = noisy(n, classes=classes)
    model = KernelLogisticRegression(C=5.0, bias=bias, tol=1e-6).fit(X, y)
    certificate = model.certificate_
    assert model.status_ is Status.OPTIMAL
    assert certificate.dual <= certificate.primal + 1e-9 * certificate.primal
    assert certificate.relative_gap < 1e-6
    assert certificate.kkt_violation < 1e-5
    assert certificate.equality_residual < 1e-8
    assert certificate.box_violation < 1e-9


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rounded_entries_end_at_the_same_solution(bias, classes):
    X, y = noisy(1800, classes=classes)
    rounded = KernelLogisticRegression(C=5.0, bias=bias, tol=1e-6).fit(X, y)
    plain = KernelLogisticRegression(C=5.0, bias=bias, tol=1e-8, kernel="precomputed").fit(
        RBF(gamma=1.0 / (X.shape[1] * X.var()))(X), y
    )
    assert rounded.certificate_.kkt_violation < 1e-5
    np.testing.assert_allclose(rounded.dual_coef_, plain.dual_coef_, atol=1e-4)


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_small_weights_allow_for_rounding(C):
    X, y = noisy(1800)
    model = KernelLogisticRegression(C=C).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.kkt_violation < 2e-3
    assert model.certificate_.relative_gap < 1e-3


def test_the_whole_matrix_where_rounding_would_show(monkeypatch):
    X, y = noisy(1800)
    rounded = KernelLogisticRegression(tol=1e-5).fit(X, y)
    monkeypatch.setattr(newton_gram, "ROUNDED", 0.0)
    whole = KernelLogisticRegression(tol=1e-5).fit(X, y)
    assert whole.status_ is Status.OPTIMAL
    np.testing.assert_allclose(whole.dual_coef_, rounded.dual_coef_, atol=1e-3)


def test_entries_that_hardly_differ_are_rounded_alike():
    X, y = noisy(1800)
    model = KernelLogisticRegression(C=100.0, gamma=2e-6).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.kkt_violation < 2e-3


def test_rows_far_from_the_others_are_computed_in_double():
    X, y = noisy(1800)
    X[:3] *= 1e4
    model = KernelLogisticRegression(gamma=0.2, tol=1e-4).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.kkt_violation < 2e-4


def test_weak_duality_holds_away_from_the_optimum(rng):
    X, y = noisy(60, classes=3)
    K, problem = RBF(gamma=0.3)(X), Multinomial(y, rng.uniform(0.5, 2.0, 60), 3, "none")
    for _ in range(20):
        beta = problem.feasible(rng.normal(size=(60, 3)))
        other = rng.normal(size=(60, 3))
        assert problem.dual_value(beta, K @ beta) <= problem.primal(other, K @ other, np.zeros(3))


def test_the_root_is_the_hessian(rng):
    f, C = rng.normal(size=(4, 3)), rng.uniform(0.5, 2.0, 4)
    root, p = Multinomial(np.zeros(4, int), C, 3).root(f), softmax(f)
    for i in range(4):
        H = C[i] * (np.diag(p[i]) - np.outer(p[i], p[i]))
        columns = np.zeros((3, 4, 3))
        columns[:, i] = np.eye(3)
        found = np.array([root.times(root.transposed_times(each))[i] for each in columns])
        np.testing.assert_allclose(found, H, atol=1e-12)


def test_factored_and_iterated_steps_agree(monkeypatch):
    X, y = noisy(300)
    first = KernelLogisticRegression(tol=1e-8).fit(X, y)
    monkeypatch.setattr(newton_gram, "FACTORED", 0)
    second = KernelLogisticRegression(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), atol=1e-5)


def test_weights_are_copies():
    X, y = noisy(120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    model = KernelLogisticRegression(gamma=0.3, tol=1e-8).fit(X, y, weights)
    again = KernelLogisticRegression(gamma=0.3, tol=1e-8).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("form", ["precomputed", "function", "sparse", "single"])
def test_every_form_of_data(form):
    X, y = noisy(150)
    expected = KernelLogisticRegression(kernel=RBF(gamma=0.3)).fit(X, y).predict_proba(X)
    kernel, rows = {
        "precomputed": ("precomputed", RBF(gamma=0.3)(X)),
        "function": (gaussian, X),
        "sparse": (RBF(gamma=0.3), sparse.csr_array(X)),
        "single": (RBF(gamma=0.3), X.astype(np.float32)),
    }[form]
    found = KernelLogisticRegression(kernel=kernel).fit(rows, y).predict_proba(rows)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_tiny_probabilities_keep_their_logarithms():
    X, y = load_iris(return_X_y=True)
    logs = KernelLogisticRegression(kernel="linear", C=1e4).fit(X, y).predict_log_proba(1000.0 * X)
    assert np.isfinite(logs).all()
    assert logs.min() < -800.0


def test_warm_start_goes_on():
    X, y = noisy(900)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = KernelLogisticRegression(max_iter=1, warm_start=True).fit(X, y)
    assert np.isfinite(model.certificate_.dual)
    model.set_params(max_iter=-1).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.fit(X, y).n_iter_[0] <= 1


def test_a_callback_ends_the_fit():
    X, y = noisy(900)
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = KernelLogisticRegression(C=100.0, callbacks=[lambda point: True]).fit(X, y)
    assert model.status_ is Status.INTERRUPTED
    assert len(model.trace_) == 1


def test_an_indefinite_kernel_is_told():
    X, y = noisy(80)
    K = RBF(gamma=0.3)(X) - 30.0 * np.eye(80)
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        KernelLogisticRegression(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, np.nan])
def test_c_is_positive_and_finite(C):
    with pytest.raises(ParameterError, match="C must be"):
        KernelLogisticRegression(C=C).fit(*noisy(40))


@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_c_of_extreme_size(C):
    X, y = noisy(150)
    model = KernelLogisticRegression(C=C, gamma=0.5).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap <= 1e-3


def test_as_accurate_as_a_support_vector_machine():
    X, y = noisy(800, seed=4)
    ours = KernelLogisticRegression().fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert ours >= SVC().fit(X[:400], y[:400]).score(X[400:], y[400:]) - 0.03


@pytest.mark.parametrize("C", [1e3, pytest.param(1e5, marks=pytest.mark.slow)])
def test_a_large_C_among_noisy_labels(C):
    X, y = noisy(1800)
    model = KernelLogisticRegression(C=C).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap <= model.tol
    assert model.n_iter_[0] < 50


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("C", [1e6, 1e8])
@pytest.mark.parametrize("classes", [2, 3])
def test_equal_rows_with_every_label_have_no_preference_at_any_c(classes, C, bias, rng):
    """By symmetry f = 0 is the optimum; the coefficients that it takes are as large as C, and cancel."""
    rows = rng.normal(size=(15, 3))
    X, y = np.concatenate(classes * [rows]), np.repeat(np.arange(classes), 15)
    model = KernelLogisticRegression(C=C, bias=bias).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert abs(model.certificate_.relative_gap) <= 1e-9
    assert model.certificate_.primal == pytest.approx(C * len(X) * np.log(classes))
    np.testing.assert_allclose(model.predict_proba(X), 1.0 / classes, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_certificate_evaluates_each_pair_once(monkeypatch, classes):
    X, y = noisy(1800, classes=classes)
    model, evaluated = KernelLogisticRegression(gamma=0.3, tol=1e-6), []
    certify, tile = JointCertifier._certify, RBF.tile
    monkeypatch.setattr(
        RBF, "tile", lambda self, A, B, *more: evaluated.append(len(A) * len(B)) or tile(self, A, B, *more)
    )
    monkeypatch.setattr(JointCertifier, "_certify", lambda self: evaluated.clear() or certify(self))
    model.fit(X, y)
    assert 0 < sum(evaluated) < 0.7 * len(X) ** 2
    beta = np.zeros((len(X), len(model.dual_coef_)))
    beta[model.support_] = model.dual_coef_.T
    codes = y if classes > 2 else np.where(y > 0, 1.0, -1.0)
    C, image = np.ones(len(X)), RBF(gamma=0.3)(X) @ beta
    if classes > 2:
        expected = Multinomial(codes, C, classes).primal(beta, image, model.intercept_)
    else:
        expected = (
            0.5 * float(np.sum(beta * image)) + np.logaddexp(0.0, -codes * (image[:, 0] + model.intercept_)).sum()
        )
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-12)
