"""The perceptron's convex program and the bound on updates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer.problems.version_space.perceptron import MistakeBound, PerceptronProgram

MARGINS = arrays.arrays(np.float64, st.integers(1, 12), elements=st.integers(-8, 8).map(lambda i: i / 4))


@given(MARGINS, st.integers(0, 100))
def test_no_multiple_has_a_smaller_objective(margins, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, len(margins))
    program = PerceptronProgram(np.ones(len(margins)), weights)
    best = program.primal(margins)
    # The objective is piecewise linear in the factor: it is enough to look at its corners.
    for factor in [0.0, *(1.0 / margins[margins > 0])]:
        assert best <= weights @ np.maximum(0.0, 1.0 - factor * margins) + 1e-12


def test_separated_points_cost_nothing():
    program = PerceptronProgram(np.array([1.0, -1.0]), np.array([2.0, 3.0]))
    assert program.primal(np.array([0.1, 5.0])) == 0.0
    assert program.primal(np.array([0.1, -5.0])) == 5.0


def test_certificate_of_the_square_of_xor():
    """w = 0 is best: each of four points costs 1, and a = 1 proves it."""
    program = PerceptronProgram(np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4))
    found = program.certificate(np.zeros(4), np.ones(4))
    assert (found.primal, found.dual, found.gap, found.kkt_violation) == (4.0, 4.0, 0.0, 0.0)
    assert found.n_bounded == 4
    assert program.certificate(np.zeros(4)).gap == 4.0


def test_complementarity_is_measured():
    program = PerceptronProgram(np.ones(2), np.ones(2))
    assert program.certificate(np.array([1.0, 2.0]), np.array([0.5, 0.5])).kkt_violation == pytest.approx(1.0)


@pytest.mark.parametrize(("margin", "step", "bound"), [(0.5, 1.0, 36.0), (0.5, 0.5, 144.0), (0.0, 1.0, np.inf)])
def test_bound(margin, step, bound):
    found = MistakeBound(40, 3.0, margin, step)
    assert found.bound == bound
    assert found.holds == (bound >= 40)
    assert str(found).startswith("40 updates, at most (rho/gamma)^2 = (3/")


def test_entries_of_a_certificate():
    """Of margins whose best multiple is 1/2: slacks 0, 1/2, 3/2 and -1."""
    program = PerceptronProgram(np.ones(4), np.array([1.0, 0.5, 0.25, 2.0]))
    margins = np.array([2.0, 1.0, -1.0, 4.0])
    factors = np.linspace(0.0, 2.0, 2001)
    best = min((float(program.weights @ np.maximum(0.0, 1.0 - t * margins)), t) for t in factors)
    assert program.primal(margins) == pytest.approx(best[0])
    slack = 1.0 - best[1] * margins
    a = np.array([0.1, 0.0, 0.25, 0.0])
    found = program.certificate(margins, a, residual=0.125)
    # Slack of those below their bound; what is beyond the margin of those above zero.
    expected = max([slack[i] for i in range(4) if a[i] < program.weights[i]] + [-s for s in slack[a > 0]])
    assert found.kkt_violation == pytest.approx(expected)
    assert (found.primal, found.dual, found.gap) == pytest.approx((best[0], 0.35, best[0] - 0.35))
    assert found.relative_gap == pytest.approx((best[0] - 0.35) / max(1.0, best[0]))
    assert (found.n_free, found.n_bounded, found.n_zero) == (1, 1, 2)
    assert (found.equality_residual, found.box_violation) == (0.125, 0.0)
    assert program.certificate(margins, np.array([1.25, -0.5, 0.0, 0.0])).box_violation == 0.5
    assert program.certificate(margins, np.array([1.25, 0.0, 0.0, 0.0])).box_violation == 0.25
