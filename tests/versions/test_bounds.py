"""What `make test-versions` installs, and where it looks for interpreters."""

from pathlib import Path

import pytest

from tests.versions.bounds import constraints, lower_bounds, oldest_python
from tests.versions.interpreters import find

HEAD = '[project]\nname = "mercer"\nrequires-python = ">=3.11"\n'


def project(folder, required, extra="[]"):
    file = folder / "pyproject.toml"
    file.write_text(f"{HEAD}dependencies = {required}\noptional-dependencies.more = {extra}\n")
    return file


def test_every_requirement_is_held_to_its_lower_bound(tmp_path):
    file = project(tmp_path, '["numpy>=2.0", "a.b-c[d]>=13.7.1"]', '["mercer[all]", "pandas>=2.2.2"]')
    bounds = lower_bounds(file)
    assert bounds == {"numpy": "2.0", "a.b-c": "13.7.1", "pandas": "2.2.2"}
    assert constraints(bounds) == "numpy==2.0\na.b-c==13.7.1\npandas==2.2.2\n"
    assert oldest_python(file) == "python3.11"


@pytest.mark.parametrize("required", ['["numpy"]', '["numpy<3"]', '["numpy>=2.0,<3"]', '["numpy>=2.0", "numpy>=2.1"]'])
def test_a_requirement_without_one_lower_bound_is_refused(tmp_path, required):
    with pytest.raises(ValueError, match="must have one lower bound"):
        lower_bounds(project(tmp_path, required))


def test_this_project_has_bounds_throughout():
    bounds = lower_bounds(Path(__file__).parents[2] / "pyproject.toml")
    assert {"numpy", "scipy", "scikit-learn", "numba", "pytest"} <= set(bounds)


def fake(path, works):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexit {0 if works else 1}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine that has no Python at all."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_an_interpreter_is_found_on_the_path_first(nowhere):
    fake(nowhere / "pyenv/versions/3.12.1/bin/python3.12", works=True)
    expected = fake(nowhere / "bin/python3.12", works=True)
    assert find("python3.12") == expected


def test_the_newest_of_pyenv_is_found_behind_a_command_that_does_not_run(nowhere):
    fake(nowhere / "bin/python3.12", works=False)
    fake(nowhere / "pyenv/versions/3.12.9/bin/python3.12", works=True)
    expected = fake(nowhere / "pyenv/versions/3.12.10/bin/python3.12", works=True)
    assert find("python3.12") == expected


def test_an_interpreter_that_is_missing_is_none(nowhere):
    fake(nowhere / "pyenv/versions/3.13.0/bin/python3.13", works=True)
    assert find("python3.12") is None


def test_an_interpreter_may_be_named_by_its_path(nowhere):
    path = fake(nowhere / "elsewhere/python", works=True)
    assert find(path) == path
    assert find(path + "3") is None
