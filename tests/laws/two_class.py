"""Small two-class problems that hypothesis draws, and when two machines are the same one.

Coefficients need not be unique, but the function is: a machine whose gap is g has a weight vector
within sqrt(2 g) of the best one. So two machines for the same problem differ at x by no more than
(sqrt(2 g1) + sqrt(2 g2)) sqrt(k(x, x)), with gaps that their certificates state.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer import SVC
from mercer.kernels import RBF, Kernel, Linear, Polynomial
from mercer.problems.regularization import resolve_C

# Each law is tried on this many problems by `make test`, and on 500 by `make test MARK=slow`.
EXAMPLES = [40, pytest.param(500, marks=pytest.mark.slow)]
TOL = 1e-8


def law(*strategies):
    """Make a test of a statement that must hold for whatever the strategies draw."""

    def decorate(statement):
        @pytest.mark.parametrize("examples", EXAMPLES)
        def test(examples):
            settings(max_examples=examples)(given(*strategies)(statement))()

        test.__doc__ = statement.__doc__
        return test

    return decorate


@dataclass(frozen=True)
class TwoClass:
    """A problem and its parameters, ready to fit."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    C: float
    kernel: Kernel
    loss: str
    bias: str

    def fit(self, **parameters):
        model = SVC(C=self.C, kernel=self.kernel, loss=self.loss, bias=self.bias, **{"tol": TOL} | parameters)
        model.fit(self.X, self.y, self.weight)
        by_class = np.where(self.y == 1, *model.class_weight_[::-1])
        model.bounds_ = resolve_C(self.C, self.weight.sum()) * self.weight * by_class
        return model

    def replace(self, **changes):
        return replace(self, **changes)


# Points on a grid meet, lie on lines and repeat, as random numbers never would.
GRID = st.integers(-6, 6).map(lambda i: i / 2)
KERNELS = st.sampled_from([Linear(), RBF(0.3), Polynomial(2, 0.5, 1.0)])
SIGN = st.sampled_from([-1, 1])
BIASES = st.sampled_from(["free", "penalized", "none"])


@st.composite
def problems(draw, kernels=KERNELS, biases=BIASES):
    """A problem of 4 to 16 points on a grid in one to three dimensions."""
    n, d = draw(st.integers(4, 16)), draw(st.integers(1, 3))
    return TwoClass(
        X=draw(arrays.arrays(np.float64, (n, d), elements=GRID)),
        y=np.array([-1, 1, *draw(st.lists(SIGN, min_size=n - 2, max_size=n - 2))]),
        weight=draw(arrays.arrays(np.float64, n, elements=st.sampled_from([0.5, 1.0, 2.0]))),
        C=draw(st.sampled_from([0.1, 1.0, 10.0])),
        kernel=draw(kernels),
        loss=draw(st.sampled_from(["hinge", "squared_hinge"])),
        bias=draw(biases),
    )


def radius(model):
    """How far the model's weight vector can be from the best one."""
    certificate = model.certificate_
    rounding = 1e-13 * max(1.0, abs(certificate.primal))
    assert certificate.gap >= -rounding
    return np.sqrt(2.0 * max(certificate.gap, rounding))


def projections(model, X):
    """The decision function without a free bias."""
    values = model.decision_function(X)
    return values - model.intercept_ if model.bias == "free" else values


def assert_same_machine(first, second, first_rows, second_rows, kernel, sign=1.0):
    """Two models of one problem agree on rows that correspond; `kernel` is the first one's."""
    distance = radius(first) + radius(second)
    shift = 1.0 if first.bias == "penalized" else 0.0
    reach = distance * np.sqrt(kernel.diag(first_rows) + shift) + 1e-9
    difference = projections(first, first_rows) - sign * projections(second, second_rows)
    assert (np.abs(difference) <= reach).all()
    mine, other = first.certificate_, second.certificate_
    assert mine.dual == pytest.approx(other.dual, abs=max(mine.gap, other.gap, 1e-9 * abs(mine.primal)))
    if first.bias == "free" and len(first_rows) == len(getattr(second, "bounds_", ())) == len(first.bounds_):
        _assert_same_bias(first, second, distance, reach, sign)


def _assert_same_bias(first, second, distance, reach, sign):
    """A point that is on the margin of both fixes the bias of both: b = y (1 - slack) - projection."""
    shared = _on_the_margin(first) & _on_the_margin(second)
    # The squared hinge is a hard margin with a further feature of length 1 / sqrt(2C) for each point.
    slack = distance / np.sqrt(2.0 * first.bounds_) if first.loss == "squared_hinge" else 0.0
    allowed = (reach + slack)[shared].min(initial=np.inf) + 2.0 * TOL
    assert abs(first.intercept_[0] - sign * second.intercept_[0]) <= allowed


def _on_the_margin(model):
    share = np.zeros(len(model.bounds_))
    share[model.support_] = np.abs(model.dual_coef_[0]) / model.bounds_[model.support_]
    return (share > 1e-3) & ((share < 1 - 1e-3) | (model.loss == "squared_hinge"))
