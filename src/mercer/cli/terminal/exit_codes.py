"""What the command's exit code tells the shell. Values are never renumbered."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every `mercer` command."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    BAD_DATA = 3
    NOT_CONVERGED = 4
    INTERRUPTED = 130


def exit_code(status: str | None) -> ExitCode:
    """What a fit's status tells the shell."""
    if status == "INTERRUPTED":
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if status in (None, "OPTIMAL") else ExitCode.NOT_CONVERGED


@contextmanager
def quietly() -> Iterator[None]:
    """Silence warnings about the status, which is reported and becomes the exit code anyway."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
