"""Workers and a keeper are in force within a context, and nowhere else."""

import pytest

from mercer.solvers.elsewhere import in_force, keeper_in_force, workers_in_force


def test_workers_and_keeper_are_those_of_the_innermost_context():
    outer, inner, keeper = object(), object(), object()
    assert workers_in_force() is None
    with in_force(outer, keeper):
        with in_force(inner):
            assert workers_in_force() is inner
            assert keeper_in_force() is None
        assert workers_in_force() is outer
        assert keeper_in_force() is keeper
    assert workers_in_force() is None
    assert keeper_in_force() is None


def test_an_error_ends_the_context_too():
    with pytest.raises(ZeroDivisionError), in_force(object(), object()):
        raise ZeroDivisionError
    assert workers_in_force() is None
    assert keeper_in_force() is None
