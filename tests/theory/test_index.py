"""The room as a whole: its names, and what asking for it costs."""

import subprocess
import sys

import pytest

from mercer import theory


@pytest.mark.parametrize("name", theory.__all__)
def test_every_public_name_can_be_reached_and_is_explained(name):
    value = getattr(theory, name)
    assert name in dir(theory)
    assert value.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'theorem_15_4'"):
        theory.theorem_15_4  # noqa: B018 - asking for it is the test


def test_asking_for_the_room_loads_nothing_heavy():
    code = "import sys, mercer; mercer.theory; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "numba", "scipy", "sklearn", "clarabel"}


def test_theory_needs_no_scikit_learn():
    code = "import sys; from mercer import theory; theory.report; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "sklearn" not in done.stdout.split()
