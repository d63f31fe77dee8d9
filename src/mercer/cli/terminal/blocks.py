"""What the options ask of data that are read block by block."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mercer._errors import ParameterError
from mercer.cli.terminal.options import DataOptions, FitOptions, LearningOptions, MachineOptions, Where
from mercer.cli.terminal.output import say
from mercer.cli.terminal.table_words import show_data
from mercer.io.blocks.blocks import Blocks
from mercer.io.csv.lines import MISSING
from mercer.io.dataset import Dataset
from mercer.workflow.columns import Seen, Wanted, choose, sentences
from mercer.workflow.describe import describe_data

if TYPE_CHECKING:
    from mercer.report.record import Record
    from mercer.workflow.out_of_core import BlocksRun

# What the first block alone cannot say about all the others.
_OF_ALL_ROWS = ("no values", "the same value everywhere")


def blocks_of(source: Where, options: DataOptions, target: str | None) -> Blocks:
    """Data that are read block by block."""
    missing = (*MISSING, *options.missing)
    return Blocks(
        source, target=target, text=options.text, header=options.header, missing=missing, delimiter=options.delimiter,
        decimal=options.decimal, encoding=options.encoding,
    )  # fmt: skip


def blocks_run(
    source: Where, options: LearningOptions, machine: MachineOptions, fit: FitOptions, holdout: float, why: str,
    Cs: Sequence[float] = (), cv: int = 5,
) -> "BlocksRun":  # fmt: skip
    """A run over blocks, announced on the terminal with the reason. If `Cs` are given, `cv` folds choose one."""
    _require_by_blocks(source, options, machine, why)
    blocks = blocks_of(source, options, options.target)
    if not blocks.has_targets:
        names = ", ".join(map(repr, (blocks.names or [])[:20]))
        raise ParameterError(f"--target must name the column to predict; the columns of {source} are {names}")
    say(f"{source} is {why}: learning out of core from {blocks.n_rows:,} rows in {len(blocks)} blocks")
    blocks, seen = _with_wanted(blocks, str(source), options)
    asked = {
        "C": machine.C or 1.0, "task": machine.task, "scale": machine.scale, "class_weight": machine.class_weight,
        "n_jobs": fit.n_jobs, "time_limit": fit.time_limit, "memory_limit": fit.memory_limit,
        "kernel": machine.kernel, "landmarks": machine.landmarks, "Cs": Cs, "cv": cv,
    }  # fmt: skip
    from mercer.workflow.out_of_core import BlocksRun

    return BlocksRun(blocks, str(source), asked, holdout=holdout, seed=fit.seed, notes=sentences(seen))


def _require_by_blocks(source: Where, options: LearningOptions, machine: MachineOptions, why: str) -> None:
    if machine.kernel in (None, "linear") and machine.landmarks is not None:
        raise ParameterError("--landmarks needs a kernel, such as --kernel rbf; without one a linear model is learnt")
    for option, is_asked in (("--proba", machine.proba), ("--skip-unlabeled", options.skip_unlabeled)):
        if is_asked:
            raise ParameterError(f"{option} needs data that are read all at once, and {source} is {why}")


def evaluate_blocks(
    model: Any, source: Where, options: DataOptions, target: str | None, why: str, name: str
) -> "Record":
    """Score a model on data that are read block by block."""
    from mercer.workflow.out_of_core import evaluated

    blocks = blocks_of(source, options, target)
    if not blocks.has_targets:
        raise ParameterError(f"{source}: there are no labels to compare with; name their column with --target")
    say(f"{source} is {why}: {blocks.n_rows:,} rows in {len(blocks)} blocks")
    return evaluated(model, blocks, str(source), name)


def _with_wanted(blocks: Blocks, name: str, options: LearningOptions) -> tuple[Blocks, list[Seen]]:
    """Blocks with the columns to learn from, judged by the first block; a column that it cannot rule out is kept."""
    wanted = Wanted(options.columns, options.drop, options.keep)
    first = Dataset(
        blocks.block(0).rows, None, "table" if blocks.is_table else "vectors", "blocks", name, blocks.target
    )
    _, seen = choose(first, wanted)
    seen = [one._replace(left_out="") if one.left_out in _OF_ALL_ROWS else one for one in seen]
    show_data({**describe_data(first, seen), "rows": blocks.n_rows})
    return blocks.with_columns([one.name for one in seen if not one.left_out]) if seen else blocks, seen
