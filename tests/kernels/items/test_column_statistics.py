"""Single passes over dense rows say what NumPy says in several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.kernels.items.column_statistics import mean_and_squares, moved, squared_lengths, summary, to_scale

ROWS = arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 40), st.integers(1, 70)),
    elements=st.floats(-1000.0, 1000.0, width=32),
)


@given(X=ROWS)
def test_a_summary_of_the_columns(X):
    found = summary(X)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(found.means, exact.mean(axis=0), rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(found.least, X.min(axis=0))
    np.testing.assert_array_equal(found.greatest, X.max(axis=0))
    assert found.mean_square == pytest.approx(np.square(exact).sum() / len(X), rel=1e-12)


@given(X=ROWS, dtype=st.sampled_from([np.float32, np.float64]))
def test_rows_are_moved_in_double_precision(X, dtype):
    origin = np.linspace(-1.0, 1.0, X.shape[1])
    out = moved(X, origin, dtype)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, (X.astype(np.float64) - origin).astype(dtype))


@given(X=ROWS)
def test_lengths_are_added_up_in_double_precision(X):
    np.testing.assert_allclose(squared_lengths(X), np.square(X.astype(np.float64)).sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: X[::2], lambda X: X.astype(np.int64), lambda X: X > 3])
def test_any_layout_and_any_real_type(change):
    X = change(np.arange(60.0).reshape(12, 5) % 7)
    np.testing.assert_allclose(summary(X).means, X.mean(axis=0))
    np.testing.assert_allclose(squared_lengths(X), np.square(X.astype(float)).sum(axis=1))
    np.testing.assert_array_equal(moved(X, np.zeros(5), np.float64), X.astype(float))


def test_a_mean_far_from_zero_is_exact_to_double_precision():
    X = np.full((10_000, 3), 16_777_217.0) + np.arange(10_000)[:, None]
    np.testing.assert_allclose(summary(X).means, X.mean(axis=0), rtol=1e-14)


@given(
    numbers=arrays(np.float64, st.integers(1, 300), elements=st.floats(-1000.0, 1000.0)),
    far=st.sampled_from([0.0, 1e12]),
)
def test_a_mean_and_squares_lose_no_digits(numbers, far):
    there = numbers + far
    mean, squares = mean_and_squares(there)
    exact = np.array(there, np.longdouble)
    assert mean == pytest.approx(float(exact.mean()), rel=1e-15, abs=1e-12)
    assert squares == pytest.approx(float(np.square(exact - exact.mean()).sum()), rel=1e-11, abs=1e-18 * far**2 + 1e-18)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows_in_the_sums(bad):
    numbers, out = np.ones(100), np.empty(100, np.float32)
    assert to_scale(numbers, 0.5, 2.0, out) == 100.0
    np.testing.assert_array_equal(out, 1.0)
    numbers[77] = bad
    assert not np.isfinite(to_scale(numbers, 0.5, 2.0, out))
    assert not np.isfinite(mean_and_squares(numbers)[0])
