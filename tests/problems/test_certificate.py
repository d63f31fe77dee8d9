import dataclasses
import json

import numpy as np
import pytest

from mercer import SVC, SVR, Certificate, NuSVC
from mercer.problems.certificate import dual_conditions, relative_gap
from mercer.problems.svm.signed_dual import DualProblem

EXAMPLE = Certificate(
    primal=2.0,
    dual=1.5,
    gap=0.5,
    relative_gap=0.25,
    kkt_violation=1e-4,
    equality_residual=0.0,
    box_violation=0.0,
    n_free=3,
    n_bounded=2,
    n_zero=5,
)


@pytest.mark.parametrize(("tol", "expected"), [(1e-3, True), (1e-4, True), (9e-5, False)])
def test_optimal_to_a_tolerance(tol, expected):
    assert EXAMPLE.is_optimal(tol) is expected


def test_the_default_tolerance_is_that_of_the_estimators():
    assert EXAMPLE.is_optimal()
    assert not dataclasses.replace(EXAMPLE, kkt_violation=1.1e-3).is_optimal()


def test_a_violation_that_is_not_a_number_is_not_optimal():
    assert not dataclasses.replace(EXAMPLE, kkt_violation=float("nan")).is_optimal()


def test_as_dict_goes_through_json():
    assert Certificate(**json.loads(json.dumps(EXAMPLE.as_dict()))) == EXAMPLE


def test_printed_it_says_every_number():
    text = str(EXAMPLE)
    for part in ("primal 2", "dual 1.5", "gap 5.00e-01", "relative 2.5e-01", "KKT violation 1.00e-04"):
        assert part in text
    for part in ("equality 0.0e+00", "box 0.0e+00", "3 free", "2 bounded", "5 not support vectors"):
        assert part in text


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXAMPLE.gap = 0.0


@pytest.mark.parametrize(("gap", "told"), [(-1e-16, 1e-16), (-0.5, 0.5), (0.0, 0.0), (float("inf"), float("inf"))])
def test_a_gap_below_zero_is_how_little_the_two_values_are_known_to(gap, told):
    """Zero would say that they are exact, and would hide an error that is large."""
    found = dataclasses.replace(EXAMPLE, gap=gap, relative_gap=gap)
    assert found.gap == found.relative_gap == told


@pytest.mark.filterwarnings("ignore:(the margin is|there is no half-space):sklearn.exceptions.ConvergenceWarning")
def test_no_gap_of_a_small_fit_is_negative():
    rng = np.random.default_rng(10)
    for n in rng.integers(4, 12, size=60):
        X = rng.integers(-2, 3, size=(n, 2)).astype(float)
        y = np.arange(n) % 2
        for model in (SVC(kernel="linear", tol=1e-10), SVC(tol=1e-10), SVR(tol=1e-10), NuSVC(nu=0.5, tol=1e-10)):
            assert model.fit(X, y).certificate_.gap >= 0.0


def test_the_worse_of_two_sums_is_the_residual():
    groups = np.array([0, 0, 1, 1])
    dual = DualProblem(np.zeros(4), np.zeros(4), np.full(4, 2.0), total=np.array([1.0, 1.0]), groups=groups)
    found = dual_conditions(dual, np.array([0.5, 0.5, 1.0, 0.75]), np.zeros(4))
    assert found["equality_residual"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("primal", "dual", "gap"), [(0.5, 0.25, 0.25), (1.5, 1.2, 0.2), (-4.0, -5.0, 0.25), (np.inf, 0.0, np.inf)]
)
def test_a_gap_is_relative_to_the_primal_or_to_one(primal, dual, gap):
    assert relative_gap(primal, dual) == pytest.approx(gap)
