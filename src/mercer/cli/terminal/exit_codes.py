"""What the command's exit code tells the shell. Values are never renumbered."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every `mercer` command."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    BAD_DATA = 3
    NOT_CONVERGED = 4
    INTERRUPTED = 130
