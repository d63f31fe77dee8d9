"""Problems on which a solver could go on for ever: each ends by itself, within seconds, with a status."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, NotSeparableError, Status
from tests.faults.overlapping import overlapping

# The promise is five seconds; what is above them is for a machine that has other things to do.
pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.timeout(10, func_only=True)]


def contradictory(n=100):
    X, y = overlapping(n)
    return np.vstack([X, X]), np.r_[y, -y]


def unscaled(factor=1e5):
    X, y = overlapping(200)
    return factor * X, y


def indefinite(shift=5.0):
    X, y = overlapping(60)
    return X @ X.T - shift * np.eye(60), y


def nearly_flat():
    """Rows that differ in the last digits only."""
    X, y = overlapping(60)
    return 1e6 + 1e-6 * X, y


SOLVED = {Status.OPTIMAL}
ROUNDING = {Status.OPTIMAL, Status.OPTIMAL_INACCURATE}
STUCK = {Status.OPTIMAL, Status.OPTIMAL_INACCURATE, Status.STALLED}
INDEFINITE = {Status.NOT_CONVEX}
UNBOUNDED = {Status.STALLED}

HARD = {
    "contradictory duplicates, C = 1e6": (contradictory(), {"C": 1e6}, SOLVED),
    "contradictory duplicates, C = 1e6, linear": (contradictory(), {"C": 1e6, "kernel": "linear"}, STUCK),
    "contradictory duplicates, C = 1e6, squared": (contradictory(), {"C": 1e6, "loss": "squared_hinge"}, STUCK),
    "contradictory duplicates, C = 1e6, no bias": (contradictory(), {"C": 1e6, "bias": "none"}, STUCK),
    "contradictory duplicates, C = 1e300": (contradictory(), {"C": 1e300}, UNBOUNDED),
    "unscaled, cubic": (unscaled(), {"kernel": "poly", "gamma": 1.0}, STUCK),
    "unscaled, cubic, coef0 = 1": (unscaled(), {"kernel": "poly", "gamma": "auto", "coef0": 1.0, "C": 100.0}, STUCK),
    "unscaled, cubic, gamma = scale": (unscaled(), {"kernel": "poly"}, SOLVED),
    "unscaled, linear": (unscaled(), {"kernel": "linear", "C": 1e3}, STUCK),
    "unscaled, rbf, gamma = auto": (unscaled(), {"gamma": "auto"}, SOLVED),
    "linear, C = 1e6": (overlapping(200), {"kernel": "linear", "C": 1e6}, STUCK),
    "degree 50": (overlapping(200), {"kernel": "poly", "degree": 50, "gamma": 1.0}, STUCK),
    "nearly flat": (nearly_flat(), {"C": 1e6, "gamma": 1.0}, STUCK),
    "sigmoid": (overlapping(200), {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}, INDEFINITE),
    "sigmoid, C = 1e6": (overlapping(200), {"kernel": "sigmoid", "gamma": 1.0, "C": 1e6}, INDEFINITE),
    "sigmoid, no bias": (
        overlapping(200),
        {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0, "bias": "none"},
        INDEFINITE,
    ),
    "sigmoid, squared hinge": (
        overlapping(200),
        {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0, "loss": "squared_hinge"},
        INDEFINITE,
    ),
    "sigmoid, squared hinge, no bias": (
        overlapping(200),
        {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0, "loss": "squared_hinge", "bias": "none"},
        INDEFINITE,
    ),
    "indefinite matrix": (indefinite(), {"kernel": "precomputed"}, INDEFINITE),
    "indefinite matrix, squared hinge": (indefinite(), {"kernel": "precomputed", "loss": "squared_hinge"}, INDEFINITE),
    "indefinite matrix, C = inf": (indefinite(), {"kernel": "precomputed", "C": np.inf}, INDEFINITE),
    "negative matrix": ((-np.eye(60), np.arange(60) % 2), {"kernel": "precomputed"}, INDEFINITE),
    "negative matrix, no bias": (
        (-np.eye(60), np.arange(60) % 2),
        {"kernel": "precomputed", "bias": "none"},
        INDEFINITE,
    ),
    "matrix of size 1e300": ((1e300 * indefinite(0.0)[0], indefinite()[1]), {"kernel": "precomputed"}, STUCK),
    "tol = 1e-12": (overlapping(200), {"tol": 1e-12}, ROUNDING),
    "tol = 1e-12, linear": (overlapping(200), {"tol": 1e-12, "kernel": "linear", "C": 100.0}, ROUNDING),
    "tol = 1e-300": (overlapping(200), {"tol": 1e-300}, ROUNDING),
    "tol = 1e-300, no bias": (overlapping(200), {"tol": 1e-300, "bias": "none"}, ROUNDING),
    "gap_tol = 1e-300": (overlapping(200), {"gap_tol": 1e-300}, ROUNDING),
}


@pytest.mark.parametrize("case", HARD)
def test_ends_with_a_status(case):
    (X, y), parameters, expected = HARD[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SVC(**parameters).fit(X, y)
    assert model.status_ in expected
    # Anything but OPTIMAL warns once, and nothing else does.
    assert [type(w.message) for w in caught] == [ConvergenceWarning] * (model.status_ != Status.OPTIMAL)
    assert all(model.status_.meaning in str(w.message) for w in caught)
    assert model.fit_status_ == (model.status_ != Status.OPTIMAL)
    # The model is usable, and its certificate does not flatter it.
    assert np.isfinite(model.decision_function(X)).all()
    certificate = model.certificate_
    assert np.isfinite(certificate.dual)
    assert certificate.box_violation == 0.0
    assert certificate.equality_residual <= 1e-10 * max(
        parameters.get("C", 1.0), np.abs(model.dual_coef_).max(initial=0.0)
    )
    if model.status_ is Status.OPTIMAL:
        assert certificate.is_optimal(parameters.get("tol", 1e-3))


def test_a_status_close_to_the_optimum_says_so_only_when_it_is():
    (X, y), parameters, _ = HARD["tol = 1e-300"]
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE"):
        model = SVC(**parameters).fit(X, y)
    assert model.certificate_.kkt_violation <= 1e-8


INSEPARABLE = {
    "contradictory duplicates": (contradictory(), {}),
    "overlapping classes": (overlapping(), {"kernel": "linear"}),
    "overlapping classes, no bias": (overlapping(), {"kernel": "linear", "bias": "none"}),
    "zero kernel": ((np.zeros((60, 2)), np.arange(60) % 2), {"kernel": "linear"}),
}


@pytest.mark.parametrize("case", INSEPARABLE)
def test_a_hard_margin_that_does_not_exist_is_refused_with_its_proof(case):
    """Until C=inf had a proof, these fits ended STALLED beside a primal value of infinity."""
    (X, y), parameters = INSEPARABLE[case]
    with pytest.raises(NotSeparableError) as refused:
        SVC(C=np.inf, **parameters).fit(X, y)
    assert refused.value.proof is not None


def test_a_fit_after_a_hard_one_is_none_the_worse():
    X, y = overlapping()
    before = SVC().fit(X, y).dual_coef_
    (hard_X, hard_y), parameters, _ = HARD["sigmoid, squared hinge, no bias"]
    with pytest.warns(ConvergenceWarning):
        SVC(**parameters).fit(hard_X, hard_y)
    np.testing.assert_array_equal(SVC().fit(X, y).dual_coef_, before)
