import numpy as np
import pytest

from mercer._jit.compile import jit
from mercer._jit.lanes import line_sums


@jit
def _all_sums(left, lines, line, out, column):
    i = 0
    while i < left.shape[0]:
        i += line_sums(left, lines, i, line, out, column)


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize(("of_left", "of_sums"), [(np.float32, np.float32), (np.float32, float), (float, float)])
@pytest.mark.parametrize("rows", [1, 6, 12, 13, 40])
def test_lines_are_summed_for_any_number_of_rows(width, of_left, of_sums, rows, rng):
    left, lines = rng.normal(size=(rows, 7)).astype(of_left), rng.normal(size=(7, width)).astype(of_sums)
    out = np.full((rows + 1, width + 9), 5.0, of_sums)
    _all_sums(left, lines, (out.dtype.type(0),) * width, out[:rows], 4)
    tolerance = 1e-5 if of_sums is np.float32 else 1e-12
    np.testing.assert_allclose(out[:rows, 4 : 4 + width], left @ lines, atol=tolerance)
    out[:rows, 4 : 4 + width] = 5.0
    np.testing.assert_array_equal(out, 5.0)  # nothing is written beside them


def test_rows_may_be_parts_of_longer_ones(rng):
    wide, lines = rng.normal(size=(20, 30)), rng.normal(size=(11, 8))
    out = np.empty((20, 8))
    _all_sums(wide[:, 5:16], lines, (0.0,) * 8, out, 0)
    np.testing.assert_allclose(out, wide[:, 5:16] @ lines, atol=1e-12)
