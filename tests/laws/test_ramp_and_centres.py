"""What must not matter to a ramp fit and to the centres: the order of rows, the names of classes, the frame."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import AnalyticCenterMachine, BayesPointMachine, RampSVC

seeds = st.integers(0, 2**32 - 1)
# Without a free bias, which may be anywhere in an interval where no support vector is free.
MACHINES = [
    pytest.param(RampSVC(kernel="linear", C=0.7, bias="penalized", tol=1e-9), id="ramp, linear"),
    pytest.param(RampSVC(gamma=0.4, s=-0.5, bias="none", tol=1e-9), id="ramp, Gaussian"),
    pytest.param(AnalyticCenterMachine(kernel="linear", slack=0.5, tol=1e-9), id="analytic, linear"),
    pytest.param(AnalyticCenterMachine(gamma=0.4, tol=1e-9), id="analytic, Gaussian"),
]


def noisy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return rng, X, y


@pytest.mark.parametrize("model", MACHINES)
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(model, seed):
    rng, X, y = noisy(seed)
    order = rng.permutation(len(y))
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(X[order], y[order]).decision_function(X), expected, atol=1e-6)


@pytest.mark.parametrize("model", MACHINES)
@given(seed=seeds)
def test_swapped_classes_swap_the_sign(model, seed):
    _, X, y = noisy(seed)
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(X, 1 - y).decision_function(X), -expected, atol=1e-6)


@pytest.mark.parametrize("model", MACHINES)
@given(seed=seeds)
def test_a_rotation_of_the_features_does_not_matter(model, seed):
    rng, X, y = noisy(seed)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    # gamma is given, so that no parameter depends on the frame.
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(X @ rotation, y).decision_function(X @ rotation), expected, atol=1e-5)


@given(seed=seeds, s=st.floats(-3.0, 0.8))
def test_a_ramp_fit_ends_below_the_hinge_solution_and_is_stationary(seed, s):
    _, X, y = noisy(seed)
    model = RampSVC(kernel="linear", s=s, tol=1e-8).fit(X, y)
    objectives = [step.objective for step in model.steps_]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(objectives))
    assert model.certificate_.is_stationary(1e-6)
    assert model.certificate_.gap >= -1e-9


@given(seed=seeds, factor=st.floats(0.01, 100.0))
def test_the_length_of_rows_does_not_matter_to_centres(seed, factor):
    rng, X, y = noisy(seed)
    X += 4.0 * (2 * y - 1)[:, None]
    lengths = factor * rng.uniform(0.5, 2.0, (len(y), 1))
    model = AnalyticCenterMachine(kernel="linear", bias="none", slack=0.0, tol=1e-9)
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(lengths * X, y).decision_function(X), expected, atol=1e-5)


@given(seed=seeds)
def test_a_bayes_point_is_inside(seed):
    _, X, y = noisy(seed)
    X += 4.0 * (2 * y - 1)[:, None]
    model = BayesPointMachine(kernel="linear", slack=0.0, n_draws=100, min_ess=20, tol=0.5, random_state=seed)
    assert model.fit(X, y).score(X, y) == 1.0
