"""Parameters outside their range are refused by name, value and remedy; odd ones inside it work."""

import numpy as np
import pytest

from mercer import SVC, ParameterError, Regularization, Status
from mercer.kernels import RBF, Polynomial, Sigmoid
from tests.faults.overlapping import overlapping

pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.timeout(5, func_only=True)]

REFUSED = [
    ("C", 0, "C must be a positive number, got 0"),
    ("C", -1.0, "C must be a positive number, got -1.0"),
    ("C", np.nan, "C must be a positive number, got nan"),
    ("C", "1", "C must be a positive number, got '1'"),
    ("C", None, "C must be a positive number, got None"),
    ("C", True, "C must be a positive number, got True"),
    ("gamma", 0, "gamma must be positive, got 0"),
    ("gamma", -1.0, "gamma must be positive, got -1.0"),
    ("gamma", np.nan, "gamma must be a finite number, got nan"),
    ("gamma", np.inf, "gamma must be a finite number, got inf"),
    ("gamma", "wide", 'gamma must be a positive number, "scale", "auto" or "median", got \'wide\''),
    ("tol", 0.0, "tol must be a finite number above 0, got 0.0"),
    ("tol", -1e-3, "tol must be a finite number above 0, got -0.001"),
    ("tol", np.nan, "tol must be a finite number above 0, got nan"),
    ("tol", np.inf, "tol must be a finite number above 0, got inf"),
    ("gap_tol", 0.0, "gap_tol must be a finite number above 0, got 0.0"),
    ("time_limit", 0, "time_limit must be a finite number above 0, got 0"),
    ("time_limit", -1, "time_limit must be a finite number above 0, got -1"),
    ("memory_limit", 0, "memory_limit must be positive and finite, got 0"),
    ("memory_limit", "much", "memory_limit must be bytes or a text such as \"2GiB\", got 'much'"),
    ("memory_limit", "1.2.3GB", 'memory_limit must be bytes or a text such as "2GiB"'),
    ("memory_limit", [1], 'memory_limit must be bytes or a text such as "2GiB"'),
    ("cache_size", -1, "cache_size must be a finite number above 0, got -1"),
    ("max_iter", 0, r"max_iter must be -1 \(no limit\) or a positive integer, got 0"),
    ("max_iter", -2, r"max_iter must be -1 \(no limit\) or a positive integer, got -2"),
    ("max_iter", 1.5, r"max_iter must be -1 \(no limit\) or a positive integer, got 1.5"),
    ("n_jobs", 0, "n_jobs must be None or a non-zero integer, got 0"),
    ("n_jobs", 1.5, "n_jobs must be None or a non-zero integer, got 1.5"),
    ("bias", "fixed", "bias must be one of 'free', 'penalized', 'none', got 'fixed'"),
    ("loss", "logistic", "loss must be one of 'hinge', 'squared_hinge', got 'logistic'"),
    ("multi_class", "crammer", "multi_class must be one of 'auto', 'ovo', 'ovr', 'crammer_singer', got 'crammer'"),
    ("solver", "newton", "solver must be one of .*, got 'newton'"),
    ("decision_function_shape", "ovx", "decision_function_shape must be one of 'ovr', 'ovo', got 'ovx'"),
    ("kernel", "gaussian", "no kernel is called 'gaussian'; there are .*linear"),
    ("kernel", 3, "kernel must be a name, an expression, a Kernel or a function, got 3"),
    ("kernel", RBF, r"kernel must be a Kernel, got the class RBF; write RBF\(\)"),
    ("shrinking", 1, "shrinking must be True or False, got 1"),
    ("warm_start", None, "warm_start must be True or False, got None"),
    ("callbacks", 3, "callbacks must be None or a list of functions, got 3"),
    ("callbacks", [3], r"callbacks must be None or a list of functions, got \[3\]"),
    ("class_weight", {1: -1.0}, "class_weight must be positive"),
    ("class_weight", {1: 0.0}, "class_weight must be positive"),
    ("class_weight", {1: np.nan}, "class_weight must be positive"),
    ("probability", "platt", "probability must be False, True, 'sigmoid' or 'isotonic', got 'platt'"),
    ("probability", 1.0, "probability must be False, True, 'sigmoid' or 'isotonic', got 1.0"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_is_refused(name, value, message):
    with pytest.raises(ParameterError, match=message):
        SVC(**{name: value}).fit(*overlapping(n=20))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": -1}, "degree must be a whole number, 0 or more, got -1"),
        ({"degree": 2.5}, "degree must be a whole number, 0 or more, got 2.5"),
        ({"degree": np.nan}, "degree must be a whole number, 0 or more, got nan"),
        ({"coef0": np.nan}, "coef0 must be a finite number"),
        ({"coef0": np.inf}, "coef0 must be a finite number"),
    ],
)
def test_a_parameter_of_the_polynomial_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SVC(kernel="poly", **parameters).fit(*overlapping(n=20))


