import numpy as np
import pytest

from mercer.kernels.items.line_products import in_lines, line_products
from mercer.kernels.items.rows import Rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (13, 31, 5), (40, 32, 16), (7, 100, 64)])
def test_products_in_lines_are_inner_products(dtype, n, m, d, rng):
    left, right = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    found = line_products(left, in_lines(right), m)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, left @ right.T, atol=1e-4 if dtype is np.float32 else 1e-12)


def test_rows_that_stay_are_written_out_once(rng):
    right, left = Rows(rng.normal(size=(50, 3))), Rows(rng.normal(size=(8, 3)))
    expected = left.values @ right.values[:20].T
    np.testing.assert_allclose(left.dots(right.slice(0, 20)), expected, atol=1e-12)
    assert not right._panels
    right.stay = True
    for _ in range(2):
        np.testing.assert_allclose(left.dots(right.slice(0, 20)), expected, atol=1e-12)
    assert list(right._panels) == [("lines", (0, 20))]


def test_a_single_row_needs_no_lines(rng):
    right, left = Rows(rng.normal(size=(50, 3))), Rows(rng.normal(size=(1, 3)))
    right.stay = True
    np.testing.assert_allclose(left.dots(right.slice(0, 20)), left.values @ right.values[:20].T, atol=1e-12)
    assert not right._panels
