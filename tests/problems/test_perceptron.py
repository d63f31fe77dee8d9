"""The perceptron's convex program and the bound on updates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer.problems.perceptron import MistakeBound, PerceptronProgram

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
