import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import SVR

from mercer import (
    SVC,
    CustomLoss,
    DataError,
    EpsilonInsensitive,
    Huber,
    KernelMachine,
    ParameterError,
    Pinball,
    Regularization,
    Status,
)
from mercer.kernels import RBF
from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.losses.residual_losses import CONVEX_LOSSES

PSEUDO_HUBER = CustomLoss(lambda z: np.sqrt(1.0 + z * z) - 1.0, lambda z: z / np.sqrt(1.0 + z * z))
OF_MARGINS = [name for name, loss in CONVEX_LOSSES.items() if loss.of == "margin"]
OF_RESIDUALS = [*(name for name, loss in CONVEX_LOSSES.items() if loss.of == "residual"), PSEUDO_HUBER]


def gaussian(A, B):
    return RBF(gamma=0.1)(A, B)


def quantities(n=150):
    X, y = load_diabetes(return_X_y=True)
    return 20.0 * X[:n], (y[:n] - y.mean()) / y.std()


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", [*OF_MARGINS, *OF_RESIDUALS], ids=lambda each: getattr(each, "name", each))
def test_every_loss_is_certified(loss, bias):
    is_margin = loss in OF_MARGINS
    X, y = load_iris(return_X_y=True) if is_margin else quantities()
    X, y = (X[y > 0], y[y > 0]) if is_margin else (X, y)
    model = KernelMachine(loss=loss, bias=bias, tol=1e-5).fit(X, y)
    certificate = model.certificate_
    assert model.status_ is Status.OPTIMAL
    assert -1e-9 <= certificate.relative_gap < 1e-4
    assert certificate.kkt_violation < 2e-5
    assert certificate.equality_residual < 1e-8
    assert certificate.box_violation < 1e-8


@pytest.mark.parametrize("loss", [*OF_MARGINS, *OF_RESIDUALS], ids=lambda each: getattr(each, "name", each))
def test_no_other_coefficients_are_better(loss, rng):
    """The representer theorem's minimum, against random neighbours."""
    X, y = quantities(40)
    y = np.sign(y) if loss in OF_MARGINS else y
    model = KernelMachine(loss=loss, kernel=RBF(gamma=0.1), tol=1e-7).fit(X, y)
    K = RBF(gamma=0.1)(X)
    problem = KernelRisk(y, np.ones(40), model.loss_, "free")
    beta = np.zeros(40)
    beta[model.support_] = model.dual_coef_[0]
    best = problem.primal(beta, K @ beta, model.intercept_[0])
    for _ in range(100):
        near = beta + 0.01 * rng.normal(size=40)
        assert problem.primal(near, K @ near, model.intercept_[0] + 0.01 * rng.normal()) >= best - 1e-6


def test_the_hinge_is_svc():
    X, y = load_iris(return_X_y=True)
    ours = KernelMachine(loss="hinge", alpha=0.05, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), SVC(C=10.0, tol=1e-8).fit(X, y).decision_function(X), atol=1e-6
    )


def test_the_squared_loss_is_kernel_ridge():
    X, y = quantities()
    ours = KernelMachine(loss="squared", alpha=0.3, gamma=0.1, bias="none", tol=1e-9).fit(X, y)
    judge = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.1).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), judge.predict(X), atol=1e-7)


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_tube_is_svr(epsilon):
    X, y = quantities()
    ours = KernelMachine(loss=EpsilonInsensitive(epsilon), gamma=0.1, tol=1e-8).fit(X, y)
    judge = SVR(gamma=0.1, epsilon=epsilon, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), judge.predict(X), atol=1e-5)
    np.testing.assert_array_equal(ours.support_, judge.support_)


def test_the_pinball_counts_a_quantile():
    X, y = quantities(300)
    shares = [
        np.mean(y <= KernelMachine(loss=Pinball(q), alpha=5.0).fit(X, y).predict(X) + 1e-6) for q in (0.1, 0.5, 0.9)
    ]
    np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=0.04)
    flat = KernelMachine(loss=Pinball(0.25), alpha=1e6).fit(X, y).predict(X)
    judge = QuantileRegressor(quantile=0.25, alpha=100.0).fit(X, y).predict(X)
    np.testing.assert_allclose(flat, judge, atol=0.02)


