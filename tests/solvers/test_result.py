import json

import numpy as np
import pytest

from mercer import Status
from mercer.solvers.result import Solution, TracePoint


def test_values_are_never_renumbered():
    """They are in files and in other people's programs."""
    assert {status.name: status.value for status in Status} == {
        "OPTIMAL": 0,
        "OPTIMAL_INACCURATE": 1,
        "ITERATION_LIMIT": 2,
        "TIME_LIMIT": 3,
        "MEMORY_LIMIT": 4,
        "STALLED": 5,
        "NOT_CONVEX": 6,
        "INTERRUPTED": 7,
    }


@pytest.mark.parametrize("status", Status)
def test_every_status_has_its_own_meaning(status):
    assert len(status.meaning) > 10
    assert [other.meaning for other in Status].count(status.meaning) == 1


@pytest.mark.parametrize(
    ("several", "worst"),
    [
        ([], Status.OPTIMAL),
        ([Status.OPTIMAL, Status.OPTIMAL], Status.OPTIMAL),
        ([Status.OPTIMAL, Status.TIME_LIMIT, Status.OPTIMAL], Status.TIME_LIMIT),
        ([Status.ITERATION_LIMIT, Status.INTERRUPTED], Status.INTERRUPTED),
    ],
)
def test_the_status_of_several_problems(several, worst):
    assert Status.worst(several) is worst


def test_an_empty_solution_has_no_support_vectors():
    solution = Solution.empty(5, Status.TIME_LIMIT)
    assert not solution.beta.any()
    assert len(solution.beta) == len(solution.gradient) == 5
    assert (solution.status, solution.iterations, solution.trace) == (Status.TIME_LIMIT, 0, [])
    assert not solution.is_gradient_complete


def test_solutions_do_not_share_their_traces():
    one, two = (Solution(np.zeros(1), np.zeros(1), 0.0, Status.OPTIMAL, 0) for _ in range(2))
    one.trace.append(TracePoint(0.0, 1, 1.0, 0.0, 1, 1))
    assert two.trace == []


@pytest.mark.parametrize("status", Status)
def test_people_see_the_word_and_files_the_number(status):
    assert str(status) == f"{status}" == status.name
    assert json.loads(json.dumps(status)) == status.value
