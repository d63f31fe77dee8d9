"""What the options ask of the workflow.

Modules that compute are imported after the data have been read and shown: people see what was understood meanwhile.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.options import DataOptions, FitOptions, LearningOptions, MachineOptions, ReadOptions, Where
from mercer.cli.terminal.output import say
from mercer.cli.terminal.table_words import show_data
from mercer.io.column_notes import AmbiguousNumbersWarning
from mercer.io.csv.lines import MISSING
from mercer.io.dataset import Dataset
from mercer.workflow import read
from mercer.workflow.clock import timed
from mercer.workflow.columns import Seen, Wanted, choose, sentences
from mercer.workflow.describe import describe_data
from mercer.workflow.model_marks import is_model_file
from mercer.workflow.target import require_learnable

if TYPE_CHECKING:
    from mercer.workflow.assemble import Assembly


def read_and_look(
    source: Where, options: LearningOptions, limits: FitOptions | ReadOptions
) -> tuple[Dataset, Dataset, list[Seen]]:
    """(data as they were read, data with the columns to learn from, what was seen of every column)."""
    if is_model_file(source):
        raise DataError(
            f"{source} is a model, not data; to predict the rows of a file, use `mercer predict {source} FILE`"
        )
    with _said_later():
        found = read.read_labeled(str(source), skip_unlabeled=options.skip_unlabeled, **_reading(options, limits))
    return found, *choose(found, Wanted(options.columns, options.drop, options.keep))


def read_labeled(source: Where, options: LearningOptions, limits: FitOptions) -> tuple[Dataset, Dataset, list[Seen]]:
    """The same, with something to learn from."""
    whole, found, seen = read_and_look(source, options, limits)
    if found.target is None and found.kind == "table":
        raise ParameterError(
            f"--target must name the column to predict; the columns of {found.name} are "
            f"{', '.join(repr(one.name) for one in seen[:20])}"
        )
    if found.target is None:
        remedy = "; put the texts of each class into a folder of their own" if found.kind == "texts" else ""
        raise DataError(f"{found.name}: the {found.kind} have no labels{remedy}")
    return whole, found, seen


def read_for_model(
    source: Where, options: DataOptions, limits: ReadOptions, model: Any, **others: Any
) -> tuple[Dataset, Dataset]:
    """(data with the columns that a model was fitted to, with all columns)."""
    with _said_later():
        found = read.read_for_model(str(source), model, **_reading(options, limits), **others)
    for note in found[0].notes:
        if note.kind == "ambiguous":
            say(str(note), "yellow")
    return found


@contextmanager
def _said_later() -> Iterator[None]:
    """What a reader warns of is in the notes on the data too; on a terminal they are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousNumbersWarning)
        yield


def note_unseen(model: Any, data: Dataset) -> None:
    """Point out labels that are new to a model."""
    from mercer.workflow.models import unseen_labels

    for words in unseen_labels(model, data):
        say(words, "yellow")


def _reading(options: DataOptions, limits: FitOptions | ReadOptions) -> dict[str, Any]:
    """What `read_table` is told."""
    of_files = {field.name: getattr(options, field.name) for field in fields(DataOptions)}
    bounds = {"time_limit": limits.time_limit, "memory_limit": limits.memory_limit}
    return {**of_files, "missing": (*MISSING, *options.missing), **bounds}


def assembled(data: Dataset, machine: MachineOptions, fit: FitOptions) -> "Assembly":
    """The machine that the options ask for, as the data need it."""
    from mercer.workflow.assemble import assemble

    limits = {"n_jobs": fit.n_jobs, "time_limit": fit.time_limit, "memory_limit": fit.memory_limit}
    for_classes = {"class_weight": machine.class_weight, "probability": machine.proba}
    asked: dict[str, Any] = {name: value for name, value in for_classes.items() if value}
    found = assemble(data, machine.kernel, task=machine.task, C=machine.C or "auto", scale=machine.scale, **limits)
    if asked and found.task == "regression":
        raise ParameterError("--class-weight and --proba need classes, and the target holds quantities")
    if machine.landmarks is not None:
        from mercer.estimators.low_rank.low_rank import LowRank

        asked["approximation"] = LowRank(machine.landmarks)
    estimator = found.estimator
    (estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator).set_params(**asked)
    return found


def read_and_assemble(
    source: Where, options: LearningOptions, machine: MachineOptions, fit: FitOptions, is_quiet: bool = False
) -> tuple[Dataset, "Assembly", dict[str, float]]:
    """(data as they were read, the machine for the columns to learn from, the seconds that reading took); says what was
    understood on the way."""
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        whole, data, seen = read_labeled(source, options, fit)
    require_learnable(data, machine.task)
    if not is_quiet:
        show_data(describe_data(data, seen, machine.task))
    found = assembled(data, machine, fit)
    if not is_quiet:
        for note in found.notes:
            say(note, indent=2)
    return whole, replace(found, notes=(*sentences(seen), *found.notes)), seconds
