"""One pass over the coordinates finds what the dual problem itself says about each of them."""

import numpy as np
import pytest

from mercer._jit.compile import UNBOUNDED
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.survey import choose_undecided, survey
from mercer.solvers.dual_qp.working_set_selection import Violations


@pytest.fixture(params=[0.0, 0.3], ids=["classes", "targets"])
def point(request, rng):
    """A dual with or without a kink, and a point of its box: at bounds, at zero and in between."""
    n, kink = 400, request.param
    upper = rng.uniform(0.5, 2.0, n)
    lower = -upper if kink else np.zeros(n)
    beta = np.choose(rng.integers(0, 4, n), [lower, upper, np.zeros(n), rng.uniform(lower, upper)])
    dual = DualProblem(rng.normal(size=n), lower, upper, kink=kink)
    return dual, beta, rng.normal(size=n)


def test_a_survey_finds_the_maximal_violating_pair(point):
    dual, beta, gradient = point
    assert survey(beta, gradient, dual.lower, dual.upper, dual.kink) == pytest.approx(dual.extremes(beta, gradient))


def test_where_nothing_may_move_nothing_is_violated():
    shut = np.zeros(5)
    highest, lowest = survey(shut, np.ones(5), shut, shut, 0.0)
    assert (highest, lowest) == (-UNBOUNDED, UNBOUNDED)


@pytest.mark.parametrize("slack", [0.0, 0.4])
def test_coordinates_are_chosen_that_are_not_settled(point, slack):
    dual, beta, gradient = point
    level, chosen = 0.1, np.empty(len(beta), np.intp)
    count = choose_undecided(beta, gradient, dual.lower, dual.upper, dual.kink, level, slack, chosen)
    expected = np.flatnonzero(~Violations(dual, beta, gradient, level).settled(slack))
    assert 0 < count < len(beta)
    np.testing.assert_array_equal(chosen[:count], expected)
