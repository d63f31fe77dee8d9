"""A file from which a fit continues, whatever ended the last one.

It holds, for each problem that a fit has solved or begun, the state of its machines (weights, bias, dual coefficients);
for a search, what is known of each kernel and fold. It is written as a whole after a pass over the blocks or after a
task, unless writing would take more than a small share of the time.
"""

import hashlib
import io
import time
import warnings
import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mercer._errors import ParameterError
from mercer.distributed.task import packed
from mercer.io.replace_file import replace_file
from mercer.solvers.elsewhere import State

MARK = "mercer-checkpoint-2"
# Time between two writes, in units of what one took.
SELDOM = 20.0


class Checkpoint:
    """The progress of the problems of a fit, in a file.

    Parameters
    ----------
    path : str or path
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ParameterError(
                f"checkpoint={str(path)!r}: there is no folder {str(self.path.parent)!r}; make it first"
            )
        self._problems = _read(self.path)
        self._is_first, self._next, self._is_silent = True, 0.0, False

    @property
    def is_there(self) -> bool:
        """Whether there is something to continue from."""
        return self.path.exists()

    def name(self, *things: Any) -> str:
        """A name that nothing else has."""
        return hashlib.sha256(packed(things)).hexdigest()[:32]

    def recall(self, problem: str) -> list[State] | None:
        """The progress of the machines of a problem, or None if they have not begun."""
        found = self._problems.get(problem)
        if found is None and self._is_first and self._problems:
            raise ParameterError(
                f"checkpoint={str(self.path)!r} belongs to another problem: different rows, targets, weights, settings "
                "or blocks. Remove the file to start afresh, or name another"
            )
        self._is_first = False
        return found

    def keep(self, problem: str, states: Callable[[], list[State]], is_solved: bool) -> None:
        """Write the progress of the machines of a problem; what was written before remains until then."""
        begin = time.monotonic()
        if begin < self._next and not is_solved:
            return
        self._problems[problem] = states()
        try:
            replace_file(self.path, [_packed(self._problems)])
        except OSError as error:
            self._say(error)
        end = time.monotonic()
        self._next = end + SELDOM * (end - begin)

    def _say(self, error: OSError) -> None:
        """A fit is worth more than its checkpoint: it continues, and says so once."""
        if not self._is_silent:
            kept = "the last one written is still good" if self.is_there else "there is none"
            reason = error.strerror or error
            text = f"the checkpoint {str(self.path)!r} cannot be written: {reason}; the fit continues, and {kept}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        self._is_silent = True

    def remove(self) -> None:
        """All has ended well: nothing will continue from here."""
        self.path.unlink(missing_ok=True)


def _packed(problems: dict[str, list[State]]) -> bytes:
    arrays = {
        f"{problem}/{k}/{name}": array
        for problem, states in problems.items()
        for k, state in enumerate(states)
        for name, array in state.items()
    }
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **{MARK: np.zeros(0)}, **arrays)
    return content.getvalue()


def _read(path: Path) -> dict[str, list[State]]:
    if not path.exists():
        return {}
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        del content[MARK]
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ParameterError(
            f"checkpoint={str(path)!r} exists but is not a Mercer checkpoint, or is damaged ({error}); it is not "
            "overwritten: name another file, or remove this one"
        ) from error
    found: dict[str, list[State]] = {}
    for name, array in content.items():
        problem, k, part = name.split("/")
        states = found.setdefault(problem, [])
        states.extend({} for _ in range(int(k) + 1 - len(states)))
        states[int(k)][part] = array
    return found