def test_a_parameter_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        SVC(c=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        SVC().set_params(c=1.0)


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (np.zeros(120), ValueError, "at least one non-zero number"),
        (-np.ones(120), ValueError, "all samples have zero or negative weights"),
        (np.r_[np.nan, np.ones(119)], ValueError, "sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(119)], ValueError, "sample_weight contains infinity"),
        (np.ones(119), ValueError, r"sample_weight.shape == \(119,\), expected \(120,\)"),
        (np.ones((120, 2)), ValueError, "Sample weights must be 1D"),
        ((overlapping()[1] > 0).astype(float), ValueError, "belong to the same class"),
    ],
)
def test_weights_that_leave_nothing_to_learn_are_refused(weight, error, message):
    with pytest.raises(error, match=message):
        SVC().fit(*overlapping(), sample_weight=weight)


@pytest.mark.parametrize("weight", [0.0, -1.0])
def test_rows_of_no_weight_take_no_part(weight):
    X, y = overlapping()
    weights = np.ones(120)
    weights[:40] = weight
    model = SVC(gamma=0.3, tol=1e-6).fit(X, y, weights)
    alone = SVC(gamma=0.3, tol=1e-6).fit(X[40:], y[40:])
    assert model.support_.min() >= 40
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_of_any_size_are_weights(weight):
    X, y = overlapping()
    model = SVC(gamma=0.3).fit(X, y, np.r_[weight, np.ones(119)])
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.kkt_violation <= 1e-3


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-300, 1e-20, 1e20, 1e300, np.inf, Regularization.from_lambda(1e-300)])
def test_c_of_any_size_is_a_c(C, loss):
    # A Gaussian this narrow separates any points, so that a large C is a hard margin.
    X, y = overlapping()
    model = SVC(C=C, gamma=5.0, loss=loss).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    certificate = model.certificate_
    assert certificate.kkt_violation <= 1e-3
    assert np.isfinite(certificate.dual)
    assert np.isfinite(model.decision_function(X)).all()
    if C in (1e20, 1e300, np.inf):
        np.testing.assert_array_equal(model.predict(X), y)


def test_weights_and_c_that_overflow_together_are_a_hard_margin():
    X, y = overlapping()
    model = SVC(C=1e300, gamma=5.0).fit(X, y, np.r_[1e300, np.ones(119)])
    assert model.predict(X[:1]) == y[:1]


@pytest.mark.parametrize(
    ("kernel", "status"),
    [
        (RBF(1e-300), Status.OPTIMAL),
        (RBF(1e300), Status.OPTIMAL),
        (Polynomial(3, 1e-300), Status.OPTIMAL),
        (Polynomial(0), Status.OPTIMAL),
        (Polynomial(50, 0.01, 1.0), Status.OPTIMAL),
        (Sigmoid(1e-300), Status.OPTIMAL),
    ],
)
def test_kernels_at_the_ends_of_their_range(kernel, status):
    X, y = overlapping()
    model = SVC(kernel=kernel).fit(X, y)
    assert model.status_ is status
    assert model.certificate_.kkt_violation <= 1e-3


def test_a_great_many_jobs_are_as_good_as_a_few():
    X, y = overlapping(n=1200)
    few, many = SVC(n_jobs=2).fit(X, y), SVC(n_jobs=10**6).fit(X, y)
    np.testing.assert_allclose(few.decision_function(X), many.decision_function(X), atol=1e-3)
