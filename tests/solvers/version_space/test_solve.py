"""Centres of version spaces, in terms of the rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError, Status
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.version_space.centres import VersionSpace
from mercer.solvers.limits import Limits
from mercer.solvers.version_space import solve as version_space
from mercer.solvers.version_space.solve import solve_analytic, solve_bayes


@pytest.mark.parametrize("long", [1e-3, 1.0, 1e3])
def test_a_kernel_that_is_none_is_proved_so_by_its_rows(long):
    """Two rows that are more alike than each is to itself, one of them long; the witness is in terms of both."""
    K = np.array([[1.0, 2.0 * long], [2.0 * long, long**2]])
    problem = VersionSpace(np.array([1.0, -1.0]), np.ones(2), 0.0, "none")
    with pytest.raises(NotPositiveSemidefiniteError) as caught:
        solve_analytic(problem, StoredMatrix.of(K), tol=1e-6, limits=Limits(), convex=False)
    v = caught.value.witness
    assert v @ K @ v < 0.0


def test_a_run_that_was_stopped_early_has_the_centre_so_far_in_terms_of_the_rows(monkeypatch):
    problem = VersionSpace(np.array([1.0, -1.0]), np.ones(2), 0.0, "none")
    alpha, matrix = np.array([0.25, 0.75]), StoredMatrix.of(np.diag([4.0, 9.0]))
    ball = SimpleNamespace(alpha=alpha, radius=0.0, status=Status.TIME_LIMIT)
    monkeypatch.setattr(version_space, "ball_centre", lambda *_, **__: ball)
    arguments = {"seeds": [1, 2], "n_draws": 10, "tol": 0.1, "min_ess": 5.0}
    found = solve_bayes(problem, matrix, limits=Limits(), **arguments)
    np.testing.assert_allclose(found.beta, [0.25 / 2.0, -0.75 / 3.0])
    assert (found.status, found.iterations, found.diagnostics.n_draws) == (Status.TIME_LIMIT, 0, 0)
    centre = solve_analytic(problem, matrix, tol=1e-6, limits=Limits())
    np.testing.assert_allclose(centre.beta, found.beta)
    assert centre.iterations == 0


def test_a_sample_of_a_version_space_keeps_to_its_limits():
    problem = VersionSpace(np.array([1.0, -1.0, 1.0]), np.ones(3), 0.0, "none")
    matrix, limits = StoredMatrix.of(np.eye(3) + 0.1), Limits(max_iter=64)
    found = solve_bayes(problem, matrix, seeds=[1, 2], n_draws=100, tol=1e-9, min_ess=1e9, limits=limits)
    assert found.status is Status.ITERATION_LIMIT
