"""Where Python is, by its version."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def _candidates(name: str) -> Iterator[str]:
    """What may be the interpreter of this name: a path, a command, one of pyenv's."""
    found = shutil.which(name)
    if found:
        yield found
    # pyenv's own commands run only the versions that are switched on; of those that are there, the newest.
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    installed = [path for path in root.glob("versions/*/bin/python3.*") if path.name == name]
    installed.sort(key=lambda path: [int(part) for part in re.findall(r"\d+", path.parts[-3])])
    yield from map(str, reversed(installed))


def _runs(path: str) -> bool:
    return subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0


def find(name: str) -> str | None:
    """The path of ``python3.12`` or the like, or None where there is none that runs."""
    return next((path for path in _candidates(name) if _runs(path)), None)
