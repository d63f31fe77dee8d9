"""Products with few vectors and sums of rows, against NumPy's in double precision."""

import numpy as np
import pytest

from mercer.solvers.blocks.row_sums import row_dots, row_sums, scaled_rows


@pytest.fixture(params=[(200, 7), (131, 64), (3, 1), (0, 5)])
def shape(request):
    return request.param


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_products_with_any_number_of_vectors_are_numpys(rng, shape, dtype, tolerance, count):
    rows, vectors = rng.normal(size=shape).astype(dtype), rng.normal(size=(count, shape[1]))
    found, truth = row_dots(rows, vectors), vectors @ rows.astype(np.float64).T
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, truth, atol=tolerance * shape[1])


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("count", [1, 4])
def test_sums_are_numpys_and_rows_of_factor_zero_are_not_looked_at(rng, shape, dtype, tolerance, count):
    rows, factors = rng.normal(size=shape).astype(dtype), rng.normal(size=(count, shape[0]))
    factors[:, rng.random(shape[0]) < 0.4] = 0.0
    truth = factors @ rows.astype(np.float64)
    rows[~factors.any(axis=0)] = np.nan
    rows.flags.writeable = False
    np.testing.assert_allclose(row_sums(rows, factors), truth, atol=tolerance * max(1, shape[0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_rows_are_scaled_with_the_constant_last(rng, shape, dtype, constant):
    rows, places = rng.normal(size=shape).astype(np.float32), np.flatnonzero(rng.random(shape[0]) < 0.5)
    factors, out = rng.random(len(places)).astype(dtype), np.empty((len(places), shape[1] + 1), dtype)
    scaled_rows(rows, places, factors, constant, out)
    wide = np.column_stack([rows[places], np.full(len(places), constant)])
    np.testing.assert_allclose(out, factors[:, None] * wide.astype(dtype), rtol=1e-6)
