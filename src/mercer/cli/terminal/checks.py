"""Checks of every option, before anything is read, fitted or written."""

import math
import os
from pathlib import Path

from mercer._errors import MercerError, ParameterError
from mercer.cli.terminal.options import FitOptions, MachineOptions

# Seeds that NumPy accepts.
_SEEDS = 2**32


def check_scoring(holdout: float | None, cv: int | None) -> None:
    """How a model is to be scored."""
    if holdout is not None and cv is not None:
        raise ParameterError("give --holdout or --cv, not both")
    if holdout is not None and not 0 <= holdout < 1:
        raise ParameterError(f"--holdout must be at least 0 and below 1, got {holdout:g}")
    if cv is not None and cv < 2:
        raise ParameterError(f"--cv must be from 2 to the number of rows, got {cv}")


def check_machine(machine: MachineOptions) -> None:
    """Which machine is to be fitted."""
    if machine.C is not None and not machine.C > 0:
        raise ParameterError(f"--C must be a positive number, got {machine.C}")
    for option, is_asked in (("--class-weight", machine.class_weight), ("--proba", machine.proba)):
        if is_asked and machine.task == "regression":
            raise ParameterError(f"{option} needs classes, and --task regression predicts quantities")
    check_kernel(machine.kernel)


def check_kernel(kernel: str | None) -> None:
    """A kernel must be a readable expression; "additive" is built from the columns, once they are known."""
    if kernel is not None:
        from mercer.workflow.assemble import require_kernel

        require_kernel(kernel)


def check_limits(fit: FitOptions) -> None:
    """How much work is allowed."""
    if not 0 <= fit.seed < _SEEDS:
        raise ParameterError(f"--seed must be from 0 to {_SEEDS - 1}, got {fit.seed}")
    if fit.n_jobs == 0:
        raise ParameterError("--n-jobs must be a number of threads, or -1 for all cores, got 0")
    if fit.time_limit is not None and not 0 < fit.time_limit < math.inf:
        raise ParameterError(f"--time-limit must be positive, got {fit.time_limit:g}")
    if fit.memory_limit is not None:
        from mercer._jit.memory import parse_bytes

        parse_bytes(fit.memory_limit)


def check_output(model: Path | None, *others: Path | None) -> None:
    """Make sure of a place for every file before there is work to lose; only a model's folder must exist already."""
    if model is not None and not model.parent.exists():
        raise MercerError(f"{model} cannot be written: there is no folder {str(model.parent)!r}")
    for path in (each for each in (model, *others) if each is not None):
        if path.is_dir():
            raise MercerError(f"{path} cannot be written: it is a folder; name a file in it")
        place = next(each for each in (path.parent, *path.parent.parents) if each.exists())
        if not place.is_dir():
            raise MercerError(f"{path} cannot be written: {place} is a file, not a folder")
        _require_room_for_a_file(path, place)


def _require_room_for_a_file(path: Path, place: Path) -> None:
    """Refuse a folder in which no file can be made, even where its permissions claim otherwise (system folders)."""
    if not os.access(place, os.W_OK | os.X_OK):
        raise MercerError(f"{path} cannot be written: no permission to write in {str(place)!r}")
    import tempfile  # here: --help has no use for it

    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise MercerError(
            f"{path} cannot be written: no file can be created in {str(place)!r} ({error.strerror})"
        ) from None