def test_an_outlier_pulls_less_with_huber():
    X, y = quantities()
    spoiled = y.copy()
    spoiled[7] += 100.0
    moved = [
        np.abs(
            KernelMachine(loss=loss).fit(X, spoiled).predict(X) - KernelMachine(loss=loss).fit(X, y).predict(X)
        ).mean()
        for loss in (Huber(delta=0.5), "squared")
    ]
    assert moved[0] < 0.1 * moved[1]


def test_a_loss_of_the_users_own_equals_the_built_in_one():
    X, y = load_iris(return_X_y=True)
    own = CustomLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)), of="margin")
    first = KernelMachine(loss=own, tol=1e-7).fit(X, y)
    second = KernelMachine(loss="logistic", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), atol=1e-4)
    assert first.certificate_[1].dual == pytest.approx(second.certificate_[1].dual, abs=1e-5)


def test_task_follows_the_loss():
    assert is_classifier(KernelMachine())
    assert is_regressor(KernelMachine(loss="huber"))
    X, y = load_iris(return_X_y=True)
    model = KernelMachine(loss="squared", task="classification").fit(X, y)
    assert is_classifier(model)
    assert model.score(X, y) > 0.95


def test_alpha_in_other_forms():
    X, y = quantities()
    first = KernelMachine(loss="squared", alpha=0.3, gamma=0.1, tol=1e-8).fit(X, y)
    second = KernelMachine(loss="squared", alpha=Regularization.from_lambda(0.3 / 150), gamma=0.1, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-6)


@pytest.mark.parametrize("form", ["precomputed", "function", "sparse"])
def test_every_form_of_data(form):
    X, y = quantities()
    expected = KernelMachine(loss="huber", kernel=RBF(gamma=0.1)).fit(X, y).predict(X)
    kernel, rows = {
        "precomputed": ("precomputed", RBF(gamma=0.1)(X)),
        "function": (gaussian, X),
        "sparse": (RBF(gamma=0.1), sparse.csr_array(X)),
    }[form]
    np.testing.assert_allclose(
        KernelMachine(loss="huber", kernel=kernel).fit(rows, y).predict(rows), expected, atol=2e-3
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "absolute"}, "loss must be one of 'hinge'"),
        ({"alpha": 0.0}, "alpha must be a positive number, got 0.0"),
        ({"alpha": np.inf}, "alpha must be finite, got inf"),
        ({"task": "ranking"}, "task must be one of 'auto', 'classification', 'regression', got 'ranking'"),
        ({"task": "regression"}, "loss 'hinge' is a loss of the margin and cannot predict quantities"),
        ({"loss": "huber", "class_weight": "balanced"}, "class_weight must be None where quantities are predicted"),
        ({"bias": "fixed"}, "bias must be one of"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = quantities(30)
    with pytest.raises(ParameterError, match=message):
        KernelMachine(**parameters).fit(X, np.sign(y))


def test_bad_targets_are_refused():
    X, y = quantities(30)
    with pytest.raises(ValueError, match="NaN"):
        KernelMachine(loss="huber").fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(DataError, match="all samples have zero or negative weights"):
        KernelMachine(loss="huber").fit(X, y, np.zeros(30))


def test_a_loss_can_be_cloned():
    model = clone(KernelMachine(loss=Huber(delta=0.25)))
    assert model.loss == Huber(delta=0.25)


@pytest.mark.parametrize("alpha", [0.5, 0.05])
def test_a_steep_loss_on_rows_that_hardly_differ_is_solved_in_double_precision(alpha):
    """Entries in single precision made no step of Newton's method a descent here."""
    data = load_breast_cancer()
    X, y = data.data[:, [0]], data.data[:, 10]
    loss = CustomLoss(lambda z: np.sqrt(1.0 + 100.0 * z**2) - 1.0, lambda z: 100.0 * z / np.sqrt(1.0 + 100.0 * z**2))
    model = KernelMachine(loss=loss, alpha=alpha, gamma=0.05).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap < 1e-6
