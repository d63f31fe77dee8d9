"""What may be said of a machine that was stopped between two passes."""

import numpy as np
import pytest

from mercer.solvers.blocks.solution import by_sums


@pytest.mark.parametrize(("n", "bounded"), [(10, 2), (8, 0), (4, 0)])
def test_a_certificate_by_sums_knows_the_gap_and_counts_rows(n, bounded):
    found = by_sums(3.0, 2.5, n, 3, 5, np.dtype(np.float32))
    assert (found.primal, found.dual, found.kkt_violation) == (3.0, 2.5, np.inf)
    assert (found.equality_residual, found.box_violation) == (0.0, 0.0)
    assert (found.n_free, found.n_bounded, found.n_zero) == (3, bounded, 5)
    assert "single precision" in found.basis
    assert "double precision" in by_sums(3.0, 2.5, n, 3, 5, np.dtype(np.float64)).basis
