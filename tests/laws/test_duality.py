"""The dual rises and stays below the primal, at every step and on every path."""

import contextlib
import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from mercer.solvers.dual_qp import decomposition, policy
from tests.laws.two_class import law, problems


@contextlib.contextmanager
def small_working_sets():
    """Send small problems through rounds, as if they were large."""
    with (
        mock.patch.object(policy, "DIRECT_SIZE", 3),
        mock.patch.object(decomposition, "WORKING_SIZE", 4),
        mock.patch.object(policy, "STORED_SIZE", 0),
    ):
        yield


def stopped_after(problem, steps, **parameters):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*ITERATION_LIMIT", ConvergenceWarning)
        return problem.fit(max_iter=steps, **parameters)


@law(problems(), st.booleans())
def test_weak_duality_at_every_step(problem, rounds):
    with small_working_sets() if rounds else contextlib.nullcontext():
        certificates = [stopped_after(problem, steps).certificate_ for steps in (1, 2, 3, 5, 8, 13, 21)]
        certificates.append(problem.fit().certificate_)
    duals = np.array([certificate.dual for certificate in certificates])
    best = certificates[-1]
    rounding = 1e-9 * max(1.0, abs(best.primal))
    for certificate in certificates:
        assert certificate.gap >= -rounding
        assert certificate.primal >= best.dual - rounding
        assert certificate.dual <= best.primal + rounding
        assert certificate.box_violation == 0.0
        assert certificate.equality_residual <= 1e-12 * problem.C * problem.weight.sum()
    assert (np.diff(duals) >= -rounding).all()
    assert duals[0] > 0.0


@law(problems())
def test_the_dual_never_falls_along_the_trace(problem):
    with small_working_sets():
        model = problem.fit()
    duals = [0.0] + [point.dual for point in model.trace_]
    steps = [0] + [point.iterations for point in model.trace_]
    rounding = 1e-9 * max(1.0, duals[-1])
    assert (np.diff(duals) >= -rounding).all()
    assert (np.diff(steps) >= 0).all()
    assert steps[-1] == model.n_iter_[0]
    # The trace is kept by adding changes; the certificate computes the value anew.
    assert duals[-1] == pytest.approx(model.certificate_.dual, rel=1e-6)


@law(problems())
def test_strong_duality_at_the_end(problem):
    certificate = problem.fit().certificate_
    assert certificate.relative_gap <= 1e-6
    assert certificate.is_optimal(1e-8)


@law(problems(), st.sampled_from([1e-2, 1e-4, 1e-6]))
def test_a_gap_that_is_asked_for_is_reached(problem, gap_tol):
    certificate = problem.fit(tol=1e-2, gap_tol=gap_tol).certificate_
    assert certificate.relative_gap <= gap_tol * (1.0 + 1e-6)
