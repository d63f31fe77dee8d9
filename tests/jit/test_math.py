"""The exponential, at every size and at the ends of the range."""

import numpy as np
import pytest

from mercer._jit.compile import jit
from mercer._jit.math import exp


@jit
def exponentials(x, out):
    for k in range(x.shape[0]):
        out[k] = exp(x[k])


def found(x):
    out = np.empty_like(x)
    exponentials(x, out)
    return out


RANGE = {np.float32: (-86.0, 87.5), np.float64: (-707.0, 708.5)}
ERROR = {np.float32: 2e-7, np.float64: 5e-16}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_relative_error_is_that_of_rounding(dtype):
    x = np.linspace(*RANGE[dtype], 400_001).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.abs(found(x) / exact - 1).max()) <= ERROR[dtype]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_zero_and_at_it(dtype):
    x = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-8, -1e-8], dtype)
    np.testing.assert_allclose(found(x), np.exp(x), rtol=2 * np.finfo(dtype).eps)
    assert found(np.zeros(1, dtype))[0] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_below_it_is_almost_nothing_and_far_above_it_is_finite(dtype):
    huge = np.finfo(dtype).max
    below, above = found(np.array([-huge, -1e4], dtype)), found(np.array([huge, 1e4], dtype))
    assert (below >= 0).all()
    assert (below < 2 * np.finfo(dtype).tiny).all()
    assert np.isfinite(above).all()
    assert (above > 1e37).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_never_falls(dtype):
    x = np.sort(np.random.default_rng(0).uniform(*RANGE[dtype], 100_000)).astype(dtype)
    values = found(x)
    assert (np.diff(values) >= -2 * np.finfo(dtype).eps * values[1:]).all()


def test_outside_compiled_code_it_is_numpys():
    assert exp(1.0) == np.exp(1.0)
