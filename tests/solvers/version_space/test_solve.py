"""Centres of version spaces, in terms of the rows."""

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.version_space.centres import VersionSpace
from mercer.solvers.limits import Limits
from mercer.solvers.version_space.solve import solve_analytic


@pytest.mark.parametrize("long", [1e-3, 1.0, 1e3])
def test_a_kernel_that_is_none_is_proved_so_by_its_rows(long):
    """Two rows that are more alike than each is to itself, one of them long; the witness is in terms of both."""
    K = np.array([[1.0, 2.0 * long], [2.0 * long, long**2]])
    problem = VersionSpace(np.array([1.0, -1.0]), np.ones(2), 0.0, "none")
    with pytest.raises(NotPositiveSemidefiniteError) as caught:
        solve_analytic(problem, StoredMatrix.of(K), tol=1e-6, limits=Limits(), convex=False)
    v = caught.value.witness
    assert v @ K @ v < 0.0
