"""When rounds have made no progress for long enough, and how many steps there may be."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp import endings
from mercer.solvers.dual_qp.endings import Patience, Progress, most_steps, reach_of


@pytest.mark.parametrize("turns", [1, 3])
def test_rounds_without_progress_end_after_as_many_as_are_allowed_to_each_turn(turns):
    progress = Progress()
    assert not progress.has_ended(1.0, 5.0, turns)
    idle = [progress.has_ended(1.0, 5.0, turns) for _ in range(turns * endings.ROUNDS_WITHOUT_PROGRESS)]
    assert idle == [False] * (len(idle) - 1) + [True]


def test_a_smaller_violation_or_a_larger_dual_is_progress():
    progress = Progress()
    progress.has_ended(1.0, 5.0, 1)
    for violation, dual in ((0.8, 5.0), (0.8, 5.1), (0.7, 5.1)):
        progress.has_ended(1.0, 5.0, 1)
        assert not progress.has_ended(violation, dual, 1)
        assert progress.idle_rounds == 0
    progress.has_ended(0.69, 5.1, 1)
    assert progress.idle_rounds == 1
    progress.forgive()
    assert progress.idle_rounds == 0
    assert not progress.has_ended(3.0, 1.0, 1)
    assert progress.least == 3.0


def test_the_reach_of_a_problem_is_its_largest_bound():
    problem = SoftMargin(np.array([1.0, -1.0, 1.0]), np.array([1.0, 7.0, 2.0])).dual()
    assert reach_of(problem) == 7.0
    assert reach_of(replace(problem, upper=np.array([9.0, 0.0, 2.0]))) == 9.0
    assert most_steps(problem) == max(endings.MOST_STEPS, 300)
    boundless = SoftMargin(np.array([1.0, -1.0]), np.full(2, np.inf)).dual()
    assert most_steps(boundless) == max(endings.MOST_STEPS_UNBOUNDED, 200)


def test_patience_lasts_while_the_gap_falls_by_half_in_every_stretch_of_steps():
    patience = Patience(100)
    told = [patience.is_over(steps, gap) for steps, gap in ((50, 0.9), (99, 0.8), (120, 0.5), (219, 0.4), (230, 0.25))]
    assert told == [False] * 5
    assert not patience.is_over(329, 0.24)
    assert patience.is_over(331, 0.13)
    patience.renew(331)
    assert not patience.is_over(430, 0.9)
    assert patience.is_over(431, 0.9)
    assert patience.is_over(431, np.nan)


def test_patience_ends_after_so_many_stretches_however_fast_the_gap_falls():
    patience = Patience(1)
    told = [patience.is_over(k, 0.1**k) for k in range(1, endings.MOST_STRETCHES + 2)]
    assert told == [False] * endings.MOST_STRETCHES + [True]
