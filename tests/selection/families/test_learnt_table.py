"""When a search leaves off learning the kernel of a table."""

import numpy as np
import pytest

from mercer.selection.families import learnt_table
from mercer.selection.families.learnt_table import LearntTable
from mercer.solvers.limits import Limits

X, Y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2


@pytest.fixture
def asked(monkeypatch):
    """The functions that say when learning is to end."""
    found, real = [], learnt_table.table_kernel

    def noted(*arguments, stop, **options):
        found.append(stop)
        return real(*arguments, stop=stop, **options)

    monkeypatch.setattr(learnt_table, "table_kernel", noted)
    return found


def learn():
    return LearntTable("rough").learn(X, Y, None, True)


def test_outside_a_search_nothing_ends_it(asked):
    learn()
    assert not asked[0]()


def test_within_a_search_it_ends_when_the_search_does(asked):
    limits = Limits(time_limit=1e3)
    with limits.in_force():
        learn()
    assert asked[0] == limits.stop


def test_after_a_search_that_was_ended_a_few_steps_are_left():
    with Limits(time_limit=1e-9).in_force():
        end = learnt_table._end()
    assert [end() for _ in range(8)] == [False] * 6 + [True] * 2
