"""What train, tune and evaluate do alike: hold out, fit, score, write."""

import io
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode


def exit_code(status: str | None) -> ExitCode:
    """What a fit's status tells the shell."""
    if status == "INTERRUPTED":
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if status in (None, "OPTIMAL") else ExitCode.NOT_CONVERGED


def assembled(data: Any, machine: Any, fit: Any) -> Any:
    """The machine that the options ask for, as the data need it (see `mercer.workflow.assemble`)."""
    from mercer.workflow.assemble import assemble

    limits = {"n_jobs": fit.n_jobs, "time_limit": fit.time_limit, "memory_limit": fit.memory_limit}
    return assemble(data, machine.kernel, task=machine.task, C=machine.C, scale=machine.scale, **limits)


@contextmanager
def quietly() -> Iterator[None]:
    """The status is reported and becomes the exit code; a warning would say it twice."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how long something took."""
    begin = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - begin


def model_path(output: Path | None, source: str) -> Path:
    """Where a model goes unless told: beside the caller, named after the data."""
    if output is not None:
        return output
    is_named = source != "-" and (Path(source).is_file() or Path(source).is_dir())  # no pipe
    name = (Path(source).resolve().name.split(".")[0] if is_named else "") or "model"
    return Path(f"{name}.mercer")


def split(y: Any, task: str, holdout: float, seed: int) -> tuple[Any, Any]:
    """Positions to learn from, and positions held out (none where `holdout` is 0)."""
    import numpy as np

    from mercer.workflow.hold_out import hold_out

    if not 0 <= holdout < 1:
        raise ParameterError(f"--holdout must be at least 0 and below 1, got {holdout:g}")
    if not holdout:
        return np.arange(len(y)), np.arange(0)
    if len(y) < 4:
        raise DataError(f"there are only {len(y)} rows: too few to hold some out; pass --holdout 0")
    return hold_out(y, holdout, seed, task == "classification")


def cross_validated(assembly: Any, folds: int, seed: int) -> tuple[Any, list[float]]:
    """(prediction of every row by a model that had not seen it, the score of each fold)."""
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    from mercer.report.figures import taken
    from mercer.report.scores import score

    if not 2 <= folds <= len(assembly.y):
        raise ParameterError(f"--cv must be from 2 to the number of rows, {len(assembly.y)}, got {folds}")
    is_classes = assembly.task == "classification"
    least = np.unique(assembly.y, return_counts=True)[1].min() if is_classes else 0
    kind = StratifiedKFold if least >= folds else KFold
    predicted, scores = np.empty(len(assembly.y), dtype=assembly.y.dtype), []
    for learnt, held in kind(folds, shuffle=True, random_state=seed).split(assembly.y, assembly.y):
        model = clone(assembly.estimator)
        with quietly():
            model.fit(taken(assembly.X, learnt), assembly.y[learnt])
        predicted[held] = model.predict(taken(assembly.X, held))
        found = score(assembly.task, assembly.y[held], predicted[held])
        scores.append(found["accuracy"] if is_classes else found["r2"])
    return predicted, scores


def machine_and_rows(assembly: Any) -> tuple[Any, Any]:
    """(the machine alone, rows as it takes them, scaled)."""
    if not hasattr(assembly.estimator, "steps"):
        return assembly.estimator, assembly.X
    *before, (_, machine) = assembly.estimator.steps
    X = assembly.X
    for _, step in before:
        X = step.fit_transform(X)
    return machine, X


@contextmanager
def replaced(path: Path) -> Iterator[Any]:
    """A text file that takes the place of `path` as a whole, or not at all."""
    from mercer.io.replace_file import replace_file

    text = io.StringIO(newline="")
    yield text
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [text.getvalue().encode()])
