"""The hard margin is a length: it scales with the data, and only the nearest points decide it."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer import SVC
from tests.laws.two_class import GRID, SIGN, law


@st.composite
def separable(draw):
    """Two sets of points, at least 1 apart along the first axis."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    X = draw(arrays.arrays(np.float64, (n, d), elements=GRID))
    y = np.array([-1, 1, *draw(st.lists(SIGN, min_size=n - 2, max_size=n - 2))])
    X[:, 0] = y * (0.5 + np.abs(X[:, 0]))
    return X, y


def hard_margin(X, y):
    model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(X, y)
    return 1.0 / np.linalg.norm(model.coef_), model


@law(separable(), st.sampled_from([0.25, 2.0, 100.0]))
def test_scaling_the_data_scales_the_margin(data, factor):
    X, y = data
    margin, _ = hard_margin(X, y)
    scaled, _ = hard_margin(factor * X, y)
    assert scaled == pytest.approx(factor * margin, rel=1e-6)


@law(separable())
def test_every_point_is_at_least_the_margin_away(data):
    X, y = data
    margin, model = hard_margin(X, y)
    distances = y * model.decision_function(X) * margin
    assert distances.min() == pytest.approx(margin, rel=1e-6)
    assert margin >= 0.5 * (1.0 - 1e-6)


@law(separable())
def test_the_certificate_proves_the_margin(data):
    """The dual bounds every margin from above, a multiple of w attains one: |w|² / 2 is squeezed."""
    X, y = data
    margin, model = hard_margin(X, y)
    certificate = model.certificate_
    assert certificate.dual <= 0.5 / margin**2 * (1.0 + 1e-6)
    assert certificate.primal >= certificate.dual * (1.0 - 1e-12)
    assert certificate.relative_gap <= 1e-6
