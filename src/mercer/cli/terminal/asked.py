"""What the options ask of the workflow."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.options import DataOptions, FitOptions, MachineOptions, ReadOptions
from mercer.cli.terminal.output import say
from mercer.io.csv.lines import MISSING
from mercer.io.dataset import Dataset, read_table
from mercer.workflow import read as workflow
from mercer.workflow.assemble import Assembly, assemble
from mercer.workflow.models import unseen_labels
from mercer.workflow.run import timed

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks
    from mercer.workflow.out_of_core import BlocksRun


def read_labelled(source: Path, options: DataOptions, limits: FitOptions) -> Dataset:
    """Data with something to learn from."""
    found: Dataset = read_table(str(source), **_reading(options, limits))
    if found.target is None and found.kind == "table":
        raise ParameterError(
            f"--target must name the column to predict; {found.name} has "
            f"{', '.join(map(repr, cast(list[str], found.columns)[:20]))}"
        )
    if found.target is None:
        remedy = "; put each class into a folder of its own" if found.kind == "texts" else ""
        raise DataError(f"{found.name}: the {found.kind} have no labels{remedy}")
    return found


def read_for_model(source: Path, options: DataOptions, limits: ReadOptions, model: Any) -> Dataset:
    """Data with the columns that a model was fitted to."""
    return workflow.read_for_model(str(source), model, **_reading(options, limits))


def note_unseen(model: Any, data: Dataset) -> None:
    """Point out labels that are new to a model."""
    for words in unseen_labels(model, data):
        say(words, "yellow")


def _reading(options: DataOptions, limits: FitOptions | ReadOptions) -> dict[str, Any]:
    bounds = {"time_limit": limits.time_limit, "memory_limit": limits.memory_limit}
    return {**asdict(options), "missing": (*MISSING, *options.missing), **bounds}


def assembled(data: Dataset, machine: MachineOptions, fit: FitOptions) -> Assembly:
    """The machine that the options ask for, as the data need it."""
    limits = {"n_jobs": fit.n_jobs, "time_limit": fit.time_limit, "memory_limit": fit.memory_limit}
    return assemble(data, machine.kernel, task=machine.task, C=machine.C, scale=machine.scale, **limits)


def blocks_of(source: Path, options: DataOptions, target: str | None) -> "Blocks":
    """Data that are read block by block."""
    from mercer.io.blocks.blocks import Blocks

    return Blocks(
        source,
        target=target,
        text=options.text,
        header=options.header,
        missing=(*MISSING, *options.missing),
    )


def blocks_run(
    source: Path, options: DataOptions, machine: MachineOptions, fit: FitOptions, holdout: float, why: str
) -> "BlocksRun":
    """A run over blocks; said on the terminal, with the reason."""
    from mercer.workflow.out_of_core import BlocksRun

    if machine.kernel not in (None, "linear"):
        raise ParameterError(
            f"--kernel must be linear, or left out, got {machine.kernel!r}: {source} is {why}, and what is read block "
            "by block is learnt by a plane; other kernels need all rows at once"
        )
    blocks = blocks_of(source, options, options.target)
    if not blocks.has_targets:
        names = ", ".join(map(repr, (blocks.names or [])[:20]))
        raise ParameterError(f"--target must name the column to predict; {source} has {names}")
    say(f"{source} is {why}: learning out of core from {blocks.n_rows:,} rows, block by block ({len(blocks)})")
    asked = {
        "C": machine.C, "task": machine.task, "scale": machine.scale, "n_jobs": fit.n_jobs,
        "time_limit": fit.time_limit, "memory_limit": fit.memory_limit,
    }  # fmt: skip
    return BlocksRun(blocks, str(source), asked, holdout=holdout, seed=fit.seed)


def read_and_assemble(
    source: Path, options: DataOptions, machine: MachineOptions, fit: FitOptions
) -> tuple[Dataset, Assembly, dict[str, float]]:
    """(data, machine for them, seconds that reading took)."""
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        data = read_labelled(source, options, fit)
    return data, assembled(data, machine, fit), seconds
