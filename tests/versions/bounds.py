"""The oldest versions that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from pathlib import Path

_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lower_bounds(pyproject: Path) -> dict[str, str]:
    """Name and lower bound of every requirement, those of all extras included.

    Raises
    ------
    ValueError
        If a requirement has no lower bound, or two different ones.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    found: dict[str, str] = {}
    for requirement in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        if requirement.startswith(project["name"] + "["):
            continue
        match = _BOUND.fullmatch(requirement)
        if match is None or found.setdefault(match["name"], match["version"]) != match["version"]:
            raise ValueError(f"{pyproject}: {requirement!r} must have one lower bound, as in 'numpy>=2.0'")
    return found


def oldest_python(pyproject: Path) -> str:
    """The name of the oldest interpreter: ``python3.11``."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return "python" + project["requires-python"].removeprefix(">=")


def constraints(bounds: dict[str, str]) -> str:
    """Lines that hold pip to exactly these versions."""
    return "".join(f"{name}=={version}\n" for name, version in bounds.items())
